"""Strata by region of the coverage map.

A query belongs to the region with most of the query's entities. Of regions with equally many entities, the
region with more documents counts. Queries only about small clusters are one further stratum, and queries
about no cluster are another stratum. Every region of the coverage map is a stratum, even without a query.
Strata by region are named by the region's number and most central entities, so that a sample can be topped up
after leads rename regions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from curation.core.progress import Progress
from curation.queries.coverage.cluster_names import MAX_IN_A_NAME
from curation.queries.coverage.clusters import NO_CLUSTER, SMALL_ONLY
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.matched_queries import match_new_texts
from curation.queries.coverage.matching import EntityMatch
from curation.queries.coverage.measures import Clusters
from curation.queries.coverage.stored_map import read_current_map_id, read_map
from curation.queries.sampling.designs import Labels
from curation.retrieval.embedding_model import find_model
from curation.store import Store


def cluster_strata(
    store: Store, texts: Sequence[str], map_id: str | None, model: str, progress: Progress
) -> tuple[Labels, str]:
    """Find the region of each text, and the id of the map. Texts without a stored match are matched.

    Parameters
    ----------
    texts: normalized texts.
    map_id: id of the coverage map; None is the current map.
    model: name or folder of the map's model; a different model is ignored.

    Raises
    ------
    RefusedError: there is no map of the current corpus, or the model is needed and cannot be loaded.
    """
    with store.reading() as cursor:
        coverage_map = read_map(cursor, map_id or read_current_map_id(cursor), all_partitions=False)
    of_map = coverage_map.parameters["model"]
    known = model if find_model(model).name == of_map else of_map
    matches = match_new_texts(store, coverage_map, texts, known, progress)
    regions = frozenset(coverage_map.regions)
    strata = [_stratum_of(coverage_map, matches[text], regions) for text in texts]
    names: dict[int | str, str] = {
        number: _region_name(coverage_map, number) for number in coverage_map.regions
    }
    names |= {name: name for name in (SMALL_ONLY, NO_CLUSTER) if name in strata}
    codes = {stratum: code for code, stratum in enumerate(names)}
    return Labels(
        np.array([codes[stratum] for stratum in strata], np.intp), tuple(names.values())
    ), coverage_map.map_id


def _stratum_of(coverage_map: CoverageMap, match: EntityMatch, regions: Clusters) -> int | str:
    """Find the number of a query's region, or the stratum of a query in no region.

    Of regions with equally many entities of the query, the region with the lowest number has most documents.
    """
    about = coverage_map.find_query_clusters(match)
    if about.isdisjoint(regions):
        return SMALL_ONLY if about else NO_CLUSTER
    counts = Counter(coverage_map.cluster_of[entity] for entity in match.entities)
    return min(about & regions, key=lambda number: (-counts[number], number))


def _region_name(coverage_map: CoverageMap, number: int) -> str:
    central = coverage_map.clusters[number].entities[:MAX_IN_A_NAME]
    return f"{number} {', '.join(coverage_map.entities[entity].name for entity in central)}"
