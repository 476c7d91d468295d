"""Arrays in a file that is mapped into memory: a file is whole, or it is not used.

A file is written under another name and gets its own when all is in it. It begins with the CRC-32 of what
follows, then a line of JSON: whose file it is, and names, types and lengths of its arrays. So a file that was
cut short, changed, or is of something else is as good as none.
"""

from __future__ import annotations

import json
import mmap
import os
import secrets
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.errors import StoreError

UNFINISHED = ".new-"
_SUM = 8  # bytes of the sum
_ALIGNED = 64
_BLOCK = 1 << 20

Arrays = dict[str, NDArray[Any]]
Layout = Mapping[str, tuple[str, int]]
"""Of each array its type and length."""


@contextmanager
def new_arrays(path: Path, key: str, layout: Layout) -> Iterator[Arrays]:
    """Arrays to fill in. When that is done, they are the file's, in the place of a former one.

    Raises
    ------
    StoreError: the file cannot be written.
    """
    header = json.dumps({"key": key, "arrays": layout}).encode()
    header = header.ljust(_aligned(_SUM + len(header) + 1) - _SUM - 1) + b"\n"
    places, size = _places(layout, _SUM + len(header))
    fresh = path.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "r+b") as file:
            _reserve(file.fileno(), size)
            held = mmap.mmap(file.fileno(), size)
            held[_SUM : _SUM + len(header)] = header
            made = _mapped(held, layout, places)
            yield made
            for array in made.values():
                array.setflags(write=False)
            held[:_SUM] = b"%08x" % zlib.crc32(memoryview(held)[_SUM:])
        fresh.replace(path)
    except OSError as error:
        raise StoreError(cannot_write(path.parent, error)) from error
    finally:
        with suppress(OSError):
            fresh.unlink()


def cannot_write(folder: Path, error: OSError) -> str:
    """The sentence for a folder in which no file can be made."""
    return (
        f"The index of BM25 cannot be written into {folder}: {error.strerror or error}. It is made anew "
        "wherever it is missing: make room, or use the project where its folder can be written."
    )


def read_arrays(path: Path, key: str) -> Arrays | None:
    """The arrays of a file, which cannot be changed; None if it is not whole, or not of this key."""
    with suppress(OSError, ValueError), path.open("rb") as file:
        expected, found = int(file.read(_SUM), 16), 0
        while block := file.read(_BLOCK):
            found = zlib.crc32(block, found)
        file.seek(_SUM)
        line = file.readline()
        header: dict[str, Any] = json.loads(line) if found == expected else {}
        if header.get("key") == key:
            held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            places, _ = _places(header["arrays"], _SUM + len(line))
            return _mapped(held, header["arrays"], places)
    return None


def packed(strings: pa.StringArray) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Strings as two arrays: where each ends, from 0, and their letters."""
    _, offsets, letters = strings.buffers()
    ends = np.frombuffer(offsets, np.int32)[strings.offset : strings.offset + len(strings) + 1]
    return ends - ends[0], np.frombuffer(letters or b"", np.uint8)[ends[0] : ends[-1]]


def unpacked(ends: NDArray[np.int32], letters: NDArray[np.uint8]) -> pa.StringArray:
    """The strings of two arrays, which are not copied."""
    return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(letters))


def _mapped(held: mmap.mmap, layout: Layout, places: Mapping[str, int]) -> Arrays:
    return {name: np.frombuffer(held, kind, length, places[name]) for name, (kind, length) in layout.items()}


def _places(layout: Layout, first: int) -> tuple[dict[str, int], int]:
    """Where each array begins, and where the file ends."""
    places, end = {}, first
    for name, (kind, length) in layout.items():
        places[name] = _aligned(end)
        end = places[name] + np.dtype(kind).itemsize * length
    return places, end


def _aligned(place: int) -> int:
    return -(-place // _ALIGNED) * _ALIGNED


def _reserve(descriptor: int, size: int) -> None:
    """Take room on the disk: a process that writes into a map dies where there is none left."""
    os.ftruncate(descriptor, size)
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
