"""Restoring: a backup becomes the project, and what was there before is kept next to it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.core.errors import InputError, RefusedError, StoreError
from curation.operations.backups.backup import OWNER_ONLY, refuse_altered
from curation.operations.backups.content import Rows, read_whole_file
from curation.operations.backups.lacking import describe_lacking, rows_lacking
from curation.store import COMMAND_LINE, open_store, record_event, utc_now
from curation.store.on_disk.write_ahead_log import log_of
from curation.store.project_file import is_served, refuse_name
from curation.store.staging import staged, sync


@dataclass(frozen=True)
class Restored:
    """A project that was made of a backup.

    Attributes
    ----------
    taken_at: when the backup was taken, by its sums (ISO 8601, UTC); None where it has none.
    rows: table → rows, as the backup had them.
    kept: the file that was the project before; None where there was none.
    lacking: table → rows that only the kept file has; None where it cannot be read.
    """

    path: Path
    backup: Path
    taken_at: str | None
    rows: Rows
    kept: Path | None
    lacking: Rows | None


def restore(backup: Path, project: Path, *, replace: bool = False, actor: str = COMMAND_LINE) -> Restored:
    """Make a backup the project. It is compared with its sums and read whole first.

    Parameters
    ----------
    replace: a project that is there is moved aside, to `NAME.before-restore-TIME`; nothing of it is removed.

    Raises
    ------
    InputError: there is no such backup, it was altered, or its copy could not be written.
    RefusedError: there is a project already, and `replace` is False; or an app serves it.
    StoreError, StoreVersionError: the backup is damaged, no project, or of a newer goldgrade.
    """
    backup, project = backup.resolve(), project.resolve()
    refuse_name(project)
    if project.exists() and not replace:
        raise _refused_as_there(project, backup)
    if project.exists() and is_served(project):
        raise RefusedError(
            f"An app serves {project}: what people grade meanwhile would go to the file that is moved aside. "
            "Nothing was restored.",
            command="Stop the app, then try again.",
        )
    sums = refuse_altered(backup)
    try:
        with staged(project, private=True) as folder:
            new, rows = _copy_of(backup, folder / project.name)
            lacking = _lacking(project, new) if project.exists() else {}
            kept = _swap(new, project)
    except OSError as error:
        raise InputError(
            f"{project}: the backup could not be restored ({error.strerror}); expected a folder that can be "
            "written and has room for a copy. The project is as it was."
        ) from error
    _record(project, backup, sums, kept, actor)
    return Restored(project, backup, str(sums["taken_at"]) if sums else None, rows, kept, lacking)


def _refused_as_there(project: Path, backup: Path) -> RefusedError:
    """The refusal where a project is there; it does not advise --replace where the backup lacks rows."""
    lacking = _lacking(project, backup)
    if lacking is None:
        left = f" What {backup.name} lacks of it cannot be counted, because one of the two cannot be read."
    else:
        left = f" It has {describe_lacking(lacking)} that {backup.name} lacks." if lacking else ""
    return RefusedError(
        f"{project} exists already, and nothing was restored.{left}",
        command="Name another --project to have both." if left else "Add --replace to move it aside.",
    )


def _lacking(project: Path, backup: Path) -> Rows | None:
    try:
        return rows_lacking(project, backup)
    except StoreError:
        return None


def _copy_of(backup: Path, new: Path) -> tuple[Path, Rows]:
    shutil.copyfile(backup, new)
    new.chmod(OWNER_ONLY)
    if log_of(backup).exists():  # a file that was copied by hand
        shutil.copyfile(log_of(backup), log_of(new))
    rows = read_whole_file(new)
    sync(new)
    return new, rows


def _swap(new: Path, project: Path) -> Path | None:
    """Put the new file in the place of the project; returns where the former one is, with its log."""
    if not project.exists():
        os.link(new, project)  # unlike a rename, it never replaces a file made meanwhile
        sync(project.parent)
        return None
    kept = project.with_name(f"{project.stem}.before-restore-{utc_now():%Y%m%d-%H%M%S}{project.suffix}")
    store = open_store(project)
    try:
        with store.reading():
            pass
        store.close()  # its log is part of it now
        with store.reading():  # nobody else can open it meanwhile
            _exchange(new, project, kept)
        store.close()
    except StoreError:  # it is damaged
        _exchange(new, project, kept)
    return kept


def _exchange(new: Path, project: Path, kept: Path) -> None:
    os.link(project, kept)
    if log_of(project).exists():
        log_of(project).rename(log_of(kept))
    new.replace(project)
    sync(project.parent)


def _record(project: Path, backup: Path, sums: Any, kept: Path | None, actor: str) -> None:
    with open_store(project).transaction() as cursor:
        detail = {
            "backup": backup.name,
            "taken_at": sums and sums["taken_at"],
            "kept": kept and kept.name,
        }
        record_event(cursor, "restore", detail, actor)
