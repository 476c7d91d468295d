"""What goldgrade relies on of the form of DuckDB's file, and whether a file has that form.

The form of DuckDB 2.0: three headers of 4,096 bytes, then blocks of 256 KB that begin with their checksum.
The main header has a storage version, and the two database headers, which checkpoints write in turn, have the
size of a block. Nothing that rests on this form is done to a file with another one: DuckDB alone decides.
"""

from __future__ import annotations

import logging
import os
import struct
from pathlib import Path

HEADERS = 3 * 4096
BLOCK = 1 << 18
DATABASE_HEADERS = (4096, 8192)
STORAGE_VERSIONS = frozenset({*range(64, 70), 999})
"""Those that DuckDB 2.0 reads; it writes 999 where nobody asks for an older one."""
LOG_ALONE = (
    "%s has a form that this version of goldgrade does not know (%s). goldgrade does not guard it, and "
    "relies on "
    "DuckDB alone."
)
_SUM = 8
_MAGIC = b"DUCK"
_VERSION = 12
_IDENTIFIER = slice(124, 140)

_warned: set[tuple[str, str]] = set()


def newest_header(headers: bytes) -> tuple[int, int, int, int, int]:
    """The newer database header: iteration, metadata, list of free blocks, number of blocks, their size."""
    iteration, metadata, free_list, count, size = max(
        struct.unpack_from("<5Q", headers, place + _SUM) for place in DATABASE_HEADERS
    )
    return iteration, metadata, free_list, count, size


def identifier_of(headers: bytes) -> bytes:
    """The database's identifier, which its log repeats."""
    return headers[_IDENTIFIER]


def unknown_form(headers: bytes) -> str:
    """What of a file's form is not known, as a part of a sentence; '' where goldgrade knows the form."""
    if len(headers) < HEADERS or headers[_SUM : _SUM + len(_MAGIC)] != _MAGIC:
        return "its header"
    [version] = struct.unpack_from("<Q", headers, _VERSION)
    if version not in STORAGE_VERSIONS:
        return f"storage version {version:,}"
    if (size := newest_header(headers)[-1]) != BLOCK:
        return f"blocks of {size:,} bytes"
    return ""


def has_known_form(path: Path, descriptor: int) -> bool:
    """Whether goldgrade knows the form of a file; where it does not, a line of the log says so, once."""
    unknown = unknown_form(os.pread(descriptor, HEADERS, 0))
    if unknown:
        tell_unknown(path, unknown)
    return not unknown


def tell_unknown(path: Path, unknown: str) -> None:
    """Write the line of the log on a form that is not known, once a process."""
    if (str(path), unknown) not in _warned:
        _warned.add((str(path), unknown))
        logging.getLogger("goldgrade").warning(LOG_ALONE, path, unknown)
