"""The distinct queries of the traffic as rows of a table, in seeded order.

The random order is a hash of seed and query (`_QUERIES`), computed in the database. It depends on nothing
else, so a sample is the same on any machine and for any order of the log, and a log that has grown keeps most
of the earlier sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow.compute as pc

from curation.core.errors import RefusedError, refuse_problems
from curation.core.text import json_pointer
from curation.queries.sampling.frame.limits import Limits, ReleasedQueries, release_ids
from curation.queries.sampling.strata import FIELD, TAG, names_after
from curation.store import Cursor

_IN_WINDOW = """
    normalised <> '' AND ($since::TIMESTAMP IS NULL OR time >= $since)
    AND ($until::TIMESTAMP IS NULL OR time < $until)
"""
# In random order: the lower half of the MD5 of seed and query. A SHA-256 would be as good and slower.
_IN_ORDER = "ORDER BY md5_number_lower($seed::VARCHAR || chr(31) || normalised), normalised"
_MOST_ASKED = f"""
    WITH valued AS (
        SELECT normalised, count, {{value}} AS value FROM traffic WHERE {_IN_WINDOW}),
    asked AS (SELECT normalised, value, sum(count) AS times FROM valued GROUP BY ALL)
    SELECT first(value ORDER BY times DESC, value) FILTER (value IS NOT NULL) AS value
    FROM asked GROUP BY normalised {_IN_ORDER}
"""  # noqa: S608  fragments from above
_FIELD_NAMES = "SELECT DISTINCT unnest(json_keys(metadata)) AS name FROM traffic ORDER BY name"
_RELEASES = "SELECT count(DISTINCT release_id) FROM release_parts WHERE part = 'queries'"
_SHOWN = """
    SELECT DISTINCT query_id FROM presentations JOIN rounds USING (round_id)
    WHERE kind NOT IN ('pilot', 'practice')
"""
_HELD = """
    SELECT DISTINCT normalised FROM queries WHERE query_id IN (SELECT unnest($held::VARCHAR[]))
    AND query_id NOT IN (SELECT query_id FROM sample_queries WHERE sample_id IS NOT DISTINCT FROM $spared)
"""
_QUERIES = f"""
    SELECT normalised, sum(count)::BIGINT AS traffic, count(*) AS rows,
           len(string_split(normalised, ' ')) AS words
    FROM traffic WHERE {_IN_WINDOW} GROUP BY normalised {_IN_ORDER}
"""  # noqa: S608  fragments from above
_SEGMENTS = _MOST_ASKED.format(value="segment")
_FIELDS = _MOST_ASKED.format(value="nullif(metadata->>$pointer, '')")
_OUTSIDE = """
    SELECT count(*) FILTER (normalised = ''),
           count(*) FILTER (normalised <> '' AND time IS NULL AND ($since IS NOT NULL OR $until IS NOT NULL)),
           count(*) FILTER (normalised <> '' AND (time < $since::TIMESTAMP OR time >= $until::TIMESTAMP))
    FROM traffic
"""


class TrafficRows(NamedTuple):
    """The distinct queries, and what else a frame takes from the traffic.

    table: normalised, traffic, rows, words; with the limits for them, judged and released.
    values: segments and fields: dimension → the most frequent value of each query.
    rows_outside: logged rows without a text, without a known time, and outside the window.
    state: what all this depends on.
    """

    table: Any
    values: dict[str, Any]
    rows_outside: tuple[int, int, int]
    state: tuple[object, ...]


def state_of(cursor: Cursor, limits: Limits, by: Sequence[str]) -> tuple[object, ...]:
    """What a frame within these limits depends on: it changes whenever the frame may have."""
    tables = ["traffic_imports"]
    tables += ["rounds"] if limits.exclude_judged else []
    tables += ["releases"] if limits.exclude_judged or limits.exclude_released else []
    tables += ["query_tags"] if names_after(TAG, by) else []
    return tuple(
        int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608  names above
        for table in tables
    )


def read_traffic_rows(
    cursor: Cursor,
    seed: int,
    limits: Limits,
    by: Sequence[str],
    released: ReleasedQueries,
    spared: str | None,
) -> TrafficRows:
    """The queries asked within the window, in seeded order; see `frame.read_frame` for the parameters."""
    if limits.exclude_judged or limits.exclude_released or limits.exclude_releases:
        _refuse_newer_releases(cursor, released)
    window = {"since": limits.since, "until": limits.until}
    ordered = {**window, "seed": str(seed)}
    table = cursor.sql(_QUERIES, params=ordered).to_arrow_table()
    values = {}
    if "segment" in by:
        values["segment"] = cursor.sql(_SEGMENTS, params=ordered).to_arrow_table()["value"]
    for field in names_after(FIELD, by):
        pointed = {**ordered, "pointer": json_pointer(field)}
        values[f"{FIELD}{field}"] = cursor.sql(_FIELDS, params=pointed).to_arrow_table()["value"]
    _refuse_unknown_fields(cursor, values)
    empty, unknown, outside = cursor.execute(_OUTSIDE, window).fetchall()[0]
    table = _marked(cursor, table, limits, released, spared)
    return TrafficRows(table, values, (empty, unknown, outside), state_of(cursor, limits, by))


def _marked(
    cursor: Cursor,
    table: Any,
    limits: Limits,
    released: ReleasedQueries,
    spared: str | None,
) -> Any:
    """The table with the columns `judged` and `released`, where the limits leave such queries out."""
    every = [query_id for held in released.queries.values() for query_id in held]
    if limits.exclude_judged:
        shown = [query_id for (query_id,) in cursor.execute(_SHOWN).fetchall()]
        table = _with_held(cursor, table, "judged", [*shown, *every], spared)
    if limits.exclude_released:
        return _with_held(cursor, table, "released", every, spared)
    if limits.exclude_releases:
        releases = release_ids(released, limits.exclude_releases)
        named = [query_id for release in releases for query_id in released.queries.get(release, ())]
        return _with_held(cursor, table, "released", named, spared)
    return table


def _with_held(cursor: Cursor, table: Any, name: str, held: Sequence[str], spared: str | None) -> Any:
    """The table with a column that says which queries are among those held."""
    found = cursor.sql(_HELD, params={"held": held, "spared": spared})
    texts = found.to_arrow_table()["normalised"].combine_chunks()
    return table.append_column(name, pc.is_in(table["normalised"], value_set=texts))


def _refuse_newer_releases(cursor: Cursor, released: ReleasedQueries) -> None:
    """Stop where the project has releases that were not handed in."""
    if cursor.execute(_RELEASES).fetchall()[0][0] != len(released.queries):
        raise RefusedError("A release was added while the sample was drawn. Draw it again.")


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
    refuse_problems(
        problems,
        way_out="Further fields of a log are kept where its import names them.",
        command="`goldgrade import traffic … --metadata-field NAME` does.",
    )
