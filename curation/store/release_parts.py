"""Parts of a release as text: a line of canonical JSON for each row, stored in compressed pieces.

A part has a row for each judgment, grade or candidate. A row as a Python object takes a kilobyte or more, but
its line takes some 150 bytes, and a compressed line some 5 bytes. DuckDB needs several times a text's size to
read or write the text. So a part is made, sorted, hashed, stored and read piece by piece, and is never a
whole list of rows or one text in memory. The unpacked text of a damaged piece does not agree with the
checksum of the part.
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
PIECE = 1_000_000  # maximum length of a piece in characters; a longer line is a piece by itself

DAMAGED_TEXT = "\ufffd\n"  # replaces a piece that cannot be unpacked

BATCH = 10_000  # number of rows that are converted at one time

RUN_LINES = 50_000  # number of lines that are sorted at one time

RUN_PIECE_LENGTH = 100_000  # length of the pieces of a sorted run of lines, in characters

_COMPRESSION_LEVEL = 3


class PartSum(NamedTuple):
    """Checksums of the text of a part of a release. `line_sums` has 8 hex digits for each line.

    Line sums are CRC-32, which detects every error in up to 32 neighboring bits.
    """

    sha256: str
    lines: int
    line_sums: str


class PartText:
    """The text of a part of a release, stored in compressed pieces.

    Each iteration over the text parses the rows again.

    Attributes
    ----------
    packed: the compressed pieces of the text.
    """

    def __init__(self, packed: Iterable[bytes] = ()) -> None:
        self.packed = tuple(packed)

    @classmethod
    def of_lines(cls, lines: Iterable[str], size: int | None = None) -> PartText:
        """Make a part's text from lines without line feeds, in pieces of about `size` characters."""
        return cls(map(pack, _join_pieces(lines, size or PIECE)))

    @classmethod
    def of_rows(cls, rows: Iterable[Any], *, ordered: bool = False) -> PartText:
        """Make the text of a part of a release from rows, which may be an iterator. `ordered` sorts the
        lines.
        """
        lines = map(canonical_json, rows)
        return cls.of_lines(sort_lines(lines) if ordered else lines)

    def __len__(self) -> int:
        return self.sums.lines

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of a part of a release. A part that is not JSON raises a ValueError."""
        for piece in self.pieces():
            lines = _split_lines(piece)
            rows = json.loads(f"[{','.join(lines)}]")  # all at once, which takes half as long as one by one
            if len(rows) != len(lines):
                raise ValueError("a line is not exactly one JSON value")
            yield from rows

    def __str__(self) -> str:
        return "".join(self.pieces())

    def rows_of(self, query_id: str) -> list[dict[str, Any]]:
        """Read a query's rows; lines without the query's id are not parsed."""
        id_json = canonical_json(query_id)
        rows = [json.loads(line) for line in self.lines() if id_json in line]
        return [row for row in rows if row["query_id"] == query_id]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text without line feeds."""
        return (line for piece in self.pieces() for line in _split_lines(piece))

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces that end at the end of a line."""
        incomplete_line = ""
        for piece in self.packed:
            text = incomplete_line + unpack(piece)
            line_end = text.rfind("\n") + 1
            incomplete_line = text[line_end:]
            if line_end:
                yield text[:line_end]
        if incomplete_line:
            yield incomplete_line

    @cached_property
    def sums(self) -> PartSum:
        """Compute the checksums of the whole text, which do not depend on the size of the pieces."""
        sha256, line_sums = hashlib.sha256(), []
        for piece in self.pieces():
            content = piece.encode("utf-8")
            sha256.update(content)
            lines = content.removesuffix(b"\n").split(b"\n")
            line_sums.append("".join(map("{:08x}".format, map(zlib.crc32, lines))))
        all_line_sums = "".join(line_sums)
        return PartSum(sha256.hexdigest(), len(all_line_sums) // 8, all_line_sums)


def pack(text: str) -> bytes:
    """Compress a piece of text for storage."""
    return zlib.compress(text.encode("utf-8"), _COMPRESSION_LEVEL)


def unpack(piece: bytes) -> str:
    """Uncompress a stored piece of text."""
    decompressor = zlib.decompressobj()
    try:
        text = decompressor.decompress(piece).decode("utf-8")
    except (zlib.error, UnicodeDecodeError):
        return DAMAGED_TEXT
    return text if decompressor.eof and not decompressor.unused_data else DAMAGED_TEXT


def sort_lines(lines: Iterable[str]) -> Iterator[str]:
    """Sort lines by code points: sort and compress runs of lines, then merge the runs."""
    runs = [PartText.of_lines(sorted(run), RUN_PIECE_LENGTH) for run in batched(lines, RUN_LINES)]
    return merge(*(run.lines() for run in runs))


def table_rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of an Arrow table, converted batch by batch."""
    for batch in table.to_batches(BATCH):
        yield from batch.to_pylist()


def batched(items: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    """Divide items into lists of at most `size`, in order."""
    remaining_items = iter(items)
    while batch := list(islice(remaining_items, size)):
        yield batch


def add_part(cursor: Cursor, release_id: str, part: str, text: PartText) -> None:
    """Store the text of a part of a release, even if it is empty."""
    rows = [(release_id, part, index, piece) for index, piece in enumerate(text.packed or (pack(""),))]
    cursor.executemany("INSERT INTO release_parts VALUES (?, ?, ?, ?)", rows)


_READ_PARTS = """
    SELECT part, content FROM release_parts
    WHERE release_id = $release AND ($parts::TEXT[] IS NULL OR list_contains($parts::TEXT[], part))
    ORDER BY part, place
"""


def read_parts(cursor: Cursor, release_id: str, parts: Sequence[str] | None = None) -> dict[str, PartText]:
    """Map a release's part names to texts, for all parts or some of them."""
    parameters = {"release": release_id, "parts": None if parts is None else list(parts)}
    pieces_by_part: dict[str, list[bytes]] = {}
    for part, piece in cursor.execute(_READ_PARTS, parameters).fetchall():
        pieces_by_part.setdefault(part, []).append(piece)
    return {part: PartText(pieces) for part, pieces in pieces_by_part.items()}


def read_part(cursor: Cursor, release_id: str, part: str) -> PartText:
    """Read the text of a part of a release; empty if the release has no such part."""
    return read_parts(cursor, release_id, [part]).get(part, PartText())


def _join_pieces(lines: Iterable[str], size: int) -> Iterator[str]:
    """Join lines of text into pieces of about `size` characters each."""
    pending_lines: list[str] = []
    length = 0
    for line in lines:
        pending_lines.append(line)
        length += len(line) + 1
        if length >= size:
            yield "\n".join([*pending_lines, ""])
            pending_lines, length = [], 0
    if pending_lines:
        yield "\n".join([*pending_lines, ""])


def _split_lines(piece: str) -> list[str]:
    return piece.removesuffix("\n").split("\n")
