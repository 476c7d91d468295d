"""Staging folders next to a target, so that the target never has incomplete files.

A killed process leaves its staging folder behind, which can contain sealed grades. The writing process holds
a lock on the folder, which ends with the process, also in a container. The next process that writes there
removes folders that nobody holds.
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
    """Make an empty folder next to `out`. Move complete files out of it; the rest is removed at the end.

    Folders that killed processes have left there are removed, too.

    private: only the user who writes it can look into it.
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
    """Make an empty folder for a copy of a project, in the same folder if it is writable."""
    folder = project.parent if os.access(project.parent, os.W_OK) else Path(gettempdir())
    return staged(folder / f"{project.name}.rehearsal", private=True)


def replace_folder(new: Path, out: Path) -> None:
    """Replace a folder; if that fails, the former folder is put back.

    Several processes may do so at the same time: in the end one of the new folders is there.
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
    """Remove what killed processes have left in a folder; returns what it was.

    Where one was killed between moving a former folder away and putting the new one in its place, the former
    one is put back.
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
    """List staging folders that no process holds."""
    try:
        return sorted(path for path in folder.iterdir() if _is_left_over(path))
    except OSError:  # no such folder, or not ours to read
        return []


def _is_left_over(path: Path) -> bool:
    return (
        _NAME.fullmatch(path.name) is not None
        and not path.is_symlink()
        and path.is_dir()
        and not is_held(path)
    )


def hold(folder: Path) -> int:
    """Lock a folder, also if it is moved, until the returned descriptor is closed or the process ends.

    Raises
    ------
    OSError: there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    with suppress(OSError):  # somebody else replaces it, too, or the disk knows no locks
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def is_held(folder: Path) -> bool:
    """Check whether a process holds the folder, or the folder is missing."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        finally:
            os.close(descriptor)
    return True


def _staged(out: Path, kind: str) -> Path:
    return out.parent / f".{out.name}.{kind}-{secrets.token_hex(8)}"


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder during the block, if the folder exists."""
    try:
        descriptor = hold(folder)
    except FileNotFoundError:
        yield
        return
    try:
        yield
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
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
