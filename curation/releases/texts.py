"""The texts of a release's parts, packed as they are stored, and read piece by piece.

A text is unpacked whole only for who asks for the text itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from curation.releases.stored import sum_of_pieces
from curation.store import Cursor
from curation.store.release_parts import Packed, packed_parts, unpacked


class PackedTexts(Mapping[str, str]):
    """Part → text. `sums` are those of the texts as they are stored."""

    def __init__(self, packed: Mapping[str, Packed]) -> None:
        self._packed = packed
        self.sums = {part: sum_of_pieces(self.pieces(part)) for part in packed}

    def pieces(self, part: str) -> Iterator[str]:
        """The text of a part as pieces of whole lines; none of a part that is not there."""
        return unpacked(self._packed.get(part, ()))

    def __getitem__(self, part: str) -> str:
        return "".join(unpacked(self._packed[part]))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._packed))

    def __len__(self) -> int:
        return len(self._packed)


def read_packed(cursor: Cursor, release_id: str) -> PackedTexts:
    """The texts of a release."""
    return PackedTexts(packed_parts(cursor, release_id))
