"""Backups: a project file as it is after its last commit, with its sums next to it.

The file is held only while its bytes are copied. A person who grades meanwhile waits for that long, and
nothing that was acknowledged is missing. The copy is then read whole, and gets its place only after that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb

from curation import __version__
from curation.core.errors import InputError, RefusedError, StoreError
from curation.core.text import canonical_json, file_digest
from curation.operations.backups.content import Rows, read_whole_file
from curation.store import COMMAND_LINE, Store, note_event, utc_now
from curation.store.project_file import refuse_name
from curation.store.staging import staged, sync

FORM = 1
OWNER_ONLY = 0o600


@dataclass(frozen=True)
class Backup:
    """A backup and its sums.

    Attributes
    ----------
    sha256, bytes: of the file at `path`.
    rows: table → rows.
    goldgrade, duckdb: the versions that wrote it.
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
    def judgments(self) -> int:
        return self.rows.get("judgment_events", 0)


def back_up(
    store: Store,
    target: Path,
    actor: str = COMMAND_LINE,
    action: str = "backup",
    detail: Mapping[str, object] = MappingProxyType({}),
) -> Backup:
    """Write a backup of a project that may be in use, and its sums next to it; all of it was read before.

    Parameters
    ----------
    target: the new file. In a folder that exists it gets the project's name and the time (UTC).
    action, detail: what the audit trail calls it, and what it says besides.

    Raises
    ------
    InputError: there is such a file already, or the folder does not exist or cannot be written.
    StoreError, StoreBusyError: the project cannot be read, or the copy of it is damaged.
    """
    taken_at = utc_now().replace(microsecond=0)
    target = _place(store.path, target, taken_at)
    try:
        with staged(target, private=True) as folder:
            new = folder / target.name
            store.copy_to(new)
            rows = _read(new, store.path)
            taken = Backup(target, store.path.name, taken_at, new.stat().st_size, file_digest(new), rows)
            _put_in_place(new, taken)
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        raise InputError(
            f"{target}: the backup could not be written ({error.strerror}); expected a folder that can be "
            "written and has room for a copy of the project."
        ) from error
    sums = {"file": target.name, "sha256": taken.sha256, "bytes": taken.bytes}
    note_event(store, action, {**sums, **detail}, actor)
    return taken


def make_folder(folder: Path) -> None:
    """A folder for backups, which only its owner can look into; one that exists stays as it is.

    Raises
    ------
    InputError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} could not be made ({error.strerror}); expected a folder, or a place where "
            "one can be made."
        ) from error


def sums_path(backup: Path) -> Path:
    """Where the sums of a backup are: `NAME.sums.json` next to it."""
    return backup.with_name(f"{backup.name}.sums.json")


def read_sums(backup: Path) -> Mapping[str, Any] | None:
    """The sums next to a backup as they were written; None where there are none.

    Raises
    ------
    InputError: they cannot be read.
    """
    path = sums_path(backup)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"the sums cannot be read ({error}); expected JSON", path=path) from error
    if not isinstance(found, dict) or found.get("form") != FORM or "sha256" not in found:
        raise InputError(f"expected the sums of a backup in form {FORM}, with its sha256", path=path)
    return found


def refuse_altered(backup: Path) -> Mapping[str, Any] | None:
    """The sums of a backup whose bytes agree with them; None where it has none.

    Raises
    ------
    InputError: there is no such file, or it was altered.
    """
    if not backup.is_file():
        raise InputError("there is no such file; expected a backup", path=backup)
    sums = read_sums(backup)
    if sums is not None and (found := file_digest(backup)) != sums["sha256"]:
        raise InputError(
            f"its SHA-256 is {found[:12]}…, and its sums say {str(sums['sha256'])[:12]}…: it was altered or "
            "cut short after it was written. Use another backup.",
            path=backup,
        )
    return sums


def _place(project: Path, target: Path, taken_at: datetime) -> Path:
    target = target.resolve()
    refuse_name(target)
    if target.is_dir():
        target = target / f"{project.stem}-{taken_at:%Y%m%d-%H%M%S}{project.suffix}"
    if not target.parent.is_dir():
        raise InputError(f"{target}: its folder does not exist; expected a file in a folder that does.")
    if target.exists() or sums_path(target).exists():
        raise _exists(target)
    return target


def _read(copy: Path, project: Path) -> Rows:
    """The rows of the copy, all of it read. What is wrong with it is wrong with the project."""
    try:
        return read_whole_file(copy)
    except StoreError as error:
        found = error.found.replace(str(copy), str(project))
        command = "Make a project of an older backup next to it: goldgrade --project NEW restore FILE."
        raise StoreError(f"{found} No backup was written.", command=command) from error


def _exists(target: Path) -> RefusedError:
    return RefusedError(
        f"{target} or its sums exist already. A backup replaces nothing: choose another name, or name a "
        "folder, and the time becomes part of the name."
    )


def _put_in_place(new: Path, taken: Backup) -> None:
    sums = {name: value for name, value in asdict(taken).items() if name != "path"} | {"form": FORM}
    companion = sums_path(new)
    companion.touch(OWNER_ONLY)
    companion.write_text(
        f"{canonical_json(sums | {'taken_at': taken.taken_at.isoformat()})}\n", encoding="utf-8"
    )
    for one, place in ((companion, sums_path(taken.path)), (new, taken.path)):
        sync(one)
        os.link(one, place)  # unlike a rename, it never replaces a file made meanwhile
    sync(taken.path.parent)
