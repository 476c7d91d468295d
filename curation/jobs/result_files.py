"""Folders in which a job leaves what a page then shows or hands out: private, outside the project.

Who starts the job makes the folder and names it among the parameters. Its process removes it at its end. What
is older than an hour, or of a process that was killed, is removed by whoever looks next.
"""

from __future__ import annotations

import atexit
import os
import re
import time
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp

from curation.store.staging import is_running

PREFIX = "goldset-result-"
KEPT = 3_600
"""Seconds for which a result is kept."""
_NAME = re.compile(rf"{PREFIX}(?P<process>\d+)-.+")


def new_result_folder() -> Path:
    """An empty folder that only this user can look into."""
    remove_old_results()
    folder = Path(mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    atexit.register(remove_result, folder)
    return folder


def remove_result(folder: str | Path) -> None:
    """Remove a folder that `new_result_folder` made; any other is left alone."""
    if Path(folder).name.startswith(PREFIX):
        rmtree(folder, ignore_errors=True)


def old_results() -> list[Path]:
    """This user's folders that nothing was written into for an hour, or whose process has ended."""
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
    named = _NAME.fullmatch(folder.name)
    ended = named is not None and not is_running(int(named["process"]))
    return ended or time.time() - about.st_mtime > KEPT
