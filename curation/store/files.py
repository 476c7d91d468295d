"""One database file, attached to and detached from an engine that keeps running.

Starting a DuckDB engine takes some 25 ms of processor time, attaching a file to a running one 4 ms. So the
engine stays for a while after the file is detached, and other processes can open the file meanwhile.

The file and its log alone show whether another process has written meanwhile. A checkpoint writes a header
with a higher number, and between two of them the log only grows: equal headers and a log of equal size mean
equal content, where goldgrade knows the file's form. The headers are read while the file is held, because
then nobody else can write. The file descriptor for it is closed only after the file is detached: closing one
ends all of this process's locks on the file (POSIX, fcntl), and while the file is held no other connection
of this process can have one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir

import duckdb

from curation.core.errors import CurationError, StoreError, StoreReadOnlyError
from curation.store.engine_errors import PATIENCE, RESTORE, patiently
from curation.store.on_disk import checkpoints
from curation.store.on_disk.checkpoints import copy_changed_blocks
from curation.store.on_disk.file_form import HEADERS, has_known_form
from curation.store.on_disk.write_ahead_log import log_damage, log_of
from curation.store.project_file import require_file

Cursor = duckdb.DuckDBPyConnection
LOG_LEFT = 8_192
"""Bytes of a log that is left as it is when the file is let go: some fifteen grades. The next opening
reads them again, 0.16 ms each, and a checkpoint takes 8 ms."""
NEVER = "SET checkpoint_threshold = '1TB'"
AT_EACH_COMMIT = "SET checkpoint_threshold = '1KB'"
_CHUNK = 8 << 20


def start_engine(temporary: str) -> Cursor:
    """DuckDB without a file, which makes no checkpoint by itself.

    temporary: the folder for what does not fit into memory.
    """
    engine = duckdb.connect(":memory:", config={"temp_directory": temporary})
    return engine.execute(NEVER).execute("PRAGMA disable_checkpoint_on_shutdown")


def stop_engine(engine: Cursor) -> None:
    """End an engine, also one that failed for good."""
    with suppress(duckdb.Error):
        engine.close()


def attach(engine: Cursor, path: Path, name: str, *, read_only: bool) -> None:
    """Attach a file under a name from code. Read-only, what its log holds stays in memory.

    Errors of the engine have the system's number of what went wrong, as `patiently` needs it.
    """
    way = "READ_ONLY" if read_only else "READ_WRITE"
    engine.execute("SET errors_as_json = true")
    try:
        engine.execute(f"ATTACH ? AS {name} (TYPE DUCKDB, {way})", [str(path)])
    finally:
        with suppress(duckdb.Error):  # an engine that failed for good
            engine.execute("SET errors_as_json = false")


class DatabaseFile:
    """A project's file and the engine that opens it. One thread at a time may call it; cursors are free."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.path = path
        self.held = self.read_only = False
        self._patience = patience
        self._engine: Cursor | None = None
        self._descriptor: int | None = None
        self._fingerprint_left: tuple[object, ...] | None = None
        self._log_taken = 0
        self._wrote = False

    @property
    def running(self) -> bool:
        """Whether there is an engine, with or without the file."""
        return self._engine is not None

    def take(self) -> bool:
        """Open the file; True if it is certainly as it was when this process let go of it.

        Raises
        ------
        StoreError, StoreBusyError: it is no database, or another process has held it for too long.
        NotFoundError: there is no such file any more.
        """
        patiently(self.path, self._patience, self._attach)
        self.held, self._log_taken = True, self._log_size()
        unchanged = self._fingerprint_left is not None and self._fingerprint_left == self._fingerprint()
        return unchanged and has_known_form(self.path, self.descriptor())

    def cursor(self) -> Cursor:
        """A connection of its own for one thread, on the file that is held."""
        assert self._engine is not None
        return self._engine.cursor().execute("USE project")

    def checkpoint(self) -> None:
        """Bring what the log of the file that is held says into the file; nobody may write meanwhile.

        Raises
        ------
        duckdb.Error: somebody reads, or the disk is full. Nothing is lost.
        """
        if self._log.exists() and not self.read_only:
            assert self._engine is not None
            with self._guarded():
                self._engine.execute("CHECKPOINT project")
            self._wrote = False

    @contextmanager
    def past_the_log(self) -> Iterator[None]:
        """What is committed within the block goes into the file, if nobody else reads; else into the log."""
        assert self._engine is not None
        with self._guarded():
            self._engine.execute(AT_EACH_COMMIT)
            try:
                yield
            finally:
                with suppress(duckdb.Error):
                    self._engine.execute(NEVER)

    def _guarded(self) -> AbstractContextManager[None]:
        assert self._engine is not None
        return checkpoints.guarded(self._engine, self.path, self.descriptor())

    def descriptor(self) -> int:
        """Of the file that is held; closing it, or another one, would end this process's lock on the file."""
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDONLY)
        return self._descriptor

    def let_go(self, *, for_good: bool = False) -> None:
        """Close the file, so that other processes can open it; no cursor may be in use.

        for_good: a log that this process has written is brought into the file first, however short it is.
        """
        if self.held and self._engine is not None:
            self.held = False
            log = self._log_size()
            self._wrote = self._wrote or log > self._log_taken
            if log > LOG_LEFT or (for_good and log and self._wrote):
                with suppress(duckdb.Error, OSError):  # a full disk: the log stays, and loses nothing
                    self.checkpoint()
            self._fingerprint_left = self._fingerprint()
            try:
                self._engine.execute("DETACH project")
            except duckdb.Error:  # an engine that failed for good does not recover: start another
                self._stop_engine()
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
            checkpoints.let_go(self.path)

    def copy(self, target: Path) -> None:
        """Copy the file that is held to a new one, and its log, if one is left, to the new one's.

        Nobody may write meanwhile. The file is read through the descriptor that stays open, because closing
        another one would end the lock.
        """
        with suppress(duckdb.Error, OSError):  # somebody reads, or the disk is full: the log is copied, too
            self.checkpoint()
        _copy_bytes(self.descriptor(), target)
        self._copy_log(target)

    def copy_changes(self, target: Path) -> None:
        """Make an earlier copy of the file that is held, or an empty file, equal to it; nobody may write.

        What is not in the file yet is copied with the log.
        """
        with os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            known = has_known_form(self.path, self.descriptor())
            copy_changed_blocks(self.descriptor(), file.fileno(), known=known)
        log_of(target).unlink(missing_ok=True)
        self._copy_log(target)

    def _copy_log(self, target: Path) -> None:
        if self._log.exists():
            log = os.open(self._log, os.O_RDONLY)
            try:
                _copy_bytes(log, log_of(target))
            finally:
                os.close(log)

    def has_headers_of(self, other: Path) -> bool:
        """Whether the file that is held is in the state of another one, but for what its log holds."""
        if not has_known_form(self.path, self.descriptor()):
            return False
        with other.open("rb") as file:
            return os.pread(self.descriptor(), HEADERS, 0) == file.read(HEADERS)

    def rest(self) -> None:
        """Let go of the file and stop the engine."""
        self.let_go(for_good=True)
        self._stop_engine()

    def settle(self) -> None:
        """As `rest`, also for a log that this process has left, if nobody else has the file now."""
        if self._wrote and self.running and not self.held and self._log_size():
            with suppress(duckdb.Error, CurationError, OSError):
                self._attach()
                self.held = True
        self.rest()

    def _attach(self) -> None:
        try:
            self._attach_to_engine()
        except duckdb.FatalException:
            self._stop_engine()
            self._attach_to_engine()

    def _attach_to_engine(self) -> None:
        require_file(self.path)  # it may be gone, and DuckDB would make an empty one
        self.read_only = not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK))
        if self.read_only and checkpoints.kept_blocks(self.path).exists():
            raise StoreReadOnlyError(_torn(self.path))
        try:
            checkpoints.put_back(self.path)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be opened as a project: {error.strerror}") from error
        if self._log.exists():
            self._refuse_damaged_log()
        if self._engine is None:
            self._engine = start_engine(
                f"{Path(gettempdir()) / self.path.name if self.read_only else self.path}.tmp"
            )
        attach(self._engine, self.path, "project", read_only=self.read_only)
        checkpoints.hold(self.path)

    def _refuse_damaged_log(self) -> None:
        damage = log_damage(self.path)
        if damage:
            raise StoreError(_damaged_log(self.path, damage), command=RESTORE)

    def _stop_engine(self) -> None:
        if self._engine is not None:
            stop_engine(self._engine)
            self._engine = None

    def _fingerprint(self) -> tuple[object, ...] | None:
        """What tells the content of the file that is held from another; None if there is no file."""
        try:
            found = os.fstat(self.descriptor())
            headers = os.pread(self.descriptor(), HEADERS, 0)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns, headers, self._log_size()

    def _log_size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    @property
    def _log(self) -> Path:
        return log_of(self.path)


def _torn(path: Path) -> str:
    kept = checkpoints.kept_blocks(path).name
    return (
        f"{path} was not opened: a checkpoint of it was stopped, and what undoes that ({kept}) cannot be put "
        f"back here, because the file or its folder cannot be written. Copy {path.name}, its log and {kept} "
        "to one place that can be written, and use it there."
    )


def _copy_bytes(source: int, target: Path) -> None:
    place = 0
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while chunk := os.pread(source, _CHUNK, place):
            file.write(chunk)
            place += len(chunk)


def _damaged_log(path: Path, damage: str) -> str:
    return (
        f"{path} was not opened, and nothing was changed. The log next to it ({log_of(path).name}) holds "
        f"what was written last and is damaged: {damage}. Keep both files. If you move the log elsewhere, "
        "the project opens as it was before what the log holds."
    )
