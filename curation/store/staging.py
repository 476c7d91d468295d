"""Temporary staging folders next to a target folder, so that the target never has incomplete files.

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

_NAME = re.compile(r"\.(?P<place>.+)\.(?P<kind>new|old)-(?:[0-9a-f]{16}|\d+-\d+)")


@contextmanager
def staged(out: Path, private: bool = False) -> Iterator[Path]:
    """Make an empty staging folder next to `out`, for the duration of the block.

    Move complete files out of the staging folder. All other files are removed at the end.

    Staging folders that killed processes have left are removed, too.

    private: whether only the present user can read the folder.
    """
    clear_leftovers(out.parent)
    new = _staged(out, "new")
    unheld = new.with_name(f"{new.name}-")  # no name of a left-over: nobody removes it before it is held
    unheld.mkdir(0o700 if private else 0o777, parents=True)
    with _held(unheld):
        try:
            unheld.rename(new)
            yield new
        finally:
            shutil.rmtree(new, ignore_errors=True)


def beside_or_temporary(project: Path) -> AbstractContextManager[Path]:
    """Make an empty folder for a copy of a project, next to the project if its folder is writable."""
    folder = project.parent if os.access(project.parent, os.W_OK) else Path(gettempdir())
    return staged(folder / f"{project.name}.rehearsal", private=True)


def replace_folder(new: Path, out: Path) -> None:
    """Replace a folder by a new folder, and restore the former folder after an error.

    Several processes may replace the folder at the same time. In the end, exactly one of the new folders
    remains.
    """
    old = _staged(out, "old")
    with _held(out):
        with suppress(FileNotFoundError):  # it is not there, or somebody else moves it away just now
            out.rename(old)
        try:
            new.rename(out)
        except OSError:
            with suppress(OSError):  # somebody else's came first, or there was nothing to put back
                old.rename(out)
            if out.exists():  # else what is moved away is the only one: it is put back later, as after a kill
                shutil.rmtree(old, ignore_errors=True)
            raise
        try:
            sync(out.parent)
        finally:
            shutil.rmtree(old, ignore_errors=True)


def clear_leftovers(folder: Path) -> list[Path]:
    """Remove the files that killed processes have left in a folder, and return the removed paths.

    If a process was killed after moving a former folder away and before putting the new folder in place, the
    former folder is restored.
    """
    folders = leftovers(folder)
    for path in folders:
        named = _NAME.fullmatch(path.name)
        target = folder / named["place"] if named else path
        if named and named["kind"] == "old" and not target.exists():
            with suppress(OSError):
                path.rename(target)
        else:
            shutil.rmtree(path, ignore_errors=True)
    return folders


def leftovers(folder: Path) -> list[Path]:
    """List the staging folders that no process has locked."""
    try:
        return sorted(path for path in folder.iterdir() if _is_left_over(path))
    except OSError:  # no such folder, or not ours to read
        return []


def hold(folder: Path) -> int:
    """Lock a folder, even if it is moved, until the returned descriptor is closed or the process ends.

    Raises
    ------
    OSError: there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    with suppress(OSError):  # somebody else replaces it, too, or the disk knows no locks
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def is_held(folder: Path) -> bool:
    """Check whether a process has locked the folder, or the folder is missing."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        finally:
            os.close(descriptor)
    return True


def sync(path: Path) -> None:
    """Flush a file, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(folder: Path) -> None:
    """Flush all files below a folder and their names to the disk."""
    for path in [*folder.rglob("*"), folder]:
        with suppress(FileNotFoundError):
            sync(path)


def _is_left_over(path: Path) -> bool:
    return (
        _NAME.fullmatch(path.name) is not None
        and not path.is_symlink()
        and path.is_dir()
        and not is_held(path)
    )


def _staged(out: Path, kind: str) -> Path:
    return out.parent / f".{out.name}.{kind}-{secrets.token_hex(8)}"


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Lock a folder during the block, if the folder exists."""
    try:
        descriptor = hold(folder)
    except FileNotFoundError:
        yield
        return
    try:
        yield
    finally:
        os.close(descriptor)
