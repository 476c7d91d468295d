"""The format of DuckDB's database file: its headers, its blocks and their checksums.

A file of DuckDB 2.0 has three headers of 4,096 bytes, and then blocks of 256 KB that begin with a checksum.
The main header has a storage version, and the two database headers, which checkpoints write in turn, have
the size of a block. For a file in another format, goldgrade relies on DuckDB and uses no code of this module.

DuckDB compares a block with its checksum only when it reads the block, and reads the blocks of an index only
when it uses the index. So readable rows do not prove that the blocks of indexes are intact. The newer of the
two database headers contains the position of the list of free blocks. A free block may have any content. A
block of metadata has 64 parts of 4,088 bytes. The first 8 bytes of a part are the position of the next part.
"""

from __future__ import annotations

import logging
import os
import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

HEADERS = 3 * 4096
BLOCK = 1 << 18
DATABASE_HEADERS = (4096, 8192)
# Storage versions that DuckDB 2.0 reads. New files have version 999 by default.
STORAGE_VERSIONS = frozenset({*range(64, 70), 999})
RELY_ON_DUCKDB = (
    "%s has a format that this version of goldgrade does not know (%s). goldgrade does not guard it, and "
    "relies on DuckDB alone."
)
CHECKSUM_FACTOR = 0xBF58476D1CE4E5B9
CHECKSUM_START = 5381
CHECKSUM_SIZE = 8  # the checksum at the beginning of a block takes this many bytes
_MAGIC = b"DUCK"
_VERSION = 12
_IDENTIFIER = slice(124, 140)
_warned: set[tuple[str, str]] = set()
_PARTS_OF_BLOCK, _PART_SIZE = 64, 4088
_NO_BLOCK = 2**64 - 1


def read_newest_header(headers: bytes) -> tuple[int, int, int, int, int]:
    """Read the newer database header: iteration, metadata, list of free blocks, number and size of blocks."""
    iteration, metadata, free_list, count, size = max(
        struct.unpack_from("<5Q", headers, position + CHECKSUM_SIZE) for position in DATABASE_HEADERS
    )
    return iteration, metadata, free_list, count, size


def read_identifier(headers: bytes) -> bytes:
    """Read the identifier of a database file, which its write-ahead log repeats."""
    return headers[_IDENTIFIER]


def describe_unknown_format(headers: bytes) -> str:
    """Describe what goldgrade does not know about a file's format; '' if it knows the format."""
    if len(headers) < HEADERS or headers[CHECKSUM_SIZE : CHECKSUM_SIZE + len(_MAGIC)] != _MAGIC:
        return "its header"
    [version] = struct.unpack_from("<Q", headers, _VERSION)
    if version not in STORAGE_VERSIONS:
        return f"storage version {version:,}"
    if (size := read_newest_header(headers)[-1]) != BLOCK:
        return f"blocks of {size:,} bytes"
    return ""


def has_known_format(path: Path, descriptor: int) -> bool:
    """Return whether goldgrade knows the format of a file, and log a warning once if it does not."""
    unknown = describe_unknown_format(os.pread(descriptor, HEADERS, 0))
    if unknown:
        warn_unknown(path, unknown)
    return not unknown


def warn_unknown(path: Path, unknown: str) -> None:
    """Log a warning about an unknown file format, once in each process."""
    if (str(path), unknown) not in _warned:
        _warned.add((str(path), unknown))
        logging.getLogger("goldgrade").warning(RELY_ON_DUCKDB, path, unknown)


def find_damaged_blocks(path: Path, descriptor: int) -> list[int]:
    """List the numbers of used blocks with a wrong checksum. No checkpoint may run in the meantime.

    path: the file's path, for a warning in the log if the format is unknown; then no block is checked.
    descriptor: a descriptor of the file, which stays open, because closing it would end this process's lock
        on the file.

    Raises
    ------
    ValueError: the file's list of free blocks is damaged.
    """
    if not has_known_format(path, descriptor):
        return []
    _, _, free_list, count, _ = read_newest_header(os.pread(descriptor, HEADERS, 0))
    free: set[int] = set()
    if free_list != _NO_BLOCK:
        numbers = _read_metadata_numbers(descriptor, free_list)
        free = set(islice(numbers, next(numbers)))
    return [block for block in range(count) if block not in free and not _is_intact(descriptor, block)]


def _read_block(descriptor: int, number: int) -> bytes:
    return os.pread(descriptor, BLOCK, HEADERS + number * BLOCK)


def _is_intact(descriptor: int, number: int) -> bool:
    import numpy as np  # imported here, because most commands do not need it

    content = _read_block(descriptor, number)
    words = np.frombuffer(content, "<u8", len(content) // 8)
    return len(content) == BLOCK and int(
        np.bitwise_xor.reduce(words[1:] * np.uint64(CHECKSUM_FACTOR))
    ) ^ CHECKSUM_START == int(words[0])


def _read_metadata_numbers(descriptor: int, position: int) -> Iterator[int]:
    """Yield the 8-byte numbers in the metadata, beginning at a position."""
    while position != _NO_BLOCK:
        block, part = position & (2**56 - 1), position >> 56
        if part >= _PARTS_OF_BLOCK or not _is_intact(descriptor, block):
            raise ValueError(f"its list of free blocks, in block {block:,}, is damaged")
        position, *numbers = struct.unpack_from(
            f"<{_PART_SIZE // 8}Q", _read_block(descriptor, block), CHECKSUM_SIZE + part * _PART_SIZE
        )
        yield from numbers
    raise ValueError("its list of free blocks ends early")


def log_path(database: Path) -> Path:
    """Return the path of the write-ahead log that DuckDB stores next to a database file."""
    return Path(f"{database}.wal")
