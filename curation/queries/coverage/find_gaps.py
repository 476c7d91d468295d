"""Gaps of the coverage map: the regions of the corpus that no query, or too few queries, ask about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.core.operation import DEFAULT_MODEL
from curation.core.progress import Progress, silent
from curation.queries.coverage.asked import match_asked
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.measures import (
    ENOUGH,
)
from curation.queries.coverage.report import ClusterCoverage, of_clusters
from curation.queries.coverage.stored_map import map_in_force, read_map
from curation.store import Store


class CoverageGap(NamedTuple):
    """A region without a query, or with too few, with all its documents; `missing`: queries to be written."""

    number: int
    name: str
    documents: tuple[str, ...]
    searches: float | None
    entities: tuple[str, ...]
    missing: int = 1


def find_gaps(store: Store, model: str = DEFAULT_MODEL, progress: Progress = silent) -> list[CoverageGap]:
    """The regions of the map in force without a query, by searches × documents, then documents, then number.

    Raises
    ------
    RefusedError: there is no map of the corpus in force, it is of another model, or that cannot be loaded.
    """
    with store.reading() as cursor:
        found = read_map(cursor, map_in_force(cursor))
    asked = match_asked(store, found, model, progress)
    return gaps_of(found, of_clusters(found, asked))


def gaps_of(
    coverage_map: CoverageMap, counted: Sequence[ClusterCoverage], fill: bool = False
) -> list[CoverageGap]:
    """The regions without a query, in the order of `find_gaps`.

    Parameters
    ----------
    counted: the clusters by number.
    fill: instead those that lack queries to have the `ENOUGH` of SCC, the one with most documents first.
    """
    gaps = [
        CoverageGap(
            number=cluster.number,
            name=cluster.name,
            documents=cluster.documents,
            searches=counted[cluster.number].searches,
            entities=tuple(coverage_map.entities[place].name for place in cluster.entities),
            missing=ENOUGH - counted[cluster.number].queries if fill else 1,
        )
        for cluster in coverage_map.clusters
        if cluster.is_region and counted[cluster.number].queries in (range(1, ENOUGH) if fill else (0,))
    ]
    asked = {gap.number: 0.0 if fill else (gap.searches or 0) * len(gap.documents) for gap in gaps}
    return sorted(gaps, key=lambda gap: (-asked[gap.number], -len(gap.documents), gap.number))
