"""Planned writes: read, plan, and write if the input has not changed; and rehearsals, whose writes are
undone.

A long plan is made between two short leases of the file, so that others can work meanwhile. The plan is
written only if its input is still the same. Else a new plan is made from the new input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from curation.core.errors import RefusedError
from curation.store.database import Store
from curation.store.project_file import Cursor

Inputs = TypeVar("Inputs")
Planned = TypeVar("Planned")
MAX_TRIES = 5


def write_if_unchanged(
    store: Store,
    *,
    fingerprint: Callable[[Cursor], object],
    read: Callable[[Cursor], Inputs],
    plan: Callable[[Inputs], Planned],
    write: Callable[[Cursor, Planned], None],
    still_holds: Callable[[Cursor, Planned], bool] = lambda _cursor, _planned: True,
    busy: str | None = None,
) -> Planned:
    """Read and plan, then write in one transaction if the plan still holds; return the plan that was written.

    Parameters
    ----------
    fingerprint: what the plan rests on, such as counts of rows; another value makes the plan stale.
    read: everything that `plan` needs, from the same view of the database as the fingerprint.
    plan: works without the file and may take as long as it needs.
    still_holds: looks for changes that concern this plan only; asked within the transaction that writes.
    busy: why nothing was written after 5 stale plans. None makes a last plan within the transaction that
        writes it, while everybody else waits.

    Raises
    ------
    RefusedError: every plan was stale when it was to be written, and `busy` says so.
    """
    for _ in range(MAX_TRIES):
        with store.reading() as cursor:
            before = fingerprint(cursor)
            inputs = read(cursor)
        planned = plan(inputs)
        with store.transaction(appends=True) as cursor:
            if fingerprint(cursor) == before and still_holds(cursor, planned):
                write(cursor, planned)
                return planned
    if busy is not None:
        raise RefusedError(busy)
    with store.transaction(appends=True) as cursor:
        planned = plan(read(cursor))
        write(cursor, planned)
    return planned


class Rehearsal(Store):
    """A store whose transactions are rolled back. It suits steps of one transaction: a second transaction
    would not see the writes of the first."""

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
        """The data version of the real store."""
        return self._real.data_version

    def close(self) -> None:
        """Let go of the file now; the next lease opens it again."""
        self._real.close()


class _UndoneError(Exception):
    """An exception that ends a transaction, so that it is rolled back."""
