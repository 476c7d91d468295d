"""The doctor's checks of what a project contains, from its rows and releases to its backups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import duckdb

from curation import __version__
from curation.core.errors import CurationError
from curation.core.text import pluralize
from curation.ingest.importers.external_corpus import find_changed_files
from curation.ingest.readers.folders import is_address
from curation.operations.backup_age import check_backups
from curation.operations.doctor_surroundings import DoctorFinding, format_megabytes
from curation.operations.jobs.running import WORKER
from curation.operations.jobs.stored import read_last_jobs
from curation.operations.whole_file import describe_damaged_blocks, read_all_rows
from curation.releases.release_rows import list_releases
from curation.releases.verify import verify
from curation.store import Store, get_setting, utc_now

MAX_CLOCK_LEAD = timedelta(minutes=5)
"""Tolerated time by which the last event may lie in the future, because machines' clocks differ."""


def check_rows(store: Store) -> Iterator[DoctorFinding]:
    """Read all rows of the project, and check the blocks of the project file."""
    rows = store.read(read_all_rows)
    damage = describe_damaged_blocks(store.damaged_blocks)
    if damage:
        yield DoctorFinding("problem", "file", damage, "goldgrade --project NEW restore FILE")
    sentence = f"All {pluralize(sum(rows.values()), 'row')} of {len(rows)} tables can be read; "
    sentence += f"{rows.get('judgment_events', 0):,} of these rows are annotators' answers."
    yield DoctorFinding("fine", "file", sentence)


def check_versions(store: Store) -> Iterator[DoctorFinding]:
    """Report the versions of the project file, and former project files next to it."""
    with store.reading() as cursor:
        [(newest,)] = cursor.execute("SELECT max(name) FROM migrations").fetchall()
    sentence = (
        f"goldgrade {__version__}, DuckDB {duckdb.__version__}; the newest migration of the project "
        f"is {newest}."
    )
    yield DoctorFinding("fine", "versions", sentence)
    for former in sorted(store.path.parent.glob(f"{store.path.stem}.before-*{store.path.suffix}")):
        size = format_megabytes(former.stat().st_size)
        sentence = f"{former.name} ({size}) is a copy of the project from before a restore or a migration. "
        sentence += "Remove the file if you no longer need this copy."
        yield DoctorFinding("note", "versions", sentence)


def check_releases(store: Store) -> Iterator[DoctorFinding]:
    """Check each release against its checksums."""
    with store.reading() as cursor:
        names = [release.name for release in list_releases(cursor)]
    for name in names:
        try:
            verified = verify(store, name)
        except CurationError as error:
            yield DoctorFinding("problem", "releases", f"{name}: {error.found}")
            continue
        if not verified.intact:
            sentence = f"The release {name} has changed since it was frozen: {verified.problems[0]}."
            yield DoctorFinding("problem", "releases", sentence, f"goldgrade verify {name}")
    if names:
        yield DoctorFinding("fine", "releases", f"Releases checked against their checksums: {len(names):,}.")


def check_jobs(store: Store) -> Iterator[DoctorFinding]:
    """Find unfinished jobs that no process is working on."""
    with store.reading() as cursor:
        unended = [job for job in read_last_jobs(cursor).values() if job.outcome is None]
    if unended and _has_worker(store.path):
        return
    for job in unended:
        started = f"{job.started_at:%Y-%m-%d %H:%M} UTC"
        sentence = f"The job “{job.kind}” of {job.started_by} ({started}) never ended, "
        sentence += "because its server was stopped. Start the job again on its page."
        yield DoctorFinding("note", "jobs", sentence)


def _has_worker(project: Path) -> bool:
    """Return whether a process on this machine works on one of the project's jobs, or waits for a job."""
    worker_arguments = {WORKER.encode(), str(project).encode()}
    for arguments in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if worker_arguments <= set(arguments.read_bytes().split(b"\0")):
                return True
    return False


def check_clock(store: Store) -> Iterator[DoctorFinding]:
    """Check that no stored event has a time in the future, which would mean a wrong clock."""
    with store.reading() as cursor:
        [(last_event,)] = cursor.execute("SELECT max(happened_at) FROM events").fetchall()
    if last_event is not None and last_event - utc_now() > MAX_CLOCK_LEAD:
        sentence = f"The last event of the audit trail is dated {last_event:%Y-%m-%d %H:%M} UTC, which is "
        yield DoctorFinding("problem", "clock", f"{sentence}in the future. Correct this machine's clock.")


def check_cookie_key(store: Store) -> Iterator[DoctorFinding]:
    """Check that the project has the key that signs people's cookies."""
    key = store.read(get_setting, "cookie_key")
    if key is None:
        yield DoctorFinding("problem", "file", "The key that signs cookies is missing: nobody can sign in.")


def check_corpus(store: Store) -> Iterator[DoctorFinding]:
    """Find the imported files that have changed, for a corpus whose texts stay in these files."""
    for location, error in find_changed_files(store):
        folder = "FOLDER" if is_address(location) else location
        yield DoctorFinding("problem", "corpus", str(error), f"goldgrade import corpus {folder} --in-place")


CHECKS: dict[str, Callable[[Store], Iterator[DoctorFinding]]] = {
    "versions": check_versions,
    "releases": check_releases,
    "corpus": check_corpus,
    "jobs": check_jobs,
    "backup": check_backups,
    "clock": check_clock,
    "cookie key": check_cookie_key,
}
"""The doctor's checks of a project file that can be read, by name."""
