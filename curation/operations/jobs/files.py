"""The folders of a job: uploads that it imports, and results that a page then shows or hands out.

Both are private. Uploads lie next to the project until they are imported, results outside it. Who starts the
job makes the folder and names it among the parameters. Its process holds a lock on it and removes it at its
end. What is older than an hour, or held by nobody, is removed by the process that looks next.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp

from curation.store.staging import hold, is_held

PREFIX = "goldgrade-result-"
KEPT = 3_600
"""Seconds for which a result is kept."""
PACKED = (b"\x1f\x8b", b"PK", b"PAR1", b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")
"""How files begin whose content is larger than they are."""
_locks: dict[Path, int] = {}
"""Folder → the lock on it, held until the process ends, however that comes about."""
_uploads: dict[Path, Path] = {}
_uploads_lock = threading.Lock()


def new_result_folder() -> Path:
    """An empty folder that only this user can look into."""
    remove_old_results()
    folder = _new_folder(PREFIX, None)
    atexit.register(remove_result, folder)
    return folder


def _new_folder(prefix: str, place: Path | None) -> Path:
    """An empty folder that this process holds a lock on."""
    unheld = Path(mkdtemp(prefix=f".{prefix}", dir=place))  # by this name nobody removes it before it is held
    folder = unheld.with_name(unheld.name[1:])
    _locks[folder] = hold(unheld)
    unheld.rename(folder)
    return folder


def remove_result(folder: str | Path) -> None:
    """Remove a folder that `new_result_folder` made; any other is left alone."""
    if Path(folder).name.startswith(PREFIX):
        rmtree(folder, ignore_errors=True)
        if (lock := _locks.pop(Path(folder), None)) is not None:
            os.close(lock)


def old_results() -> list[Path]:
    """This user's folders that nothing was written into for an hour, or that nobody holds."""
    return sorted(folder for folder in Path(gettempdir()).glob(f"{PREFIX}*") if _is_old(folder))


def remove_old_results() -> list[Path]:
    """Remove old folders; returns what they were."""
    folders = old_results()
    for folder in folders:
        remove_result(folder)
    return folders


def _is_old(folder: Path) -> bool:
    try:
        about = folder.lstat()
    except OSError:  # it went meanwhile
        return False
    if about.st_uid != os.getuid():
        return False
    return not is_held(folder) or time.time() - about.st_mtime > KEPT


def uploads_root(project: Path) -> Path:
    """The folder of all uploads of a project."""
    return project.with_name(f"{project.name}.uploads")


def uploads_folder(project: Path) -> Path:
    """The folder of this process; the first call makes it, and removes the folders of ended processes."""
    project = project.resolve()
    with _uploads_lock:
        if project not in _uploads or not _uploads[project].is_dir():
            root = uploads_root(project)
            root.mkdir(mode=0o700, exist_ok=True)
            remove_abandoned(project)
            _uploads[project] = _new_folder("uploads-", root)
            atexit.register(rmtree, _uploads[project], ignore_errors=True)
        return _uploads[project]


def remove_abandoned(project: Path) -> None:
    """Remove what processes that have ended have left of uploads."""
    root = uploads_root(project.resolve())
    for folder in root.iterdir() if root.is_dir() else ():
        if not folder.name.startswith(".") and not is_held(folder):
            rmtree(folder, ignore_errors=True)


def discard(project: Path, folder: object) -> None:
    """Remove a folder of uploads and what is in it; anything else is left alone."""
    if isinstance(folder, str) and uploads_root(project.resolve()) in Path(folder).parents:
        rmtree(folder, ignore_errors=True)


def is_plain(path: Path) -> bool:
    """Whether a file is as large as its content, not a packed form of it."""
    with path.open("rb") as file:
        return not file.read(4).startswith(PACKED)
