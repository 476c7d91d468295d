"""The blocks of a database file: whether each one in use has the checksum that it says.

DuckDB compares a block with its checksum when it reads it, and it reads the blocks of an index only once the
index is used: rows that can be read say nothing of them. Which blocks are free is in the list of free blocks,
whose place the newer header names. A free block may hold anything.

The form of DuckDB 2: after three headers of 4,096 bytes come blocks of 256 KB, each with a checksum of 8
bytes. A block of metadata has 64 parts of 4,088 bytes, each with the place of the next one in its first 8.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from curation.store.on_disk.checkpoints import BLOCK, HEADERS
from curation.store.on_disk.write_ahead_log import FACTOR, START

_HEADERS_OF_STATES = (4096, 8192)
_SUM = 8
_PARTS, _PART = 64, 4088
_NONE = 2**64 - 1


def damaged_blocks(descriptor: int) -> list[int]:
    """Numbers of the blocks in use whose content has another checksum; nobody may checkpoint meanwhile.

    descriptor: of the file; it stays open, because closing one would end this process's lock on the file.

    Raises
    ------
    ValueError: the file has another form, or its headers or its list of free blocks are damaged.
    """
    headers = os.pread(descriptor, HEADERS, 0)
    if len(headers) < HEADERS:
        raise ValueError("its headers are cut short")
    _, _, free_list, count, size = max(
        struct.unpack_from("<5Q", headers, place + _SUM) for place in _HEADERS_OF_STATES
    )
    if size != BLOCK:
        raise ValueError(f"its blocks have {size:,} bytes, not {BLOCK:,}")
    free: set[int] = set()
    if free_list != _NONE:
        numbers = _numbers(descriptor, free_list)
        free = set(islice(numbers, next(numbers)))
    return [number for number in range(count) if number not in free and not _is_whole(descriptor, number)]


def take_blocks(file: Path, others: Iterable[Path]) -> list[int]:
    """Take damaged blocks from files that have them whole and with the same sum; returns their numbers."""
    taken = []
    for other in others:
        with file.open("r+b") as out, other.open("rb") as whole:
            for number in range((file.stat().st_size - HEADERS) // BLOCK):
                content = _content(whole.fileno(), number)
                if (
                    content[:_SUM] == _content(out.fileno(), number)[:_SUM]
                    and _is_whole(whole.fileno(), number)
                    and not _is_whole(out.fileno(), number)
                ):
                    os.pwrite(out.fileno(), content, HEADERS + number * BLOCK)
                    taken.append(number)
    return taken


def _content(descriptor: int, number: int) -> bytes:
    return os.pread(descriptor, BLOCK, HEADERS + number * BLOCK)


def _is_whole(descriptor: int, number: int) -> bool:
    content = _content(descriptor, number)
    words = np.frombuffer(content, "<u8", len(content) // 8)
    return len(content) == BLOCK and int(np.bitwise_xor.reduce(words[1:] * np.uint64(FACTOR))) ^ START == int(
        words[0]
    )


def _numbers(descriptor: int, place: int) -> Iterator[int]:
    """The numbers of 8 bytes that begin at a place of the metadata."""
    while place != _NONE:
        block, part = place & (2**56 - 1), place >> 56
        if part >= _PARTS or not _is_whole(descriptor, block):
            raise ValueError(f"its list of free blocks, in block {block:,}, is damaged")
        place, *numbers = struct.unpack_from(
            f"<{_PART // 8}Q", _content(descriptor, block), _SUM + part * _PART
        )
        yield from numbers
    raise ValueError("its list of free blocks ends early")
