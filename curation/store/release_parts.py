"""The text of a part of a release: a line of canonical JSON for each row, stored in compressed pieces.

A part has a row for each judgment, grade or candidate. A row as an object takes a kilobyte and more, its line
some 150 bytes, packed some 5, and the engine takes several times a text's size to read or write it. So a part
is made, sorted, summed, stored and walked through piece by piece, and is neither a list of rows nor one text.
What a damaged piece unpacks to differs from the part's sum.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from curation.core.digests import canonical_json
from curation.store.project_file import Cursor

if TYPE_CHECKING:
    import pyarrow as pa

Item = TypeVar("Item")
PIECE = 1_000_000
"""Maximum length of a piece in characters; a longer line is its own piece."""

DAMAGED = "\ufffd\n"
"""The text of a piece that cannot be unpacked."""

BATCH = 10_000
"""Number of rows that are made at a time."""

RUN = 50_000
"""Number of lines that are sorted at a time."""

RUN_PIECE = 100_000
"""Length of the pieces of a sorted run, in characters."""

_LEVEL = 3


class PartSum(NamedTuple):
    """The sums of a part; `line_sums` is 8 hex digits for each line.

    They are CRC-32s: small, and certain to differ where up to 32 bits in a row do.
    """

    sha256: str
    lines: int
    line_sums: str


class PartText:
    """The text of a part. Walking it gives its rows, parsed again each time.

    Attributes
    ----------
    packed: its pieces, as they are stored.
    """

    def __init__(self, packed: Iterable[bytes] = ()) -> None:
        self.packed = tuple(packed)

    @classmethod
    def of_lines(cls, lines: Iterable[str], size: int | None = None) -> PartText:
        """The text of lines that come without their ends, in pieces of some `size` (`PIECE`) characters."""
        return cls(map(pack, _pieces(lines, size or PIECE)))

    @classmethod
    def of_rows(cls, rows: Iterable[Any], *, ordered: bool = False) -> PartText:
        """The text of rows, which may be made one by one; `ordered` sorts the lines."""
        lines = map(canonical_json, rows)
        return cls.of_lines(sorted_lines(lines) if ordered else lines)

    def __len__(self) -> int:
        return self.sums.lines

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows; a part that is not JSON raises a ValueError."""
        for piece in self.pieces():
            lines = _lines_of(piece)
            rows = json.loads(f"[{','.join(lines)}]")  # at once, which takes half as long as one by one
            if len(rows) != len(lines):
                raise ValueError("a line is no JSON value, or several")
            yield from rows

    def __str__(self) -> str:
        return "".join(self.pieces())

    def rows_of(self, query_id: str) -> list[dict[str, Any]]:
        """Read the rows of a query; lines without the query's id are not parsed."""
        wanted = canonical_json(query_id)
        rows = [json.loads(line) for line in self.lines() if wanted in line]
        return [row for row in rows if row["query_id"] == query_id]

    def lines(self) -> Iterator[str]:
        """Yield the lines without line feeds."""
        return (line for piece in self.pieces() for line in _lines_of(piece))

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces of whole lines."""
        begun = ""
        for piece in self.packed:
            text = begun + unpack(piece)
            end = text.rfind("\n") + 1
            begun = text[end:]
            if end:
                yield text[:end]
        if begun:
            yield begun

    @cached_property
    def sums(self) -> PartSum:
        """The sums of the whole text, which do not depend on the size of the pieces."""
        sha256, line_sums = hashlib.sha256(), []
        for piece in self.pieces():
            content = piece.encode("utf-8")
            sha256.update(content)
            lines = content.removesuffix(b"\n").split(b"\n")
            line_sums.append("".join(map("{:08x}".format, map(zlib.crc32, lines))))
        whole = "".join(line_sums)
        return PartSum(sha256.hexdigest(), len(whole) // 8, whole)


def pack(text: str) -> bytes:
    """Compress a piece for storage."""
    return zlib.compress(text.encode("utf-8"), _LEVEL)


def unpack(piece: bytes) -> str:
    """Uncompress a stored piece."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(piece).decode("utf-8")
    except (zlib.error, UnicodeDecodeError):
        return DAMAGED
    return text if unpacking.eof and not unpacking.unused_data else DAMAGED


def sorted_lines(lines: Iterable[str]) -> Iterator[str]:
    """Sort lines by code points: sort and compress runs of lines, then merge the runs."""
    runs = [PartText.of_lines(sorted(run), RUN_PIECE) for run in batched(lines, RUN)]
    return merge(*(run.lines() for run in runs))


def table_rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of an Arrow table, converted in batches."""
    for batch in table.to_batches(BATCH):
        yield from batch.to_pylist()


def batched(items: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    """Divide items into lists of at most `size`, in order."""
    waiting = iter(items)
    while batch := list(islice(waiting, size)):
        yield batch


def add_part(cursor: Cursor, release_id: str, part: str, text: PartText) -> None:
    """Store the text of a part, also of an empty part."""
    rows = [(release_id, part, index, piece) for index, piece in enumerate(text.packed or (pack(""),))]
    cursor.executemany("INSERT INTO release_parts VALUES (?, ?, ?, ?)", rows)


_PARTS = """
    SELECT part, content FROM release_parts
    WHERE release_id = $release AND ($parts::TEXT[] IS NULL OR list_contains($parts::TEXT[], part))
    ORDER BY part, place
"""


def read_parts(cursor: Cursor, release_id: str, parts: Sequence[str] | None = None) -> dict[str, PartText]:
    """Read part → text, of all parts or of these parts."""
    asked = {"release": release_id, "parts": None if parts is None else list(parts)}
    pieces_of: dict[str, list[bytes]] = {}
    for part, piece in cursor.execute(_PARTS, asked).fetchall():
        pieces_of.setdefault(part, []).append(piece)
    return {part: PartText(pieces) for part, pieces in pieces_of.items()}


def read_part(cursor: Cursor, release_id: str, part: str) -> PartText:
    """Read the text of a part; empty if the release has no such part."""
    return read_parts(cursor, release_id, [part]).get(part, PartText())


def _pieces(lines: Iterable[str], size: int) -> Iterator[str]:
    """Join lines into pieces of about `size` characters."""
    waiting: list[str] = []
    length = 0
    for line in lines:
        waiting.append(line)
        length += len(line) + 1
        if length >= size:
            yield "\n".join([*waiting, ""])
            waiting, length = [], 0
    if waiting:
        yield "\n".join([*waiting, ""])


def _lines_of(piece: str) -> list[str]:
    return piece.removesuffix("\n").split("\n")
