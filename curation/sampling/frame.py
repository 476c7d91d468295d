"""The frame: the distinct queries that can be drawn, in seeded order, with what strata are made of.

Time window, minimum count, earlier judgments and releases narrow it. A query's traffic is what it was asked
within the window, with that of its other spellings (`sampling.spellings`), and its band is its place among
all queries of the window, whether they can be drawn or not: what was judged already must not make a torso
query head.

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

from curation.errors import InputError, NotFoundError
from curation.progress import Progress, silent
from curation.releases.frozen import list_releases
from curation.sampling.bands import BANDS, band_of
from curation.sampling.spellings import group_spellings
from curation.sampling.strata import (
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
from curation.store import Cursor, Store, get_setting


@dataclass(frozen=True)
class Limits:
    """What of the traffic can be drawn; estimates from the sample then speak of that part alone.

    Attributes
    ----------
    since, until: times, UTC; `until` itself is outside. With either, rows without a known time are too.
    min_count: how often a query must have been asked within the window.
    exclude_judged: leave out queries that a round but for pilots and practice shows, or that a release holds.
    group_spellings: draw near-identical spellings as one query, the most asked of them.
    exclude_released: leave out queries that any release holds.
    exclude_releases: leave out queries that these releases hold, by name or release id.
    """

    since: datetime | None = None
    until: datetime | None = None
    min_count: int = 1
    exclude_judged: bool = False
    group_spellings: bool = True
    exclude_released: bool = False
    exclude_releases: Sequence[str] = ()


class Dimensions(NamedTuple):
    """What strata are made of.

    by: the dimensions, crossed in this order.
    head, torso: shares of traffic at which these bands end.
    model: embedding model of the tags that need one.
    """

    by: Sequence[str]
    head: float
    torso: float
    model: str


class Frame(NamedTuple):
    """The queries that can be drawn, in seeded order.

    queries: normalised texts, shape (queries,).
    traffic: how often each was asked.
    strata: the stratum of each.
    left_out: reason → number of logged rows.
    state: what all this rests on, to be found unchanged when the sample is kept.
    grouped: queries that count as another's spelling.
    releases: ids of the releases that were left out by name.
    """

    queries: Any
    traffic: NDArray[np.int64]
    strata: Labels
    left_out: dict[str, int]
    state: tuple[object, ...]
    grouped: int
    releases: list[str]


class _Read(NamedTuple):
    """`values` are the segments and fields: dimension → the most frequent value of each query."""

    table: Any
    values: dict[str, Any]
    rows_outside: tuple[int, int, int]
    state: tuple[object, ...]
    releases: list[str]


def read_frame(
    store: Store,
    seed: int,
    limits: Limits,
    dimensions: Dimensions,
    spared: str | None = None,
    progress: Progress = silent,
) -> Frame:
    """The frame within these limits, with strata by these dimensions.

    Parameters
    ----------
    spared: a sample whose queries are not left out for having been judged or released since.

    Raises
    ------
    InputError: unknown dimensions or fields, bands that are none, an empty window, or a minimum below 1.
    NotFoundError: there is no such release.
    RefusedError: a tag needs a corpus, and there is none.
    """
    check_dimensions(dimensions.by)
    _check(limits)
    with store.reading() as cursor:
        read = _read(cursor, seed, limits, dimensions.by, spared)
    logged = len(read.table)
    read = _grouped(read, progress) if limits.group_spellings else read
    grouped = logged - len(read.table)
    traffic = read.table["traffic"].to_numpy()
    kept, left_out = _within(read, traffic, limits)
    queries = read.table["normalised"]
    labels = {name: _dimension(name, read, traffic, dimensions) for name in _without_tags(dimensions.by)}
    if not kept.all():
        queries, traffic = queries.filter(pa.array(kept)), traffic[kept]
        labels = {name: Labels(found.codes[kept], found.names) for name, found in labels.items()}
    for tag in names_after(TAG, dimensions.by):
        labels[f"{TAG}{tag}"] = _tagged(store, tag, queries, dimensions.model, progress)
    strata = cross([labels[name] for name in dimensions.by])
    return Frame(queries, traffic, strata, left_out, read.state, grouped, read.releases)


def _without_tags(by: Sequence[str]) -> list[str]:
    return [name for name in by if not name.startswith(TAG)]


def _within(
    read: _Read, traffic: NDArray[np.int64], limits: Limits
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


def _grouped(read: _Read, progress: Progress) -> _Read:
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


def state_of(cursor: Cursor, limits: Limits, by: Sequence[str]) -> tuple[object, ...]:
    """What a frame within these limits depends on: it changes whenever the frame may have."""
    tables = ["traffic_imports"]
    tables += ["rounds"] if limits.exclude_judged else []
    tables += ["releases"] if limits.exclude_judged or limits.exclude_released else []
    tagged = bool(names_after(TAG, by))
    tables += ["query_tags"] if tagged else []
    counts = [
        int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608  names above
        for table in tables
    ]
    return (*counts, *([get_setting(cursor, "corpus")] if tagged else []))


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
_MOST_ASKED = f"""
    WITH valued AS (
        SELECT normalised, count, {{value}} AS value FROM traffic WHERE {_IN_WINDOW}),
    asked AS (SELECT normalised, value, sum(count) AS times FROM valued GROUP BY ALL)
    SELECT first(value ORDER BY times DESC, value) FILTER (value IS NOT NULL) AS value
    FROM asked GROUP BY normalised {_IN_ORDER}
"""  # noqa: S608  fragments from above
_SEGMENTS = _MOST_ASKED.format(value="segment")
_FIELDS = _MOST_ASKED.format(value="nullif(metadata->>$pointer, '')")
_FIELD_NAMES = "SELECT DISTINCT unnest(json_keys(metadata)) AS name FROM traffic ORDER BY name"
_OUTSIDE = """
    SELECT count(*) FILTER (normalised = ''),
           count(*) FILTER (normalised <> '' AND time IS NULL AND ($since IS NOT NULL OR $until IS NOT NULL)),
           count(*) FILTER (normalised <> '' AND (time < $since::TIMESTAMP OR time >= $until::TIMESTAMP))
    FROM traffic
"""
_IN_RELEASES = """
    SELECT line->>'query_id' AS query_id FROM (
        SELECT unnest(string_split(content, chr(10))) AS line FROM release_parts
        WHERE part = 'queries' AND ($releases::VARCHAR[] IS NULL OR release_id IN (SELECT
        unnest($releases::VARCHAR[]))))
    WHERE line <> ''
"""
_JUDGED = f"""
    SELECT query_id FROM presentations JOIN rounds USING (round_id) WHERE kind NOT IN ('pilot', 'practice')
    UNION ALL {_IN_RELEASES}
"""  # noqa: S608  fragment from above
_HELD = """
    WITH held AS ({held})
    SELECT DISTINCT normalised FROM queries JOIN held USING (query_id)
    WHERE query_id NOT IN (SELECT query_id FROM sample_queries WHERE sample_id IS NOT DISTINCT FROM $spared)
"""


def _read(cursor: Cursor, seed: int, limits: Limits, by: Sequence[str], spared: str | None) -> _Read:
    window = {"since": limits.since, "until": limits.until}
    ordered = {**window, "seed": str(seed)}
    releases = _release_ids(cursor, limits.exclude_releases)
    table = cursor.sql(_QUERIES, params=ordered).to_arrow_table()
    values = {}
    if "segment" in by:
        values["segment"] = cursor.sql(_SEGMENTS, params=ordered).to_arrow_table()["value"]
    for field in names_after(FIELD, by):
        pointed = {**ordered, "pointer": _pointer(field)}
        values[f"{FIELD}{field}"] = cursor.sql(_FIELDS, params=pointed).to_arrow_table()["value"]
    _refuse_unknown_fields(cursor, values)
    empty, unknown, outside = cursor.execute(_OUTSIDE, window).fetchall()[0]
    if limits.exclude_judged:
        table = _marked(cursor, table, "judged", _JUDGED, None, spared)
    if limits.exclude_released or releases:
        wanted = None if limits.exclude_released else releases
        table = _marked(cursor, table, "released", _IN_RELEASES, wanted, spared)
    state = state_of(cursor, limits, by)
    return _Read(table, values, (empty, unknown, outside), state, releases)


def _marked(
    cursor: Cursor, table: Any, name: str, held: str, releases: list[str] | None, spared: str | None
) -> Any:
    """The table with a column that says which queries are held."""
    found = cursor.sql(_HELD.format(held=held), params={"releases": releases, "spared": spared})
    texts = found.to_arrow_table()["normalised"].combine_chunks()
    return table.append_column(name, pc.is_in(table["normalised"], value_set=texts))


def _release_ids(cursor: Cursor, wanted: Sequence[str]) -> list[str]:
    """The ids of releases given by name or id, sorted."""
    if not wanted:
        return []
    releases = list_releases(cursor)
    ids = {row.name: row.release_id for row in releases} | {
        row.release_id: row.release_id for row in releases
    }
    unknown = [name for name in wanted if name not in ids]
    if unknown:
        have = f"It has {', '.join(row.name for row in releases)}." if releases else "It has none yet."
        raise NotFoundError(f"The project has no release {', '.join(map(repr, unknown))}. {have}")
    return sorted({ids[name] for name in wanted})


def _pointer(field: str) -> str:
    """A JSON pointer (RFC 6901) to a field of an object, whatever signs its name holds."""
    return "/" + field.replace("~", "~0").replace("/", "~1")


def _refuse_unknown_fields(cursor: Cursor, values: dict[str, Any]) -> None:
    """Fields without any value may be unknown: look at all that the traffic has."""
    empty = [
        name.removeprefix(FIELD)
        for name, column in values.items()
        if name.startswith(FIELD) and len(column) and column.null_count == len(column)
    ]
    if not empty:
        return
    known = [name for (name,) in cursor.execute(_FIELD_NAMES).fetchall()]
    have = f"expected one of {', '.join(map(repr, known))}" if known else "it has no further fields"
    problems = [f"the traffic has no field {field!r}; {have}" for field in empty if field not in known]
    if problems:
        raise InputError(
            problems,
            way_out="A log's further fields come in with `goldset import traffic … --metadata-field NAME`.",
        )


def _dimension(name: str, read: _Read, traffic: NDArray[np.int64], dimensions: Dimensions) -> Labels:
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
    return Labels(codes, tuple(names + [none_name(field)] * bool(column.null_count)))


def _tagged(store: Store, tag: str, queries: Any, model: str, progress: Progress) -> Labels:
    from curation.sampling.tags import tag_texts

    present = tag_texts(store, tag, queries.to_pylist(), progress, model)
    return Labels(np.where(present, 0, 1).astype(np.intp), (tag, f"not {tag}"))
