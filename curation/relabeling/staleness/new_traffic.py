"""Queries that are new in the traffic: asked in the logs since the last draw, and never before."""

from __future__ import annotations

from typing import NamedTuple

from curation.store import Cursor, fetch


class NewQuery(NamedTuple):
    """A query that only the new logs have; `searches` is how often they have it."""

    normalised: str
    searches: int


def read_new_queries(cursor: Cursor) -> list[NewQuery]:
    """The queries that only the logs since the last draw have, the most asked first."""
    return fetch(cursor, NewQuery, _NEW)


# Places in the audit trail order imports and draws, whatever a clock does (see `query_traffic`).
_NEW = """
WITH placed AS (
    SELECT i.import_id, coalesce(min(e.rowid), -1) > (
        SELECT coalesce(max(rowid), -1) FROM events
        WHERE action = 'sample' AND detail->>'sample' IN (SELECT sample_id FROM samples)) AS is_new
    FROM traffic_imports i
    LEFT JOIN events e ON e.action = 'import traffic' AND e.detail->>'import' = i.import_id
    GROUP BY i.import_id)
SELECT normalised, sum(count)::BIGINT AS searches
FROM traffic JOIN placed USING (import_id)
WHERE normalised <> '' AND normalised NOT IN (SELECT normalised FROM queries)
GROUP BY normalised HAVING bool_and(is_new)
ORDER BY searches DESC, normalised
"""
