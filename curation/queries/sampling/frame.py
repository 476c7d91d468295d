"""The sampling frame: the distinct queries that can be drawn, in seeded order, with their strata.

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
from numpy.typing import NDArray

from curation.core.digests import json_pointer
from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.queries.requests import DrawRequest, check_limits
from curation.queries.sampling.cluster_strata import cluster_strata
from curation.queries.sampling.designs import (
    BANDS,
    CLUSTER,
    FIELD,
    LENGTHS,
    TAG,
    Labels,
    band_of,
    check_dimensions,
    cross,
    length_of,
    names_after,
    none_name,
    value_name,
)
from curation.queries.sampling.spellings import group_spellings
from curation.queries.sampling.stored_sample import SampleReport, state_of
from curation.queries.tag_rules import tag_texts
from curation.store import Cursor, Store

ReleasedQueries = Mapping[str, Collection[str]]
"""Release id → ids of the release's queries."""
NO_RELEASES: ReleasedQueries = {}
_IN_WINDOW = """
    normalised <> '' AND ($since::TIMESTAMP IS NULL OR time >= $since)
    AND ($until::TIMESTAMP IS NULL OR time < $until)
"""
# Random order: the lower half of the MD5 of seed and query. SHA-256 would be as good and slower.
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


class Frame(NamedTuple):
    """The sampling frame: the queries that can be drawn, in seeded order.

    queries: normalized texts, shape (queries,).
    traffic: number of searches of each query.
    strata: stratum of each query.
    left_out: reason → number of logged rows.
    state: counts of the rows that the frame depends on, which must be the same when the sample is stored.
    grouped: number of queries that count as a more frequent spelling. map_id: id of the coverage map for the
    dimension cluster, or None.
    """

    queries: Any
    traffic: NDArray[np.int64]
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
    by = request.strata
    map_id = earlier.parameters.get("coverage_map") if earlier else None
    check_dimensions(by)
    check_limits(request)
    with store.reading() as cursor:
        window = {"since": request.since, "until": request.until}
        table = _read_rows(cursor, request, released, earlier.sample_id if earlier else None)
        outside = cursor.execute(_OUTSIDE, window).fetchall()[0]
        state = state_of(cursor, request)
    logged = len(table)
    table = _group_spellings(table, progress) if request.group_spellings else table
    traffic = table["traffic"].to_numpy()
    kept, left_out = _find_drawable(table, traffic, request.min_count, outside)
    queries, grouped = table["normalised"], logged - len(table)
    of_log = [name for name in by if name != CLUSTER and not name.startswith(TAG)]
    labels = {name: _log_dimension(name, table, traffic) for name in of_log}
    if not kept.all():
        queries, traffic = queries.filter(pa.array(kept)), traffic[kept]
        labels = {name: Labels(label.codes[kept], label.names) for name, label in labels.items()}
    for tag in names_after(TAG, by):
        labels[f"{TAG}{tag}"] = _tag_labels(store, tag, queries)
    if CLUSTER in by:
        texts = queries.to_pylist()
        labels[CLUSTER], map_id = cluster_strata(store, texts, map_id, request.model, progress)
    return Frame(queries, traffic, cross([labels[name] for name in by]), left_out, state, grouped, map_id)


def _read_rows(cursor: Cursor, request: DrawRequest, released: ReleasedQueries, spared: str | None) -> Any:
    """Read the queries of the time window in seeded order.

    The columns are normalised, traffic, rows and words; the most frequent segment and value of each field
    among the dimensions; and, if the request leaves out judged or released queries, judged and released,
    which are false for queries of the sample `spared`.
    """
    by = request.strata
    ordered = {"since": request.since, "until": request.until, "seed": str(request.seed)}
    table = cursor.sql(_QUERIES, params=ordered).to_arrow_table()
    if "segment" in by:
        table = table.append_column(
            "segment", cursor.sql(_SEGMENTS, params=ordered).to_arrow_table()["value"]
        )
    for field in names_after(FIELD, by):
        pointed = {**ordered, "pointer": json_pointer(field)}
        values = cursor.sql(_FIELDS, params=pointed).to_arrow_table()["value"]
        table = table.append_column(f"{FIELD}{field}", values)
    _refuse_unknown_fields(cursor, table)
    if request.exclude_judged or request.exclude_released:
        _refuse_newer_releases(cursor, released)
    in_releases = [query_id for query_ids in released.values() for query_id in query_ids]
    if request.exclude_judged:
        shown = [query_id for (query_id,) in cursor.execute(_SHOWN).fetchall()]
        table = _with_mark(cursor, table, "judged", [*shown, *in_releases], spared)
    if request.exclude_released:
        table = _with_mark(cursor, table, "released", in_releases, spared)
    return table


def _with_mark(cursor: Cursor, table: Any, name: str, query_ids: Sequence[str], spared: str | None) -> Any:
    """Add a column that marks the queries with the given ids."""
    rows = cursor.sql(_HELD, params={"held": query_ids, "spared": spared})
    texts = rows.to_arrow_table()["normalised"].combine_chunks()
    return table.append_column(name, pc.is_in(table["normalised"], value_set=texts))


def _refuse_newer_releases(cursor: Cursor, released: ReleasedQueries) -> None:
    """Refuse a draw if the project has a release that is not in `released`."""
    if cursor.execute(_RELEASES).fetchall()[0][0] != len(released):
        raise RefusedError("A release was added while the sample was drawn. Draw the sample again.")


def _refuse_unknown_fields(cursor: Cursor, table: Any) -> None:
    """Refuse fields that are in no row of the traffic."""
    empty = [
        name.removeprefix(FIELD)
        for name in table.column_names
        if name.startswith(FIELD) and len(table) and table[name].null_count == len(table)
    ]
    if not empty:
        return
    known = [name for (name,) in cursor.execute(_FIELD_NAMES).fetchall()]
    have = f"expected one of {', '.join(map(repr, known))}" if known else "it has no further fields"
    problems = [f"the traffic has no field {field!r}; {have}" for field in empty if field not in known]
    refuse_problems(
        problems,
        way_out="An import of a log keeps the further fields that it names.",
        command="`goldgrade import traffic … --map metadata=COLUMN` names a field.",
    )


def _find_drawable(
    table: Any, traffic: NDArray[np.int64], min_count: int, outside: Sequence[int]
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Find the queries that can be drawn, shape (queries,), and count the left-out rows by their first
    reason.

    `outside` has the numbers of logged rows without a text, without a known time, and outside the window.
    """
    rows = table["rows"].to_numpy()
    none: NDArray[np.bool_] = np.zeros(len(traffic), bool)
    rare = traffic < min_count
    judged, released = (
        table[name].to_numpy() if name in table.column_names else none for name in ("judged", "released")
    )
    judged = judged & ~rare
    released = released & ~rare & ~judged
    empty, unknown, outside_window = outside
    reasons = {
        "empty query": empty,
        "no known time": unknown,
        "outside the time window": outside_window,
        f"of {int(rare.sum()):,} queries asked fewer than {min_count:,} times": int(rows[rare].sum()),
        f"of {int(judged.sum()):,} queries judged already": int(rows[judged].sum()),
        f"of {int(released.sum()):,} queries in a release already": int(rows[released].sum()),
    }
    return ~(rare | judged | released), {reason: count for reason, count in reasons.items() if count}


def _group_spellings(table: Any, progress: Progress) -> Any:
    """Join the spellings of a query, and add up traffic and rows. A mark of one spelling holds for all
    spellings.
    """
    leaders = group_spellings(table["normalised"].to_pylist(), table["traffic"].to_numpy(), progress=progress)
    for name in ("traffic", "rows", "judged", "released"):
        if name in table.column_names:
            total = np.zeros(len(leaders), np.int64)
            np.add.at(total, leaders, table[name].to_numpy())
            column = pa.array(total > 0 if name in ("judged", "released") else total)
            table = table.set_column(table.column_names.index(name), name, column)
    return table.filter(pa.array(leaders == np.arange(len(leaders))))


def _log_dimension(name: str, table: Any, traffic: NDArray[np.int64]) -> Labels:
    if name == "band":
        return Labels(band_of(traffic), BANDS)
    if name == "length":
        return Labels(length_of(table["words"].to_numpy()), LENGTHS)
    return _most_asked(table[name], name.removeprefix(FIELD))


def _most_asked(column: Any, field: str) -> Labels:
    """Label queries by values, which are ordered by text. Queries without a value get the last label."""
    encoded = column.combine_chunks().dictionary_encode()
    texts: list[str] = encoded.dictionary.to_pylist()
    ordered = {text: position for position, text in enumerate(sorted(texts))}
    position = np.array([*map(ordered.__getitem__, texts), len(ordered)], np.intp)
    codes = position[encoded.indices.fill_null(len(texts)).to_numpy()]
    names = [value_name(field, text) for text in ordered]
    if column.null_count:
        names.append(none_name(field))
    return Labels(codes, tuple(names))


def _tag_labels(store: Store, tag: str, queries: Any) -> Labels:
    present = tag_texts(store, tag, queries.to_pylist())
    return Labels(np.where(present, 0, 1).astype(np.intp), (value_name("tag", tag), f"not {tag}"))
