"""The doctor: what an operator should know of a project file and of what is around it.

Around the file are its log, its permissions, its disk, and what killed processes left. In it are its rows,
versions, releases, jobs, backups and times.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

import duckdb

from curation import __version__
from curation.core.errors import CurationError, NotFoundError, StoreError
from curation.core.text import pluralize
from curation.ingest.importers.external_corpus import changed_files
from curation.ingest.readers.folders import is_address
from curation.operations.backup import damage_of_blocks, read_all_rows
from curation.operations.backup_schedule import DOWNLOADED, SNAPSHOT
from curation.operations.jobs.files import old_results, remove_old_results
from curation.operations.jobs.running import WORKER
from curation.operations.jobs.stored import last_jobs
from curation.releases.release_rows import list_releases
from curation.releases.verify import verify
from curation.retrieval.index import index_folder
from curation.store import Store, get_setting, open_store, utc_now
from curation.store.project_file import require_file
from curation.store.staging import clear_leftovers, leftovers
from curation.store.write_ahead_log import log_damage, log_of

Level = Literal["fine", "note", "problem"]
SIGNS = {"fine": "  ok    ", "note": "  note  ", "problem": "PROBLEM "}
OTHERS = 0o077
OLDEST_BACKUP = timedelta(days=7)
MINUTES_AHEAD = timedelta(minutes=5)
_BACKUPS = """
WITH got AS (SELECT detail->>'file' AS file FROM events WHERE action = $downloaded)
SELECT max(happened_at) FILTER (
        action = 'backup' OR action = $snapshot AND detail->>'file' IN (SELECT file FROM got)
    ),
    max(happened_at) FILTER (action = $snapshot), max(happened_at) FILTER (action = 'restore') FROM events
"""


@dataclass(frozen=True)
class Examination:
    """All findings, in the order of `CHECKS`; `not_checked` is what → why."""

    project: Path
    findings: tuple[DoctorFinding, ...]
    not_checked: dict[str, str]

    @property
    def sentences(self) -> list[str]:
        """Each finding, what was not checked, and how many problems there are."""
        return [
            *(
                f"{SIGNS[finding.level]}{finding.what}: {finding.sentence}"
                + (f" ({finding.command})" if finding.command else "")
                for finding in self.findings
            ),
            *(f"not checked: {what}, because {why}" for what, why in self.not_checked.items()),
            f"Problems: {self.problems:,}." if self.problems else "Nothing asks for action.",
        ]

    @property
    def problems(self) -> int:
        return sum(finding.level == "problem" for finding in self.findings)


def examine(project: Path, folders: Sequence[Path] = (), *, clean: bool = False) -> Examination:
    """Examine a project that may be in use.

    Parameters
    ----------
    folders: where exports are written; what killed processes left there is found, too.
    clean: remove what killed processes have left.

    Raises
    ------
    NotFoundError: there is no such file.
    StoreError: it is a folder, empty, or may not be read.
    """
    project = project.resolve()
    require_file(project)
    findings = [*look_at_log(project), *look_at_permissions(project), *look_at_disk(project)]
    findings += look_for_leftovers([project.parent, *folders], clean)
    not_checked: dict[str, str] = {}
    store = open_store(project)
    try:
        findings += read_everything(store)
    except NotFoundError:
        raise
    except StoreError as error:
        findings.append(DoctorFinding("problem", "file", error.found))
        not_checked = dict.fromkeys(CHECKS, "the file cannot be read")
    else:
        for check in CHECKS.values():
            findings += check(store)
    return Examination(project, tuple(findings), not_checked)


class DoctorFinding(NamedTuple):
    """What was looked at, and what was found.

    level: 'problem' asks for somebody to act, 'note' is to be known.
    what: the file, log, versions, permissions, disk, releases, corpus, jobs, leftovers, backup
        or clock.
    command: what to run, where a command helps.
    """

    level: Level
    what: str
    sentence: str
    command: str = ""


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:,.1f} MB"


def look_at_log(project: Path) -> Iterator[DoctorFinding]:
    log = log_of(project)
    with suppress(FileNotFoundError):
        size = log.stat().st_size
        damage = log_damage(project)
        if damage:
            yield DoctorFinding(
                "problem", "log", f"{log.name}, which holds what was written last, is damaged: {damage}."
            )
        elif size:
            yield DoctorFinding(
                "note",
                "log",
                f"{log.name} ({size:,} bytes) was next to the file: it is in use, or a process that used it "
                "was killed. What the log holds becomes part of the file when it is opened.",
            )


def look_at_permissions(project: Path) -> Iterator[DoctorFinding]:
    with suppress(FileNotFoundError):
        status = project.stat()
        if status.st_mode & OTHERS:
            yield DoctorFinding(
                "problem",
                "permissions",
                f"Other users of this machine can use the file (mode {status.st_mode & 0o777:o}). It holds "
                "hashes of passwords, sealed grades and the key that signs cookies.",
                f"chmod 600 {project}",
            )
        with suppress(FileNotFoundError):
            if (mode := log_of(project).stat().st_mode) & OTHERS:
                yield DoctorFinding(
                    "problem",
                    "permissions",
                    f"Other users of this machine can use the log next to it (mode {mode & 0o777:o}). "
                    "It holds the most recent changes.",
                    f"chmod 600 {log_of(project)}",
                )
        if not (os.access(project, os.W_OK) and os.access(project.parent, os.W_OK)):
            sentence = (
                "The file or its folder cannot be written by who runs this: commands that read work alone."
            )
            yield DoctorFinding("problem", "permissions", sentence)


def look_at_disk(project: Path) -> Iterator[DoctorFinding]:
    with suppress(FileNotFoundError):
        size, free = project.stat().st_size, shutil.disk_usage(project.parent).free
        level: Level = "problem" if free < size else "note" if free < 3 * size else "fine"
        sentence = f"The file has {megabytes(size)}; {megabytes(free)} are free on its disk"
        needed = (
            "" if level == "fine" else ". A backup next to it, an export or a migration needs as much again"
        )
        yield DoctorFinding(level, "disk", f"{sentence}{needed}.")
        if index := sum(path.stat().st_size for path in index_folder(project).glob("*")):
            sentence = f"{index_folder(project).name} ({megabytes(index)}) holds the index of BM25. It can "
            yield DoctorFinding("fine", "disk", f"{sentence}be deleted, and is made again when needed.")


def look_for_leftovers(folders: Sequence[Path], clean: bool) -> Iterator[DoctorFinding]:
    done = "It was removed." if clean else "It can hold sealed grades."
    level: Level = "fine" if clean else "problem"
    command = "" if clean else "goldgrade doctor --clean"
    for folder in dict.fromkeys(path.resolve() for path in folders):
        for path in clear_leftovers(folder) if clean else leftovers(folder):
            yield DoctorFinding(level, "leftovers", f"A process that was killed left {path}. {done}", command)
    for path in remove_old_results() if clean else old_results():
        sentence = f"A result of a job, older than an hour or of a killed process, is in {path}. {done}"
        # Of whatever project: a server of another one may have left it, so nobody must act for this one.
        yield DoctorFinding("fine" if clean else "note", "leftovers", sentence, command)


def read_everything(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        rows = read_all_rows(cursor)
    damage = damage_of_blocks(store.damaged_blocks)
    if damage:
        yield DoctorFinding("problem", "file", damage, "goldgrade --project NEW restore FILE")
    sentence = f"All {pluralize(sum(rows.values()), 'row')} of {len(rows)} tables can be read"
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
            verified = verify(store, name)
        except CurationError as error:
            yield DoctorFinding("problem", "releases", f"{name}: {error.found}")
            continue
        if not verified.intact:
            sentence = f"The release {name} is not as it was frozen: {verified.problems[0]}."
            yield DoctorFinding("problem", "releases", sentence, f"goldgrade verify {name}")
    if names:
        yield DoctorFinding("fine", "releases", f"Releases compared with their sums: {len(names):,}.")


def _jobs(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        unended = [job for job in last_jobs(cursor).values() if job.outcome is None]
    if unended and _has_worker(store.path):
        return
    for job in unended:
        yield DoctorFinding(
            "note",
            "jobs",
            f"The job “{job.kind}” of {job.started_by} ({job.started_at:%Y-%m-%d %H:%M} UTC) has no end, "
            "and no process works on it: its server was stopped. Start it again on its page.",
        )


def _has_worker(project: Path) -> bool:
    """Whether a process of this machine does a job of the project, or waits for one."""
    wanted = {WORKER.encode(), str(project).encode()}
    for arguments in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if wanted <= set(arguments.read_bytes().split(b"\0")):
                return True
    return False


def look_at_backups(store: Store) -> Iterator[DoctorFinding]:
    """When the last backup was taken."""
    with store.reading() as cursor:
        query = cursor.execute(_BACKUPS, {"snapshot": SNAPSHOT, "downloaded": DOWNLOADED})
        [(last, waiting, restored)] = query.fetchall()
    take = "goldgrade backup FOLDER"
    if waiting is not None and (last is None or last < waiting) and (restored is None or restored < waiting):
        sentence = f"A snapshot of {waiting:%Y-%m-%d %H:%M} UTC is ready; it was not downloaded."
        yield DoctorFinding("note", "backup", sentence, take)
    elif restored is not None and (last is None or last < restored):  # a backup does not know of itself
        sentence = (
            f"The project was restored on {restored:%Y-%m-%d %H:%M} UTC, and no backup has been taken since."
        )
        yield DoctorFinding("note", "backup", sentence, take)
    elif last is None:
        yield DoctorFinding("note", "backup", "No backup was ever taken with goldgrade.", take)
    else:
        old = utc_now() - last > OLDEST_BACKUP
        sentence = f"The last backup is of {last:%Y-%m-%d %H:%M} UTC"
        sentence += f", more than {OLDEST_BACKUP.days} days ago." if old else "."
        yield DoctorFinding("note" if old else "fine", "backup", sentence, take if old else "")


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
        folder = "FOLDER" if is_address(location) else location
        yield DoctorFinding("problem", "corpus", str(error), f"goldgrade import corpus {folder} --in-place")


CHECKS: dict[str, Callable[[Store], Iterator[DoctorFinding]]] = {
    "versions": _versions,
    "releases": look_at_releases,
    "corpus": _corpus,
    "jobs": _jobs,
    "backup": look_at_backups,
    "clock": _clock,
}
"""What is checked of a file that can be read."""
