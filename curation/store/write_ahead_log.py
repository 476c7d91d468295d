"""The check of DuckDB's write-ahead log for damage before the engine replays it.

DuckDB checks the content of each log entry, but not the length and position of the entry. After one flipped
bit in the length of an entry, or in the header of the log, DuckDB replays only a part of the log, or nothing,
without an error. The next checkpoint then deletes the rest of the log. A log whose writer was killed is not
damaged: only its last entry is incomplete, and this entry was never acknowledged.

The log of DuckDB 2.0 (format 2) has a header, and then entries of [length: 8 bytes][checksum: 8
bytes][content]. A log counts as damaged for two reasons only: an entry that agrees with its checksum follows
a broken entry, or follows a header that differs in one byte from the header that DuckDB 2.0 writes for this
file. Only DuckDB checks a log in any other format, and goldgrade logs a line about the unknown format.
"""

from __future__ import annotations

import re
import struct
import time
from pathlib import Path

from curation.store.checkpoints import is_attached
from curation.store.duckdb_format import (
    CHECKSUM_FACTOR,
    CHECKSUM_START,
    HEADERS,
    identifier_of,
    newest_header,
    unknown_format,
    warn_unknown,
)

_HEADER = re.compile(
    rb"d\x00b"  # field 100: the kind of entry, 98 (version)
    rb"e\x00(?P<format>[\x00-\x7f])"
    rb"f\x00\x10(?:[\x80-\xff]*[\x00-\x7f]){16}"  # the database's identifier, as 16 numbers
    rb"g\x00[\x80-\xff]*[\x00-\x7f]"  # how many checkpoints there were
    rb"\xff\xff",
    re.DOTALL,
)
_ENTRY = b"d\x00"  # the first field of the content
_FRAME = 16
_FORMAT = 2
_OTHER_HEADER = "its log has another header"
_BETWEEN_LOOKS = 0.05
_WORD = 2**64 - 1
_MURMUR = 0xC6A4A7935BD1E995
_SEED = 0xE17A1465


def log_of(database: Path) -> Path:
    """Return the path of the write-ahead log that DuckDB stores next to a database file."""
    return Path(f"{database}.wal")


def log_damage(database: Path) -> str:
    """Describe the damage of a database's write-ahead log, as a part of a sentence.

    The result is '' if the log is intact, incomplete only at its end, or missing, or if the format of the log
    or database is unknown. Another process may be writing the log, so damage counts only if it is found
    twice, a moment apart.
    """
    log = log_of(database)
    damage = _damage(database, _content(log))
    if damage:
        time.sleep(_BETWEEN_LOOKS)
        damage = _damage(database, _content(log))
    return damage if damage and _is_known(database) else ""


def _content(log: Path) -> bytes:
    try:
        return log.read_bytes()
    except OSError:  # no log, or not ours to read: the engine says it
        return b""


def _damage(database: Path, content: bytes) -> str:
    header = _HEADER.match(content)
    if header is None:
        return _damage_of_header(database, content)
    if header["format"][0] != _FORMAT:
        warn_unknown(database, f"{_OTHER_HEADER}: format {header['format'][0]}")
        return ""
    torn = _end_of_entries(content, header.end())
    lost = torn if _only_its_length_is_wrong(content, torn) else _whole_from(content, torn + 1)
    if lost is None:
        return ""
    return f"the entry at byte {torn:,} is broken, and {len(content) - lost:,} bytes would be lost with it"


def _damage_of_header(database: Path, content: bytes) -> str:
    """Describe the damage if one byte of the expected header is altered.

    Other headers have an unknown format.
    """
    right = _header_for(_headers_of(database))
    altered = sum(byte != wanted for byte, wanted in zip(content, right, strict=False))
    if right and altered == 1 and _whole_from(content, len(right)) == len(right):
        return f"its header cannot be read, and {len(content) - len(right):,} bytes follow"
    if len(content) > len(right):
        warn_unknown(database, _OTHER_HEADER)
    return ""


def _is_known(database: Path) -> bool:
    headers = _headers_of(database)
    unknown = unknown_format(headers) if headers else ""
    if unknown:
        warn_unknown(database, unknown)
    return not unknown


def _headers_of(database: Path) -> bytes:
    """Read the headers of a database file; b'' if the file cannot be read now."""
    if is_attached(database):  # closing another descriptor would end this process's lock
        return b""
    try:
        with database.open("rb") as file:
            return file.read(HEADERS)
    except OSError:
        return b""


def _header_for(headers: bytes) -> bytes:
    """Make the header that DuckDB 2.0 writes into the log of this file; b'' if the file's format is
    unknown.
    """
    if unknown_format(headers):
        return b""
    identifier = b"".join(map(_number, identifier_of(headers)))
    checkpoints_made = _number(newest_header(headers)[0])
    return b"".join(
        (b"d\0be\0", bytes([_FORMAT]), b"f\0\x10", identifier, b"g\0", checkpoints_made, b"\xff\xff")
    )


def _number(value: int) -> bytes:
    """Encode a number as in DuckDB's log: seven bits in each byte, the lowest bits first."""
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def _only_its_length_is_wrong(content: bytes, position: int) -> bool:
    rest = content[position + _FRAME :]
    return bool(rest) and _checksum(rest) == _recorded(content, position + _FRAME)


def _end_of_entries(content: bytes, start: int) -> int:
    """Find the end of the last complete log entry from `start` on."""
    while (end := _end_of_entry(content, start)) is not None:
        start = end
    return start


def _end_of_entry(content: bytes, start: int) -> int | None:
    end = start + _FRAME + int.from_bytes(content[start : start + 8], "little")
    entry = content[start + _FRAME : end]
    if end > len(content) or not entry:
        return None
    begins = entry.startswith(_ENTRY)  # far cheaper than a checksum, which entries of another format need
    return end if begins or _checksum(entry) == _recorded(content, start + _FRAME) else None


def _whole_from(content: bytes, start: int) -> int | None:
    """Find the first position from `start` on where a complete log entry begins; None without an entry."""
    position = content.find(_ENTRY, start + _FRAME)
    while position >= 0:
        end = _end_of_entry(content, position - _FRAME)
        if end is not None and _checksum(content[position:end]) == _recorded(content, position):
            return position - _FRAME
        position = content.find(_ENTRY, position + 1)
    return None


def _recorded(content: bytes, position: int) -> int:
    return int.from_bytes(content[position - 8 : position], "little")


def _checksum(entry: bytes) -> int:
    """Compute DuckDB's checksum of an entry: products of words, and MurmurHash64A of the remaining bytes."""
    whole = len(entry) // 8 * 8
    checksum = CHECKSUM_START
    for (word,) in struct.iter_unpack("<Q", entry[:whole]):
        checksum ^= word * CHECKSUM_FACTOR & _WORD
    return checksum ^ _murmur(entry[whole:]) if entry[whole:] else checksum


def _murmur(rest: bytes) -> int:
    """Compute MurmurHash64A (Appleby 2008) of one to seven bytes, with DuckDB's seed."""
    mixed = _SEED ^ (len(rest) * _MURMUR & _WORD)
    mixed = (mixed ^ int.from_bytes(rest, "little")) * _MURMUR & _WORD
    mixed = (mixed ^ mixed >> 47) * _MURMUR & _WORD
    return mixed ^ mixed >> 47
