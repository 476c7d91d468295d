"""Translation of errors from DuckDB into sentences for users."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from curation.core.errors import StoreError
from curation.store.duckdb_format import log_path

RESTORE = "Restore a backup into a new project: goldgrade --project NEW restore FILE."
# Beginnings of DuckDB 2.0's error messages for a transaction that fails because of the disk
NOT_COMMITTED = (
    "Failed to commit: Could not",
    "Failed to commit: Checkpoint failed",
    "Failed to create checkpoint",
)


@contextmanager
def run_transaction(cursor: duckdb.DuckDBPyConnection, begin: str) -> Iterator[None]:
    """Run the block in a transaction that begins with the SQL `begin`.

    Raises
    ------
    StoreError: the disk caused an error.
    """
    with translate_disk_errors():
        try:
            cursor.execute(begin)
            yield
            cursor.execute("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):  # a failed COMMIT has already rolled back
                cursor.execute("ROLLBACK")
            raise


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Turn disk errors within the block into a `StoreError` with a sentence for users."""
    try:
        yield
    except duckdb.Error as error:
        store_error = translate_error(error)
        if store_error is None:
            raise
        raise store_error from error


def translate_error(error: duckdb.Error) -> StoreError | None:
    """Make the `StoreError` for an error that the disk caused; None for any other error.

    If the disk is full at a commit, DuckDB reports an error of the transaction. After a failed checkpoint,
    the write-ahead log still has all other commits, so only the failed transaction is lost.
    """
    reason = first_line(error)
    if _is_damage(error):
        sentence = f"The database file is damaged, or a part of it is missing: {reason.rstrip('.')}."
        return StoreError(sentence, command=RESTORE)
    if isinstance(error, duckdb.IOException) or any(words in reason for words in NOT_COMMITTED):
        is_full = os.strerror(errno.ENOSPC) in reason
        way_out = " The disk is full: make room and try again." if is_full else ""
        sentence = f"The database file could not be used, and nothing was changed: {reason.rstrip('.')}."
        return StoreError(sentence + way_out)
    return None


def describe_open_failure(path: Path, error: duckdb.Error) -> str:
    """Explain why a file cannot be opened as a project, and which files to keep."""
    damage = "it is damaged, or a part of it is missing: " if _is_damage(error) else ""
    reason = f"{damage}{first_line(error)}".rstrip(".!")
    sentence = f"{path} cannot be opened as a project, and nothing was changed: {reason}."
    log = log_path(path)
    if not log.exists():
        return sentence
    return f"{sentence} {log.name} next to the project holds the newest writes: keep both files."


def first_line(error: Exception) -> str:
    """Return the first line of a DuckDB error, without DuckDB's advice."""
    return (parse_error(error).get("exception_message") or str(error)).strip().splitlines()[0]


def parse_error(error: Exception) -> dict[str, str]:
    """Parse an engine's error that is JSON; {} if the error is plain text."""
    _, brace, json_end = str(error).partition("{")
    with suppress(ValueError):
        fields = json.loads(brace + json_end)
        return fields if isinstance(fields, dict) else {}
    return {}


def _is_damage(error: duckdb.Error) -> bool:
    """Return whether an error reports a wrong block checksum, for which DuckDB's Python package has no
    class."""
    return type(error) is duckdb.Error
