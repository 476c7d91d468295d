"""Transactions on a cursor: committed as a whole or rolled back, and errors of the disk as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import duckdb

from curation.store.engine_errors import failure
from curation.store.files import Cursor


@contextmanager
def transaction_on(cursor: Cursor, begin: str) -> Iterator[None]:
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
    """Errors of the disk within the block are raised as a `StoreError` with a sentence."""
    try:
        yield
    except duckdb.Error as error:
        found = failure(error)
        if found is None:
            raise
        raise found from error


def _roll_back(cursor: Cursor) -> None:
    with suppress(duckdb.Error):  # a failed COMMIT has rolled back already
        cursor.execute("ROLLBACK")
