"""Folders in which a job leaves what a page then shows or hands out: private, outside the project.

Who starts the job makes the folder and names it among the parameters. What is older than an hour is removed
by whoever looks next.
"""

from __future__ import annotations

import time
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp

PREFIX = "goldset-result-"
KEPT = 3_600
"""Seconds for which a result is kept."""


def new_result_folder() -> Path:
    """An empty folder that only this user can look into."""
    return Path(mkdtemp(prefix=PREFIX))


def remove_result(folder: str | Path) -> None:
    """Remove a folder that `new_result_folder` made; any other is left alone."""
    if Path(folder).name.startswith(PREFIX):
        rmtree(folder, ignore_errors=True)


def remove_old_results() -> None:
    """Remove the folders that nothing was written into for an hour."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        try:
            old = time.time() - folder.stat().st_mtime > KEPT
        except OSError:
            continue
        if old:
            remove_result(folder)
