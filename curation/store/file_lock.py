"""The lock on a database file: which process holds the file, and waiting until the file is free."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

import duckdb

from curation.core.errors import StoreBusyError, StoreError
from curation.store.engine_errors import RESTORE, describe_open_failure, parse_error

Opened = TypeVar("Opened")
PATIENCE = 10.0  # seconds for which a process waits for a file by default
RETRY = 0.005  # seconds between two tries to open a file
OWN_PROGRAMS = frozenset({"goldgrade", "goldset", "curation.operations.jobs.worker"})
_LOCK_ERRORS = (str(errno.EAGAIN), str(errno.EACCES))
_FLOCK_LAYOUT = "hh4xqqi4x"  # layout of the 64-bit Linux struct flock: type, whence, start, length, process
_attached_files: set[Path] = set()


class LockedError(duckdb.IOException):
    """Error: another process holds the database file."""


def is_attached(path: Path) -> bool:
    """Return whether this process has the database file open."""
    return path in _attached_files


def note_attached(path: Path) -> None:
    """Record that this process has the database file open, so that nobody restores blocks meanwhile."""
    _attached_files.add(path)


def note_detached(path: Path) -> None:
    """Record that this process has closed the database file."""
    _attached_files.discard(path)


def lock_file(file: IO[bytes], operation: int) -> None:
    """Lock a file as DuckDB does. The lock ends when this process closes any descriptor of the file.

    operation: LOCK_EX or LOCK_SH of `fcntl`.

    Raises
    ------
    LockedError: another process has locked the file.
    """
    try:
        fcntl.lockf(file, operation | fcntl.LOCK_NB)
    except OSError as error:
        raise LockedError(f"{file.name} is locked: {error.strerror}") from None


def find_lock_holder(path: Path) -> int | None:
    """Find the process that has locked a file; None if the process is unknown, as between containers."""
    if path in _attached_files:
        return os.getpid()
    query = struct.pack(_FLOCK_LAYOUT, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    try:
        with path.open("rb") as file:
            answer = fcntl.fcntl(file, fcntl.F_GETLK, query)
    except OSError:
        return None
    lock_type, _, _, _, process = struct.unpack(_FLOCK_LAYOUT, answer)
    return int(process) if lock_type != fcntl.F_UNLCK and process > 0 else None


def wait_for_file(path: Path, patience: float, open_file: Callable[[], Opened]) -> Opened:
    """Retry `open_file` until no other process holds the file, and return its result.

    Raises
    ------
    StoreError, StoreBusyError: the file cannot be opened, or not within `patience` seconds.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            return open_file()
        except duckdb.Error as error:
            if not _is_lock_error(error):
                raise StoreError(describe_open_failure(path, error), command=RESTORE) from error
            if time.monotonic() > deadline:
                raise StoreBusyError(_describe_holder(path, error, patience)) from error
            time.sleep(RETRY)


def _is_lock_error(error: duckdb.Error) -> bool:
    """Return whether another process, or a second engine of this process, holds the file."""
    if isinstance(error, LockedError | duckdb.ResourceInUseException):
        return True
    return isinstance(error, duckdb.IOException) and parse_error(error).get("errno", "") in _LOCK_ERRORS


def _describe_holder(path: Path, error: duckdb.Error, patience: float) -> str:
    is_own = isinstance(error, duckdb.ResourceInUseException)
    process = os.getpid() if is_own else find_lock_holder(path)
    program = _read_program(process) if process else ""
    if process == os.getpid():
        holder = "another connection of this process"
    else:
        holder = f"process {process} ({program or 'of another user'})" if process else "another process"
    way_out = (
        "The other process is writing a lot of data. Wait until it is done, then try again."
        if "goldgrade" in program
        else "goldgrade releases the file between its steps: close the other program (a DuckDB shell or a "
        "notebook, perhaps) and try again."
    )
    return f"{path} has been in use by {holder} for over {patience:g} s. {way_out}"


def _read_program(process: int) -> str:
    """Read the name of a process's program, without the arguments, which may contain tokens."""
    words = [""]
    with suppress(OSError):
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    names = [Path(word).name for word in words[:4]]  # Python, two options, and the program
    return "goldgrade" if OWN_PROGRAMS.intersection(names) else names[0]
