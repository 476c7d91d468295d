"""Gaps of coverage: regions with no query, or with too few queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.request import DEFAULT_MODEL
from curation.core.text import pluralize
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.matched_queries import MatchedQueries, match_queries
from curation.queries.coverage.measures import MIN_FOR_SCC, count_by_cluster, spread_over_clusters
from curation.queries.coverage.stored_map import read_current_map_id, read_map
from curation.store import Store

MAX_ENTITIES_SHOWN = 6
MAX_IDS_SHOWN = 5


class ClusterCoverage(NamedTuple):
    """A cluster with its counts of entities, documents, queries and searches.

    Attributes
    ----------
    searches: number of searches of the traffic, each spread evenly over its clusters; None without traffic.
    """

    number: int
    name: str
    is_region: bool
    entities: int
    documents: int
    queries: int
    searches: float | None


class CoverageGap(NamedTuple):
    """A region with no query or too few queries. `missing` is the number of queries that the region lacks."""

    number: int
    name: str
    documents: tuple[str, ...]
    searches: float | None
    entities: tuple[str, ...]
    missing: int = 1


def find_gaps(store: Store, model: str = DEFAULT_MODEL, progress: Progress = silent) -> list[CoverageGap]:
    """Find the regions without a query, ordered by searches × documents, then by documents, then by number.

    Raises
    ------
    RefusedError: there is no map of the current corpus, the map was made with another model, or the model
        cannot be loaded.
    """
    with store.reading() as cursor:
        coverage_map = read_map(cursor, read_current_map_id(cursor))
    matched = match_queries(store, coverage_map, model, progress)
    return list_gaps(coverage_map, count_clusters(coverage_map, matched))


def count_clusters(coverage_map: CoverageMap, matched: MatchedQueries) -> list[ClusterCoverage]:
    """Count the entities, documents, queries and searches of each cluster of the map."""
    rule, cluster_of = coverage_map.rule, coverage_map.cluster_of
    queries = count_by_cluster(matched.find_query_clusters(rule, cluster_of))
    searches = spread_over_clusters(matched.find_traffic_clusters(rule, cluster_of))
    return [
        ClusterCoverage(
            number=cluster.number,
            name=cluster.name,
            is_region=cluster.is_region,
            entities=len(cluster.entities),
            documents=len(cluster.documents),
            queries=queries.get(cluster.number, 0),
            searches=round(searches.get(cluster.number, 0.0), 6) if matched.traffic else None,
        )
        for cluster in coverage_map.clusters
    ]


def list_gaps(
    coverage_map: CoverageMap, counts: list[ClusterCoverage], fill: bool = False
) -> list[CoverageGap]:
    """Find the regions without a query, in the order of `find_gaps`.

    Parameters
    ----------
    counts: clusters by number.
    fill: find the regions with some queries, but fewer than `MIN_FOR_SCC`, the largest region first.
    """
    gap_sizes = range(1, MIN_FOR_SCC) if fill else range(1)
    gaps = [
        CoverageGap(
            number=cluster.number,
            name=cluster.name,
            documents=cluster.documents,
            searches=counts[cluster.number].searches,
            entities=tuple(coverage_map.entities[entity].name for entity in cluster.entities),
            missing=MIN_FOR_SCC - counts[cluster.number].queries if fill else 1,
        )
        for cluster in coverage_map.clusters
        if cluster.is_region and counts[cluster.number].queries in gap_sizes
    ]
    weights = {gap.number: 0.0 if fill else (gap.searches or 0) * len(gap.documents) for gap in gaps}
    return sorted(gaps, key=lambda gap: (-weights[gap.number], -len(gap.documents), gap.number))


def build_gap_table(gaps: Sequence[CoverageGap]) -> Table:
    """Show the regions without a query, with their most central entities and first documents."""
    rows = (
        (
            gap.number,
            ", ".join(gap.entities[:MAX_ENTITIES_SHOWN]),
            len(gap.documents),
            gap.searches,
            ", ".join(gap.documents[:MAX_IDS_SHOWN]) + (", …" if gap.documents[MAX_IDS_SHOWN:] else ""),
        )
        for gap in gaps
    )
    columns = ("region", "most central entities", "documents", "searches", "ids")
    return Table(f"{pluralize(len(gaps), 'region')} without a query", columns, tuple(rows))
