"""Dimensions of strata: each dimension gives every query of the traffic a value.

    band     head, torso or tail of the traffic
    segment  the segment of the log in which the query was asked most often; the first by text if equal
    length   short: 1 or 2 words, medium: 3 to 5 words, long: at least 6 words, separated by white space
    cluster  the region of the coverage map that the query is most about
    tag:T    T or `not T`, by the tag's rule or by a person's statement (see `queries.tag_rules`)
    field:F  the most frequent value of a further field of the log for the query; the first by text if equal

Bands: the queries are lined up from the most asked to the least asked, each as long as its traffic, so that
the whole log is an axis from 0 to 1. Head, torso and tail are the thirds of the traffic's axis. Queries that
were asked equally often are in the same frequency band: the band of the middle of all these queries. A query
asked once is always tail, and the most asked queries are always head.

Clusters: a query belongs to the region with most of the query's entities. If several regions have equally
many of the entities, the region with the most documents counts. Queries only about small clusters are one
further value, and queries about no cluster are another value. Regions are named by their number and most
central entities, so that a sample can be topped up after leads rename regions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import refuse_problems
from curation.core.progress import Progress
from curation.core.statistics.arrays import Ints
from curation.queries.coverage.cluster_names import MAX_IN_A_NAME
from curation.queries.coverage.clusters import NO_CLUSTER, SMALL_ONLY
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.matched_queries import match_new_texts
from curation.queries.coverage.matching import EntityMatch
from curation.queries.coverage.measures import Clusters
from curation.queries.coverage.stored_map import read_current_map_id, read_map
from curation.queries.sampling.strata import Labels
from curation.queries.tag_rules import LONG, SHORT, match_tag
from curation.retrieval.embedding_model import find_model
from curation.store import Store

CLUSTER = "cluster"
DIMENSIONS = ("band", "segment", "length", CLUSTER)
TAG = "tag:"
FIELD = "field:"
LENGTHS = ("short", "medium", "long")
_RESERVED_NAMES = frozenset({"all", "traffic", "imported", "written", "synthetic"})
"""Reserved names, which splits and releases use for sums and for queries outside the current sample."""
BANDS = ("head", "torso", "tail")
HEAD, TORSO = 1 / 3, 2 / 3
"""Shares of traffic at which the bands head and torso end."""


def check_dimensions(dimensions: Sequence[str]) -> None:
    """Reject unknown dimensions of strata, repeated dimensions, and an empty list."""
    expected = f"expected some of {', '.join(DIMENSIONS)}, {TAG}NAME, {FIELD}NAME"
    known = [name for name in dict.fromkeys(dimensions) if _is_dimension(name)]
    unknown = [name for name in dimensions if not _is_dimension(name)]
    problems = [f"{name!r} is not a dimension of strata; {expected}" for name in unknown]
    problems += [f"strata by {name!r} were requested twice" for name in known if dimensions.count(name) > 1]
    if not dimensions:
        problems = [f"no strata were named; {expected}"]
    refuse_problems(problems)


def list_names(prefix: str, dimensions: Sequence[str]) -> list[str]:
    """List the tags or fields among dimensions of strata, without the prefix `TAG` or `FIELD`."""
    return [name.removeprefix(prefix) for name in dimensions if name.startswith(prefix)]


def label_by_log(dimension: str, table: Any, traffic: Ints) -> Labels:
    """Label queries by band, length, segment or field, from the columns that `frame` reads."""
    if dimension == "band":
        return Labels(classify_bands(traffic), BANDS)
    if dimension == "length":
        return Labels(classify_lengths(table["words"].to_numpy()), LENGTHS)
    return _label_by_value(table[dimension], dimension.removeprefix(FIELD))


def label_by_tag(store: Store, tag: str, queries: Any) -> Labels:
    """Label queries, an Arrow column of normalized texts, by whether they have the tag."""
    has_tag = match_tag(store, tag, queries.to_pylist())
    return Labels(np.where(has_tag, 0, 1).astype(np.intp), (name_value("tag", tag), f"not {tag}"))


def label_by_cluster(
    store: Store, texts: Sequence[str], map_id: str | None, model: str, progress: Progress
) -> tuple[Labels, str]:
    """Label texts by region of the coverage map, and return the map's id. Texts without a stored match are
    matched first.

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
    map_model = coverage_map.parameters["model"]
    if find_model(model).name != map_model:
        model = map_model
    matches = match_new_texts(store, coverage_map, texts, model, progress)
    regions = frozenset(coverage_map.regions)
    values = [_choose_region(coverage_map, matches[text], regions) for text in texts]
    numbers = coverage_map.regions
    names: dict[int | str, str] = {number: _name_region(coverage_map, number) for number in numbers}
    names |= {name: name for name in (SMALL_ONLY, NO_CLUSTER) if name in values}
    code_of = {value: code for code, value in enumerate(names)}
    codes = np.array([code_of[value] for value in values], np.intp)
    return Labels(codes, tuple(names.values())), coverage_map.map_id


def classify_bands(traffic: Ints) -> NDArray[np.intp]:
    """Find the position in `BANDS` of each query by its traffic, which is at least 1."""
    levels, level_of_query, queries = np.unique(traffic, return_inverse=True, return_counts=True)
    lengths = (levels * queries)[::-1]
    middles = (np.cumsum(lengths) - lengths / 2)[::-1] / max(int(lengths.sum()), 1)
    bands = np.searchsorted([HEAD, TORSO], middles, side="right")
    bands[-1:] = BANDS.index("head")
    bands[levels == 1] = BANDS.index("tail")
    return bands[level_of_query]


def classify_lengths(words: Ints) -> NDArray[np.intp]:
    """Find the position in `LENGTHS` of each query by its number of words."""
    return np.searchsorted([SHORT + 1, LONG], words, side="right")


def name_value(field: str, value: str) -> str:
    """Return a value's name, preceded by its field's name if the value is a reserved name."""
    return f"{field} {value}" if value in _RESERVED_NAMES or value == _name_missing(field) else value


def _name_missing(field: str) -> str:
    return f"no {field}"


def _is_dimension(name: str) -> bool:
    return name in DIMENSIONS or any(name.startswith(prefix) and name != prefix for prefix in (TAG, FIELD))


def _label_by_value(column: Any, field: str) -> Labels:
    """Label queries by their values, ordered by text; queries without a value get the last label."""
    encoded = column.combine_chunks().dictionary_encode()
    values: list[str] = encoded.dictionary.to_pylist()
    rank_of = {value: rank for rank, value in enumerate(sorted(values))}
    ranks = np.array([*map(rank_of.__getitem__, values), len(rank_of)], np.intp)
    codes = ranks[encoded.indices.fill_null(len(values)).to_numpy()]
    names = [name_value(field, value) for value in rank_of]
    if column.null_count:
        names.append(_name_missing(field))
    return Labels(codes, tuple(names))


def _choose_region(coverage_map: CoverageMap, match: EntityMatch, regions: Clusters) -> int | str:
    """Choose a query's region, or the value for a query in no region.

    If several regions have equally many of the entities, the lowest number has the most documents.
    """
    clusters = coverage_map.find_query_clusters(match)
    if clusters.isdisjoint(regions):
        return SMALL_ONLY if clusters else NO_CLUSTER
    counts = Counter(coverage_map.cluster_of[entity] for entity in match.entities)
    return min(clusters & regions, key=lambda region: (-counts[region], region))


def _name_region(coverage_map: CoverageMap, region: int) -> str:
    central = coverage_map.clusters[region].entities[:MAX_IN_A_NAME]
    return f"{region} {', '.join(coverage_map.entities[entity].name for entity in central)}"
