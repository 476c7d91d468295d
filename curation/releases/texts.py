"""The texts of a release's parts, packed: a tenth of their size in memory, read piece by piece.

A part is one text however many judgments it has. Here it is unpacked a piece at a time, and whole only for
who asks for the text itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from curation.releases.stored import PIECE, PartSum, pieces_of_text, sum_of_pieces
from curation.store import Cursor

_PACKING = "zstd"


class PackedTexts(Mapping[str, str]):
    """Part → text. `sums` are those of the texts as they were packed."""

    def __init__(self) -> None:
        self._packed: dict[str, pa.Buffer] = {}
        self.sums: dict[str, PartSum] = {}

    def add(self, part: str, text: str) -> None:
        """Keep a part's text."""
        packed = pa.BufferOutputStream()

        def pieces() -> Iterator[str]:
            with pa.CompressedOutputStream(packed, _PACKING) as output:
                for piece in pieces_of_text(text):
                    output.write(piece.encode("utf-8"))
                    yield piece

        self.sums[part] = sum_of_pieces(pieces())
        self._packed[part] = packed.getvalue()

    def pieces(self, part: str) -> Iterator[str]:
        """The text of a part as pieces of whole lines; none of a part that is not there."""
        if part in self._packed:
            with pa.CompressedInputStream(pa.BufferReader(self._packed[part]), _PACKING) as source:
                yield from (piece.decode("utf-8") for piece in _pieces(source))

    def __getitem__(self, part: str) -> str:
        if part not in self._packed:
            raise KeyError(part)
        return "".join(self.pieces(part))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._packed))

    def __len__(self) -> int:
        return len(self._packed)


def read_packed(cursor: Cursor, release_id: str) -> PackedTexts:
    """The texts of a release, one after the other."""
    found = cursor.execute("SELECT part, content FROM release_parts WHERE release_id = ?", [release_id])
    texts = PackedTexts()
    while row := found.fetchone():  # not in order, and no more than one: DuckDB would hold all texts twice
        texts.add(*row)
        del row
    return texts


def _pieces(source: pa.NativeFile) -> Iterator[bytes]:
    """Whole lines, some `PIECE` bytes at a time."""
    begun = b""
    while read := source.read(PIECE):
        whole = read.rfind(b"\n") + 1
        if whole:
            yield begun + read[:whole]
        begun = read[whole:] if whole else begun + read
    if begun:
        yield begun
