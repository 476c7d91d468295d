"""The doctor's checks of the surroundings of a project file, such as permissions, disk and leftovers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from curation.operations.jobs.files import list_old_results, remove_old_results
from curation.store.duckdb_format import log_path
from curation.store.staging import list_leftovers, remove_leftovers
from curation.store.write_ahead_log import describe_log_damage

Level = Literal["fine", "note", "problem"]
OTHERS_MODE_BITS = 0o077


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


def check_log(project: Path) -> Iterator[DoctorFinding]:
    """Check the write-ahead log next to the project file."""
    log = log_path(project)
    with suppress(FileNotFoundError):
        size = log.stat().st_size
        if damage := describe_log_damage(project):
            sentence = f"{log.name}, which contains the latest changes, is damaged: {damage}."
            yield DoctorFinding("problem", "log", sentence)
        elif size:
            sentence = f"{log.name} ({size:,} bytes) was next to the file: the file is in use, or a process "
            sentence += (
                "that used it was killed. Opening the file writes the changes in the log into the file."
            )
            yield DoctorFinding("note", "log", sentence)


def check_permissions(project: Path) -> Iterator[DoctorFinding]:
    """Check that only the owner can use the project file, and that the file can be written."""
    secrets = "The project contains password hashes, sealed grades and the key that signs sign-in cookies."
    log_content = "the log next to it", "The log contains the latest changes."
    contents = {project: ("the file", secrets), log_path(project): log_content}
    for path, (name, content) in contents.items():
        with suppress(FileNotFoundError):
            if (mode := path.stat().st_mode & 0o777) & OTHERS_MODE_BITS:
                sentence = f"Other users of this machine can use {name} (mode {mode:o}). {content}"
                yield DoctorFinding("problem", "permissions", sentence, f"chmod 600 {path}")
    if not (os.access(project, os.W_OK) and os.access(project.parent, os.W_OK)):
        sentence = "You cannot write to the file or its folder, so only commands that read the project work."
        yield DoctorFinding("problem", "permissions", sentence)


def check_disk(project: Path) -> Iterator[DoctorFinding]:
    """Check the free space on the disk, and report the size of the BM25 index."""
    with suppress(FileNotFoundError):
        size, free = project.stat().st_size, shutil.disk_usage(project.parent).free
        level: Level = "fine"
        if free < 3 * size:
            level = "problem" if free < size else "note"
        sentence = (
            f"The file size is {format_megabytes(size)}; {format_megabytes(free)} are free on the disk."
        )
        if level != "fine":
            sentence += (
                " A backup next to the file, an export or a migration needs the same amount of space again."
            )
        yield DoctorFinding(level, "disk", sentence)
        from curation.retrieval.stored_index import find_index_folder  # imports BM25

        folder = find_index_folder(project)
        if index := sum(path.stat().st_size for path in folder.glob("*")):
            sentence = f"{folder.name} ({format_megabytes(index)}) contains the BM25 index. "
            sentence += "You can delete the folder: the next search rebuilds the index."
            yield DoctorFinding("fine", "disk", sentence)


def check_leftovers(folders: Sequence[Path], clean: bool) -> Iterator[DoctorFinding]:
    """Find the files left behind by killed processes, and remove them if `clean` is set."""
    remark = "goldgrade removed the file." if clean else "The file can contain sealed grades."
    command = "" if clean else "goldgrade doctor --clean"
    for folder in dict.fromkeys(path.resolve() for path in folders):
        for path in remove_leftovers(folder) if clean else list_leftovers(folder):
            sentence = f"A killed process left {path} behind. {remark}"
            yield DoctorFinding("fine" if clean else "problem", "leftovers", sentence, command)
    for path in remove_old_results() if clean else list_old_results():
        origin = "older than an hour, or that a killed process left"
        sentence = f"{path} has a job result that is {origin}. {remark}"
        # The server of a different project may have left the result, so this is not a problem of this
        # project.
        yield DoctorFinding("fine" if clean else "note", "leftovers", sentence, command)


def format_megabytes(size: int) -> str:
    """Return a size in bytes as human-readable megabytes."""
    return f"{size / 1e6:,.1f} MB"
