"""The sampling frame: the distinct queries that can be drawn.

The random order of queries is by a hash of seed and query, computed in the database. So a sample is the same
on any machine and for any order of the log, and a larger log keeps most of the earlier sample.

The time window, the smallest count, and earlier judgments and releases narrow the sampling frame. The traffic
of a query counts how often the query and its other spellings (`queries.sampling.spellings`) were asked within
the window. The band of a query depends on all queries of the window, even queries that cannot be drawn: a
query must not move to another band because other queries were judged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.digests import json_pointer
from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Ints, Mask
from curation.queries.sampling import dimensions
from curation.queries.sampling.requests import DrawRequest, check_limits
from curation.queries.sampling.spellings import group_spellings
from curation.queries.sampling.stored_sample import SampleReport, read_frame_state
from curation.queries.sampling.strata import Labels, cross_dimensions
from curation.store import Cursor, Store

ReleasedQueries = Mapping[str, Collection[str]]
"""Release id → ids of the release's queries."""
NO_RELEASES: ReleasedQueries = {}
_IN_WINDOW = """
    normalised <> '' AND ($since::TIMESTAMP IS NULL OR time >= $since)
    AND ($until::TIMESTAMP IS NULL OR time < $until)
"""
# Random order: the lower half of the MD5 of seed and query. SHA-256 would be slower and no better.
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
_FLAGGED = """
    SELECT DISTINCT normalised FROM queries WHERE query_id IN (SELECT unnest($query_ids::VARCHAR[]))
    AND query_id NOT IN (
        SELECT query_id FROM sample_queries WHERE sample_id IS NOT DISTINCT FROM $earlier_sample)
"""
_QUERIES = f"""
    SELECT normalised, sum(count)::BIGINT AS traffic, count(*) AS rows,
           len(string_split(normalised, ' ')) AS words
    FROM traffic WHERE {_IN_WINDOW} GROUP BY normalised {_IN_ORDER}
"""  # noqa: S608  fragments from above
_SEGMENTS = _MOST_ASKED.format(value="segment")
_FIELDS = _MOST_ASKED.format(value="nullif(metadata->>$pointer, '')")
_LEFT_OUT = """
    SELECT count(*) FILTER (normalised = ''),
           count(*) FILTER (normalised <> '' AND time IS NULL AND ($since IS NOT NULL OR $until IS NOT NULL)),
           count(*) FILTER (normalised <> '' AND (time < $since::TIMESTAMP OR time >= $until::TIMESTAMP))
    FROM traffic
"""


class Frame(NamedTuple):
    """The sampling frame: the queries that can be drawn, in seeded order.

    Attributes
    ----------
    queries: normalized texts, shape (queries,).
    traffic: number of searches of each query.
    strata: stratum of each query.
    left_out: reason → number of logged rows.
    state: counts of the rows that the frame depends on, which must be the same when the sample is stored.
    grouped: number of queries that count as a more frequent spelling.
    map_id: id of the coverage map for the dimension cluster, or None.
    """

    queries: Any
    traffic: Ints
    strata: Labels
    left_out: dict[str, int]
    state: tuple[object, ...]
    grouped: int
    map_id: str | None = None


def read_frame(
    store: Store,
    request: DrawRequest,
    released: ReleasedQueries = NO_RELEASES,
    earlier: SampleReport | None = None,
    progress: Progress = silent,
) -> Frame:
    """Read the frame within the limits of a request, with its strata.

    Parameters
    ----------
    released: queries of all releases.
    earlier: an earlier sample whose queries stay in the frame even if they were judged or released since
        then, and whose coverage map is used; None uses the current map.

    Raises
    ------
    InputError: a dimension or field is unknown, the time window is empty, or the smallest count is below 1.
    RefusedError: a release is missing in `released`, there is no map of the current corpus, or the model of
        the map cannot be loaded.
    """
    earlier_map = earlier.parameters.get("coverage_map") if earlier else None
    map_id = None if earlier_map is None else str(earlier_map)
    dimensions.check_dimensions(request.strata)
    check_limits(request)
    with store.reading() as cursor:
        window = {"since": request.since, "until": request.until}
        table = _read_rows(cursor, request, released, earlier.sample_id if earlier else None)
        left_out_rows = cursor.execute(_LEFT_OUT, window).fetchall()[0]
        state = read_frame_state(cursor, request)
    spellings = len(table)
    table = _join_spellings(table, progress) if request.group_spellings else table
    traffic = table["traffic"].to_numpy()
    is_drawable, left_out = _find_drawable(table, traffic, request.min_count, left_out_rows)
    queries, grouped = table["normalised"], spellings - len(table)
    log_dimensions = [
        name for name in request.strata if name != dimensions.CLUSTER and not name.startswith(dimensions.TAG)
    ]
    labels = {name: dimensions.label_by_log(name, table, traffic) for name in log_dimensions}
    if not is_drawable.all():
        queries, traffic = queries.filter(pa.array(is_drawable)), traffic[is_drawable]
        labels = {name: Labels(label.codes[is_drawable], label.names) for name, label in labels.items()}
    for tag in dimensions.list_names(dimensions.TAG, request.strata):
        labels[f"{dimensions.TAG}{tag}"] = dimensions.label_by_tag(store, tag, queries)
    if dimensions.CLUSTER in request.strata:
        texts = queries.to_pylist()
        labels[dimensions.CLUSTER], map_id = dimensions.label_by_cluster(
            store, texts, map_id, request.model, progress
        )
    stratum_labels = cross_dimensions([labels[name] for name in request.strata])
    return Frame(queries, traffic, stratum_labels, left_out, state, grouped, map_id)


def _read_rows(cursor: Cursor, request: DrawRequest, released: ReleasedQueries, earlier: str | None) -> Any:
    """Read the queries of the time window in seeded order.

    The columns are normalised, traffic, rows and words; the most frequent segment and value of each field
    among the dimensions; and, if the request leaves out judged or released queries, judged and released,
    which are false for queries of the earlier sample.
    """
    values = {"since": request.since, "until": request.until, "seed": str(request.seed)}
    table = cursor.sql(_QUERIES, params=values).to_arrow_table()
    if "segment" in request.strata:
        segments = cursor.sql(_SEGMENTS, params=values).to_arrow_table()["value"]
        table = table.append_column("segment", segments)
    for field in dimensions.list_names(dimensions.FIELD, request.strata):
        field_values = {**values, "pointer": json_pointer(field)}
        column = cursor.sql(_FIELDS, params=field_values).to_arrow_table()["value"]
        table = table.append_column(f"{dimensions.FIELD}{field}", column)
    _refuse_unknown_fields(cursor, table)
    if request.exclude_judged or request.exclude_released:
        _refuse_newer_releases(cursor, released)
    released_ids = [query_id for query_ids in released.values() for query_id in query_ids]
    if request.exclude_judged:
        shown_ids = [query_id for (query_id,) in cursor.execute(_SHOWN).fetchall()]
        table = _add_flag(cursor, table, "judged", [*shown_ids, *released_ids], earlier)
    if request.exclude_released:
        table = _add_flag(cursor, table, "released", released_ids, earlier)
    return table


def _add_flag(cursor: Cursor, table: Any, name: str, query_ids: Sequence[str], earlier: str | None) -> Any:
    """Add a column to the frame: true for queries that have these ids and were not drawn for the earlier
    sample."""
    rows = cursor.sql(_FLAGGED, params={"query_ids": query_ids, "earlier_sample": earlier})
    texts = rows.to_arrow_table()["normalised"].combine_chunks()
    return table.append_column(name, pc.is_in(table["normalised"], value_set=texts))


def _refuse_newer_releases(cursor: Cursor, released: ReleasedQueries) -> None:
    """Reject a draw if the project has a release that is not in `released`."""
    if cursor.execute(_RELEASES).fetchall()[0][0] != len(released):
        raise RefusedError("A release was added while the sample was being drawn. Draw the sample again.")


def _refuse_unknown_fields(cursor: Cursor, table: Any) -> None:
    """Reject a request for strata by fields that no row of the traffic has."""
    empty_fields = [
        name.removeprefix(dimensions.FIELD)
        for name in table.column_names
        if name.startswith(dimensions.FIELD) and len(table) and table[name].null_count == len(table)
    ]
    if not empty_fields:
        return
    names = [name for (name,) in cursor.execute(_FIELD_NAMES).fetchall()]
    expected = (
        f"expected one of {', '.join(map(repr, names))}" if names else "the traffic has no additional fields"
    )
    unknown = [field for field in empty_fields if field not in names]
    problems = [f"the traffic has no field {field!r}; {expected}" for field in unknown]
    refuse_problems(
        problems,
        way_out="An import of a log keeps only the extra fields that you name.",
        command="`goldgrade import traffic … --map metadata=COLUMN` names a field.",
    )


def _find_drawable(
    table: Any, traffic: Ints, min_count: int, left_out_rows: Sequence[int]
) -> tuple[Mask, dict[str, int]]:
    """Find the queries that can be drawn, shape (queries,), and count the rows left out, by the first reason
    that applies.

    `left_out_rows` has the numbers of logged rows without a text, without a known time, and outside the
    window.
    """
    rows = table["rows"].to_numpy()
    is_rare = traffic < min_count
    is_judged = _read_flag(table, "judged") & ~is_rare
    is_released = _read_flag(table, "released") & ~is_rare & ~is_judged
    without_text, without_time, outside_window = left_out_rows
    reasons = {
        "empty query": without_text,
        "no known time": without_time,
        "outside the time window": outside_window,
        f"of {int(is_rare.sum()):,} queries asked fewer than {min_count:,} times": int(rows[is_rare].sum()),
        f"of {int(is_judged.sum()):,} queries that are already judged": int(rows[is_judged].sum()),
        f"of {int(is_released.sum()):,} queries that are already in a release": int(rows[is_released].sum()),
    }
    is_drawable = ~(is_rare | is_judged | is_released)
    return is_drawable, {reason: count for reason, count in reasons.items() if count}


def _read_flag(table: Any, name: str) -> Mask:
    """Read a column of truth values; a column that the table lacks counts as false for all queries."""
    has_column = name in table.column_names
    flags: Mask = table[name].to_numpy() if has_column else np.zeros(len(table), bool)
    return flags


def _join_spellings(table: Any, progress: Progress) -> Any:
    """Join the spellings of each query: add up their traffic and rows, and flag the query if any of its
    spellings is flagged."""
    leaders = group_spellings(table["normalised"].to_pylist(), table["traffic"].to_numpy(), progress=progress)
    for name in ("traffic", "rows", "judged", "released"):
        if name in table.column_names:
            totals = np.zeros(len(leaders), np.int64)
            np.add.at(totals, leaders, table[name].to_numpy())
            column = pa.array(totals > 0 if name in ("judged", "released") else totals)
            table = table.set_column(table.column_names.index(name), name, column)
    return table.filter(pa.array(leaders == np.arange(len(leaders))))
