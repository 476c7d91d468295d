"""Files of arrays that are mapped into memory and are used only if they are complete.

A file is written under a temporary name and renamed when it is complete. The file begins with a CRC-32 of a
key and the content. The key identifies the content, and the content is an Arrow stream in which each array is
the only row of a column.
"""

from __future__ import annotations

import mmap
import secrets
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from curation.core.errors import StoreError

UNFINISHED = ".new-"
_SUM = 8  # bytes of the sum
_READ_SIZE = 1 << 20


def write_arrays(path: Path, key: str, arrays: Mapping[str, Any]) -> None:
    """Write numpy or Arrow arrays to a file, and replace an earlier file of the same name.

    Raises
    ------
    StoreError: the file cannot be written.
    """
    columns = [pa.LargeListArray.from_arrays([0, len(array)], pa.array(array)) for array in arrays.values()]
    table = pa.table(columns, names=[*arrays])
    fresh = path.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    try:
        with fresh.open("x+b") as file:
            file.write(bytes(_SUM))
            with pa.ipc.new_stream(file, table.schema) as stream:
                stream.write_table(table)
            total = _sum(file, key)
            file.seek(0)
            file.write(total)
        fresh.replace(path)
    except OSError as error:
        raise StoreError(cannot_write(path.parent, error)) from error
    finally:
        fresh.unlink(missing_ok=True)


def cannot_write(folder: Path, error: OSError) -> str:
    """Make the error for a folder in which no file can be written."""
    return (
        f"The index of BM25 cannot be written into {folder}: {error.strerror or error}. A missing index "
        "is made again: free disk space, or use the project where its folder can be written."
    )


def read_arrays(path: Path, key: str) -> dict[str, Any] | None:
    """Map the arrays of a file, or return None if the file is incomplete.

    Strings become Arrow arrays, and numbers become numpy arrays.
    """
    with suppress(OSError), path.open("rb") as file:
        if file.read(_SUM) == _sum(file, key):
            buffer = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)).slice(_SUM)
            table = pa.ipc.open_stream(buffer).read_all()
            return {name: _values(table[name]) for name in table.column_names}
    return None


def _values(column: pa.ChunkedArray) -> Any:
    """Convert an Arrow array without `to_numpy`, which would import pandas and so take much longer."""
    values = column.chunk(0).values
    return values if values.type == pa.string() else np.from_dlpack(values)


def _sum(file: IO[bytes], key: str) -> bytes:
    checksum = zlib.crc32(key.encode())
    file.seek(_SUM)
    while block := file.read(_READ_SIZE):
        checksum = zlib.crc32(block, checksum)
    return b"%08x" % checksum
