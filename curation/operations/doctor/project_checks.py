"""What is in a project that can be read: its rows, versions, releases, jobs, backups and times."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import duckdb

from curation import __version__
from curation.core.errors import CurationError
from curation.core.text import amount
from curation.ingest.importers.left.reading import changed_files
from curation.operations.backups.content import damage_of_blocks, read_all_rows
from curation.operations.backups.request import DOWNLOADED, SNAPSHOT
from curation.operations.doctor.findings import DoctorFinding, megabytes
from curation.operations.jobs.stored import last_jobs
from curation.releases.release_rows import list_releases
from curation.releases.verify import verify
from curation.store import Store, get_setting, utc_now

OLDEST_BACKUP = timedelta(days=7)
OLDEST_DRILL = timedelta(days=90)
MINUTES_AHEAD = timedelta(minutes=5)


def read_everything(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        rows = read_all_rows(cursor)
    damage = damage_of_blocks(store.damaged_blocks)
    if damage:
        yield DoctorFinding("problem", "file", damage, "goldgrade --project NEW restore FILE")
    sentence = f"All {amount(sum(rows.values()), 'row')} of {len(rows)} tables can be read"
    yield DoctorFinding(
        "fine", "file", f"{sentence}; {rows.get('judgment_events', 0):,} are answers of annotators."
    )


def _versions(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        [newest] = cursor.execute("SELECT max(name) FROM migrations").fetchall()
    sentence = f"goldgrade {__version__}, DuckDB {duckdb.__version__}, the project's form is {newest[0]}"
    yield DoctorFinding("fine", "versions", f"{sentence}.")
    for kept in sorted(store.path.parent.glob(f"{store.path.stem}.before-*{store.path.suffix}")):
        sentence = (
            f"{kept.name} ({megabytes(kept.stat().st_size)}) was kept when the project was changed as a whole"
        )
        yield DoctorFinding("note", "versions", f"{sentence}. Remove it once you need no way back.")


def look_at_releases(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        names = [release.name for release in list_releases(cursor)]
    for name in names:
        try:
            found = verify(store, name)
        except CurationError as error:
            yield DoctorFinding("problem", "releases", f"{name}: {error.found}")
            continue
        if not found.intact:
            sentence = f"The release {name} is not as it was frozen: {found.problems[0]}"
            yield DoctorFinding("problem", "releases", f"{sentence}.", f"goldgrade verify {name}")
    if names:
        yield DoctorFinding("fine", "releases", f"Releases compared with their sums: {len(names):,}.")


def _jobs(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        unended = [job for job in last_jobs(cursor).values() if job.outcome is None]
    for job in unended:
        if not _at_work(job.job_id):
            yield DoctorFinding(
                "note",
                "jobs",
                f"The job “{job.kind}” of {job.started_by} ({job.started_at:%Y-%m-%d %H:%M} UTC) has no end, "
                "and no process works on it: its server was stopped. Start it again on its page.",
            )


def _at_work(job_id: str) -> bool:
    """Whether a process of this machine has the job in its arguments, as the app starts them."""
    for arguments in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if job_id.encode() in arguments.read_bytes().split(b"\0"):
                return True
    return False


_BACKUPS = """
WITH got AS (SELECT detail->>'file' AS file FROM events WHERE action = $downloaded)
SELECT max(happened_at) FILTER (
        action = 'backup' OR action = $snapshot AND detail->>'file' IN (SELECT file FROM got)
    ),
    max(happened_at) FILTER (action = $snapshot), max(happened_at) FILTER (action = 'restore'),
    max(happened_at) FILTER (action = 'restore drill'),
    arg_max(detail, happened_at) FILTER (action = 'restore drill') FROM events
"""


def look_at_backups(store: Store) -> Iterator[DoctorFinding]:
    """When the last backup was taken, and how the last restore drill ended."""
    with store.reading() as cursor:
        query = cursor.execute(_BACKUPS, {"snapshot": SNAPSHOT, "downloaded": DOWNLOADED})
        [(last, waiting, restored, drilled, detail)] = query.fetchall()
    take = "goldgrade backup FOLDER"
    if waiting is not None and (last is None or last < waiting) and (restored is None or restored < waiting):
        sentence = f"A snapshot of {waiting:%Y-%m-%d %H:%M} UTC is ready; it was not downloaded."
        yield DoctorFinding("note", "backup", sentence, take)
    elif restored is not None and (last is None or last < restored):  # a backup does not know of itself
        sentence = (
            f"The project was restored on {restored:%Y-%m-%d %H:%M} UTC, and no backup was taken since."
        )
        yield DoctorFinding("note", "backup", sentence, take)
    elif last is None:
        yield DoctorFinding("note", "backup", "No backup was ever taken with goldgrade.", take)
    else:
        old = utc_now() - last > OLDEST_BACKUP
        sentence = f"The last backup is of {last:%Y-%m-%d %H:%M} UTC"
        sentence += f", more than {OLDEST_BACKUP.days} days ago." if old else "."
        yield DoctorFinding("note" if old else "fine", "backup", sentence, take if old else "")
    if drilled is None:
        sentence = "No restore drill was ever made."
        yield DoctorFinding("note", "restore drill", sentence, "goldgrade backup FOLDER --rehearse")
        return
    old, found = utc_now() - drilled > OLDEST_DRILL, json.loads(detail)
    sentence = f"The last restore drill was on {drilled:%Y-%m-%d %H:%M} UTC, with {found['backup']}"
    if found["problem"]:
        yield DoctorFinding("problem", "restore drill", f"{sentence}, and failed: {found['problem']}", take)
    else:
        yield DoctorFinding("note" if old else "fine", "restore drill", f"{sentence}. All was in order.")


def _clock(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        [row] = cursor.execute("SELECT max(happened_at) FROM events").fetchall()
        key = get_setting(cursor, "cookie_key")
    last: datetime | None = row[0]
    if last is not None and last - utc_now() > MINUTES_AHEAD:
        sentence = (
            f"The last event of the audit trail is of {last:%Y-%m-%d %H:%M} UTC, which is in the future"
        )
        yield DoctorFinding("problem", "clock", f"{sentence}. Set this machine's clock.")
    if key is None:
        yield DoctorFinding("problem", "file", "The key that signs cookies is missing: nobody can sign in.")


def _corpus(store: Store) -> Iterator[DoctorFinding]:
    for location, error in changed_files(store):
        yield DoctorFinding("problem", "corpus", str(error), f"goldgrade import corpus {location} --leave")


CHECKS: dict[str, Callable[[Store], Iterator[DoctorFinding]]] = {
    "versions": _versions,
    "releases": look_at_releases,
    "corpus": _corpus,
    "jobs": _jobs,
    "backup": look_at_backups,
    "clock": _clock,
}
"""What is checked of a file that can be read."""
