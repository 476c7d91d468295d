"""Checkpoints that a kill cannot tear.

DuckDB writes new data into free blocks. The blocks of metadata, which the state before and the one after
share, it writes in place, 256 KB at a time, before the header that makes the new state count. SIGKILL stops
such a write between two pages. The header before then refers to a block with a wrong checksum, and the file
opens no more. So these blocks are kept next to the file before each checkpoint, and put back by the next
opening if the headers are still the same. The log then brings back what was committed. Nothing is kept of a
file in a format that goldgrade does not know (`duckdb_format`).
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
"""struct flock of Linux with 64 bits: kind, whence, start, length, process."""
_SUM = 16
_attached: set[Path] = set()
_rolling_back = threading.Lock()


class LockedError(duckdb.IOException):
    """Another process holds the file."""


def journal_path(file: Path) -> Path:
    """Return the path of the file with the saved blocks during a checkpoint."""
    return Path(f"{file}.checkpoint")


@contextmanager
def journaled_checkpoint(engine: duckdb.DuckDBPyConnection, file: Path, descriptor: int) -> Iterator[None]:
    """Save the blocks that a checkpoint of the database `project` overwrites, so that the next open can undo
    it.

    The saved blocks stay if the checkpoint failed, because it may have written some blocks. For a file in an
    unknown format nothing is saved.

    descriptor: of the file; it stays open, because closing one would end the lock on the file.

    Raises
    ------
    duckdb.IOException: the blocks cannot be kept; nothing has begun.
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
    """Check whether this process has the file open."""
    return file in _attached


def note_attached(file: Path) -> None:
    """Note that this process has the file open, so that no blocks are put back meanwhile."""
    _attached.add(file)


def note_detached(file: Path) -> None:
    """Note that this process has closed the file."""
    _attached.discard(file)


def roll_back_torn_checkpoint(file: Path) -> bool:
    """Undo a checkpoint that a kill stopped, before the file is opened; return whether one was undone.

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
    """Find the process that has locked a file; None if it is unknown, as between containers."""
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
    """Lock a file as DuckDB does, until any descriptor of this process for it is closed.

    Raises
    ------
    LockedError: another process holds it.
    """
    try:
        fcntl.lockf(file, kind | fcntl.LOCK_NB)
    except OSError as error:
        raise LockedError(f"{file.name} is locked: {error.strerror}") from None


def copy_changed_blocks(source: int, target: int, *, known: bool) -> None:
    """Copy the blocks whose checksum, their first bytes, differs; neither file may be written meanwhile.

    source, target: descriptors of a file and of an earlier copy of it, or of an empty file.
    known: the file has a known format; else all of it is copied.
    """
    size = os.fstat(source).st_size
    os.ftruncate(target, size)
    os.pwrite(target, os.pread(source, HEADERS, 0), 0)
    for position in range(HEADERS, size, BLOCK):
        if not known or os.pread(source, _NUMBER, position) != os.pread(target, _NUMBER, position):
            os.pwrite(target, os.pread(source, BLOCK, position), position)


def _block(descriptor: int, number: int) -> bytes:
    """Read number and content of a block; b'' for a block that was never written."""
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
    """Read the saved blocks; b'' if they are incomplete, because then no checkpoint had begun."""
    try:
        content = kept.read_bytes()
    except FileNotFoundError:
        return b""
    whole = blake2b(content[_SUM:], digest_size=_SUM).digest() == content[:_SUM]
    return content[_SUM:] if whole else b""
