"""The schedule of backups: the app takes one every so many days, into a folder that its operator names.

What is due follows from the jobs that are stored, so a restart forgets nothing. Two processes that serve one
project take one backup: each job's id is made from the one before (`curation.operations.jobs`), so the
second one that starts the same finds it started.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path

from curation.core.errors import RefusedError
from curation.core.operation import option, read_request, written
from curation.operations.backups.request import BackupRequest
from curation.operations.jobs import Job, jobs_of, last_job
from curation.operations.jobs.stored import last_job_of
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, get_setting, put_setting, record_event, utc_now

KIND = "backup"
AGAIN = timedelta(hours=1)
"""So long after one that came to nothing the next is tried."""
_SETTING = "backup_schedule"


@dataclass(frozen=True)
class BackupSchedule:
    """When the app takes a backup, and how many it keeps."""

    days: int = option(1, "Every so many days", "1 is every day.", least=1, most=31)
    hour: int = option(2, "Hour (UTC)", "The hour of the day, by UTC.", least=0, most=23)
    keep: int = option(
        14, "Backups kept", "Older ones that the schedule wrote are removed.", least=1, most=1_000
    )


def read_schedule(cursor: Cursor) -> BackupSchedule | None:
    """The schedule; None where the app takes no backups."""
    found = json.loads(get_setting(cursor, _SETTING) or "null")
    return None if found is None else read_request(BackupSchedule, found)


def set_schedule(store: Store, schedule: BackupSchedule | None, by: str) -> None:
    """Change when the app takes backups; None is never.

    Raises
    ------
    InputError, RefusedError: a number is out of bounds, or `by` is no lead.
    """
    found = None if schedule is None else written(schedule)
    with store.transaction() as cursor:
        require_author(cursor, by, "lead")
        if found is not None:
            read_request(BackupSchedule, found)
        put_setting(cursor, _SETTING, json.dumps(found))
        record_event(cursor, "schedule backups", {"schedule": found}, by)


def last_scheduled(cursor: Cursor) -> Job | None:
    """The last backup that the schedule started."""
    return last_job_of(cursor, KIND, COMMAND_LINE)


def start_due(store: Store, folder: Path | None, now: datetime | None = None) -> Job | None:
    """Start the backup that is due; None where none is, or where other jobs are at work."""
    now = now or utc_now()
    with store.reading() as cursor:
        schedule, before, last = read_schedule(cursor), last_scheduled(cursor), last_job(cursor)
    if folder is None or schedule is None or not _is_due(schedule, before, now):
        return None
    request = written(BackupRequest(str(folder), schedule.keep))
    try:
        return jobs_of(store).start(KIND, request, COMMAND_LINE, last.job_id if last else None)
    except RefusedError:  # of jobs that are at work, or that another process has just started
        return None


def _is_due(schedule: BackupSchedule, before: Job | None, now: datetime) -> bool:
    turn = datetime.combine(now.date(), time(schedule.hour))
    turn -= timedelta(days=1 if turn > now else 0)
    turn -= timedelta(days=turn.toordinal() % schedule.days)
    if before is None or before.started_at < turn:
        return True
    return before.outcome != "done" and now - before.started_at >= AGAIN
