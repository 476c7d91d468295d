"""The check for damage in DuckDB's write-ahead log, made before the engine replays the log.

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

from curation.store import duckdb_format
from curation.store.duckdb_format import CHECKSUM_FACTOR, CHECKSUM_START, HEADERS, log_path
from curation.store.file_lock import is_attached

_HEADER = re.compile(
    rb"d\x00b"  # field 100 is the kind of entry, 98 (version)
    rb"e\x00(?P<format>[\x00-\x7f])"
    rb"f\x00\x10(?:[\x80-\xff]*[\x00-\x7f]){16}"  # the database's identifier as 16 numbers
    rb"g\x00[\x80-\xff]*[\x00-\x7f]"  # the number of checkpoints so far
    rb"\xff\xff",
    re.DOTALL,
)
_ENTRY = b"d\x00"  # first field of the content
_FRAME = 16
_FORMAT = 2
_OTHER_HEADER = "its log has an unexpected header"
_SECONDS_BETWEEN_READS = 0.05
_MAX_WORD = 2**64 - 1
_MURMUR = 0xC6A4A7935BD1E995
_SEED = 0xE17A1465


def describe_log_damage(database: Path) -> str:
    """Describe the damage to a database's write-ahead log, as part of a sentence; '' if there is none.

    The result is '' if the log is intact, incomplete only at its end, or missing, or if the format of the log
    or database is unknown. Another process may be writing the log, so damage counts only if it is found
    twice, a moment apart.
    """
    log = log_path(database)
    damage = _describe_damage(database, _read_log(log))
    if damage:
        time.sleep(_SECONDS_BETWEEN_READS)
        damage = _describe_damage(database, _read_log(log))
    return damage if damage and _has_known_format(database) else ""


def _read_log(log: Path) -> bytes:
    try:
        return log.read_bytes()
    except OSError:  # the log is missing, or this user cannot read it: the engine reports this
        return b""


def _describe_damage(database: Path, content: bytes) -> str:
    header = _HEADER.match(content)
    if header is None:
        return _describe_header_damage(database, content)
    if header["format"][0] != _FORMAT:
        duckdb_format.warn_unknown(database, f"{_OTHER_HEADER}: format {header['format'][0]}")
        return ""
    broken_entry = _find_end_of_entries(content, header.end())
    has_wrong_length = _has_wrong_length_only(content, broken_entry)
    first_lost = broken_entry if has_wrong_length else _find_whole_entry(content, broken_entry + 1)
    if first_lost is None:
        return ""
    lost_bytes = len(content) - first_lost
    return f"the entry at byte {broken_entry:,} is broken, and {lost_bytes:,} bytes would be lost with it"


def _describe_header_damage(database: Path, content: bytes) -> str:
    """Describe the damage if one byte of the log header was altered; other headers have an unknown format."""
    expected = _build_log_header(_read_headers(database))
    altered_bytes = sum(byte != expected_byte for byte, expected_byte in zip(content, expected, strict=False))
    if expected and altered_bytes == 1 and _find_whole_entry(content, len(expected)) == len(expected):
        return f"its header cannot be read, and {len(content) - len(expected):,} bytes follow"
    if len(content) > len(expected):
        duckdb_format.warn_unknown(database, _OTHER_HEADER)
    return ""


def _has_known_format(database: Path) -> bool:
    headers = _read_headers(database)
    unknown = duckdb_format.describe_unknown_format(headers) if headers else ""
    if unknown:
        duckdb_format.warn_unknown(database, unknown)
    return not unknown


def _read_headers(database: Path) -> bytes:
    """Read the headers of a database file; b'' if the file cannot be read now."""
    if is_attached(database):  # closing a different descriptor would end this process's lock
        return b""
    try:
        with database.open("rb") as file:
            return file.read(HEADERS)
    except OSError:
        return b""


def _build_log_header(headers: bytes) -> bytes:
    """Build the header that DuckDB 2.0 writes into a file's log; b'' if the file's format is unknown."""
    if duckdb_format.describe_unknown_format(headers):
        return b""
    identifier = b"".join(map(_encode_number, duckdb_format.read_identifier(headers)))
    checkpoints_made = _encode_number(duckdb_format.read_newest_header(headers)[0])
    return b"".join(
        (b"d\0be\0", bytes([_FORMAT]), b"f\0\x10", identifier, b"g\0", checkpoints_made, b"\xff\xff")
    )


def _encode_number(value: int) -> bytes:
    """Encode a number as DuckDB's log does: seven bits in each byte, the lowest bits first."""
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def _has_wrong_length_only(content: bytes, position: int) -> bool:
    entry = content[position + _FRAME :]
    return bool(entry) and _compute_checksum(entry) == _read_checksum(content, position + _FRAME)


def _find_end_of_entries(content: bytes, start: int) -> int:
    """Find the end of the last complete log entry that follows `start`."""
    while (end := _find_end_of_entry(content, start)) is not None:
        start = end
    return start


def _find_end_of_entry(content: bytes, start: int) -> int | None:
    end = start + _FRAME + int.from_bytes(content[start : start + 8], "little")
    entry = content[start + _FRAME : end]
    if end > len(content) or not entry:
        return None
    # The prefix is checked first: it is far cheaper than a checksum, which other formats' entries need.
    if entry.startswith(_ENTRY) or _compute_checksum(entry) == _read_checksum(content, start + _FRAME):
        return end
    return None


def _find_whole_entry(content: bytes, start: int) -> int | None:
    """Find the first complete log entry at or after `start`; None if there is no entry."""
    position = content.find(_ENTRY, start + _FRAME)
    while position >= 0:
        end = _find_end_of_entry(content, position - _FRAME)
        if end is not None and _compute_checksum(content[position:end]) == _read_checksum(content, position):
            return position - _FRAME
        position = content.find(_ENTRY, position + 1)
    return None


def _read_checksum(content: bytes, position: int) -> int:
    return int.from_bytes(content[position - 8 : position], "little")


def _compute_checksum(entry: bytes) -> int:
    """Compute DuckDB's checksum of an entry: products of words, and MurmurHash64A of the remaining bytes."""
    whole_words = len(entry) // 8 * 8
    checksum = CHECKSUM_START
    for (word,) in struct.iter_unpack("<Q", entry[:whole_words]):
        checksum ^= word * CHECKSUM_FACTOR & _MAX_WORD
    return checksum ^ _murmur_hash(entry[whole_words:]) if entry[whole_words:] else checksum


def _murmur_hash(tail: bytes) -> int:
    """Compute MurmurHash64A (Appleby 2008) of one to seven bytes, with DuckDB's seed."""
    hashed = _SEED ^ (len(tail) * _MURMUR & _MAX_WORD)
    hashed = (hashed ^ int.from_bytes(tail, "little")) * _MURMUR & _MAX_WORD
    hashed = (hashed ^ hashed >> 47) * _MURMUR & _MAX_WORD
    return hashed ^ hashed >> 47
