"""Writes that are made only if the rows from which they were planned have not changed.

A long plan is made between two short leases of the file, so that others can work meanwhile. If the rows have
changed when the plan is to be written, a new plan is made from the new rows.
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
    """Read rows, make a plan from the rows, write the plan if the rows are still unchanged, and return it.

    Parameters
    ----------
    fingerprint: what the plan rests on, such as counts of rows; another value makes the plan stale.
    read: function that reads all input of `plan`, from the same view of the database as the fingerprint.
    plan: function that makes the plan without access to the file, and may take long.
    still_holds: function that looks for changes that concern only this plan, called within the writing
        transaction.
    busy: why nothing was written after 5 stale plans. If None, a last plan is made within the writing
        transaction, while all other processes wait.

    Raises
    ------
    RefusedError: every plan was stale before it could be written. The error has the text `busy`.
    """
    for _ in range(MAX_TRIES):
        with store.reading() as cursor:
            fingerprint_before = fingerprint(cursor)
            inputs = read(cursor)
        finished_plan = plan(inputs)
        with store.transaction(appends=True) as cursor:
            if fingerprint(cursor) == fingerprint_before and still_holds(cursor, finished_plan):
                write(cursor, finished_plan)
                return finished_plan
    if busy is not None:
        raise RefusedError(busy)
    with store.transaction(appends=True) as cursor:
        finished_plan = plan(read(cursor))
        write(cursor, finished_plan)
    return finished_plan


class Rehearsal(Store):
    """A store for rehearsals, which rolls back all its transactions.

    Use this store for steps with one transaction: a second transaction would not see the writes of the first.
    """

    def __init__(self, store: Store) -> None:
        self.path = store.path
        self._real = store

    @contextmanager
    def reading(self) -> Iterator[Cursor]:
        """Open a read-only lease with a consistent view of the database."""
        with self._real.reading() as cursor:
            yield cursor

    @contextmanager
    def transaction(
        self, *, new_data_version: bool = True, appends: bool = False, large: bool = False
    ) -> Iterator[Cursor]:
        """Open a lease for writing, whose writes are rolled back when the block ends."""
        with (
            suppress(_UndoneError),
            self._real.transaction(new_data_version=False, appends=appends) as cursor,
        ):
            yield cursor
            raise _UndoneError

    @property
    def data_version(self) -> int:
        """Return the data version of the real store behind the rehearsal."""
        return self._real.data_version

    def close(self) -> None:
        """Close the file now; the next lease opens it again."""
        self._real.close()


class _UndoneError(Exception):
    """An exception that ends a transaction and rolls it back."""
