"""Regions of the coverage map as strata of the log.

A query may be about several regions, and a query of a sample has one stratum and one probability of being
drawn. So it counts in the region of most of the entities that it is about; of equal ones in the one with more
documents. Queries that are about small clusters alone, or about no entity, are strata of their own. Every
region is a stratum, those that nobody asks about too.

Strata are named by number and most central entities. A name that a lead gives changes nothing here: a sample
could else not be topped up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from curation.core.progress import Progress
from curation.queries.coverage.asked import matches_of
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.entity_linking import EntityMatch
from curation.queries.coverage.measures import Clusters
from curation.queries.coverage.names import IN_A_NAME
from curation.queries.coverage.resolution import NO_CLUSTER, SMALL_ONLY
from curation.queries.coverage.stored_map import map_in_force, read_map
from curation.queries.sampling.strata import (
    Labels,
)
from curation.retrieval.embeddings import find_model
from curation.store import Store


def cluster_strata(
    store: Store, texts: Sequence[str], map_id: str | None, model: str, progress: Progress
) -> tuple[Labels, str]:
    """The region of each text, and the map; texts not matched against it yet are now, and are stored.

    Parameters
    ----------
    texts: normalised.
    map_id: None is the map in force.
    model: used where it is the map's, which may be known by its folder only.

    Raises
    ------
    RefusedError: there is no map of the corpus in force, or its model is needed and cannot be loaded.
    """
    with store.reading() as cursor:
        found = read_map(cursor, map_id or map_in_force(cursor), all_partitions=False)
    of_map = found.parameters["model"]
    known = model if find_model(model).name == of_map else of_map
    matches = matches_of(store, found, texts, known, progress)
    return _labels(found, [matches[text] for text in texts]), found.map_id


def _labels(coverage_map: CoverageMap, matches: Sequence[EntityMatch]) -> Labels:
    regions = coverage_map.regions
    codes: dict[int | str, int] = {number: code for code, number in enumerate(regions)}
    names = [_name(coverage_map, number) for number in regions]
    homes = [_home(coverage_map, match, frozenset(regions)) for match in matches]
    for name in (SMALL_ONLY, NO_CLUSTER):
        if name in homes:
            codes[name] = len(names)
            names.append(name)
    return Labels(np.array([codes[home] for home in homes], np.intp), tuple(names))


def _home(coverage_map: CoverageMap, match: EntityMatch, regions: Clusters) -> int | str:
    """The region of C(q) with most of the entities, of equal ones the largest: the lowest number."""
    held = Counter(coverage_map.cluster_of[place] for place in match.entities)
    about = coverage_map.clusters_of_query(match)
    if not about & regions:
        return SMALL_ONLY if about else NO_CLUSTER
    return min(about & regions, key=lambda number: (-held[number], number))


def _name(coverage_map: CoverageMap, number: int) -> str:
    central = coverage_map.clusters[number].entities[:IN_A_NAME]
    return f"{number} {', '.join(coverage_map.entities[place].name for place in central)}"
