"""Ranges of queries: what sorts all judgments is asked range by range, and the engine sorts some at a time.

Ranges follow each other in the order of the ids, so that their rows, one range after the other, are in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from curation.store.files import Cursor

if TYPE_CHECKING:
    import pyarrow as pa

SHOWINGS = 100_000
"""Showings of a range, unless one query has more, where memory counts more than time: each range has its own
look at all answers."""

WITHIN = "query_id >= $first AND ($end::TEXT IS NULL OR query_id < $end)"
"""The condition that a query is in the range."""


def tables_by_range(cursor: Cursor, sql: str, showings: int | None, **parameters: Any) -> Iterator[pa.Table]:
    """The rows of a query that has the condition `WITHIN`, a table for each range, of which one at least.

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
    held = 0
    sql = "SELECT query_id, count(*) FROM presentations GROUP BY query_id ORDER BY query_id"
    for query_id, showings in cursor.execute(sql).fetchall():
        if held and held + showings > most:
            yield query_id
            held = 0
        held += showings
