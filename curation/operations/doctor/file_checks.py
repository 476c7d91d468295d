"""What is around a project file: its log, its permissions, its disk, and what killed processes left."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from curation.operations.doctor.findings import DoctorFinding, Level, megabytes
from curation.operations.jobs.results import old_results, remove_old_results
from curation.retrieval.index.stored import index_folder
from curation.store.on_disk.write_ahead_log import log_damage, log_of
from curation.store.staging import clear_leftovers, leftovers

OTHERS = 0o077


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
        found = project.stat()
        if found.st_mode & OTHERS:
            yield DoctorFinding(
                "problem",
                "permissions",
                f"Other users of this machine can use the file (mode {found.st_mode & 0o777:o}). It holds "
                "hashes of passwords, sealed grades and the key that signs cookies.",
                f"chmod 600 {project}",
            )
        with suppress(FileNotFoundError):
            if (mode := log_of(project).stat().st_mode) & OTHERS:
                yield DoctorFinding(
                    "problem",
                    "permissions",
                    f"Other users of this machine can use the log next to it (mode {mode & 0o777:o}), which "
                    "holds what was written last.",
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
