"""The journal of a DuckDB checkpoint: the blocks that the checkpoint overwrites, kept until it is complete.

In a checkpoint, DuckDB writes new data into free blocks of the file. Blocks of metadata, which the old and
the new state share, are overwritten in place, 256 KB at a time, before DuckDB writes the header that makes
the new state valid. SIGKILL can stop the write of a block between two pages. The old header then refers to a
block with a wrong checksum, and DuckDB cannot open the file any more. So goldgrade writes the blocks of
metadata into a journal next to the file before each checkpoint. If the headers are still the same at the next
opening, the checkpoint is rolled back: the blocks of the journal are written into the file. The write-ahead
log then restores the committed data. For a file in a format that goldgrade does not know, no journal is
written (`duckdb_format`).

A journal is a BLAKE2b checksum, the headers of the file, and then the number and the content of each block.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import duckdb

from curation.store.duckdb_format import BLOCK, CHECKSUM_SIZE, HEADERS, has_known_format
from curation.store.file_lock import is_attached, lock_file

_NUMBER_SIZE = 8  # a block's number takes this many bytes
_DIGEST_SIZE = 16
_rolling_back = threading.Lock()


def journal_path(file: Path) -> Path:
    """Return the path of a database file's journal, which exists during a checkpoint."""
    return Path(f"{file}.checkpoint")


@contextmanager
def journaled_checkpoint(engine: duckdb.DuckDBPyConnection, file: Path, descriptor: int) -> Iterator[None]:
    """Keep a journal during a checkpoint of `project`, so that the next opening can undo it.

    The journal stays after a failed checkpoint, because the checkpoint may have overwritten some blocks.
    A file in an unknown format has no journal.

    descriptor: a descriptor of the file. The descriptor stays open, because closing it would end the lock on
        the file.

    Raises
    ------
    duckdb.IOException: the journal cannot be written, and the checkpoint has not begun.
    """
    if not has_known_format(file, descriptor):
        yield
        return
    journal, headers = journal_path(file), os.pread(descriptor, HEADERS, 0)
    if _read_journal(journal)[:HEADERS] != headers:  # otherwise a checkpoint failed, and its journal stays
        rows = engine.execute("SELECT DISTINCT block_id FROM pragma_metadata_info('project')").fetchall()
        blocks = [_read_numbered_block(descriptor, number) for (number,) in sorted(rows)]
        _write_journal(journal, headers + b"".join(blocks))
    yield
    if os.pread(descriptor, HEADERS, 0) != headers:
        journal.unlink()


def roll_back_torn_checkpoint(path: Path) -> bool:
    """Roll back an interrupted checkpoint before the file is opened; return whether there was one.

    Raises
    ------
    LockedError: another process holds the file.
    OSError: the file cannot be written.
    """
    journal = journal_path(path)
    if not journal.exists() or is_attached(path):
        return False
    with _rolling_back, path.open("r+b") as file:
        lock_file(file, fcntl.LOCK_EX)
        content = _read_journal(journal)
        is_torn = bool(content) and os.pread(file.fileno(), HEADERS, 0) == content[:HEADERS]
        if is_torn:
            _restore_blocks(file.fileno(), content[HEADERS:])
        journal.unlink(missing_ok=True)
        return is_torn


def copy_changed_blocks(source: int, target: int, *, known: bool) -> None:
    """Copy the blocks whose checksums (their first bytes) differ. No process may write to either file
    meanwhile.

    source, target: descriptors of a file and of an earlier copy of it, or of an empty file. known: whether
    the file has a known format; otherwise the whole file is copied.
    """
    size = os.fstat(source).st_size
    os.ftruncate(target, size)
    os.pwrite(target, os.pread(source, HEADERS, 0), 0)
    for position in range(HEADERS, size, BLOCK):
        checksums = [os.pread(descriptor, CHECKSUM_SIZE, position) for descriptor in (source, target)]
        if not known or checksums[0] != checksums[1]:
            os.pwrite(target, os.pread(source, BLOCK, position), position)


def _restore_blocks(descriptor: int, numbered_blocks: bytes) -> None:
    for start in range(0, len(numbered_blocks), _NUMBER_SIZE + BLOCK):
        number = int.from_bytes(numbered_blocks[start : start + _NUMBER_SIZE], "little")
        block = numbered_blocks[start + _NUMBER_SIZE : start + _NUMBER_SIZE + BLOCK]
        os.pwrite(descriptor, block, HEADERS + number * BLOCK)
    os.fsync(descriptor)


def _read_numbered_block(descriptor: int, number: int) -> bytes:
    """Read a block of the database file together with its number as 8 bytes; b'' if the block was never
    written."""
    content = os.pread(descriptor, BLOCK, HEADERS + number * BLOCK)
    return number.to_bytes(_NUMBER_SIZE, "little") + content if len(content) == BLOCK else b""


def _write_journal(journal: Path, content: bytes) -> None:
    try:
        with os.fdopen(os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(_compute_digest(content) + content)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:  # for example the disk is full: the checkpoint has not begun
        journal.unlink(missing_ok=True)
        raise duckdb.IOException(f"{journal.name} cannot be written: {error.strerror}") from error


def _read_journal(journal: Path) -> bytes:
    """Read a journal's headers and blocks; b'' if the journal is incomplete, which means that its checkpoint
    has not begun."""
    try:
        stored = journal.read_bytes()
    except FileNotFoundError:
        return b""
    content = stored[_DIGEST_SIZE:]
    return content if _compute_digest(content) == stored[:_DIGEST_SIZE] else b""


def _compute_digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_SIZE).digest()
