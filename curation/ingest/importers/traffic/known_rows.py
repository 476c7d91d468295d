"""Known rows in a new query log: rows that one of the project's earlier logs already has.

A row is known if an earlier log has the same session, time, segment, text and count, as many times as the
earlier log has the row. If the rows cannot be compared one by one, a new log that contains an earlier log is
refused.
"""

from __future__ import annotations

from curation.core.errors import RefusedError
from curation.store import Cursor

KNOWN = "row already in an earlier log: same session, time, segment, text and count"
KNOWN_ROWS = """
WITH dated AS (FROM traffic WHERE session IS NOT NULL OR time IS NOT NULL),
added AS (
    SELECT *, row_number() OVER (
        PARTITION BY session, time, segment, text, count
        ORDER BY list_position($log, import_id), line) AS place
    FROM dated WHERE list_contains($log, import_id)),
counted AS (
    SELECT session, time, segment, text, count, count(*) AS times
    FROM dated WHERE NOT list_contains($log, import_id)
    GROUP BY import_id, session, time, segment, text, count),
held AS (
    SELECT session, time, segment, text, count, max(times) AS times FROM counted GROUP BY ALL)
SELECT a.import_id, a.line FROM added a JOIN held h ON a.text = h.text AND a.count = h.count
    AND a.session IS NOT DISTINCT FROM h.session AND a.time IS NOT DISTINCT FROM h.time
    AND a.segment IS NOT DISTINCT FROM h.segment
WHERE a.place <= h.times
"""
"""SQL that selects the rows of a log that an earlier log has; `$log` lists the log's imports in order."""
MIN_COMPARED = 10
SAME_LOG = 0.95
"""Share of an earlier log's distinct rows above which a new log counts as the same log, grown."""
_GROWN_LOG = """
WITH added AS (
    SELECT session, time, segment, text, list(DISTINCT count) AS counts
    FROM traffic WHERE list_contains($log, import_id) GROUP BY ALL),
earlier AS (
    SELECT import_id, session, time, segment, text, list(DISTINCT count) AS counts
    FROM traffic WHERE NOT list_contains($log, import_id) GROUP BY ALL),
compared AS (
    SELECT e.import_id, a.text IS NOT NULL AS is_held,
        a.text IS NOT NULL AND (
            (e.session IS NULL AND e.time IS NULL) OR NOT list_has_all(e.counts, a.counts)) AS is_unclear
    FROM earlier e LEFT JOIN added a ON a.text = e.text AND a.session IS NOT DISTINCT FROM e.session
        AND a.time IS NOT DISTINCT FROM e.time AND a.segment IS NOT DISTINCT FROM e.segment)
SELECT import_id, any_value(i.source), count(*) FILTER (is_held), count(*)
FROM compared JOIN traffic_imports i USING (import_id)
GROUP BY import_id
HAVING bool_or(is_unclear) AND count(*) >= $least AND count(*) FILTER (is_held) >= $share * count(*)
ORDER BY count(*) DESC, import_id LIMIT 1
"""


def refuse_grown_log(cursor: Cursor, imports: list[str]) -> None:
    """Reject a query log that contains an earlier log whose rows cannot be compared one by one. Rows cannot
    be compared if they have neither session nor time, or if their count has changed.
    """
    values = {"log": imports, "least": MIN_COMPARED, "share": SAME_LOG}
    rows = cursor.execute(_GROWN_LOG, values).fetchall()
    if rows:
        earlier, source, matching, total = rows[0]
        raise RefusedError(
            f"This looks like the log {earlier[:8]} ({source}), exported again: it has {matching:,} of the "
            f"{total:,} different rows of that log, and not all rows can be recognized, because some have no "
            "session or time, or a changed count. Nothing was imported, because rows would count twice. "
            "Delete the earlier log first, or import all rows if both logs should count.",
            command=f"`goldgrade import traffic --delete {earlier[:8]}` deletes the earlier log; "
            "--known-rows imports all rows.",
        )
