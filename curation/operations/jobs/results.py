"""Folders in which a job leaves what a page then shows or hands out: private, outside the project.

Who starts the job makes the folder and names it among the parameters. Its process holds a lock on it and
removes it at its end. What is older than an hour, or held by nobody, is removed by the process that looks
next.
"""

from __future__ import annotations

import atexit
import os
import time
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp

from curation.store.staging import hold, is_held

PREFIX = "goldgrade-result-"
KEPT = 3_600
"""Seconds for which a result is kept."""

_held: dict[Path, int] = {}


def new_result_folder() -> Path:
    """An empty folder that only this user can look into."""
    remove_old_results()
    unheld = Path(mkdtemp(prefix=f".{PREFIX}"))  # by this name nobody removes it before it is held
    folder = unheld.with_name(unheld.name[1:])
    _held[folder] = hold(unheld)
    unheld.rename(folder)
    atexit.register(remove_result, folder)
    return folder


def remove_result(folder: str | Path) -> None:
    """Remove a folder that `new_result_folder` made; any other is left alone."""
    if Path(folder).name.startswith(PREFIX):
        rmtree(folder, ignore_errors=True)
        if (held := _held.pop(Path(folder), None)) is not None:
            os.close(held)


def old_results() -> list[Path]:
    """This user's folders that nothing was written into for an hour, or that nobody holds."""
    return sorted(folder for folder in Path(gettempdir()).glob(f"{PREFIX}*") if _is_old(folder))


def remove_old_results() -> list[Path]:
    """Remove old folders; returns what they were."""
    found = old_results()
    for folder in found:
        remove_result(folder)
    return found


def _is_old(folder: Path) -> bool:
    try:
        about = folder.lstat()
    except OSError:  # it went meanwhile
        return False
    if about.st_uid != os.getuid():
        return False
    return not is_held(folder) or time.time() - about.st_mtime > KEPT
