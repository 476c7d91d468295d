"""Staging folders next to a target folder, so that the target never has incomplete files.

A killed process leaves its staging folder behind, which can contain sealed grades. The writing process holds
a lock on the staging folder, which ends with the process, also in a container. The next process that writes
to the same place removes staging folders that no process has locked.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir

_STAGING_NAME = re.compile(r"\.(?P<target>.+)\.(?P<role>new|old)-(?:[0-9a-f]{16}|\d+-\d+)")


@contextmanager
def staging_folder(target: Path, private: bool = False) -> Iterator[Path]:
    """Make an empty staging folder next to `target`, for the duration of the block.

    Move complete files out of the staging folder. All other files are removed at the end.

    Staging folders that killed processes have left are removed, too.

    private: whether only the present user can read the folder.
    """
    remove_leftovers(target.parent)
    staging = _make_staging_path(target, "new")
    # not named like a staging folder, so that nobody removes it before it is locked
    unlocked = staging.with_name(f"{staging.name}-")
    unlocked.mkdir(0o700 if private else 0o777, parents=True)
    with _locked(unlocked):
        try:
            unlocked.rename(staging)
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def rehearsal_folder(project: Path) -> AbstractContextManager[Path]:
    """Make an empty folder for a copy of a project, next to the project if its folder is writable."""
    folder = project.parent if os.access(project.parent, os.W_OK) else Path(gettempdir())
    return staging_folder(folder / f"{project.name}.rehearsal", private=True)


def replace_folder(replacement: Path, target: Path) -> None:
    """Replace a folder with a new one; after an error, restore the former folder.

    Several processes may replace the folder at the same time. In the end, exactly one of the new folders
    remains.
    """
    former = _make_staging_path(target, "old")
    with _locked(target):
        with suppress(FileNotFoundError):  # the folder is missing, or another process is moving it away
            target.rename(former)
        try:
            replacement.rename(target)
        except OSError:
            with suppress(OSError):  # another process's folder came first, or there was nothing to restore
                former.rename(target)
            # Without a target, the former folder is the only one, and is restored later, as after a kill
            if target.exists():
                shutil.rmtree(former, ignore_errors=True)
            raise
        try:
            flush(target.parent)
        finally:
            shutil.rmtree(former, ignore_errors=True)


def remove_leftovers(folder: Path) -> list[Path]:
    """Remove the files that killed processes have left in a folder, and return the removed paths.

    If a process was killed after moving a former folder away and before putting the new folder in place, the
    former folder is restored.
    """
    folders = list_leftovers(folder)
    for path in folders:
        name_match = _STAGING_NAME.fullmatch(path.name)
        target = folder / name_match["target"] if name_match else path
        if name_match and name_match["role"] == "old" and not target.exists():
            with suppress(OSError):
                path.rename(target)
        else:
            shutil.rmtree(path, ignore_errors=True)
    return folders


def list_leftovers(folder: Path) -> list[Path]:
    """List the staging folders that no process has locked."""
    try:
        return sorted(path for path in folder.iterdir() if _is_leftover(path))
    except OSError:  # the folder is missing, or this user cannot read it
        return []


def lock_folder(folder: Path) -> int:
    """Lock a folder, even if it is moved, until the returned descriptor is closed or the process ends.

    Raises
    ------
    OSError: there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    with suppress(OSError):  # another process replaces it too, or the disk has no locks
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def is_locked(folder: Path) -> bool:
    """Return whether a process has locked the folder, or the folder is missing."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        finally:
            os.close(descriptor)
    return True


def flush(path: Path) -> None:
    """Flush a file, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_all(folder: Path) -> None:
    """Flush all files below a folder, and their names, to the disk."""
    for path in [*folder.rglob("*"), folder]:
        with suppress(FileNotFoundError):
            flush(path)


def _is_leftover(path: Path) -> bool:
    has_name = _STAGING_NAME.fullmatch(path.name) is not None
    return has_name and not path.is_symlink() and path.is_dir() and not is_locked(path)


def _make_staging_path(out: Path, role: str) -> Path:
    return out.parent / f".{out.name}.{role}-{secrets.token_hex(8)}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, if it exists, while the `with` block runs."""
    try:
        descriptor = lock_folder(folder)
    except FileNotFoundError:
        yield
        return
    try:
        yield
    finally:
        os.close(descriptor)
