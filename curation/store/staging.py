"""Folders in which files are written next to their place, so that nothing half-written is ever in it.

A process that is killed leaves such a folder behind, and it can hold sealed grades. Who writes one holds a
lock on the folder itself, which ends with the process, in whatever container it runs. The next one that
writes there removes a folder that nobody holds.
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
    """An empty folder next to `out`. Move from it what is whole; the rest is removed at the end.

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
    """An empty folder for a copy of a project, in the same folder if that can be written."""
    folder = project.parent if os.access(project.parent, os.W_OK) else Path(gettempdir())
    return staged(folder / f"{project.name}.rehearsal", private=True)


def replace_folder(new: Path, out: Path) -> None:
    """Put a folder in the place of another one, which is there again if that fails.

    Others may do the same at the same time: one of them is there in the end, and nothing of those before.
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
    """The folders here that nobody writes any more."""
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
    """Hold a lock on a folder, wherever it is moved, until what this returns is closed or the process ends.

    Raises
    ------
    OSError: there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    with suppress(OSError):  # somebody else replaces it, too, or the disk knows no locks
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def is_held(folder: Path) -> bool:
    """Whether a process holds a folder, or it is not there."""
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
    """This process holds a folder, if the folder is there."""
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
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(folder: Path) -> None:
    """Wait until all files below a folder and their names are on the disk."""
    for path in [*folder.rglob("*"), folder]:
        with suppress(FileNotFoundError):
            sync(path)
