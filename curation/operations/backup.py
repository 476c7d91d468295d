"""Backups: a checked copy of the project file, with a file of checksums next to the copy.

A backup locks the project file only while the bytes are copied, and contains every acknowledged answer. The
copy gets its name after each of its values was read (`operations.whole_file`), so a damaged copy never
becomes a backup. `operations.restore` makes a backup the project again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from curation import __version__
from curation.core.digests import canonical_json, file_digest
from curation.core.errors import InputError, RefusedError, StoreError
from curation.operations.whole_file import Rows, read_whole_file
from curation.store import COMMAND_LINE, Store, note_event, utc_now
from curation.store.database import OWNER_ONLY
from curation.store.project_file import refuse_name
from curation.store.staging import flush, staging_folder

FORM = 1
"""The version of the format of the checksum file."""


@dataclass(frozen=True)
class Backup:
    """A backup and its checksums.

    Attributes
    ----------
    sha256, bytes: the sum and the size of the file at `path`.
    rows: number of rows of each table.
    goldgrade, duckdb: the versions that wrote the backup.
    """

    path: Path
    project: str
    taken_at: datetime
    bytes: int
    sha256: str
    rows: Rows
    goldgrade: str = __version__
    duckdb: str = duckdb.__version__

    @property
    def sentences(self) -> list[str]:
        """Return sentences about the copy of the project, its number of rows, and its checksum."""
        copied = f"Copied the project to {self.path.name} ({self.bytes / 1e6:,.1f} MB)."
        rows = f"The copy was checked: all {sum(self.rows.values()):,} rows can be read."
        return [f"{copied} {rows}", f"SHA-256: {self.sha256}"]


def back_up(
    store: Store, target: Path, actor: str = COMMAND_LINE, action: str = "backup", **facts: object
) -> Backup:
    """Write a backup of a project that may be in use, with its checksums, after reading the whole copy.

    Parameters
    ----------
    target: the new file, or a folder in which the file is named after the project and the time (UTC).
    action, facts: the name of the event in the audit trail, and further facts of the event.

    Raises
    ------
    InputError: the folder does not exist or cannot be written.
    RefusedError: the file exists already.
    StoreError, StoreBusyError: the project cannot be read, or its copy is damaged.
    """
    taken_at = utc_now().replace(microsecond=0)
    target = _find_target(store.path, target, taken_at)
    try:
        with staging_folder(target, private=True) as folder:
            new = folder / target.name
            store.copy_to(new)
            rows = _read_copy(new, store.path)
            backup = Backup(target, store.path.name, taken_at, new.stat().st_size, file_digest(new), rows)
            _publish_backup(new, backup)
    except FileExistsError:
        raise _existing_target_error(target) from None
    except OSError as error:
        expected = "expected a writable folder with enough space for a copy of the project"
        problem = f"the backup could not be written ({error.strerror})"
        raise InputError(f"{target}: {problem}; {expected}.") from error
    written = {"file": target.name, "sha256": backup.sha256, "bytes": backup.bytes}
    note_event(store, action, {**written, **facts}, actor)
    return backup


def make_folder(folder: Path) -> None:
    """Make a folder for backups that only its owner can read; an existing folder stays as it is.

    Raises
    ------
    InputError: the folder cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        expected = "expected a folder, or a path where a folder can be made"
        raise InputError(f"The folder {folder} could not be made ({error.strerror}); {expected}.") from error


def sums_path(backup: Path) -> Path:
    """Return the path of a backup's checksums: `NAME.sums.json` next to the backup."""
    return backup.with_name(f"{backup.name}.sums.json")


def read_sums(backup: Path) -> Mapping[str, Any] | None:
    """Read the checksums next to a backup; None if it has none.

    Raises
    ------
    InputError: the sums cannot be read.
    """
    path = sums_path(backup)
    try:
        sums = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"the checksums cannot be read ({error}); expected JSON", path=path) from error
    if not isinstance(sums, dict) or sums.get("form") != FORM or "sha256" not in sums:
        raise InputError(f"expected the checksums of a backup in form {FORM}, with its sha256", path=path)
    return sums


def verify_sums(backup: Path) -> Mapping[str, Any] | None:
    """Check a backup against its checksums and return them; None if it has none.

    Raises
    ------
    InputError: the backup does not exist, or was altered.
    """
    if not backup.is_file():
        raise InputError("there is no such file; expected a backup", path=backup)
    sums = read_sums(backup)
    if sums is not None and (sha256 := file_digest(backup)) != sums["sha256"]:
        difference = f"its SHA-256 is {sha256[:12]}…, and its checksum file has {str(sums['sha256'])[:12]}…"
        cause = "the backup was altered or cut short after it was written. Use a different backup."
        raise InputError(f"{difference}: {cause}", path=backup)
    return sums


def _find_target(project: Path, target: Path, taken_at: datetime) -> Path:
    """Return the path of the new backup; reject a path that exists or whose folder does not."""
    target = target.resolve()
    refuse_name(target)
    if target.is_dir():
        target = target / f"{project.stem}-{taken_at:%Y%m%d-%H%M%S}{project.suffix}"
    if not target.parent.is_dir():
        raise InputError(
            f"{target}: the folder of this file does not exist; expected a file in an existing folder."
        )
    if target.exists() or sums_path(target).exists():
        raise _existing_target_error(target)
    return target


def _read_copy(copy: Path, project: Path) -> Rows:
    """Read a whole copy; an error names the project, because any damage to the copy comes from the
    project."""
    try:
        return read_whole_file(copy)
    except StoreError as error:
        message = error.found.replace(str(copy), str(project))
        command = "Restore an older backup into a new project: goldgrade --project NEW restore FILE."
        raise StoreError(f"{message} No backup was written.", command=command) from error


def _existing_target_error(target: Path) -> RefusedError:
    return RefusedError(
        f"{target} or its checksum file already exists. A backup never overwrites a file: choose another "
        "name, or give a folder, so that the backup is named after the time."
    )


def _publish_backup(new: Path, backup: Backup) -> None:
    """Rename a new backup and its file of checksums to their final names."""
    sums = {name: value for name, value in asdict(backup).items() if name != "path"} | {"form": FORM}
    sums_file = sums_path(new)
    sums_file.touch(OWNER_ONLY)
    sums["taken_at"] = backup.taken_at.isoformat()
    sums_file.write_text(f"{canonical_json(sums)}\n", encoding="utf-8")
    for source, target in ((sums_file, sums_path(backup.path)), (new, backup.path)):
        flush(source)
        os.link(source, target)  # unlike a rename, a link never replaces a file that was made meanwhile
    flush(backup.path.parent)
