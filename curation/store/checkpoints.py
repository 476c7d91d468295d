"""Checkpoints of the database file that stay reversible even if the process is killed.

In a checkpoint, DuckDB writes new data into free blocks of the file. Blocks of metadata, which the old and
the new state share, are overwritten in place, 256 KB at a time, before DuckDB writes the header that makes
the new state valid. SIGKILL can stop the write of a block between two pages. The old header then refers to a
block with a wrong checksum, and DuckDB cannot open the file any more. So goldgrade saves the blocks of
metadata next to the file before each checkpoint, and the next opening restores these blocks if the headers
are still the same. The write-ahead log then restores the committed data. For a file in a format that
goldgrade does not know, no blocks are saved (`duckdb_format`).
"""

from __future__ import annotations

import fcntl
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import IO

import duckdb

from curation.store.duckdb_format import BLOCK, HEADERS, has_known_format

_NUMBER = 8
_LOCK = "hh4xqqi4x"
"""Layout of the 64-bit Linux struct flock: kind, whence, start, length, process."""
_SUM = 16
_attached: set[Path] = set()
_rolling_back = threading.Lock()


class LockedError(duckdb.IOException):
    """The error that another process holds the database file."""


def journal_path(file: Path) -> Path:
    """Return the path of the file that holds the saved blocks during a checkpoint."""
    return Path(f"{file}.checkpoint")


@contextmanager
def journaled_checkpoint(engine: duckdb.DuckDBPyConnection, file: Path, descriptor: int) -> Iterator[None]:
    """Save the blocks that a checkpoint of `project` overwrites, so that the next opening can undo it.

    The saved blocks stay after a failed checkpoint, because the checkpoint may have overwritten some blocks.
    No blocks are saved of a file in an unknown format.

    descriptor: a descriptor of the file. The descriptor stays open, because closing it would end the lock on
        the file.

    Raises
    ------
    duckdb.IOException: the blocks cannot be saved, and the checkpoint has not begun.
    """
    if not has_known_format(file, descriptor):
        yield
        return
    kept, headers = journal_path(file), os.pread(descriptor, HEADERS, 0)
    if _content(kept)[:HEADERS] != headers:  # else a checkpoint failed, and the whole blocks are kept
        rows = engine.execute("SELECT DISTINCT block_id FROM pragma_metadata_info('project')").fetchall()
        _write_journal(kept, headers + b"".join(_block(descriptor, number) for (number,) in sorted(rows)))
    yield
    if os.pread(descriptor, HEADERS, 0) != headers:
        kept.unlink()


def is_attached(file: Path) -> bool:
    """Check whether this process has the database file open."""
    return file in _attached


def note_attached(file: Path) -> None:
    """Record that this process has the database file open, so that nobody restores blocks meanwhile."""
    _attached.add(file)


def note_detached(file: Path) -> None:
    """Record that this process has closed the database file."""
    _attached.discard(file)


def roll_back_torn_checkpoint(file: Path) -> bool:
    """Undo an interrupted checkpoint before the file is opened, and return whether a checkpoint was undone.

    Raises
    ------
    LockedError: another process holds the file.
    OSError: the file cannot be written.
    """
    kept = journal_path(file)
    if not kept.exists() or file in _attached:
        return False
    with _rolling_back, file.open("r+b") as whole:
        lock(whole, fcntl.LOCK_EX)
        content = _content(kept)
        undone = bool(content) and os.pread(whole.fileno(), HEADERS, 0) == content[:HEADERS]
        if undone:
            for at in range(HEADERS, len(content), _NUMBER + BLOCK):
                number = int.from_bytes(content[at : at + _NUMBER], "little")
                block = content[at + _NUMBER : at + _NUMBER + BLOCK]
                os.pwrite(whole.fileno(), block, HEADERS + number * BLOCK)
            os.fsync(whole.fileno())
        kept.unlink(missing_ok=True)
        return undone


def holder(file: Path) -> int | None:
    """Find the process that has locked a file; None if the process is unknown, as between containers."""
    if file in _attached:
        return os.getpid()
    asked = struct.pack(_LOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    try:
        with file.open("rb") as opened:
            kind, _, _, _, process = struct.unpack(_LOCK, fcntl.fcntl(opened, fcntl.F_GETLK, asked))
    except OSError:
        return None
    return int(process) if kind != fcntl.F_UNLCK and process > 0 else None


def lock(file: IO[bytes], kind: int) -> None:
    """Lock a file as DuckDB does. The lock ends when this process closes any descriptor of the file.

    Raises
    ------
    LockedError: another process has locked the file.
    """
    try:
        fcntl.lockf(file, kind | fcntl.LOCK_NB)
    except OSError as error:
        raise LockedError(f"{file.name} is locked: {error.strerror}") from None


def copy_changed_blocks(source: int, target: int, *, known: bool) -> None:
    """Copy the blocks whose checksums (the first bytes) differ. No process may write either file meanwhile.

    source, target: descriptors of a file and of an earlier copy of it, or of an empty file.
    known: whether the file has a known format; otherwise the whole file is copied.
    """
    size = os.fstat(source).st_size
    os.ftruncate(target, size)
    os.pwrite(target, os.pread(source, HEADERS, 0), 0)
    for position in range(HEADERS, size, BLOCK):
        if not known or os.pread(source, _NUMBER, position) != os.pread(target, _NUMBER, position):
            os.pwrite(target, os.pread(source, BLOCK, position), position)


def _block(descriptor: int, number: int) -> bytes:
    """Read the content of a block by its number; b'' for a block that was never written."""
    content = os.pread(descriptor, BLOCK, HEADERS + number * BLOCK)
    return number.to_bytes(_NUMBER, "little") + content if len(content) == BLOCK else b""


def _write_journal(kept: Path, content: bytes) -> None:
    try:
        with os.fdopen(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(blake2b(content, digest_size=_SUM).digest() + content)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:  # as where DuckDB finds the disk full: nothing has begun
        kept.unlink(missing_ok=True)
        raise duckdb.IOException(f"{kept.name} cannot be written: {error.strerror}") from error


def _content(kept: Path) -> bytes:
    """Read the saved blocks; b'' if the saved blocks are incomplete, because then no checkpoint had begun."""
    try:
        content = kept.read_bytes()
    except FileNotFoundError:
        return b""
    whole = blake2b(content[_SUM:], digest_size=_SUM).digest() == content[:_SUM]
    return content[_SUM:] if whole else b""
