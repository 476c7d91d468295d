"""Translation of DuckDB's errors into sentences, and waiting for a file that another process holds."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import duckdb

from curation.core.errors import StoreBusyError, StoreError
from curation.store import checkpoints
from curation.store.write_ahead_log import log_of

Opened = TypeVar("Opened")
PATIENCE = 10.0
OURS = frozenset({"goldgrade", "goldset", "curation.operations.jobs.worker"})
RESTORE = "Make a project of a backup next to it: goldgrade --project NEW restore FILE."
RETRY = 0.005
NOT_COMMITTED = (
    "Failed to commit: Could not",
    "Failed to commit: Checkpoint failed",
    "Failed to create checkpoint",
)
"""Beginnings of DuckDB 2.0's error messages when the disk makes a transaction fail."""
_LOCKED = (str(errno.EAGAIN), str(errno.EACCES))


def patiently(path: Path, patience: float, opens: Callable[[], Opened]) -> Opened:
    """Call `opens` again until no other process holds the file, and return its result.

    Raises
    ------
    StoreError, StoreBusyError: the file cannot be opened, or not within `patience` seconds.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            return opens()
        except duckdb.Error as error:
            if not _is_locked(error):
                raise StoreError(_not_opened(path, error), command=RESTORE) from error
            if time.monotonic() > deadline:
                raise StoreBusyError(_busy(path, error, patience)) from error
            time.sleep(RETRY)


def failure(error: duckdb.Error) -> StoreError | None:
    """Return a sentence on an error that the disk caused; None for any other error.

    If the disk is full at a commit, DuckDB reports an error of the transaction. After a failed checkpoint,
    the write-ahead log still has all other commits, so only the failed transaction is lost.
    """
    why = first_line(error)
    if _is_damage(error):
        sentence = f"The database file is damaged, or a part of it is missing: {why.rstrip('.')}."
        return StoreError(sentence, command=RESTORE)
    if isinstance(error, duckdb.IOException) or any(words in why for words in NOT_COMMITTED):
        full = os.strerror(errno.ENOSPC) in why
        way_out = ". The disk is full: make room and try again." if full else ""
        return StoreError(f"The database file could not be used, and nothing was changed: {why}{way_out}")
    return None


def first_line(error: Exception) -> str:
    """Return the first line of a DuckDB error, without DuckDB's advice."""
    return (_parts(error).get("exception_message") or str(error)).strip().splitlines()[0]


@contextmanager
def transaction_on(cursor: duckdb.DuckDBPyConnection, begin: str) -> Iterator[None]:
    with disk_errors():
        try:
            cursor.execute(begin)
            yield
            cursor.execute("COMMIT")
        except BaseException:
            _roll_back(cursor)
            raise


@contextmanager
def disk_errors() -> Iterator[None]:
    """Turn disk errors within the block into a `StoreError` with a sentence for people."""
    try:
        yield
    except duckdb.Error as error:
        store_error = failure(error)
        if store_error is None:
            raise
        raise store_error from error


def _is_locked(error: duckdb.Error) -> bool:
    """Check whether another process, or a second engine of this process, holds the file."""
    if isinstance(error, checkpoints.LockedError | duckdb.ResourceInUseException):
        return True
    return isinstance(error, duckdb.IOException) and _parts(error).get("errno", "") in _LOCKED


def _parts(error: Exception) -> dict[str, str]:
    """Parse the JSON of an engine's error; {} if the error is plain text."""
    _, brace, rest = str(error).partition("{")
    with suppress(ValueError):
        parts = json.loads(brace + rest)
        return parts if isinstance(parts, dict) else {}
    return {}


def _not_opened(path: Path, error: duckdb.Error) -> str:
    why = f"{'it is damaged, or a part of it is missing: ' if _is_damage(error) else ''}{first_line(error)}"
    sentence = f"{path} cannot be opened as a project, and nothing was changed: {why.rstrip('.!')}."
    if not log_of(path).exists():
        return sentence
    return f"{sentence} {log_of(path).name} next to the project holds the newest writes: keep both files."


def _is_damage(error: duckdb.Error) -> bool:
    """Check for the error of a wrong block checksum, for which DuckDB for Python has no class."""
    return type(error) is duckdb.Error


def _busy(path: Path, error: duckdb.Error, patience: float) -> str:
    ours = isinstance(error, duckdb.ResourceInUseException)
    process = os.getpid() if ours else checkpoints.holder(path)
    program = _program(process) if process else ""
    if process == os.getpid():
        who = "another connection of this process"
    else:
        who = f"process {process} ({program or 'of another user'})" if process else "another process"
    way_out = (
        "The other process is writing much data: wait until the process is done and try again."
        if "goldgrade" in program
        else "goldgrade releases the file between its steps: close the other program (a DuckDB shell or a "
        "notebook, perhaps) and try again."
    )
    return f"{path} has been held by {who} for over {patience:g} s. {way_out}"


def _program(pid: int) -> str:
    """Read the name of a process's program, without the arguments, which may contain tokens."""
    words = [""]
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    names = [Path(word).name for word in words[:4]]  # Python, two options, and what it runs
    return "goldgrade" if OURS.intersection(names) else names[0]


def _roll_back(cursor: duckdb.DuckDBPyConnection) -> None:
    with suppress(duckdb.Error):  # a failed COMMIT has rolled back already
        cursor.execute("ROLLBACK")
