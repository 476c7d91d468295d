"""The frame: the distinct queries that can be drawn, in seeded order, with what strata are made of.

Time window, minimum count, earlier judgments and releases narrow it. A query's traffic is what it was asked
within the window, with that of its other spellings (`sampling.frame.spellings`). Its band is its place among
all queries of the window, whether they can be drawn or not: what was judged already must not make a torso
query head.

Regions of the coverage map as strata of the log.

A query may be about several regions, and a query of a sample has one stratum and one probability of being
drawn. So it counts in the region of most of the entities that it is about; of equal ones in the one with more
documents. Queries that are about small clusters alone, or about no entity, are strata of their own. Every
region is a stratum, those that nobody asks about too.

Strata are named by number and most central entities. A name that a lead gives changes nothing here: a sample
could else not be topped up.

Head, torso and tail: how often a query is asked, as three bands of the traffic.

Queries are laid end to end in descending order of how often they were asked, each as long as its
traffic, so that the whole log is an axis from 0 to 1. The head is the first third of that axis, the
torso the second, the tail the last: three bands that carry about the same traffic, though the head may
be ten queries and the tail ten thousand.

Queries that were asked equally often form one *level* and are never parted: nothing in the log says that
one of them is rarer than another, so a boundary among them would be an accident of spelling or arrival.
A level belongs to the band that holds its middle. Two rules come first, for any shares: a
query asked once is tail (in a log of unique queries nothing is head), and the most asked level is
head (one query with 70 % of the traffic has its middle in the torso).

A band can also end at a number of queries, for who has decided what the head is: the 500 most asked. The axis
is then that of queries, each of length one, and levels are not parted there either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.coverage.clusters import NO_CLUSTER, SMALL_ONLY, EntityMatch
from curation.coverage.coverage_map import CoverageMap, map_in_force, read_map
from curation.coverage.measures import Clusters
from curation.coverage.names import IN_A_NAME
from curation.coverage.report import matches_of
from curation.errors import InputError
from curation.progress import Progress, silent
from curation.retrieval.embeddings import find_model
from curation.sampling.designs import (
    CLUSTER,
    FIELD,
    LENGTHS,
    TAG,
    Labels,
    check_dimensions,
    cross,
    length_of,
    names_after,
    none_name,
    value_name,
)
from curation.sampling.frame.limits import (
    HEAD,
    NO_RELEASES,
    TORSO,
    Limits,
    ReleasedQueries,
    check_limits,
    release_ids,
)
from curation.sampling.frame.spellings import group_spellings
from curation.sampling.frame.traffic_rows import TrafficRows, read_traffic_rows
from curation.store import Store

BANDS = ("head", "torso", "tail")


def band_of(traffic: NDArray[np.int64], head: float = HEAD, torso: float = TORSO) -> NDArray[np.intp]:
    """The band of each query, as its position in `BANDS`.

    Parameters
    ----------
    traffic: how often each query was asked, shape (queries,), all at least 1.
    head, torso: where these bands end, from the most asked down: below 1 the share of the traffic, from 2 the
        number of queries.

    Raises
    ------
    InputError: the ends are not 0 < head < torso, or one is neither a share nor a number.
    """
    _refuse_ends(head, torso)
    levels, inverse, queries = np.unique(traffic, return_inverse=True, return_counts=True)
    of_traffic = _middles(levels * queries) / max(int((levels * queries).sum()), 1)
    of_queries = _middles(queries)
    beyond = [(of_traffic if end < 1 else of_queries) >= end for end in (head, torso)]
    band = np.where(beyond[0], 1 + beyond[1], 0)
    band[-1:] = BANDS.index("head")
    band[levels == 1] = BANDS.index("tail")
    return band[inverse]


def _middles(lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Where the middle of each level is when they are laid end to end, the last one first."""
    turned = lengths[::-1]
    return np.asarray(np.cumsum(turned) - turned / 2)[::-1]


def _refuse_ends(head: float, torso: float) -> None:
    shares = [end for end in (head, torso) if end < 1]
    numbers = [end for end in (head, torso) if end >= 2 and end == end // 1]
    if len(shares) + len(numbers) < 2 or min(head, torso) <= 0 or (len(numbers) != 1 and head >= torso):
        raise InputError(
            f"The bands end at {head:g} and {torso:g}; expected shares of the traffic with 0 < head < "
            "torso < 1, or whole numbers of queries from 2 on."
        )


class ClusterStrata(NamedTuple):
    """The stratum of each query, and the map that has the clusters."""

    labels: Labels
    map_id: str


def cluster_strata(
    store: Store, texts: Sequence[str], map_id: str | None, model: str, progress: Progress
) -> ClusterStrata:
    """The region of each text; texts that were not matched against the map yet are, and are stored.

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
    return ClusterStrata(_labels(found, [matches[text] for text in texts]), found.map_id)


def _labels(found: CoverageMap, matches: Sequence[EntityMatch]) -> Labels:
    regions = found.regions
    codes: dict[int | str, int] = {number: code for code, number in enumerate(regions)}
    names = [_name(found, number) for number in regions]
    homes = [_home(found, match, frozenset(regions)) for match in matches]
    for name in (SMALL_ONLY, NO_CLUSTER):
        if name in homes:
            codes[name] = len(names)
            names.append(name)
    return Labels(np.array([codes[home] for home in homes], np.intp), tuple(names))


def _home(found: CoverageMap, match: EntityMatch, regions: Clusters) -> int | str:
    """The region of C(q) with most of the entities, of equal ones the largest: the lowest number."""
    held = Counter(found.cluster_of[place] for place in match.entities)
    about = found.clusters_of_query(match)
    if not about & regions:
        return SMALL_ONLY if about else NO_CLUSTER
    return min(about & regions, key=lambda number: (-held[number], number))


def _name(found: CoverageMap, number: int) -> str:
    central = found.clusters[number].entities[:IN_A_NAME]
    return f"{number} {', '.join(found.entities[place].name for place in central)}"


class Dimensions(NamedTuple):
    """What strata are made of.

    by: the dimensions, crossed in this order.
    head, torso: shares of traffic at which these bands end.
    model: embedding model of the coverage map.
    map_id: the coverage map of the dimension cluster; None is the one in force.
    """

    by: Sequence[str]
    head: float
    torso: float
    model: str
    map_id: str | None = None


class Frame(NamedTuple):
    """The queries that can be drawn, in seeded order.

    queries: normalised texts, shape (queries,).
    traffic: how often each was asked.
    strata: the stratum of each.
    left_out: reason → number of logged rows.
    state: what all this depends on; it must be unchanged when the sample is stored.
    grouped: queries that count as another's spelling.
    releases: ids of the releases that were left out by name.
    map_id: the coverage map of the dimension cluster; None without it.
    """

    queries: Any
    traffic: NDArray[np.int64]
    strata: Labels
    left_out: dict[str, int]
    state: tuple[object, ...]
    grouped: int
    releases: list[str]
    map_id: str | None = None


def read_frame(
    store: Store,
    seed: int,
    limits: Limits,
    dimensions: Dimensions,
    released: ReleasedQueries = NO_RELEASES,
    spared: str | None = None,
    progress: Progress = silent,
) -> Frame:
    """The frame within these limits, with strata by these dimensions.

    Parameters
    ----------
    released: the queries of all releases.
    spared: a sample whose queries are not left out for having been judged or released since.

    Raises
    ------
    InputError: unknown dimensions or fields, impossible bands, an empty window, or a minimum below 1.
    NotFoundError: there is no such release.
    RefusedError: a release is missing in `released`; there is no coverage map of the corpus in force, or its
        model cannot be loaded.
    """
    check_dimensions(dimensions.by)
    check_limits(limits)
    releases = release_ids(released, limits.exclude_releases)
    with store.reading() as cursor:
        read = read_traffic_rows(cursor, seed, limits, dimensions.by, released, spared)
    logged = len(read.table)
    read = _grouped(read, progress) if limits.group_spellings else read
    grouped = logged - len(read.table)
    traffic = read.table["traffic"].to_numpy()
    kept, left_out = _within(read, traffic, limits)
    queries = read.table["normalised"]
    labels = {name: _dimension(name, read, traffic, dimensions) for name in _of_log(dimensions.by)}
    if not kept.all():
        queries, traffic = queries.filter(pa.array(kept)), traffic[kept]
        labels = {name: Labels(found.codes[kept], found.names) for name, found in labels.items()}
    for tag in names_after(TAG, dimensions.by):
        labels[f"{TAG}{tag}"] = _tagged(store, tag, queries)
    map_id = None
    if CLUSTER in dimensions.by:
        texts = queries.to_pylist()
        labels[CLUSTER], map_id = cluster_strata(store, texts, dimensions.map_id, dimensions.model, progress)
    strata = cross([labels[name] for name in dimensions.by])
    return Frame(queries, traffic, strata, left_out, read.state, grouped, releases, map_id)


def _of_log(by: Sequence[str]) -> list[str]:
    """The dimensions that the log itself tells."""
    return [name for name in by if name != CLUSTER and not name.startswith(TAG)]


def _within(
    read: TrafficRows, traffic: NDArray[np.int64], limits: Limits
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Which queries can be drawn, shape (queries,), and reason → rows; the first reason counts."""
    rows = read.table["rows"].to_numpy()
    names = read.table.column_names
    no: NDArray[np.bool_] = np.zeros(len(traffic), bool)
    rare = traffic < limits.min_count
    judged, released = (
        read.table[name].to_numpy() if name in names else no for name in ("judged", "released")
    )
    judged = judged & ~rare
    released = released & ~rare & ~judged
    empty, unknown, outside = read.rows_outside
    reasons = {
        "empty query": empty,
        "no known time": unknown,
        "outside the time window": outside,
        f"of {int(rare.sum()):,} queries asked fewer than {limits.min_count:,} times": int(rows[rare].sum()),
        f"of {int(judged.sum()):,} queries judged already": int(rows[judged].sum()),
        f"of {int(released.sum()):,} queries in a release already": int(rows[released].sum()),
    }
    return ~(rare | judged | released), {reason: count for reason, count in reasons.items() if count}


def _grouped(read: TrafficRows, progress: Progress) -> TrafficRows:
    """One query for all its spellings, with their traffic and rows; judged or released if one of them is."""
    table = read.table
    traffic = table["traffic"].to_numpy()
    groups = group_spellings(table["normalised"].to_pylist(), traffic, progress=progress)
    if not groups.grouped:
        return read
    for name in ("traffic", "rows", "judged", "released"):
        if name in table.column_names:
            total = groups.totals(table[name].to_numpy())
            column = pa.array(total > 0 if name in ("judged", "released") else total)
            table = table.set_column(table.column_names.index(name), name, column)
    leads = pa.array(groups.leaders == np.arange(len(traffic)))
    values = {name: column.filter(leads) for name, column in read.values.items()}
    return read._replace(table=table.filter(leads), values=values)


def _dimension(name: str, read: TrafficRows, traffic: NDArray[np.int64], dimensions: Dimensions) -> Labels:
    if name == "band":
        return Labels(band_of(traffic, dimensions.head, dimensions.torso), BANDS)
    if name == "length":
        return Labels(length_of(read.table["words"].to_numpy()), LENGTHS)
    return _most_asked(read.values[name], name.removeprefix(FIELD))


def _most_asked(column: Any, field: str) -> Labels:
    """Values by text, then those queries of which none is known, if there are any."""
    encoded = column.combine_chunks().dictionary_encode()
    texts: list[str] = encoded.dictionary.to_pylist()
    ordered = {text: position for position, text in enumerate(sorted(texts))}
    position = np.array([*map(ordered.__getitem__, texts), len(ordered)], np.intp)
    codes = position[encoded.indices.fill_null(len(texts)).to_numpy()]
    names = [value_name(field, text) for text in ordered]
    if column.null_count:
        names.append(none_name(field))
    return Labels(codes, tuple(names))


def _tagged(store: Store, tag: str, queries: Any) -> Labels:
    from curation.sampling.tags.find_tags import tag_texts

    present = tag_texts(store, tag, queries.to_pylist())
    return Labels(np.where(present, 0, 1).astype(np.intp), (value_name("tag", tag), f"not {tag}"))
