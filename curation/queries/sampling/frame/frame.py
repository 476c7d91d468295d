"""The frame: the distinct queries that can be drawn, in seeded order, with what strata are made of.

Time window, minimum count, earlier judgments and releases narrow it. A query's traffic is what it was asked
within the window, with that of its other spellings (`queries.sampling.frame.spellings`). Its band is its
place among all queries of the window, whether they can be drawn or not: what was judged already must not
make a torso query head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.queries.sampling.frame.bands import BANDS, band_of
from curation.queries.sampling.frame.limits import (
    NO_RELEASES,
    Limits,
    ReleasedQueries,
    check_limits,
    release_ids,
)
from curation.queries.sampling.frame.regions import cluster_strata
from curation.queries.sampling.frame.spellings import group_spellings
from curation.queries.sampling.frame.traffic_rows import TrafficRows, read_traffic_rows
from curation.queries.sampling.strata import (
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
from curation.store import Store


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
        labels = {name: Labels(label.codes[kept], label.names) for name, label in labels.items()}
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
    from curation.queries.sampling.tags.find_tags import tag_texts

    present = tag_texts(store, tag, queries.to_pylist())
    return Labels(np.where(present, 0, 1).astype(np.intp), (value_name("tag", tag), f"not {tag}"))
