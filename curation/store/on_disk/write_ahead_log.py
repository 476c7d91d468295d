"""DuckDB's write-ahead log: whether it is whole, asked before the engine replays it.

The engine checks the content of each entry, but not what frames it. One flipped bit in the length of an
entry, or in the header of the log, makes it replay a part of the log, or nothing, without an error. The rest
is gone with the next checkpoint. A log that a process left in the middle of a write is no such case: it has a
torn last entry and nothing after it, and what was torn was never acknowledged.

The log of DuckDB 2 (form 2): a header, then entries of [length: 8 bytes][checksum: 8 bytes][content].
"""

from __future__ import annotations

import re
import struct
import time
from pathlib import Path

_HEADER = re.compile(
    rb"d\x00b"  # field 100: the kind of entry, 98 (version)
    rb"e\x00(?P<form>[\x00-\x7f])"
    rb"f\x00\x10(?:[\x80-\xff]*[\x00-\x7f]){16}"  # the database's identifier, as 16 numbers
    rb"g\x00[\x80-\xff]*[\x00-\x7f]"  # how many checkpoints there were
    rb"\xff\xff",
    re.DOTALL,
)
_ENTRY = b"d\x00"  # the first field of the content
_FRAME = 16
_FORM = 2
_BETWEEN_LOOKS = 0.05
_WORD = 2**64 - 1
FACTOR = 0xBF58476D1CE4E5B9
START = 5381
_MURMUR = 0xC6A4A7935BD1E995
_SEED = 0xE17A1465


def log_of(database: Path) -> Path:
    """The log that DuckDB keeps next to a database."""
    return Path(f"{database}.wal")


def log_damage(log: Path) -> str:
    """What is wrong with a log, as a part of a sentence; '' where it is whole, torn at its end, or not there.

    Another process may be writing it: damage is what is found twice, a moment apart.
    """
    found = _damage(_content(log))
    if found:
        time.sleep(_BETWEEN_LOOKS)
        found = _damage(_content(log))
    return found


def repair_log(log: Path) -> tuple[int, bool]:
    """Put wrong lengths of entries right, and cut the log before an entry that is broken otherwise.

    Returns the number of bytes that were cut off, and whether the log was changed. A torn last entry stays:
    it was never acknowledged.
    """
    content = _content(log)
    header = _HEADER.match(content)
    place = header.end() if header else 0
    kept = content[:place]
    while header and (end := _true_end(content, place)) is not None:
        kept += (end - place - _FRAME).to_bytes(8, "little") + content[place + 8 : end]
        place = end
    if _end_of_entry(content, place) is None and _whole_from(content, place) is None:  # whole, or torn
        kept, place = kept + content[place:], len(content)
    if kept != content:
        log.write_bytes(kept)
    return len(content) - place, kept != content


def _true_end(content: bytes, place: int) -> int | None:
    """Where the entry ends whose checksum is at a place, whatever its length says; None where none does."""
    for find in (_end_of_entry, lambda *_: _whole_from(content, place + 1), lambda *_: len(content)):
        end = find(content, place)
        if end is not None and _recorded(content, place + _FRAME) == _checksum(content[place + _FRAME : end]):
            return end
    return None


def _content(log: Path) -> bytes:
    try:
        return log.read_bytes()
    except OSError:  # no log, or not ours to read: the engine says it
        return b""


def _damage(content: bytes) -> str:
    header = _HEADER.match(content)
    if header is None:
        start = _whole_from(content, 1)
        return (
            "" if start is None else f"its header cannot be read, and {len(content) - start:,} bytes follow"
        )
    if header["form"][0] != _FORM:
        return ""  # a form that this does not know: the engine decides
    torn = _end_of_entries(content, header.end())
    lost = torn if _only_its_length_is_wrong(content, torn) else _whole_from(content, torn + 1)
    if lost is None:
        return ""
    return f"the entry at byte {torn:,} is broken, and {len(content) - lost:,} bytes would be lost with it"


def _only_its_length_is_wrong(content: bytes, place: int) -> bool:
    rest = content[place + _FRAME :]
    return bool(rest) and _checksum(rest) == _recorded(content, place + _FRAME)


def _end_of_entries(content: bytes, start: int) -> int:
    """Where the last entry that is whole ends, from `start` on."""
    while (end := _end_of_entry(content, start)) is not None:
        start = end
    return start


def _end_of_entry(content: bytes, start: int) -> int | None:
    end = start + _FRAME + int.from_bytes(content[start : start + 8], "little")
    begins = content[start + _FRAME : start + _FRAME + len(_ENTRY)]
    return end if begins == _ENTRY and end <= len(content) else None


def _whole_from(content: bytes, start: int) -> int | None:
    """The first place from `start` on at which a whole entry begins; None where there is none."""
    place = content.find(_ENTRY, start + _FRAME)
    while place >= 0:
        end = _end_of_entry(content, place - _FRAME)
        if end is not None and _checksum(content[place:end]) == _recorded(content, place):
            return place - _FRAME
        place = content.find(_ENTRY, place + 1)
    return None


def _recorded(content: bytes, place: int) -> int:
    return int.from_bytes(content[place - 8 : place], "little")


def _checksum(entry: bytes) -> int:
    """DuckDB's checksum of an entry: products of its words, and MurmurHash64A of the bytes after them."""
    whole = len(entry) // 8 * 8
    found = START
    for (word,) in struct.iter_unpack("<Q", entry[:whole]):
        found ^= word * FACTOR & _WORD
    return found ^ _murmur(entry[whole:]) if entry[whole:] else found


def _murmur(rest: bytes) -> int:
    """MurmurHash64A (Appleby 2008) of one to seven bytes, with DuckDB's seed."""
    mixed = _SEED ^ (len(rest) * _MURMUR & _WORD)
    mixed = (mixed ^ int.from_bytes(rest, "little")) * _MURMUR & _WORD
    mixed = (mixed ^ mixed >> 47) * _MURMUR & _WORD
    return mixed ^ mixed >> 47
