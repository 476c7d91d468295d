"""The age of a project's last backup, as a finding of the doctor."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from curation.operations.backup_schedule import DOWNLOADED, SNAPSHOT
from curation.operations.doctor_surroundings import DoctorFinding, Level
from curation.store import Store, utc_now

MAX_BACKUP_AGE = timedelta(days=7)
_BACKUP_TIMES = """
WITH downloads AS (SELECT detail->>'file' AS file FROM events WHERE action = $downloaded)
SELECT max(happened_at) FILTER (
        action = 'backup' OR action = $snapshot AND detail->>'file' IN (SELECT file FROM downloads)
    ),
    max(happened_at) FILTER (action = $snapshot), max(happened_at) FILTER (action = 'restore') FROM events
"""


def check_backups(store: Store) -> Iterator[DoctorFinding]:
    """Find the time of the last backup."""
    with store.reading() as cursor:
        parameters = {"snapshot": SNAPSHOT, "downloaded": DOWNLOADED}
        [(backup_at, snapshot_at, restored_at)] = cursor.execute(_BACKUP_TIMES, parameters).fetchall()
    times = [time for time in (backup_at, restored_at) if time is not None]
    level: Level = "note"
    if snapshot_at is not None and snapshot_at > max(times, default=datetime.min):
        sentence = f"A snapshot of {snapshot_at:%Y-%m-%d %H:%M} UTC is ready, but was not downloaded."
    elif restored_at is not None and (backup_at is None or backup_at < restored_at):
        since = f"{restored_at:%Y-%m-%d %H:%M} UTC"
        sentence = f"The project was restored on {since}, and no backup has been taken since then."
    elif backup_at is None:
        sentence = "There is no backup of this project yet."
    else:
        sentence = f"The last backup was taken on {backup_at:%Y-%m-%d %H:%M} UTC"
        if utc_now() - backup_at > MAX_BACKUP_AGE:
            sentence += f", over {MAX_BACKUP_AGE.days} days ago."
        else:
            level, sentence = "fine", f"{sentence}."
    yield DoctorFinding(level, "backup", sentence, "" if level == "fine" else "goldgrade backup FOLDER")
