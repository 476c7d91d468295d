"""The blocks of a database file: whether each one in use has the checksum that it says.

DuckDB compares a block with its checksum when it reads it, and it reads the blocks of an index only once the
index is used: rows that can be read say nothing of them. Which blocks are free is in the list of free blocks,
whose place the newer header names. A free block may hold anything.

A block of metadata has 64 parts of 4,088 bytes, each with the place of the next one in its first 8. Of a file
in a form that goldgrade does not know (`file_form`) nothing is compared.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from curation.store.on_disk.file_form import BLOCK, HEADERS, has_known_form, newest_header
from curation.store.on_disk.write_ahead_log import FACTOR, START

_SUM = 8
_PARTS, _PART = 64, 4088
_NONE = 2**64 - 1


def damaged_blocks(path: Path, descriptor: int) -> list[int]:
    """Numbers of the blocks in use whose content has another checksum; nobody may checkpoint meanwhile.

    path: of the file; a line of the log names it where its form is not known, and no block is compared.
    descriptor: of the file; it stays open, because closing one would end this process's lock on the file.

    Raises
    ------
    ValueError: the file's list of free blocks is damaged.
    """
    if not has_known_form(path, descriptor):
        return []
    _, _, free_list, count, _ = newest_header(os.pread(descriptor, HEADERS, 0))
    free: set[int] = set()
    if free_list != _NONE:
        numbers = _numbers(descriptor, free_list)
        free = set(islice(numbers, next(numbers)))
    return [number for number in range(count) if number not in free and not _is_whole(descriptor, number)]


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
