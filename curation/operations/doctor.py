"""The doctor: checks of a project file and of its surroundings, which give findings for the operator.

Some checks are about the surroundings: the log, permissions, disk, and leftovers of killed processes. The
others are about the content: rows, versions, releases, corpus, jobs, backups and times.
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
from curation.core.errors import CurationError, StoreError
from curation.core.text import pluralize
from curation.ingest.importers.external_corpus import find_changed_files
from curation.ingest.readers.folders import is_address
from curation.operations.backup_schedule import DOWNLOADED, SNAPSHOT
from curation.operations.jobs.files import list_old_results, remove_old_results
from curation.operations.jobs.running import WORKER
from curation.operations.jobs.stored import last_jobs
from curation.operations.whole_file import describe_damaged_blocks, read_all_rows
from curation.releases.release_rows import list_releases
from curation.releases.verify import verify
from curation.retrieval.stored_index import find_index_folder
from curation.store import Store, get_setting, open_store, utc_now
from curation.store.duckdb_format import log_path
from curation.store.project_file import require_file
from curation.store.staging import list_leftovers, remove_leftovers
from curation.store.write_ahead_log import describe_log_damage

Level = Literal["fine", "note", "problem"]
LEVEL_LABELS = {"fine": "  ok    ", "note": "  note  ", "problem": "PROBLEM "}
OTHERS_MODE_BITS = 0o077
MAX_BACKUP_AGE = timedelta(days=7)
MAX_CLOCK_LEAD = timedelta(minutes=5)
"""The time by which the last event may lie in the future, because clocks of machines differ."""
_BACKUP_TIMES = """
WITH downloads AS (SELECT detail->>'file' AS file FROM events WHERE action = $downloaded)
SELECT max(happened_at) FILTER (
        action = 'backup' OR action = $snapshot AND detail->>'file' IN (SELECT file FROM downloads)
    ),
    max(happened_at) FILTER (action = $snapshot), max(happened_at) FILTER (action = 'restore') FROM events
"""


class DoctorFinding(NamedTuple):
    """A finding of the doctor.

    level: 'problem' asks the operator to act, 'note' informs the operator, 'fine' means no problem.
    what: the subject: file, log, versions, permissions, disk, releases, corpus, jobs, leftovers, backup or
        clock.
    command: the command that helps; '' if no command does.
    """

    level: Level
    what: str
    sentence: str
    command: str = ""


@dataclass(frozen=True)
class Examination:
    """The findings on a project.

    Attributes
    ----------
    findings: first those on the surroundings, then those on the content in the order of `CHECKS`.
    not_checked: the reason for each check that was not made, by its name.
    """

    project: Path
    findings: tuple[DoctorFinding, ...]
    not_checked: dict[str, str]

    @property
    def sentences(self) -> list[str]:
        """The findings, the checks that were not made, and the number of problems."""
        sentences = []
        for finding in self.findings:
            command = f" ({finding.command})" if finding.command else ""
            sentences.append(f"{LEVEL_LABELS[finding.level]}{finding.what}: {finding.sentence}{command}")
        for check, reason in self.not_checked.items():
            sentences.append(f"not checked: {check}, because {reason}")
        conclusion = f"Problems: {self.problems:,}." if self.problems else "No finding asks for action."
        return [*sentences, conclusion]

    @property
    def problems(self) -> int:
        """The number of findings that ask for action."""
        return sum(finding.level == "problem" for finding in self.findings)


def examine(project: Path, folders: Sequence[Path] = (), *, clean: bool = False) -> Examination:
    """Examine a project that may be in use.

    Parameters
    ----------
    folders: folders of exports, in which leftovers of killed processes are looked for, too.
    clean: remove the leftovers of killed processes.

    Raises
    ------
    NotFoundError: there is no such file.
    StoreError: the path is a folder, or the file is empty or cannot be read.
    """
    project = project.resolve()
    require_file(project)
    findings = [*check_log(project), *check_permissions(project), *check_disk(project)]
    findings += check_leftovers([project.parent, *folders], clean)
    not_checked: dict[str, str] = {}
    store = open_store(project)
    try:
        findings += check_rows(store)
    except StoreError as error:
        findings.append(DoctorFinding("problem", "file", error.found))
        not_checked = dict.fromkeys(CHECKS, "the file cannot be read")
    else:
        for check in CHECKS.values():
            findings += check(store)
    return Examination(project, tuple(findings), not_checked)


def check_log(project: Path) -> Iterator[DoctorFinding]:
    log = log_path(project)
    with suppress(FileNotFoundError):
        size = log.stat().st_size
        if damage := describe_log_damage(project):
            sentence = f"{log.name}, which holds the latest changes, is damaged: {damage}."
            yield DoctorFinding("problem", "log", sentence)
        elif size:
            sentence = f"{log.name} ({size:,} bytes) was next to the file: the file is in use, or a process "
            sentence += "that used it was killed. Opening the file makes the changes in the log a part of it."
            yield DoctorFinding("note", "log", sentence)


def check_permissions(project: Path) -> Iterator[DoctorFinding]:
    secrets = "The project holds hashes of passwords, sealed grades and the key that signs cookies."
    log_content = "the log next to it", "The log holds new changes."
    contents = {project: ("the file", secrets), log_path(project): log_content}
    for path, (name, content) in contents.items():
        with suppress(FileNotFoundError):
            if (mode := path.stat().st_mode & 0o777) & OTHERS_MODE_BITS:
                sentence = f"Other users of this machine can use {name} (mode {mode:o}). {content}"
                yield DoctorFinding("problem", "permissions", sentence, f"chmod 600 {path}")
    if not (os.access(project, os.W_OK) and os.access(project.parent, os.W_OK)):
        sentence = "You cannot write the file or its folder: only commands that read the project work."
        yield DoctorFinding("problem", "permissions", sentence)


def check_disk(project: Path) -> Iterator[DoctorFinding]:
    with suppress(FileNotFoundError):
        size, free = project.stat().st_size, shutil.disk_usage(project.parent).free
        level: Level = "problem" if free < size else "note" if free < 3 * size else "fine"
        sentence = f"The file has {megabytes(size)}; {megabytes(free)} are free on its disk."
        if level != "fine":
            sentence += " A backup next to the file, an export or a migration needs the same space again."
        yield DoctorFinding(level, "disk", sentence)
        if index := sum(path.stat().st_size for path in find_index_folder(project).glob("*")):
            sentence = f"{find_index_folder(project).name} ({megabytes(index)}) holds the index of BM25. "
            sentence += "You can delete the folder; a search makes the index again."
            yield DoctorFinding("fine", "disk", sentence)


def check_leftovers(folders: Sequence[Path], clean: bool) -> Iterator[DoctorFinding]:
    remark = "It was removed." if clean else "This leftover can hold sealed grades."
    command = "" if clean else "goldgrade doctor --clean"
    for folder in dict.fromkeys(path.resolve() for path in folders):
        for path in remove_leftovers(folder) if clean else list_leftovers(folder):
            sentence = f"A process that was killed left {path}. {remark}"
            yield DoctorFinding("fine" if clean else "problem", "leftovers", sentence, command)
    for path in remove_old_results() if clean else list_old_results():
        sentence = (
            f"{path} has a job result that is older than an hour, or that a killed process left. {remark}"
        )
        # The server of a different project may have left the result, so this is no problem of this project.
        yield DoctorFinding("fine" if clean else "note", "leftovers", sentence, command)


def check_rows(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        rows = read_all_rows(cursor)
    damage = describe_damaged_blocks(store.damaged_blocks)
    if damage:
        yield DoctorFinding("problem", "file", damage, "goldgrade --project NEW restore FILE")
    sentence = f"All {pluralize(sum(rows.values()), 'row')} of {len(rows)} tables can be read; "
    sentence += f"{rows.get('judgment_events', 0):,} are answers of annotators."
    yield DoctorFinding("fine", "file", sentence)


def check_versions(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        [(newest,)] = cursor.execute("SELECT max(name) FROM migrations").fetchall()
    sentence = f"goldgrade {__version__}, DuckDB {duckdb.__version__}, the project's form is {newest}."
    yield DoctorFinding("fine", "versions", sentence)
    for former in sorted(store.path.parent.glob(f"{store.path.stem}.before-*{store.path.suffix}")):
        sentence = f"{former.name} ({megabytes(former.stat().st_size)}) is the project before a restore or a "
        sentence += "migration. Remove the file if you no longer need the former project."
        yield DoctorFinding("note", "versions", sentence)


def check_releases(store: Store) -> Iterator[DoctorFinding]:
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


def check_jobs(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        unended = [job for job in last_jobs(cursor).values() if job.outcome is None]
    if unended and _has_worker(store.path):
        return
    for job in unended:
        started = f"{job.started_at:%Y-%m-%d %H:%M} UTC"
        sentence = f"The job “{job.kind}” of {job.started_by} ({started}) has no end, "
        sentence += "and no process works on it: its server was stopped. Start the job again on its page."
        yield DoctorFinding("note", "jobs", sentence)


def _has_worker(project: Path) -> bool:
    """Tell whether a process of this machine works on a job of the project or waits for a job."""
    worker_arguments = {WORKER.encode(), str(project).encode()}
    for arguments in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if worker_arguments <= set(arguments.read_bytes().split(b"\0")):
                return True
    return False


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
        sentence = f"The project was restored on {since}, and no backup was taken since."
    elif backup_at is None:
        sentence = "No backup was ever taken with goldgrade."
    else:
        sentence = f"The last backup was taken on {backup_at:%Y-%m-%d %H:%M} UTC"
        if utc_now() - backup_at > MAX_BACKUP_AGE:
            sentence += f", over {MAX_BACKUP_AGE.days} days ago."
        else:
            level, sentence = "fine", f"{sentence}."
    yield DoctorFinding(level, "backup", sentence, "" if level == "fine" else "goldgrade backup FOLDER")


def check_clock(store: Store) -> Iterator[DoctorFinding]:
    with store.reading() as cursor:
        [(last,)] = cursor.execute("SELECT max(happened_at) FROM events").fetchall()
        key = get_setting(cursor, "cookie_key")
    if last is not None and last - utc_now() > MAX_CLOCK_LEAD:
        sentence = f"The last event of the audit trail is dated {last:%Y-%m-%d %H:%M} UTC, which is in the "
        yield DoctorFinding("problem", "clock", f"{sentence}future. Set this machine's clock.")
    if key is None:
        yield DoctorFinding("problem", "file", "The key that signs cookies is missing: nobody can sign in.")


def check_corpus(store: Store) -> Iterator[DoctorFinding]:
    for location, error in find_changed_files(store):
        folder = "FOLDER" if is_address(location) else location
        yield DoctorFinding("problem", "corpus", str(error), f"goldgrade import corpus {folder} --in-place")


def megabytes(size: int) -> str:
    """Return a size in bytes as megabytes for people."""
    return f"{size / 1e6:,.1f} MB"


CHECKS: dict[str, Callable[[Store], Iterator[DoctorFinding]]] = {
    "versions": check_versions,
    "releases": check_releases,
    "corpus": check_corpus,
    "jobs": check_jobs,
    "backup": check_backups,
    "clock": check_clock,
}
"""The checks in a file that can be read, by their names."""
