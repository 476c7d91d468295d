"""Retired queries: queries that no new round shows and that the next release leaves out.

A retired query keeps its judgments and can be returned. Releases that contain a retired query do not change.

A lead leaves a query out by retiring it (`labeling.rounds.left_out_queries`). The query stays in its sample
as a query that was drawn and not evaluated, so that the other evaluated queries of its stratum get its weight
(`releases.search_weights`). A re-labeling returns retired queries that are asked again, except queries that
a lead left out.
"""

from __future__ import annotations

from curation.store import COMMAND_LINE, Cursor, record_event, utc_now

LEFT_OUT = "left out: "
"""The beginning of the reason of a query that a lead left out."""


def read_retired_queries(cursor: Cursor) -> dict[str, str]:
    """Read the normalised text of each query that a re-labeling retired, and the reason."""
    sql = """
        SELECT normalised, reason FROM retired_queries JOIN queries USING (query_id)
        WHERE NOT starts_with(reason, ?) ORDER BY query_id
    """
    return dict(cursor.execute(sql, [LEFT_OUT]).fetchall())


def retire_query(cursor: Cursor, query_id: str, reason: str, author: str = COMMAND_LINE) -> bool:
    """Retire a query, and return False if the query was retired already."""
    return _write_retirement(cursor, query_id, True, reason, author)


def return_query(cursor: Cursor, query_id: str, reason: str, author: str = COMMAND_LINE) -> bool:
    """Put a retired query back into the gold set, and return False if the query was not retired."""
    return _write_retirement(cursor, query_id, False, reason, author)


def _write_retirement(cursor: Cursor, query_id: str, retired: bool, reason: str, author: str) -> bool:
    sql = """
        SELECT arg_max(retired, revision), coalesce(max(revision), -1) FROM query_retirements
        WHERE query_id = ?
    """
    before, revision = cursor.execute(sql, [query_id]).fetchall()[0]
    if bool(before) == retired:
        return False
    values = [query_id, revision + 1, retired, reason, author, utc_now()]
    cursor.execute("INSERT INTO query_retirements VALUES (?, ?, ?, ?, ?, ?)", values)
    action = "retire query" if retired else "return query"
    record_event(cursor, action, {"query": query_id, "reason": reason}, author)
    return True
