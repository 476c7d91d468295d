"""Where uploaded files are until they are imported: next to the project, readable by nobody else.

Each process that serves a project has a folder of its own there, and a lock on it for as long as it lives. So
the next process knows whose folders nobody will come back for, however the last one ended, and removes them.
"""

from __future__ import annotations

import atexit
import fcntl
import threading
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import IO

PACKED = (b"\x1f\x8b", b"PK", b"PAR1", b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")
"""How files begin whose content is larger than they are."""

_LOCK = "lock"
_own: dict[Path, tuple[Path, IO[bytes]]] = {}
_own_lock = threading.Lock()


def uploads_root(project: Path) -> Path:
    """The folder of all uploads of a project."""
    return project.with_name(f"{project.name}.uploads")


def uploads_folder(project: Path) -> Path:
    """The folder of this process. When first asked for, it is made, and those of ended processes removed."""
    project = project.resolve()
    with _own_lock:
        if project not in _own or not _own[project][0].is_dir():
            root = uploads_root(project)
            root.mkdir(mode=0o700, exist_ok=True)
            _remove_abandoned(root)
            folder = Path(mkdtemp(dir=root))
            _own[project] = (folder, _locked(folder))
            atexit.register(rmtree, folder, ignore_errors=True)
        return _own[project][0]


def remove_abandoned(project: Path) -> None:
    """Remove what processes that have ended have left of uploads."""
    root = uploads_root(project.resolve())
    if root.is_dir():
        _remove_abandoned(root)


def discard(project: Path, folder: object) -> None:
    """Remove a folder of uploads and what is in it; anything else is left alone."""
    if isinstance(folder, str) and uploads_root(project.resolve()) in Path(folder).parents:
        rmtree(folder, ignore_errors=True)


def is_plain(path: Path) -> bool:
    """Whether a file is as large as its content, not a packed form of it."""
    with path.open("rb") as file:
        return not file.read(4).startswith(PACKED)


def _remove_abandoned(root: Path) -> None:
    for folder in root.iterdir():
        try:
            with (folder / _LOCK).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            continue  # being made at this moment
        except OSError:
            continue  # its process is alive
        rmtree(folder, ignore_errors=True)


def _locked(folder: Path) -> IO[bytes]:
    """The lock of a folder, held until the process ends, however that comes about."""
    file = (folder / _LOCK).open("wb")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file
