"""The frame: the distinct queries that can be drawn, in seeded order, with what strata are made of.

Time window, minimum count and earlier judgments narrow it. A query's traffic is what it was asked within
the window, with that of its other spellings (`sampling.spellings`), and its band is its place among all
queries of the window, whether they can be drawn or not: what was judged already must not make a torso query
head.

The random order is a hash of seed and query (`_QUERIES`), computed where the rows are: it depends on
nothing else, so a sample is the same on any machine and whatever the order of the log, and a log that has
grown keeps most of the earlier sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.errors import InputError
from curation.sampling.bands import BANDS, band_of
from curation.sampling.spellings import group_spellings
from curation.sampling.strata import (
    LENGTHS,
    NO_SEGMENT,
    Labels,
    check_dimensions,
    cross,
    length_of,
    segment_name,
)
from curation.store import Cursor, Store


@dataclass(frozen=True)
class Limits:
    """What of the traffic can be drawn; estimates from the sample then speak of that part alone.

    Attributes
    ----------
    since, until: times, UTC; `until` itself is outside. With either, rows without a known time are too.
    min_count: how often a query must have been asked within the window.
    exclude_judged: leave out queries of which a round has presentations, or that a release holds.
    group_spellings: draw near-identical spellings as one query, the most asked of them.
    """

    since: datetime | None = None
    until: datetime | None = None
    min_count: int = 1
    exclude_judged: bool = False
    group_spellings: bool = True


class Frame(NamedTuple):
    """The queries that can be drawn, in seeded order.

    queries: normalised texts, shape (queries,).
    traffic: how often each was asked.
    strata: the stratum of each.
    left_out: reason → number of logged rows.
    state: counts of imports, rounds and releases, to be found unchanged when the sample is kept.
    grouped: queries that count as another's spelling.
    """

    queries: Any
    traffic: NDArray[np.int64]
    strata: Labels
    left_out: dict[str, int]
    state: tuple[int, ...]
    grouped: int


class _Read(NamedTuple):
    table: Any
    segments: Any
    rows_outside: tuple[int, int, int]
    state: tuple[int, ...]


def read_frame(
    store: Store, seed: int, limits: Limits, by: Sequence[str], head: float, torso: float
) -> Frame:
    """The frame within these limits, with strata by these dimensions.

    Raises
    ------
    InputError: unknown dimensions, bands that are none, an empty window, or a minimum below 1.
    """
    check_dimensions(by)
    _check(limits)
    with store.reading() as cursor:
        read = _read(cursor, seed, limits, "segment" in by)
    logged = len(read.table)
    read = _grouped(read) if limits.group_spellings else read
    grouped = logged - len(read.table)
    traffic = read.table["traffic"].to_numpy()
    kept = traffic >= limits.min_count
    rare = ~kept
    judged = read.table["judged"].to_numpy() & kept
    kept &= ~judged
    strata = cross([_dimension(name, read, traffic, head, torso) for name in by])
    rows = read.table["rows"].to_numpy()
    empty, unknown, outside = read.rows_outside
    reasons = {
        "empty query": empty,
        "no known time": unknown,
        "outside the time window": outside,
        f"of {int(rare.sum()):,} queries asked fewer than {limits.min_count:,} times": int(rows[rare].sum()),
        f"of {int(judged.sum()):,} queries judged already": int(rows[judged].sum()),
    }
    left_out = {reason: count for reason, count in reasons.items() if count}
    if kept.all():
        return Frame(read.table["normalised"], traffic, strata, left_out, read.state, grouped)
    queries = read.table["normalised"].filter(pa.array(kept))
    labels = Labels(strata.codes[kept], strata.names)
    return Frame(queries, traffic[kept], labels, left_out, read.state, grouped)


def _grouped(read: _Read) -> _Read:
    """One query for all its spellings, with their traffic and rows; judged if one of them is."""
    table = read.table
    traffic = table["traffic"].to_numpy()
    groups = group_spellings(table["normalised"].to_pylist(), traffic)
    if not groups.grouped:
        return read
    sums = {name: groups.totals(table[name].to_numpy()) for name in ("traffic", "rows", "judged")}
    for name, total in sums.items():
        column = pa.array(total > 0 if name == "judged" else total)
        table = table.set_column(table.column_names.index(name), name, column)
    leads = pa.array(sums["rows"] > 0)
    segments = None if read.segments is None else read.segments.filter(leads)
    return read._replace(table=table.filter(leads), segments=segments)


def state_of(cursor: Cursor, limits: Limits) -> tuple[int, ...]:
    """What a frame within these limits depends on, counted: it changes whenever the frame may have."""
    tables = ["traffic_imports", *(["rounds", "releases"] if limits.exclude_judged else [])]
    return tuple(
        int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608  names above
        for table in tables
    )


def _check(limits: Limits) -> None:
    if limits.since and limits.until and limits.since >= limits.until:
        raise InputError(
            f"The time window reaches from {limits.since} up to, not including, {limits.until}: "
            "it holds no moment. Give --since a time before --until."
        )
    if limits.min_count < 1:
        raise InputError(f"A minimum count of {limits.min_count} was asked for; expected at least 1.")


_IN_WINDOW = """
    normalised <> '' AND ($since::TIMESTAMP IS NULL OR time >= $since)
    AND ($until::TIMESTAMP IS NULL OR time < $until)
"""
# In random order: the lower half of the MD5 of seed and query. A SHA-256 would be as good and slower.
_IN_ORDER = "ORDER BY md5_number_lower($seed::VARCHAR || chr(31) || normalised), normalised"
_QUERIES = f"""
    SELECT normalised, sum(count)::BIGINT AS traffic, count(*) AS rows,
           len(string_split(normalised, ' ')) AS words
    FROM traffic WHERE {_IN_WINDOW} GROUP BY normalised {_IN_ORDER}
"""  # noqa: S608  fragments from above
_SEGMENTS = f"""
    WITH asked AS (
        SELECT normalised, segment, sum(count) AS times FROM traffic WHERE {_IN_WINDOW} GROUP BY ALL)
    SELECT first(segment ORDER BY times DESC, segment) FILTER (segment IS NOT NULL) AS segment
    FROM asked GROUP BY normalised {_IN_ORDER}
"""  # noqa: S608  fragments from above
_OUTSIDE = """
    SELECT count(*) FILTER (normalised = ''),
           count(*) FILTER (normalised <> '' AND time IS NULL AND ($since IS NOT NULL OR $until IS NOT NULL)),
           count(*) FILTER (normalised <> '' AND (time < $since::TIMESTAMP OR time >= $until::TIMESTAMP))
    FROM traffic
"""
_JUDGED = """
    WITH held AS (
        SELECT query_id FROM presentations
        UNION
        SELECT line->>'query_id' FROM (
            SELECT unnest(string_split(content, chr(10))) AS line FROM release_parts WHERE part = 'queries')
        WHERE line <> '')
    SELECT DISTINCT normalised FROM queries JOIN held USING (query_id)
"""


def _read(cursor: Cursor, seed: int, limits: Limits, with_segments: bool) -> _Read:
    window = {"since": limits.since, "until": limits.until}
    ordered = {**window, "seed": str(seed)}
    table = cursor.sql(_QUERIES, params=ordered).to_arrow_table()
    segments = cursor.sql(_SEGMENTS, params=ordered).to_arrow_table()["segment"] if with_segments else None
    judged = pa.array([], pa.string())
    if limits.exclude_judged:
        judged = cursor.sql(_JUDGED).to_arrow_table()["normalised"].combine_chunks()
    empty, unknown, outside = cursor.execute(_OUTSIDE, window).fetchall()[0]
    table = table.append_column("judged", pc.is_in(table["normalised"], value_set=judged))
    return _Read(table, segments, (empty, unknown, outside), state_of(cursor, limits))


def _dimension(name: str, read: _Read, traffic: NDArray[np.int64], head: float, torso: float) -> Labels:
    if name == "band":
        return Labels(band_of(traffic, head, torso), BANDS)
    if name == "length":
        return Labels(length_of(read.table["words"].to_numpy()), LENGTHS)
    return _segments(read.segments)


def _segments(column: Any) -> Labels:
    """Segments by text, then those queries of which none is known, if there are any."""
    encoded = column.combine_chunks().dictionary_encode()
    texts: list[str] = encoded.dictionary.to_pylist()
    ordered = {text: position for position, text in enumerate(sorted(texts))}
    position = np.array([*map(ordered.__getitem__, texts), len(ordered)], np.intp)
    codes = position[encoded.indices.fill_null(len(texts)).to_numpy()]
    names = [segment_name(text) for text in ordered]
    return Labels(codes, tuple(names + [NO_SEGMENT] * bool(column.null_count)))
