"""The project's database file, taken for short turns only.

DuckDB gives one process the file. A `Store` therefore opens it for a turn (a reading or a transaction),
shares it among the process's threads through cursors, and lets go of it after `IDLE` seconds without
work and in any case after `LONGEST` seconds, so that the command line works while the app is serving.
Compute and wait for people outside of turns.

    store = open_store(path)
    with store.reading() as cursor: ...        # a consistent view, cannot write
    with store.transaction() as cursor: ...    # all or nothing; one at a time within the process

What was read may be kept in memory for as long as `store.edition` stays the same: it changes with every
transaction of this process and with everything that another process writes.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from curation.errors import NotFoundError, RefusedError, StoreError
from curation.store import migrations
from curation.store.files import PATIENCE, RETRY, Cursor, DatabaseFile, failure, patiently

Row = TypeVar("Row", bound=tuple[Any, ...])

IDLE = 0.1
LONGEST = 0.25
GAP = 4 * RETRY  # after LONGEST, long enough for a process that tries every RETRY seconds to get in
ENGINE_KEPT = 5.0  # seconds for which the engine waits for work, without the file


class Store:
    """One project's database, usable from any thread. Get it from `open_store` or `create_store`."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.path = path
        self._file = DatabaseFile(path, patience)
        self._changed = threading.Condition()
        self._writer = threading.Lock()
        self._mine = threading.local()
        self._edition = 0
        self._opening = False
        self._turns = 0
        self._opened = self._used = self._gap_until = 0.0
        self._checked = False
        self._closer: threading.Thread | None = None

    @contextmanager
    def reading(self) -> Iterator[Cursor]:
        """A turn with a consistent view of the database that cannot write."""
        with self._turn() as cursor, _transaction(cursor, "BEGIN TRANSACTION READ ONLY"):
            yield cursor

    @contextmanager
    def transaction(self, *, new_edition: bool = True) -> Iterator[Cursor]:
        """A turn whose writes are kept all together when the block ends, or not at all.

        Transactions of one process follow each other, so that none fails on another's rows.

        Parameters
        ----------
        new_edition: False where whoever keeps in memory what is written here brings it up to date.
        """
        self._refuse_nesting()
        with self._writer, self._turn() as cursor:
            try:
                with _transaction(cursor, "BEGIN TRANSACTION"):
                    yield cursor
            finally:
                self._edition += new_edition  # after the commit: what was read before is of the older one

    @property
    def edition(self) -> int:
        """Within a turn: equal numbers are equal content, but for transactions without `new_edition`."""
        return int(self._mine.edition)

    def close(self) -> None:
        """Let go of the file now; the next turn opens it again."""
        with self._changed:
            while self._turns or self._opening:
                self._changed.wait(IDLE)
            self._file.rest()
            self._changed.notify_all()
            closer = self._closer
        if closer is not None:
            closer.join()

    @contextmanager
    def _turn(self) -> Iterator[Cursor]:
        self._refuse_nesting()
        cursor = self._enter()
        try:
            with closing(cursor):
                self._mine.turn, self._mine.edition = True, self._edition
                yield cursor
        finally:
            self._mine.turn = False
            self._leave()

    def _refuse_nesting(self) -> None:
        if getattr(self._mine, "turn", False):
            raise RuntimeError("a turn inside a turn would wait for itself: pass the cursor on instead")

    def _enter(self) -> Cursor:
        with self._changed:
            patience = time.monotonic() + LONGEST  # a turn that takes long keeps the others out of the file
            while self._opening or (self._overdue() and time.monotonic() < patience):
                if self._turns or self._opening:
                    self._changed.wait(LONGEST / 4)
                else:
                    self._let_go(gap=GAP)
            if self._file.held:
                with _told():
                    cursor = self._file.cursor()
                self._turns += 1  # after: a turn whose cursor fails never ends
                return cursor
            self._turns += 1
            self._opening = True
        return self._open()

    def _open(self) -> Cursor:
        try:
            time.sleep(max(0.0, self._gap_until - time.monotonic()))
            with _told():
                self._edition += not self._file.take()
                cursor = self._file.cursor()
                if not self._checked:
                    migrations.upgrade(cursor)
                    self._checked = True
            return cursor
        except BaseException:
            self._file.rest()
            raise
        finally:
            with self._changed:
                self._opening = False
                self._turns -= not self._file.held
                self._opened = self._used = time.monotonic()
                self._start_closer()
                self._changed.notify_all()

    def _leave(self) -> None:
        with self._changed:
            self._turns -= 1
            self._used = time.monotonic()
            if not self._turns and self._overdue():
                self._let_go(gap=GAP)
            self._changed.notify_all()

    def _overdue(self) -> bool:
        return self._file.held and time.monotonic() - self._opened > LONGEST

    def _let_go(self, gap: float = 0.0) -> None:
        if self._file.held:
            self._file.let_go()
            self._gap_until = time.monotonic() + gap

    def _start_closer(self) -> None:
        if self._closer is None or not self._closer.is_alive():
            self._closer = threading.Thread(target=self._close_when_idle, daemon=True, name="goldset-store")
            self._closer.start()

    def _close_when_idle(self) -> None:
        with self._changed:
            while self._file.running or self._opening:
                rest = self._used + (IDLE if self._file.held else ENGINE_KEPT) - time.monotonic()
                if self._turns or self._opening or rest > 0:
                    self._changed.wait(max(rest, IDLE / 4))
                elif self._file.held:
                    self._let_go()
                else:
                    self._file.rest()
            self._closer = None


_stores: dict[Path, Store] = {}
_stores_lock = threading.Lock()


def open_store(path: Path) -> Store:
    """The store of an existing project; the same object for the same file within a process.

    Raises
    ------
    NotFoundError: there is no such file.
    StoreError, StoreBusyError, StoreVersionError: on the first turn.
    """
    path = path.resolve()
    if not path.is_file():
        raise NotFoundError(f"There is no goldset project at {path}. Make one with `goldset init`.")
    with _stores_lock:
        return _stores.setdefault(path, Store(path))


def create_store(path: Path, fill: Callable[[Cursor], None] = lambda _: None) -> Store:
    """Make a new project file with the current schema and what `fill` writes: whole, or not at all.

    Raises
    ------
    RefusedError: the file exists already.
    """
    path = path.resolve()
    if path.exists():
        raise RefusedError(_exists(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        new = Path(folder) / path.name
        with patiently(new, PATIENCE, lambda: duckdb.connect(str(new))) as connection:
            migrations.create(connection)
            with _transaction(connection, "BEGIN TRANSACTION"):
                fill(connection)
        try:
            os.link(new, path)  # unlike a rename, it never replaces what somebody else has made meanwhile
        except FileExistsError:
            raise RefusedError(_exists(path)) from None
    return open_store(path)


def _exists(path: Path) -> str:
    return f"{path} exists already. Choose another --project, or remove the file first."


def close_all() -> None:
    """Let go of every project file that this process holds."""
    with _stores_lock:
        stores = list(_stores.values())
    for store in stores:
        store.close()


atexit.register(close_all)


def utc_now() -> datetime:
    """The time as the database keeps it: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def append(
    cursor: Cursor, table: str, columns: Mapping[str, Sequence[Any]], types: pa.Schema | None = None
) -> int:
    """Append rows given as columns (name → values, all of one length) and return their number.

    Table and column names come from code, never from input. `types` is needed only where a column
    holds nothing but None or nested values.
    """
    rows = pa.table(dict(columns), schema=types) if types is not None else pa.table(dict(columns))
    if rows.num_rows:
        names = ", ".join(columns)
        cursor.execute("SELECT 1").fetchall()  # a result that fetchone() left half read blocks register()
        cursor.register("incoming_rows", rows)
        cursor.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM incoming_rows")  # noqa: S608
        cursor.unregister("incoming_rows")
    return int(rows.num_rows)


def append_rows(cursor: Cursor, table: str, rows: Sequence[Row], types: pa.Schema | None = None) -> int:
    """Append NamedTuples whose fields are columns of the table, and return their number."""
    if not rows:
        return 0
    names: tuple[str, ...] = rows[0]._fields  # type: ignore[attr-defined]
    return append(cursor, table, dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), types)


def fetch(cursor: Cursor, row: type[Row], sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
    """The rows of a query as tuples of type `row`, whose fields are the query's columns in order."""
    return [row(*values) for values in cursor.execute(sql, list(parameters)).fetchall()]


@contextmanager
def _transaction(cursor: Cursor, begin: str) -> Iterator[None]:
    with _told():
        try:
            cursor.execute(begin)
            yield
            cursor.execute("COMMIT")
        except BaseException:
            _roll_back(cursor)
            raise


@contextmanager
def _told() -> Iterator[None]:
    """Whatever the disk is to blame for within the block is raised as a sentence."""
    try:
        yield
    except duckdb.Error as error:
        if sentence := failure(error):
            raise StoreError(sentence) from error
        raise


def _roll_back(cursor: Cursor) -> None:
    with suppress(duckdb.Error):  # a failed COMMIT has rolled back already
        cursor.execute("ROLLBACK")
