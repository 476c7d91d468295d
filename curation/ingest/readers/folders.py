"""Files in a folder on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from curation.core.digests import file_digest
from curation.core.errors import InputError

HIDDEN = ("_", ".")
"""Beginnings of names of files that Spark and other tools write beside the data files."""
_MISSING = "there is no such path; expected a folder or a file"


def is_address(location: str | Path) -> bool:
    """Return whether a location is an address such as s3://logs/2026 instead of a path on this machine."""
    return "://" in str(location)


def refuse_address(location: str | Path) -> None:
    """Reject an address in object storage. The error message does not repeat any secret key in the
    address."""
    if is_address(location):
        raise InputError(
            ["is in object storage; download it first with your cloud's own tool, then import the folder"],
            path=re.sub("//.*@", "//", str(location)),
        )


def compute_checksum(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises
    ------
    InputError: the file does not exist or cannot be read.
    """
    try:
        return file_digest(path)
    except FileNotFoundError as error:
        raise InputError([_MISSING], path=path) from error
    except OSError as error:
        _refuse_unreadable(error)


def list_files(location: str | Path) -> dict[str, Path]:
    """Return the files in a folder and its subfolders by relative name, with "/" between folders.

    For a location that is a file, the only name is ''.

    Raises
    ------
    InputError: the location is an address, does not exist, cannot be read, or the folder has no files.
    """
    refuse_address(location)
    root = Path(location).absolute()
    if not root.exists():
        raise InputError([_MISSING], path=root)
    paths = [root] if root.is_file() else [*walk_files(root)]
    if not paths:
        raise InputError(["contains no files"], path=root, way_out="Expected files with records.")
    path_by_name = {"" if path == root else path.relative_to(root).as_posix(): path for path in paths}
    return dict(sorted(path_by_name.items()))


def walk_files(root: Path, hidden: tuple[str, ...] = HIDDEN) -> Iterator[Path]:
    """Yield the files in a folder and its subfolders, except hidden files."""
    for folder, folders, files in os.walk(root, onerror=_refuse_unreadable, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(hidden)]
        paths = (Path(folder, name) for name in files if not name.startswith(hidden))
        yield from filter(Path.is_file, paths)


def _refuse_unreadable(error: OSError) -> NoReturn:
    raise InputError([f"cannot be read: {error.strerror}"], path=error.filename) from error
