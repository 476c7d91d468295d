"""The folders in which a job finds its uploaded files and leaves its results, each locked by one process.

Only their owner can read the folders. Uploads lie next to the project until they are imported, results in the
folder for temporary files. The process that starts a job makes the folder, names the folder in the parameters
of the job, holds a lock on the folder, and removes the folder at its end. A folder that is older than an
hour, or that no process holds, is removed by the next process that looks.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp

from curation.store.staging import is_locked, lock_folder

PREFIX = "goldgrade-result-"
RESULT_SECONDS = 3_600
"""The seconds for which a result is kept."""
COMPRESSED_STARTS = (b"\x1f\x8b", b"PK", b"PAR1", b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")
"""The first bytes of compressed files, whose content is larger than the file."""
_locks: dict[Path, int] = {}
"""The locks on folders, which the process holds until it ends."""
_uploads: dict[Path, Path] = {}
_uploads_lock = threading.Lock()


def new_result_folder() -> Path:
    """Make an empty folder for results that only this user can read."""
    remove_old_results()
    folder = _new_folder(PREFIX, None)
    atexit.register(remove_result, folder)
    return folder


def _new_folder(prefix: str, parent: Path | None) -> Path:
    """Make an empty folder on which this process holds a lock."""
    hidden = Path(mkdtemp(prefix=f".{prefix}", dir=parent))  # no process removes a folder with this name
    folder = hidden.with_name(hidden.name[1:])
    _locks[folder] = lock_folder(hidden)
    hidden.rename(folder)
    return folder


def remove_result(folder: str | Path) -> None:
    """Remove a folder that `new_result_folder` made; ignore other folders."""
    if Path(folder).name.startswith(PREFIX):
        rmtree(folder, ignore_errors=True)
        if (lock := _locks.pop(Path(folder), None)) is not None:
            os.close(lock)


def list_old_results() -> list[Path]:
    """List this user's result folders that are older than an hour or that no process holds."""
    return sorted(folder for folder in Path(gettempdir()).glob(f"{PREFIX}*") if _is_old(folder))


def remove_old_results() -> list[Path]:
    """Remove old result folders and return their paths."""
    folders = list_old_results()
    for folder in folders:
        remove_result(folder)
    return folders


def _is_old(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:  # the folder was removed meanwhile
        return False
    if status.st_uid != os.getuid():
        return False
    return not is_locked(folder) or time.time() - status.st_mtime > RESULT_SECONDS


def uploads_root(project: Path) -> Path:
    """Return the folder of all uploads of a project."""
    return project.with_name(f"{project.name}.uploads")


def uploads_folder(project: Path) -> Path:
    """Return the uploads folder of this process, made at the first call."""
    project = project.resolve()
    with _uploads_lock:
        if project not in _uploads or not _uploads[project].is_dir():
            root = uploads_root(project)
            root.mkdir(mode=0o700, exist_ok=True)
            remove_abandoned_uploads(project)
            _uploads[project] = _new_folder("uploads-", root)
            atexit.register(rmtree, _uploads[project], ignore_errors=True)
        return _uploads[project]


def remove_abandoned_uploads(project: Path) -> None:
    """Remove uploaded files that server processes left behind when they ended."""
    root = uploads_root(project.resolve())
    for folder in root.iterdir() if root.is_dir() else ():
        if not folder.name.startswith(".") and not is_locked(folder):
            rmtree(folder, ignore_errors=True)


def discard_upload(project: Path, folder: object) -> None:
    """Remove a folder of uploads with its files; ignore other values."""
    if isinstance(folder, str) and uploads_root(project.resolve()) in Path(folder).parents:
        rmtree(folder, ignore_errors=True)


def is_uncompressed(path: Path) -> bool:
    """Return whether a file is not compressed."""
    with path.open("rb") as file:
        return not file.read(4).startswith(COMPRESSED_STARTS)
