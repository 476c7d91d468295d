"""Files of arrays, which goldgrade maps into memory and uses only if they are complete.

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
_CHECKSUM_SIZE = 8  # length of the checksum in bytes
_BLOCK_SIZE = 1 << 20


def write_arrays(path: Path, key: str, arrays: Mapping[str, Any]) -> None:
    """Write numpy or Arrow arrays to a file, replacing any earlier file with the same name.

    Raises
    ------
    StoreError: the file cannot be written.
    """
    columns = [pa.LargeListArray.from_arrays([0, len(array)], pa.array(array)) for array in arrays.values()]
    table = pa.table(columns, names=[*arrays])
    new_path = path.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    try:
        with new_path.open("x+b") as file:
            file.write(bytes(_CHECKSUM_SIZE))
            with pa.ipc.new_stream(file, table.schema) as stream:
                stream.write_table(table)
            checksum = _compute_checksum(file, key)
            file.seek(0)
            file.write(checksum)
        new_path.replace(path)
    except OSError as error:
        raise StoreError(describe_write_error(path.parent, error)) from error
    finally:
        new_path.unlink(missing_ok=True)


def describe_write_error(folder: Path, error: OSError) -> str:
    """Return a sentence that says that the index's files cannot be written to a folder."""
    return (
        f"The BM25 index cannot be written to {folder}: {error.strerror or error}. goldgrade rebuilds a "
        "missing index: free some disk space, or move the project to a writable folder."
    )


def read_arrays(path: Path, key: str) -> dict[str, Any] | None:
    """Map the arrays of a file, or return None if the file is incomplete.

    Strings become Arrow arrays, and numbers become numpy arrays.
    """
    with suppress(OSError), path.open("rb") as file:
        if file.read(_CHECKSUM_SIZE) == _compute_checksum(file, key):
            buffer = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)).slice(_CHECKSUM_SIZE)
            table = pa.ipc.open_stream(buffer).read_all()
            return {name: _convert_values(table[name]) for name in table.column_names}
    return None


def _convert_values(column: pa.ChunkedArray) -> Any:
    """Convert an Arrow array to numpy without `to_numpy`, whose import of pandas takes long."""
    values = column.chunk(0).values
    return values if values.type == pa.string() else np.from_dlpack(values)


def _compute_checksum(file: IO[bytes], key: str) -> bytes:
    """Compute the checksum of a key and the content of a file, in hexadecimal digits."""
    checksum = zlib.crc32(key.encode())
    file.seek(_CHECKSUM_SIZE)
    while block := file.read(_BLOCK_SIZE):
        checksum = zlib.crc32(block, checksum)
    return b"%08x" % checksum
