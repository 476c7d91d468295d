"""The database file of a project: opening, copying and closing it with a DuckDB engine.

Starting an engine takes some 25 ms of processor time, but attaching a file to a running engine takes 4 ms. So
the engine keeps running for a while after the file is detached, when other processes can open the file.

The file and its write-ahead log show whether another process has written meanwhile. A checkpoint writes a
header with a higher number, and between two checkpoints the log only grows. So equal headers and logs of
equal size mean equal content, if goldgrade knows the file's format. The headers are read while this process
holds the file, when no other process can write. Their descriptor is closed only after the file is detached,
because closing any descriptor ends all locks of this process on the file (POSIX, fcntl).
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir

import duckdb

from curation.core.errors import CurationError, InputError, NotFoundError, StoreError, StoreReadOnlyError
from curation.store import checkpoints, file_lock
from curation.store.checkpoints import copy_changed_blocks
from curation.store.duckdb_format import HEADERS, has_known_format, log_path
from curation.store.engine_errors import RESTORE
from curation.store.file_lock import PATIENCE, wait_for_file
from curation.store.write_ahead_log import describe_log_damage

Cursor = duckdb.DuckDBPyConnection
MAX_REMAINING_LOG = 8_192
"""Size in bytes up to which the write-ahead log stays when the file is closed: some fifteen grades.

The next opening replays the log in 0.16 ms per grade, but a checkpoint takes 8 ms.
"""
NEVER_CHECKPOINT = "SET checkpoint_threshold = '1TB'"
CHECKPOINT_AT_COMMIT = "SET checkpoint_threshold = '1KB'"
_CHUNK = 8 << 20


def refuse_writing(path: Path) -> StoreReadOnlyError:
    """Make the error for an attempt to write to a project whose file or folder is read-only."""
    return StoreReadOnlyError(
        f"{path} was opened read-only, because this user cannot write the file or its folder. Nothing "
        "was changed. Move the project to a writable folder, or work on a copy of it."
    )


def refuse_name(path: Path) -> None:
    """Reject a file name with which DuckDB would not store the write-ahead log next to the file.

    Raises
    ------
    InputError: the path contains a question mark.
    """
    if "?" in str(path):
        raise InputError(
            f"{path}: the path contains a question mark. DuckDB would store the log of "
            "the newest writes under another name. Rename the file or folder, or choose another project.",
            command="--project FILE chooses another project.",
        )


def lock_for_serving(path: Path) -> bool:
    """Lock the project for serving until this process ends; return False if another process serves it."""
    try:
        fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)  # stays open: see above
    except OSError:
        return False
    return True


def is_served(path: Path) -> bool:
    """Return whether an app serves the project. Call this function before this process opens the project."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def describe_missing_project(path: Path) -> str:
    """Describe that a path has no project file."""
    return f"There is no goldgrade project at {path}. Make one with `goldgrade init`."


def require_file(path: Path) -> None:
    """Reject a path without a usable project file.

    Raises
    ------
    NotFoundError: there is no file at the path.
    StoreError: the path is not a file, or the file is empty or cannot be read by this user.
    """
    try:
        mode, size = path.stat().st_mode, path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(describe_missing_project(path)) from None
    except OSError as error:
        raise StoreError(f"{path} cannot be opened as a project: {error.strerror}.") from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no file"
        raise StoreError(f"{path} is {kind}; expected the file of a goldgrade project, NAME.duckdb.")
    if not os.access(path, os.R_OK):
        raise StoreError(f"{path} cannot be opened as a project: this user may not read the file.")
    if not size:
        raise StoreError(f"{path} is empty; expected the file of a goldgrade project.", command=RESTORE)


def start_engine(temporary: str) -> Cursor:
    """Start a DuckDB engine without a file and without automatic checkpoints.

    temporary: the folder for data that does not fit into memory.
    """
    engine = duckdb.connect(":memory:", config={"temp_directory": temporary})
    return engine.execute(NEVER_CHECKPOINT).execute("PRAGMA disable_checkpoint_on_shutdown")


def stop_engine(engine: Cursor) -> None:
    """Stop a DuckDB engine, even after a fatal error."""
    with suppress(duckdb.Error):
        engine.close()


def attach_file(engine: Cursor, path: Path, name: str, *, read_only: bool) -> None:
    """Attach a database file to an engine, under a name that comes from code, not from input.

    If the file is read-only, the content of its write-ahead log stays in memory.

    Errors of the engine then contain the system's error number, which `wait_for_file` needs.
    """
    access = "READ_ONLY" if read_only else "READ_WRITE"
    engine.execute("SET errors_as_json = true")
    try:
        engine.execute(f"ATTACH ? AS {name} (TYPE DUCKDB, {access})", [str(path)])
    finally:
        with suppress(duckdb.Error):  # the engine has failed for good
            engine.execute("SET errors_as_json = false")


class DatabaseFile:
    """A project's database file with the DuckDB engine that opens it.

    Only one thread at a time may call the methods; cursors have no such limit.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.path = path
        self.attached = self.read_only = False
        self._patience = patience
        self._engine: Cursor | None = None
        self._descriptor: int | None = None
        self._closing_fingerprint: tuple[object, ...] | None = None
        self._size_of_attached_log = 0
        self._wrote = False

    @property
    def running(self) -> bool:
        """Return whether a DuckDB engine is running, with or without the attached file."""
        return self._engine is not None

    def attach(self) -> bool:
        """Open the project file; return True if it certainly has not changed since this process closed it.

        Raises
        ------
        StoreError, StoreBusyError: the file is not a database, or another process has held the file for too
            long.
        NotFoundError: there is no such file any more.
        """
        wait_for_file(self.path, self._patience, self._attach_or_restart)
        self.attached, self._size_of_attached_log = True, self._log_size()
        unchanged = self._closing_fingerprint is not None and self._closing_fingerprint == self._fingerprint()
        return unchanged and has_known_format(self.path, self.descriptor())

    def cursor(self) -> Cursor:
        """Open a connection to the attached file, for use by one thread."""
        assert self._engine is not None
        return self._engine.cursor().execute("USE project")

    def checkpoint(self) -> None:
        """Write the write-ahead log of the attached file into the file. No process may write meanwhile.

        Raises
        ------
        duckdb.Error: another thread reads the file, or the disk is full. Nothing is lost.
        """
        if self._log.exists() and not self.read_only:
            assert self._engine is not None
            with self._journaled():
                self._engine.execute("CHECKPOINT project")
            self._wrote = False

    @contextmanager
    def bypass_log(self) -> Iterator[None]:
        """Write the block's commits directly into the file if no other thread reads it, or else into the
        log."""
        assert self._engine is not None
        with self._journaled():
            self._engine.execute(CHECKPOINT_AT_COMMIT)
            try:
                yield
            finally:
                with suppress(duckdb.Error):
                    self._engine.execute(NEVER_CHECKPOINT)

    def _journaled(self) -> AbstractContextManager[None]:
        assert self._engine is not None
        return checkpoints.journaled_checkpoint(self._engine, self.path, self.descriptor())

    def descriptor(self) -> int:
        """Return the descriptor of the attached file; closing any descriptor would end its lock."""
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDONLY)
        return self._descriptor

    def detach(self, *, final: bool = False) -> None:
        """Close the file, so that other processes can open it. No cursor may be in use.

        final: whether a write-ahead log from this process is first written into the file, even a short
            log.
        """
        if self.attached and self._engine is not None:
            self.attached = False
            log = self._log_size()
            self._wrote = self._wrote or log > self._size_of_attached_log
            if log > MAX_REMAINING_LOG or (final and log and self._wrote):
                with suppress(duckdb.Error, OSError):  # the disk is full: the log stays and loses nothing
                    self.checkpoint()
            self._closing_fingerprint = self._fingerprint()
            try:
                self._engine.execute("DETACH project")
            except duckdb.Error:  # an engine that failed for good does not recover: start another
                self._stop_engine()
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
            file_lock.note_detached(self.path)

    def copy(self, target: Path) -> None:
        """Copy the attached file and its write-ahead log to a new file. No process may write meanwhile.

        The file is read through the descriptor that stays open, because closing any other descriptor would
        end the lock.
        """
        with suppress(duckdb.Error, OSError):  # somebody reads, or the disk is full: the log is copied too
            self.checkpoint()
        _copy_bytes(self.descriptor(), target)
        self._copy_log(target)

    def copy_changes(self, target: Path) -> None:
        """Update an earlier copy of the attached file, or an empty file. No process may write meanwhile.

        Commits that are only in the write-ahead log are copied with the log.
        """
        with os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            known = has_known_format(self.path, self.descriptor())
            copy_changed_blocks(self.descriptor(), file.fileno(), known=known)
        log_path(target).unlink(missing_ok=True)
        self._copy_log(target)

    def _copy_log(self, target: Path) -> None:
        if self._log.exists():
            with self._log.open("rb") as log:
                _copy_bytes(log.fileno(), log_path(target))

    def has_same_headers(self, other: Path) -> bool:
        """Return whether another file has the attached file's headers: the same state without its log."""
        if not has_known_format(self.path, self.descriptor()):
            return False
        with other.open("rb") as file:
            return os.pread(self.descriptor(), HEADERS, 0) == file.read(HEADERS)

    def close(self) -> None:
        """Close the file and stop its engine."""
        self.detach(final=True)
        self._stop_engine()

    def close_with_checkpoint(self) -> None:
        """Write this process's log into the file if no other process has opened the file, and close it."""
        if self._wrote and self.running and not self.attached and self._log_size():
            with suppress(duckdb.Error, CurationError, OSError):
                self._attach_or_restart()
                self.attached = True
        self.close()

    def _attach_or_restart(self) -> None:
        try:
            self._attach_to_engine()
        except duckdb.FatalException:
            self._stop_engine()
            self._attach_to_engine()

    def _attach_to_engine(self) -> None:
        require_file(self.path)  # the file may be gone, and DuckDB would make an empty file
        self.read_only = not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK))
        if self.read_only and checkpoints.journal_path(self.path).exists():
            raise StoreReadOnlyError(_describe_torn_checkpoint(self.path))
        try:
            checkpoints.roll_back_torn_checkpoint(self.path)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be opened as a project: {error.strerror}") from error
        if self._log.exists() and (damage := describe_log_damage(self.path)):
            raise StoreError(_describe_damaged_log(self.path, damage), command=RESTORE)
        if self._engine is None:
            path = Path(gettempdir()) / self.path.name if self.read_only else self.path
            self._engine = start_engine(f"{path}.tmp")
        attach_file(self._engine, self.path, "project", read_only=self.read_only)
        file_lock.note_attached(self.path)

    def _stop_engine(self) -> None:
        if self._engine is not None:
            stop_engine(self._engine)
            self._engine = None

    def _fingerprint(self) -> tuple[object, ...] | None:
        """Compute a fingerprint of the attached file's content; None if there is no file."""
        try:
            status = os.fstat(self.descriptor())
            headers = os.pread(self.descriptor(), HEADERS, 0)
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns, headers, self._log_size()

    def _log_size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    @property
    def _log(self) -> Path:
        return log_path(self.path)


def _describe_torn_checkpoint(path: Path) -> str:
    kept = checkpoints.journal_path(path).name
    return (
        f"{path} was not opened: a checkpoint of the file was interrupted, and the saved blocks ({kept}) "
        "cannot be restored here, because the file or its folder cannot be written. Copy "
        f"{path.name}, its log and {kept} to a writable folder, and use the copy."
    )


def _copy_bytes(source: int, target: Path) -> None:
    position = 0
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while chunk := os.pread(source, _CHUNK, position):
            file.write(chunk)
            position += len(chunk)


def _describe_damaged_log(path: Path, damage: str) -> str:
    return (
        f"{path} was not opened, and nothing was changed. The log next to it ({log_path(path).name}) holds "
        f"the newest writes and is damaged: {damage}. Keep both files. If you move the log elsewhere, the "
        "project opens without the writes in the log."
    )
