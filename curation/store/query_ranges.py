"""SQL over judgments by ranges of query ids, or over the judgments of only one query.

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

SHOWINGS = 100_000
"""Maximum number of shown items in a range of query ids, unless a single query has more.

Smaller ranges take less memory but more time, because the SQL of each range reads all answers.
"""
WITHIN = "query_id >= $first AND ($end::TEXT IS NULL OR query_id < $end)"
"""SQL condition that the query id lies in the range."""
_OF_JUDGMENTS = (
    *("live_presentations", "presentation_states", "current_judgments", "relabeling_progress"),
    *("eligible_judgments", "counted_judgments", "current_adjudications", "counted_adjudications"),
)
"""Views of judgments, in an order in which each view comes after the views that it reads."""
_CUT_DOWN = (
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
_VIEWS = "SELECT view_name, sql FROM duckdb_views() WHERE list_contains(?::TEXT[], view_name)"
_CREATED = re.compile(r"CREATE VIEW \w+ AS ")


def tables_by_range(cursor: Cursor, sql: str, showings: int | None, **parameters: Any) -> Iterator[pa.Table]:
    """Yield the rows of SQL that contains the condition `WITHIN`: one table for each range of query ids.

    Parameters
    ----------
    showings: maximum number of shown items in a range; None for a single range.
    """
    firsts = ["", *(_firsts(cursor, showings) if showings else ())]
    for first, end in pairwise([*firsts, None]):
        asked = {"first": first, "end": end, **parameters}
        yield cursor.sql(sql, params=asked).to_arrow_table()
        if len(firsts) > 1:
            give_back(cursor)


def give_back(cursor: Cursor) -> None:
    """Return the engine's unused memory to the system.

    DuckDB returns memory when its memory limit is set, so the limit is set to its present value.
    """
    cursor.execute("RESET memory_limit")


def of_one_query(cursor: Cursor, sql: str) -> str:
    """Change the SQL so that all tables and views of judgments contain only the query `$query`."""
    texts = dict(cursor.execute(_VIEWS, [list(_OF_JUDGMENTS)]).fetchall())
    views = (f"{name} AS ({_CREATED.sub('', texts[name]).rstrip(';')})" for name in _OF_JUDGMENTS)
    return f"WITH {', '.join([*_CUT_DOWN, *views])} FROM ({sql})"


def _firsts(cursor: Cursor, most: int) -> Iterator[str]:
    """Yield the first query id of each range except the first range."""
    [(number,)] = cursor.execute("SELECT count(*) FROM presentations").fetchall()
    if number <= most:
        return
    showings_so_far = 0
    sql = "SELECT query_id, count(*) FROM presentations GROUP BY query_id ORDER BY query_id"
    for query_id, showings in cursor.execute(sql).fetchall():
        if showings_so_far and showings_so_far + showings > most:
            yield query_id
            showings_so_far = 0
        showings_so_far += showings
