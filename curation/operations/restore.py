"""Restoring: a checked backup becomes the project, and the former project file is kept next to it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from curation.core.errors import InputError, RefusedError, StoreError
from curation.core.text import pluralize
from curation.operations.backup import verify_sums
from curation.operations.whole_file import Rows, read_whole_file
from curation.store import COMMAND_LINE, open_store, record_event, utc_now
from curation.store.database import OWNER_ONLY
from curation.store.duckdb_format import log_path
from curation.store.project_file import is_served, refuse_name
from curation.store.staging import flush, staging_folder


@dataclass(frozen=True)
class Restored:
    """A project that was restored from a backup.

    Attributes
    ----------
    taken_at: the time of the backup by its sums (ISO 8601, UTC); None for a backup without sums.
    rows: number of rows of each table of the backup.
    kept: the former project file; None if there was no project.
    """

    path: Path
    backup: Path
    taken_at: str | None
    rows: Rows
    kept: Path | None

    @property
    def sentences(self) -> list[str]:
        """Return sentences about the restored backup, and about the new name of the former project file."""
        when = f"as it was at {self.taken_at} UTC" if self.taken_at else "which has no checksum file"
        rows = pluralize(sum(self.rows.values()), "row")
        kept = [f"The previous project is kept as {self.kept}"] if self.kept else []
        return [f"{self.path} was restored from {self.backup.name}, {when}. It has {rows}.", *kept]


def restore(backup: Path, project: Path, *, replace: bool = False, actor: str = COMMAND_LINE) -> Restored:
    """Restore the project from a backup, after checking its checksums and reading all of its values.

    Parameters
    ----------
    replace: move an existing project file to `NAME.before-restore-TIME` and keep it there.

    Raises
    ------
    InputError: the backup does not exist or was altered, or its copy could not be written.
    RefusedError: a project exists and `replace` is False, or an app serves the project.
    StoreError, StoreVersionError: the backup is damaged, is not a project, or was written by a newer
        goldgrade.
    """
    backup, project = backup.resolve(), project.resolve()
    refuse_name(project)
    if project.exists() and not replace:
        command = "Add --replace to move the project aside and keep it, or name a different --project."
        raise RefusedError(f"{project} already exists, and nothing was restored.", command=command)
    if project.exists() and is_served(project):
        problem = f"An app is serving {project}, so new grades would go into the old file."
        command = "Stop the app, then try again."
        raise RefusedError(f"{problem} Nothing was restored.", command=command)
    sums = verify_sums(backup)
    try:
        with staging_folder(project, private=True) as folder:
            new = folder / project.name
            rows = _copy_backup(backup, new)
            former = _replace_project(new, project)
    except OSError as error:
        problem = f"{project}: the backup could not be restored ({error.strerror})"
        expected = "expected a writable folder with enough space for a copy"
        raise InputError(f"{problem}; {expected}. The project is unchanged.") from error
    taken_at = str(sums["taken_at"]) if sums else None
    with open_store(project).transaction() as cursor:
        detail = {"backup": backup.name, "taken_at": taken_at, "kept": former and former.name}
        record_event(cursor, "restore", detail, actor)
    return Restored(project, backup, taken_at, rows, former)


def _copy_backup(backup: Path, new: Path) -> Rows:
    """Copy a backup and its log, which exists if the backup was copied by hand, and read all of the copy."""
    shutil.copyfile(backup, new)
    new.chmod(OWNER_ONLY)
    if log_path(backup).exists():
        shutil.copyfile(log_path(backup), log_path(new))
    rows = read_whole_file(new)
    flush(new)
    return rows


def _replace_project(new: Path, project: Path) -> Path | None:
    """Give the new file the name of the project; return the new name of the former project file, if any."""
    if not project.exists():
        os.link(new, project)  # unlike a rename, a link never replaces a file that was made meanwhile
        flush(project.parent)
        return None
    former = project.with_name(f"{project.stem}.before-restore-{utc_now():%Y%m%d-%H%M%S}{project.suffix}")
    store = open_store(project)
    try:
        with store.reading():
            pass
        store.close()  # the file now contains the log's changes
        with store.reading():  # no other process can open the file meanwhile
            _exchange_files(new, project, former)
        store.close()
    except StoreError:  # the former project is damaged
        _exchange_files(new, project, former)
    return former


def _exchange_files(new: Path, project: Path, former: Path) -> None:
    os.link(project, former)
    if log_path(project).exists():
        log_path(project).rename(log_path(former))
    new.replace(project)
    flush(project.parent)
