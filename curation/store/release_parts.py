"""The texts of releases' parts as they are stored: pieces of whole lines, each packed.

A part has a line for each judgment, grade or candidate, and the engine takes several times a text's size to
read or write it. Packed, a text has some twentieth of its size; it is packed and unpacked a piece at a time.
Whatever a piece no longer unpacks to is told by the part's sum.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

from curation.store.files import Cursor

PIECE = 1_000_000
"""Characters of a piece; a longer line is a piece of its own."""
DAMAGED = "\ufffd\n"
"""What a piece that cannot be unpacked is read as."""
_LEVEL = 3

Packed = Sequence[bytes]
"""A part's text."""


def pack(text: str) -> bytes:
    """A piece as it is stored."""
    return zlib.compress(text.encode("utf-8"), _LEVEL)


def unpack(piece: bytes) -> str:
    """The text of a stored piece."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(piece).decode("utf-8")
    except (zlib.error, UnicodeDecodeError):
        return DAMAGED
    return text if unpacking.eof and not unpacking.unused_data else DAMAGED


def pieces_of_lines(lines: Iterable[str], size: int | None = None) -> Iterator[str]:
    """Whole lines with their ends, some `size` (`PIECE`) characters at a time."""
    size, held, length = size or PIECE, [], 0
    for line in lines:
        held.append(line)
        length += len(line) + 1
        if length >= size:
            yield "\n".join([*held, ""])
            held, length = [], 0
    if held:
        yield "\n".join([*held, ""])


def pieces_of_text(text: str) -> Iterator[str]:
    """Whole lines, some `PIECE` characters at a time."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + PIECE) + 1 or len(text)
        yield text[start:end]
        start = end


def unpacked(pieces: Packed) -> Iterator[str]:
    """The text of a part, one piece at a time. Each ends with a line, wherever the stored ones do."""
    begun = ""
    for piece in pieces:
        text = begun + unpack(piece)
        end = text.rfind("\n") + 1
        begun = text[end:]
        if end:
            yield text[:end]
    if begun:
        yield begun


def add_part(cursor: Cursor, release_id: str, part: str, pieces: Iterable[bytes]) -> None:
    """Store the text of a part; a part without a line is stored, too."""
    rows = [(release_id, part, place, piece) for place, piece in enumerate(pieces)]
    rows = rows or [(release_id, part, 0, pack(""))]
    cursor.executemany("INSERT INTO release_parts VALUES (?, ?, ?, ?)", rows)


def packed_parts(cursor: Cursor, release_id: str, parts: Sequence[str] | None = None) -> dict[str, Packed]:
    """Part → text; of all parts, or of these."""
    asked = {"release": release_id, "parts": None if parts is None else list(parts)}
    rows = cursor.execute(_PARTS, asked).fetchall()
    found: dict[str, list[bytes]] = {}
    for part, piece in rows:
        found.setdefault(part, []).append(piece)
    return dict(found)


def stored_text(cursor: Cursor, release_id: str, part: str) -> str:
    """The whole text of a part; '' where there is none."""
    return "".join(unpacked(packed_parts(cursor, release_id, [part]).get(part, ())))


_PARTS = """
    SELECT part, content FROM release_parts
    WHERE release_id = $release AND ($parts::TEXT[] IS NULL OR list_contains($parts::TEXT[], part))
    ORDER BY part, place
"""
