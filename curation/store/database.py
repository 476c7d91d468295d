"""Access to the project's database file, which a process holds only for short leases.

DuckDB lets only one process open a database file. A `Store` therefore opens the file for a lease (a reading
or a transaction), shares it among the process's threads through cursors, and closes it after `IDLE` seconds
without work, at the latest after `LONGEST` seconds, so that the command line works while the app is serving.
Long computations and waiting for people belong outside of leases.

    store = open_store(path)
    with store.reading() as cursor: ...        # a consistent view, cannot write
    guide = store.read(current_guide)          # the same for one function that takes the cursor
    with store.transaction() as cursor: ...    # all or nothing; one at a time within the process

Data read from the file may be cached in memory as long as `Store.data_version` stays the same. The data
version changes with every transaction of this process and with every write of another process.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakSet

import duckdb

from curation.core.errors import InputError, RefusedError, StoreError
from curation.store import migrations
from curation.store.duckdb_format import log_path
from curation.store.engine_errors import run_transaction, translate_disk_errors
from curation.store.file_lock import PATIENCE, RETRY, wait_for_file
from curation.store.project_file import Cursor, DatabaseFile, refuse_name, refuse_writing, require_file
from curation.store.rows import load_arrow, utc_now
from curation.store.staging import staging_folder

IDLE = 0.1  # seconds without work after which the file is closed
LONGEST = 0.25  # seconds after which the file is closed as soon as no lease is open
# Seconds for which the file then stays closed, so that a process that tries every RETRY seconds gets in
GAP = 4 * RETRY
OWNER_ONLY = 0o600  # a project holds password hashes, sealed grades and the key that signs cookies
COPY_KEPT = "goldgrade is migrating %s to a newer schema (%s). goldgrade keeps a copy of the old project: %s"
ENGINE_IDLE = 5.0  # the engine waits this many seconds for work, without the file
Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")
_stores_lock = threading.RLock()
_all_stores: WeakSet[Store] = WeakSet()


class Store:
    """The database of one project, which any thread can use.

    Create a `Store` only by `open_store` or `create_store`.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.path = path
        self._file = DatabaseFile(path, patience)
        self._changed = threading.Condition()
        self._writer = threading.Lock()
        self._local = threading.local()
        self._data_version = 0
        self._opening = False
        self._open_leases = 0
        self._opened_at = self._used_at = self._closed_until = 0.0
        self._schema_checked = False
        self._closer: threading.Thread | None = None
        self._ended_closer: threading.Thread | None = None
        with _stores_lock:
            _all_stores.add(self)

    @contextmanager
    def reading(self) -> Iterator[Cursor]:
        """Open a read-only lease with a consistent view of the database."""
        with self._lease() as cursor, run_transaction(cursor, "BEGIN TRANSACTION READ ONLY"):
            yield cursor

    def read(
        self,
        function: Callable[Concatenate[Cursor, Parameters], Value],
        *arguments: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Value:
        """Call a function with the cursor of a read-only lease, and return its value."""
        with self.reading() as cursor:
            return function(cursor, *arguments, **options)

    @contextmanager
    def transaction(
        self, *, new_data_version: bool = True, appends: bool = False, large: bool = False
    ) -> Iterator[Cursor]:
        """Open a lease for writing. When the block ends, all writes are committed, or none if there was an
        error.

        Transactions of one process run one after another, so that no transaction conflicts with another.

        Parameters
        ----------
        new_data_version: False if the caller itself updates the cached copies of the rows that it writes.
        appends: whether the block calls `append`, whose imports are then loaded before the file is opened.
        large: whether the block writes long texts. Long texts are written directly into the file, because a
            log would first be built in memory and then written into the file anyway.
        """
        self._refuse_nesting()
        if appends:
            load_arrow()
        with self._writer, self._lease() as cursor:
            if self._file.read_only:
                raise refuse_writing(self.path)
            try:
                with (
                    translate_disk_errors(),
                    self._file.bypass_log() if large else nullcontext(),
                    run_transaction(cursor, "BEGIN TRANSACTION"),
                ):
                    yield cursor
            finally:
                # after the commit, because other threads have read the older version until then
                if new_data_version:
                    self._data_version += 1

    @property
    def data_version(self) -> int:
        """Return a number that changes with the data, except in transactions without `new_data_version`.

        Read it in a lease.
        """
        return int(self._local.data_version)

    def copy_to(self, target: Path) -> None:
        """Copy the database file to a new file, in the state after the last commit. Nobody can write in the
        meantime.

        A remaining write-ahead log is copied with the file. Only the owner of the copies can read them.

        Raises
        ------
        OSError: the copy cannot be written.
        StoreError, StoreBusyError, StoreVersionError: the project cannot be read.
        """
        with self._writer, self._lease():
            try:
                self._file.copy(target)
            finally:
                # close the file after this lease: on a full disk, the checkpoint failed for all readers
                self._opened_at = 0.0

    def copy_changes_to(self, copy: Path) -> None:
        """Update an earlier copy of the database file by writing only the changed blocks."""
        with self._writer, self._lease():
            self._file.copy_changes(copy)

    def damaged_blocks(self) -> list[int]:
        """List the numbers of used blocks with a wrong checksum, including blocks of indexes.

        Raises
        ------
        ValueError: the list of free blocks is damaged.
        StoreError, StoreBusyError, StoreVersionError: the project cannot be opened.
        """
        from curation.store.duckdb_format import find_damaged_blocks

        with self._writer, self._lease():
            return find_damaged_blocks(self.path, self._file.descriptor())

    def close(self) -> None:
        """Close the database file now. The next lease opens the file again."""
        with self._changed:
            while self._open_leases or self._opening:
                self._changed.wait()
            self._file.close_with_checkpoint()
            self._changed.notify_all()
            while self._closer is not None and not (self._file.running or self._opening):
                self._changed.wait()
            ended_thread = self._ended_closer
        if ended_thread is not None:  # a thread alive at Python's end keeps DuckDB's objects alive
            ended_thread.join()

    @contextmanager
    def _lease(self) -> Iterator[Cursor]:
        self._refuse_nesting()
        cursor = self._open_lease()
        try:
            with closing(cursor):
                self._local.leased, self._local.data_version = True, self._data_version
                yield cursor
        except StoreError:
            self._opened_at = 0.0  # close after this lease: an engine that failed to write cannot read
            raise
        finally:
            self._local.leased = False
            self._end_lease()

    def _refuse_nesting(self) -> None:
        if getattr(self._local, "leased", False):
            raise RuntimeError("a lease inside a lease would wait for itself: pass the cursor on instead")

    def _open_lease(self) -> Cursor:
        with self._changed:
            deadline = time.monotonic() + LONGEST  # a long lease must not keep this lease waiting
            while self._opening or (self._is_overdue() and time.monotonic() < deadline):
                if self._open_leases or self._opening:
                    self._changed.wait(LONGEST / 4)
                else:
                    self._detach(gap=GAP)
            if self._file.attached:
                with translate_disk_errors():
                    cursor = self._file.cursor()
                self._open_leases += 1  # only now, because a lease without a cursor would never end
                return cursor
            self._open_leases += 1
            self._opening = True
        return self._open_file()

    def _open_file(self) -> Cursor:
        try:
            time.sleep(max(0.0, self._closed_until - time.monotonic()))
            with translate_disk_errors():
                unchanged = self._file.attach()
                if not unchanged:
                    self._data_version += 1
                cursor = self._file.cursor()
                if not self._schema_checked:
                    if migrations.upgrade(cursor, before=self._keep_copy):
                        self._file.checkpoint()
                    self._schema_checked = True
            return cursor
        except BaseException:
            self._file.close()
            raise
        finally:
            with self._changed:
                self._opening = False
                if not self._file.attached:
                    self._open_leases -= 1
                self._opened_at = self._used_at = time.monotonic()
                self._start_closer()
                self._changed.notify_all()

    def _end_lease(self) -> None:
        with self._changed:
            self._open_leases -= 1
            self._used_at = time.monotonic()
            if not self._open_leases and self._is_overdue():
                self._detach(gap=GAP)
            self._changed.notify_all()

    def _keep_copy(self, migration: str) -> None:
        """Save a copy of the file before a migration, with the migration's number in its name."""
        if self._file.read_only:
            raise refuse_writing(self.path)
        number = migration.partition("_")[0]
        copy_path = self.path.with_name(f"{self.path.stem}.before-{number}{self.path.suffix}")
        copies = (path for path in copy_path.parent.iterdir() if path.name.startswith(copy_path.stem))
        if any(self._file.has_same_headers(copy) for copy in copies if copy.suffix == copy_path.suffix):
            return  # an upgrade that failed or was killed has already saved it
        if copy_path.exists():
            copy_path = copy_path.with_name(f"{copy_path.stem}-{utc_now():%Y%m%d-%H%M%S}{copy_path.suffix}")
        try:
            with staging_folder(copy_path, private=True) as folder:
                new = folder / copy_path.name
                self._file.copy(new)
                if log_path(new).exists():
                    log_path(new).rename(log_path(copy_path))
                new.rename(copy_path)
        except OSError as error:
            raise StoreError(
                f"{self.path} needs the migration {migration}, but a copy of the old project could not be "
                f"written first: {error.strerror}. Nothing was changed. Free some disk space, then try "
                "again."
            ) from error
        logging.getLogger("goldgrade").warning(COPY_KEPT, self.path, migration, copy_path)

    def _is_overdue(self) -> bool:
        return self._file.attached and time.monotonic() - self._opened_at > LONGEST

    def _detach(self, gap: float = 0.0) -> None:
        if self._file.attached:
            self._file.detach()
            self._closed_until = time.monotonic() + gap

    def _start_closer(self) -> None:
        if self._closer is None or not self._closer.is_alive():
            self._closer = threading.Thread(target=self._close_when_idle, daemon=True, name="goldgrade-store")
            self._closer.start()

    def _close_when_idle(self) -> None:
        with self._changed:
            while self._file.running or self._opening:
                idle = IDLE if self._file.attached else ENGINE_IDLE
                remaining_seconds = self._used_at + idle - time.monotonic()
                if self._open_leases or self._opening or remaining_seconds > 0:
                    self._changed.wait(max(remaining_seconds, IDLE / 4))
                elif self._file.attached:
                    self._detach()
                else:
                    self._file.close_with_checkpoint()
            self._closer, self._ended_closer = None, self._closer
            self._changed.notify_all()


_stores: dict[Path, Store] = {}


def open_store(path: Path) -> Store:
    """Open an existing project. A process has one store object per file.

    Raises
    ------
    NotFoundError: there is no such file.
    StoreError: the path is a folder, an empty file, or a file that may not be read.
    StoreError, StoreBusyError, StoreVersionError: raised by the first lease.
    """
    path = path.resolve()
    refuse_name(path)
    require_file(path)
    with _stores_lock:
        return _stores.setdefault(path, Store(path))


def store_at(path: Path) -> Store:
    """Return the store at a path. If there is no project, only the first lease fails."""
    return open_store(path) if path.is_file() else Store(path.resolve())


def create_store(path: Path, fill: Callable[[Cursor], None] = lambda _: None) -> Store:
    """Make a project file with the current schema and the writes of `fill`.

    After an error, no file is left.

    Raises
    ------
    RefusedError: the file exists already.
    InputError, StoreError: the file's folder cannot be made or written, or the disk is full.
    """
    path = path.resolve()
    refuse_name(path)
    if path.exists():
        raise RefusedError(_describe_existing(path))
    try:
        with staging_folder(path, private=True) as folder, translate_disk_errors():
            new = folder / path.name
            _fill_new_file(new, fill)
            os.link(new, path)  # unlike a rename, this never replaces a file that was made meanwhile
    except FileExistsError:
        raise RefusedError(_describe_existing(path)) from None
    except OSError as error:
        raise InputError(
            f"{path}: no project could be made there ({error.strerror}); expected a writable folder, or "
            "the name of a new folder."
        ) from error
    return open_store(path)


def close_all() -> None:
    """Close every project file that this process has open."""
    with _stores_lock:
        stores = list(_all_stores)
    for store in stores:
        store.close()


atexit.register(close_all)


def _fill_new_file(new: Path, fill: Callable[[Cursor], None]) -> None:
    with wait_for_file(new, PATIENCE, lambda: duckdb.connect(str(new))) as connection:
        migrations.create(connection)
        with run_transaction(connection, "BEGIN TRANSACTION"):
            fill(connection)
    new.chmod(OWNER_ONLY)


def _describe_existing(path: Path) -> str:
    return f"{path} already exists. Choose another --project, or remove the file first."
