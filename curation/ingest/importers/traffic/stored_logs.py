"""A project's stored query logs, which a lead can list and delete."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.errors import NotFoundError, RefusedError
from curation.core.text import join_names
from curation.ingest.importers.traffic.known_rows import KNOWN
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, record_event

_TABLES = ("traffic", "traffic_set_aside", "traffic_files", "traffic_personal_data", "traffic_imports")
_LOGS = """
WITH files AS (SELECT DISTINCT import_id, log_id FROM traffic_files),
counted AS (
    SELECT import_id, sum(count)::BIGINT AS traffic, min(time) AS first, max(time) AS last
    FROM traffic GROUP BY import_id)
SELECT min_by(i.import_id, i.imported_at), any_value(i.source), sum(i.rows)::BIGINT,
       coalesce(sum(c.traffic), 0)::BIGINT, min(c.first), max(c.last), min(i.imported_at),
       (SELECT count(DISTINCT sample_id) FROM sample_logs s
        WHERE list_contains(list(i.import_id), s.import_id)),
       coalesce(sum((i.left_out->>$known)::BIGINT), 0)::BIGINT, max(i.imported_at), list(i.import_id)
FROM traffic_imports i LEFT JOIN counted c USING (import_id) LEFT JOIN files f USING (import_id)
GROUP BY coalesce(f.log_id, i.import_id) ORDER BY min(i.imported_at), 1
"""


class StoredLog(NamedTuple):
    """One of the project's query logs.

    Attributes
    ----------
    rows: number of imported rows. traffic: sum of the rows' counts.
    import_id: id of the log's first import.
    first, last: the earliest and the latest time in the log, UTC; None without times.
    samples: number of samples that were drawn while the project had the log.
    known: number of rows that were left out because an earlier log had the same rows.
    imported_at, read_at: time of the first import of the log, and time of the last import.
    """

    import_id: str
    source: str
    rows: int
    traffic: int
    first: datetime | None
    last: datetime | None
    imported_at: datetime
    samples: int
    known: int
    read_at: datetime
    imports: list[str]

    @property
    def label(self) -> str:
        """Return the beginning of the log's id, and its source."""
        return f"{self.import_id[:8]} ({self.source})"


def read_stored_logs(cursor: Cursor) -> list[StoredLog]:
    """Return the project's query logs, oldest first."""
    return [StoredLog(*row) for row in cursor.execute(_LOGS, {"known": KNOWN}).fetchall()]


def delete_log(store: Store, log: str, reason: str = "", author: str = COMMAND_LINE) -> StoredLog:
    """Delete a query log and its rows; samples from the log keep their queries and probabilities.

    Parameters
    ----------
    log: id of the log's import, or the beginning of the id.

    Raises
    ------
    NotFoundError: no log's id, or more than one log's id, begins with `log`; or the project does not know the
    author.
    RefusedError: the author is not a lead, or the import of a later log left out rows that this log has.
    """
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        logs = read_stored_logs(cursor)
        matching = [log_row for log_row in logs if log_row.import_id.startswith(log) and log]
        if len(matching) != 1:
            problem = "Several logs begin" if matching else "No log begins"
            labels = [log_row.label for log_row in matching or logs]
            raise NotFoundError(f"{problem} with {log!r}. The project has {join_names(labels, 8) or 'none'}.")
        [deleted] = matching
        later_candidates = [log_row for log_row in logs if log_row is not deleted and log_row.known]
        later_logs = [other.label for other in later_candidates if other.read_at > deleted.imported_at]
        if later_logs:
            raise RefusedError(
                f"{join_names(later_logs, 8)} left out rows that are only in {deleted.source}: "
                "these rows would be lost. Delete the later log first, then this log, and import the later "
                "log again."
            )
        for table in _TABLES:
            cursor.execute(f"DELETE FROM {table} WHERE list_contains(?, import_id)", [deleted.imports])  # noqa: S608
        detail = {"import": deleted.import_id, "source": deleted.source, "rows": deleted.rows}
        record_event(cursor, "delete traffic", detail | {"reason": reason}, author)
    return deleted
