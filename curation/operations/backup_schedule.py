"""The backups that the app takes, on a schedule or as a snapshot for a person who downloads it.

The schedule takes a backup every few days in a folder that the operator names, and keeps the newest scheduled
backups; it removes no other files of the folder. The time of the next backup follows from the stored jobs, so
a restart of the app changes nothing. Two processes that serve one project take a single backup: the id of a
job is made from the id of the job before (`curation.operations.jobs`), so the second process finds the job of
the first.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path

from curation.core.errors import InputError, RefusedError
from curation.core.operation import Operation
from curation.core.progress import Progress
from curation.core.request import dump_request, option, read_request
from curation.operations.backup import Backup, back_up, sums_path
from curation.operations.jobs import Job, jobs_of, read_last_job
from curation.operations.jobs.stored import find_last_job
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, note_event, record_event, utc_now
from curation.store.settings import get_setting, put_setting

SNAPSHOT = "snapshot"
"""The event of a copy that a person may download; the copy counts as a backup once it was downloaded."""
DOWNLOADED = "snapshot downloaded"
JOB_KIND = "backup"
RETRY_AFTER = timedelta(hours=1)
"""The time from a failed backup to the next attempt of the schedule."""
_SETTING = "backup_schedule"


@dataclass(frozen=True)
class BackupRequest:
    """A request for a copy of the project.

    Attributes
    ----------
    folder: the folder of the copy.
    keep: the number of scheduled backups that stay in the folder; None asks for a snapshot.
    reason: the reason for a snapshot, which contains all sealed grades.
    """

    folder: str = ""
    keep: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class BackupSchedule:
    """The days and the hour at which the app takes a backup, and the number of backups that it keeps."""

    days: int = option(1, "Days between backups", "1 means every day.", minimum=1, maximum=31)
    hour: int = option(2, "Hour (UTC)", "The hour of the day (UTC).", minimum=0, maximum=23)
    keep: int = option(14, "Backups kept", "Older scheduled backups are removed.", minimum=1, maximum=1_000)


def take_backup(store: Store, request: BackupRequest, _progress: Progress, author: str) -> Backup:
    """Take a backup, and remove the oldest scheduled backups if there are more than `keep`.

    Raises
    ------
    InputError, RefusedError, StoreError: see `back_up`; or a snapshot has no reason, or its author is no
        lead.
    """
    folder = Path(request.folder)
    if request.keep is None and not request.reason.strip():
        raise InputError("A snapshot contains sealed grades: give a reason.")
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; expected a folder for backups.")
    store.read(require_author, author, "lead")
    if request.keep is None:
        return back_up(store, folder, author, SNAPSHOT, reason=request.reason.strip())
    backup = back_up(store, folder, author, scheduled=True)
    for name in _list_scheduled_backups(store)[request.keep :]:
        for path in (folder / name, sums_path(folder / name)):
            path.unlink(missing_ok=True)
    return backup


def read_schedule(cursor: Cursor) -> BackupSchedule | None:
    """Read the schedule; None if the app takes no backups."""
    schedule = json.loads(get_setting(cursor, _SETTING) or "null")
    return None if schedule is None else read_request(BackupSchedule, schedule)


def set_schedule(store: Store, schedule: BackupSchedule | None, by: str) -> None:
    """Store the schedule; None switches scheduled backups off.

    Raises
    ------
    InputError, RefusedError: a number is out of bounds, or `by` is not a lead.
    """
    parameters = None if schedule is None else dump_request(schedule)
    with store.transaction() as cursor:
        require_author(cursor, by, "lead")
        if parameters is not None:
            read_request(BackupSchedule, parameters)
        put_setting(cursor, _SETTING, json.dumps(parameters))
        record_event(cursor, "schedule backups", {"schedule": parameters}, by)


def find_last_scheduled_job(cursor: Cursor) -> Job | None:
    """Read the job of the last scheduled backup."""
    return find_last_job(cursor, JOB_KIND, COMMAND_LINE)


def start_due_backup(store: Store, folder: Path | None, now: datetime | None = None) -> Job | None:
    """Start the scheduled backup if it is due; None if no backup is due or other jobs are at work."""
    now = now or utc_now()
    with store.reading() as cursor:
        schedule = read_schedule(cursor)
        last_backup, last_job = find_last_scheduled_job(cursor), read_last_job(cursor)
    if folder is None or schedule is None or not _is_due(schedule, last_backup, now):
        return None
    request = dump_request(BackupRequest(str(folder), schedule.keep))
    try:
        seen_job_id = last_job.job_id if last_job else None
        return jobs_of(store).start(JOB_KIND, request, COMMAND_LINE, seen_job_id)
    except RefusedError:  # other jobs are at work, or another process has just started this job
        return None


def note_download(store: Store, name: str, annotator: str) -> None:
    """Log, once for each snapshot, that its file was downloaded, so that it counts as a backup."""
    with store.reading() as cursor:
        sql = "SELECT 1 FROM events WHERE action = ? AND detail->>'file' = ?"
        noted = cursor.execute(sql, [DOWNLOADED, name]).fetchone()
    if noted is None:
        note_event(store, DOWNLOADED, {"file": name}, annotator)


def _is_due(schedule: BackupSchedule, last_backup: Job | None, now: datetime) -> bool:
    scheduled_at = datetime.combine(now.date(), time(schedule.hour))
    scheduled_at -= timedelta(days=1 if scheduled_at > now else 0)
    scheduled_at -= timedelta(days=scheduled_at.toordinal() % schedule.days)
    if last_backup is None or last_backup.started_at < scheduled_at:
        return True
    return last_backup.outcome != "done" and now - last_backup.started_at >= RETRY_AFTER


def _list_scheduled_backups(store: Store) -> list[str]:
    """List the names of the scheduled backups, newest first."""
    scheduled = "action = 'backup' AND detail->>'scheduled' = 'true'"
    sql = f"SELECT detail->>'file' FROM events WHERE {scheduled} ORDER BY rowid DESC"  # noqa: S608
    with store.reading() as cursor:
        rows = cursor.execute(sql).fetchall()
    return [Path(name).name for (name,) in rows]


OPERATIONS = {
    "backup": Operation(
        BackupRequest,
        take_backup,
        in_progress="taking a backup",
        on_interrupt="There is no new backup. The project is unchanged.",
        first_step="copying the project and reading the copy",
    )
}
