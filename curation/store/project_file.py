"""What can be a project's file, and whether an app serves it."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from curation.core.errors import InputError, NotFoundError, StoreError, StoreReadOnlyError
from curation.store.engine_errors import RESTORE


def only_read(path: Path) -> StoreReadOnlyError:
    """The refusal to write a project whose file or folder cannot be written."""
    return StoreReadOnlyError(
        f"{path} was opened to be read only, because the file or its folder cannot be written by who runs "
        "this. Nothing was changed. Use it where it can be written, or write to a backup of it."
    )


def refuse_name(path: Path) -> None:
    """Refuse a name whose log DuckDB would keep in another place than next to the file.

    Raises
    ------
    InputError: a question mark is in it.
    """
    if "?" in str(path):
        raise InputError(
            f"{path}: there is a question mark in the name or in that of a folder. DuckDB would keep the log "
            "of what was written last under another name. Rename it, or choose another project.",
            command="--project FILE does.",
        )


def serve_alone(path: Path) -> bool:
    """Note until the end of this process that it serves the project; False if another one does already."""
    try:
        fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)  # open for good: see above
    except OSError:
        return False
    return True


def is_served(path: Path) -> bool:
    """Whether an app serves the project; ask before this process opens the project."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def no_project(path: Path) -> str:
    """The sentence for a file that is not there."""
    return f"There is no goldgrade project at {path}. Make one with `goldgrade init`."


def require_file(path: Path) -> None:
    """Refuse a path at which no project can be: nothing, a folder, or a place that nobody may look into.

    Raises
    ------
    NotFoundError: there is nothing.
    StoreError: it is no file, is empty, or cannot be read by who runs this.
    """
    try:
        mode, size = path.stat().st_mode, path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(no_project(path)) from None
    except OSError as error:
        raise StoreError(f"{path} cannot be opened as a project: {error.strerror}.") from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no file"
        raise StoreError(f"{path} is {kind}; expected the file of a goldgrade project, NAME.duckdb.")
    if not os.access(path, os.R_OK):
        raise StoreError(f"{path} cannot be opened as a project: who runs this may not read it.")
    if not size:
        raise StoreError(f"{path} is empty; expected the file of a goldgrade project.", command=RESTORE)
