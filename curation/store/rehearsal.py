"""A rehearsal: a project that reads as it is, and whose writes are undone at the end of each transaction.

What a step would do is found by doing it, up to the last moment. So a rehearsal and the real thing cannot
differ: they are the same code on the same data.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from curation.store.database import Store
from curation.store.files import Cursor


class Rehearsal(Store):
    """The store of a project, in which nothing is kept. For steps of one transaction: a second one would not
    see what the first has written."""

    def __init__(self, store: Store) -> None:
        self.path = store.path
        self._real = store

    @contextmanager
    def reading(self) -> Iterator[Cursor]:
        """A lease with a consistent view of the database that cannot write."""
        with self._real.reading() as cursor:
            yield cursor

    @contextmanager
    def transaction(
        self, *, new_data_version: bool = True, appends: bool = False, large: bool = False
    ) -> Iterator[Cursor]:
        """A lease whose writes can be read until the block ends, and are then rolled back."""
        with (
            suppress(_UndoneError),
            self._real.transaction(new_data_version=False, appends=appends) as cursor,
        ):
            yield cursor
            raise _UndoneError

    @property
    def data_version(self) -> int:
        """As for the store that is rehearsed on."""
        return self._real.data_version

    def close(self) -> None:
        """Let go of the file now; the next lease opens it again."""
        self._real.close()


class _UndoneError(Exception):
    """Ends a transaction so that it is rolled back."""
