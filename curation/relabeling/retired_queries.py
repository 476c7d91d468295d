"""Retired queries: no round shows them, and the next release does not have them.

A retired query keeps its judgments and can come back. Releases that have it stay as they are.
"""

from __future__ import annotations

from curation.store import COMMAND_LINE, Cursor, record_event, utc_now


def retired_queries(cursor: Cursor) -> dict[str, str]:
    """Normalised text of each retired query → why it was retired."""
    sql = "SELECT normalised, reason FROM retired_queries JOIN queries USING (query_id) ORDER BY query_id"
    return dict(cursor.execute(sql).fetchall())


def retire_query(cursor: Cursor, query_id: str, reason: str, author: str = COMMAND_LINE) -> bool:
    """Take a query out of play; says whether it was in play."""
    return _write_retirement(cursor, query_id, True, reason, author)


def return_query(cursor: Cursor, query_id: str, reason: str, author: str = COMMAND_LINE) -> bool:
    """Bring a retired query back into play; says whether it was retired."""
    return _write_retirement(cursor, query_id, False, reason, author)


def _write_retirement(cursor: Cursor, query_id: str, retired: bool, reason: str, author: str) -> bool:
    sql = """
        SELECT arg_max(retired, revision), coalesce(max(revision), -1) FROM query_retirements
        WHERE query_id = ?
    """
    before, revision = cursor.execute(sql, [query_id]).fetchall()[0]
    if bool(before) == retired:
        return False
    cursor.execute(
        "INSERT INTO query_retirements VALUES (?, ?, ?, ?, ?, ?)",
        [query_id, revision + 1, retired, reason, author, utc_now()],
    )
    action = "retire query" if retired else "return query"
    record_event(cursor, action, {"query": query_id, "reason": reason}, author)
    return True
