"""Judgments query by query: all of them in ranges of queries, or the views of one query alone.

What sorts all judgments is asked range by range, and the engine sorts some at a time. Ranges follow each
other in the order of the ids, so that their rows, one range after the other, are in order. For one query the
views that say what counts are asked on tables that are cut down to it first.
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
"""Showings of a range, unless one query has more, where memory counts more than time: each range has its own
look at all answers."""
WITHIN = "query_id >= $first AND ($end::TEXT IS NULL OR query_id < $end)"
"""The condition that a query is in the range."""
_OF_JUDGMENTS = (
    *("live_presentations", "presentation_states", "current_judgments", "relabeling_progress"),
    *("eligible_judgments", "counted_judgments", "current_adjudications", "counted_adjudications"),
)
"""The views, each after those that it reads."""
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
    """The rows of a query that has the condition `WITHIN`: a table for each range, and at least one.

    Parameters
    ----------
    showings: of a range; None: all are in one.
    """
    firsts = ["", *(_firsts(cursor, showings) if showings else ())]
    for first, end in pairwise([*firsts, None]):
        asked = {"first": first, "end": end, **parameters}
        yield cursor.sql(sql, params=asked).to_arrow_table()
        if len(firsts) > 1:
            give_back(cursor)


def give_back(cursor: Cursor) -> None:
    """Let the system have the memory that the engine no longer uses; it keeps what a large sort took.

    The engine does so when its limit is set; it is set to what it is.
    """
    cursor.execute("RESET memory_limit")


def _firsts(cursor: Cursor, most: int) -> Iterator[str]:
    """The first query of each range but the first."""
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


def of_one_query(cursor: Cursor, sql: str) -> str:
    """The SQL with all tables and views of judgments cut down to the query `$query`."""
    texts = dict(cursor.execute(_VIEWS, [list(_OF_JUDGMENTS)]).fetchall())
    views = (f"{name} AS ({_CREATED.sub('', texts[name]).rstrip(';')})" for name in _OF_JUDGMENTS)
    return f"WITH {', '.join([*_CUT_DOWN, *views])} FROM ({sql})"
