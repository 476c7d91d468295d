"""SQL over judgments that, to save memory, is limited to a range of query ids or to one query.

A large sort of all judgments is divided into ranges of query ids, so that it takes less memory. The ranges
follow the order of the query ids, so that the joined rows are sorted. For one query, all tables and views of
judgments are first reduced to the rows of this query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from curation.store.project_file import Cursor

if TYPE_CHECKING:
    import pyarrow as pa

MAX_PRESENTATIONS = 100_000
"""Maximum number of shown items in a range of query ids, unless a single query has more.

Smaller ranges take less memory but more time, because the SQL of each range reads all answers.
"""
# SQL condition that the query id is in the range
WITHIN = "query_id >= $first AND ($end::TEXT IS NULL OR query_id < $end)"
# Views of judgments, in an order in which each view comes after the views that it reads
_JUDGMENT_VIEWS = (
    *("live_presentations", "presentation_states", "current_judgments", "relabeling_progress"),
    *("eligible_judgments", "counted_judgments", "current_adjudications", "counted_adjudications"),
)
_REDUCED_TABLES = (
    "presentations AS MATERIALIZED (FROM main.presentations WHERE query_id = $query)",
    "judgment_events AS MATERIALIZED "
    "(SELECT *, rowid FROM main.judgment_events SEMI JOIN presentations USING (presentation_id))",
    "adjudications AS MATERIALIZED (SELECT *, rowid FROM main.adjudications WHERE query_id = $query)",
    "relabeling_pairs AS (FROM main.relabeling_pairs WHERE query_id = $query)",
    "known_answers AS (FROM main.known_answers WHERE query_id = $query)",
    "documents_of AS (SELECT document_id FROM presentations UNION SELECT document_id FROM adjudications)",
    "snapshot_documents AS MATERIALIZED "
    "(FROM main.snapshot_documents SEMI JOIN documents_of USING (document_id))",
)
_VIEW_SQL = "SELECT view_name, sql FROM duckdb_views() WHERE list_contains(?::TEXT[], view_name)"
_CREATE_VIEW = re.compile(r"CREATE VIEW \w+ AS ")


def read_by_range(cursor: Cursor, sql: str, max_items: int | None, **parameters: Any) -> Iterator[pa.Table]:
    """Yield the rows of SQL with the condition `WITHIN`, as one table for each range of query ids.

    Parameters
    ----------
    max_items: maximum number of shown items in a range; None for a single range.
    """
    starts = ["", *(_find_range_starts(cursor, max_items) if max_items else ())]
    for first, end in pairwise([*starts, None]):
        values = {"first": first, "end": end, **parameters}
        yield cursor.sql(sql, params=values).to_arrow_table()
        if len(starts) > 1:
            release_memory(cursor)


def release_memory(cursor: Cursor) -> None:
    """Return the engine's unused memory to the system.

    DuckDB returns memory when its memory limit is set, so the limit is set to its present value.
    """
    cursor.execute("RESET memory_limit")


def restrict_to_query(cursor: Cursor, sql: str) -> str:
    """Rewrite SQL so that all tables and views of judgments contain only the query `$query`."""
    view_texts = dict(cursor.execute(_VIEW_SQL, [list(_JUDGMENT_VIEWS)]).fetchall())
    views = (f"{name} AS ({_CREATE_VIEW.sub('', view_texts[name]).rstrip(';')})" for name in _JUDGMENT_VIEWS)
    return f"WITH {', '.join([*_REDUCED_TABLES, *views])} FROM ({sql})"


def _find_range_starts(cursor: Cursor, maximum: int) -> Iterator[str]:
    """Yield the first query id of each range except the first."""
    [(total,)] = cursor.execute("SELECT count(*) FROM presentations").fetchall()
    if total <= maximum:
        return
    size = 0
    sql = "SELECT query_id, count(*) FROM presentations GROUP BY query_id ORDER BY query_id"
    for query_id, presentations in cursor.execute(sql).fetchall():
        if size and size + presentations > maximum:
            yield query_id
            size = 0
        size += presentations
