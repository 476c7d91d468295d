"""Folders in which files are written beside their place, so that nothing half-written is ever in it.

A process that is killed leaves such a folder behind, and it can hold sealed grades. Its name tells whose it
was, so the next one that writes there removes it.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident

LONGEST = 86_400.0
"""Seconds after which a folder is left over even if a process has the number of the one that made it."""
_NAME = re.compile(r"\.(?P<place>.+)\.(?P<kind>new|old)-(?P<process>\d+)-\d+")


@contextmanager
def staged(out: Path, private: bool = False) -> Iterator[Path]:
    """An empty folder beside `out`. Move from it what is whole; the rest is removed at the end.

    Those that killed processes have left there are removed, too.

    private: only the user who writes it can look into it.
    """
    clear_leftovers(out.parent)
    new = out.parent / f".{out.name}.new-{os.getpid()}-{get_ident()}"
    try:
        new.mkdir(0o700 if private else 0o777, parents=True)
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)


def replace_folder(new: Path, out: Path) -> None:
    """Put a folder in the place of another one, which is there again if that fails.

    Others may do the same at the same time: one of them is there in the end, and nothing of those before.
    """
    old = out.parent / f".{out.name}.old-{os.getpid()}-{get_ident()}"
    with suppress(FileNotFoundError):  # there is none, or somebody else moves it away just now
        out.rename(old)
    try:
        new.rename(out)
    except OSError:
        with suppress(OSError):  # somebody else's came first, or there was none
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
    found = leftovers(folder)
    for path in found:
        named = _NAME.fullmatch(path.name)
        place = folder / named["place"] if named else path
        if named and named["kind"] == "old" and not place.exists():
            with suppress(OSError):
                path.rename(place)
        else:
            shutil.rmtree(path, ignore_errors=True)
    return found


def leftovers(folder: Path) -> list[Path]:
    """The folders here that nobody writes any more."""
    try:
        return sorted(path for path in folder.iterdir() if _is_left_over(path))
    except OSError:  # no such folder, or not ours to read
        return []


def _is_left_over(path: Path) -> bool:
    named = _NAME.fullmatch(path.name)
    if named is None or path.is_symlink() or not path.is_dir():
        return False
    with suppress(FileNotFoundError):  # it went meanwhile
        old = time.time() - path.stat().st_mtime > LONGEST
        return old or not is_running(int(named["process"]))
    return False


def is_running(process: int) -> bool:
    """Whether there is a process of this number, whoever's it is."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


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
