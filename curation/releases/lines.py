"""The rows of a part as their lines, packed: not a Python object for each row, nor its text.

A row as an object takes a kilobyte and more, its line some 150 bytes, packed some 5. Parts with a row for
each judgment, grade or candidate are therefore made, sorted, summed and walked through piece by piece, and
never are a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from curation.store.release_parts import pack, pieces_of_lines, unpack
from curation.text import canonical_json

if TYPE_CHECKING:
    import pyarrow as pa

Item = TypeVar("Item")

BATCH = 10_000
"""Rows that are made at a time."""
RUN = 50_000
"""Lines that are sorted at a time."""
RUN_PIECE = 100_000
"""Characters of a sorted run that are unpacked at a time."""


class RowLines:
    """Rows as canonical JSON lines, in the order in which they came; `packed` is their text."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._length = 0
        self.packed = [pack(piece) for piece in pieces_of_lines(self._counted(lines))]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(json.loads, _lines(self.packed))

    def _counted(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self._length += 1
            yield line


PartRows = list[dict[str, Any]] | RowLines
"""The rows of a part: a list where there are few."""


def row_lines(rows: Iterable[Any], *, ordered: bool = False) -> RowLines:
    """The lines of rows that are made one by one; `ordered` sorts the lines."""
    lines = map(canonical_json, rows)
    return RowLines(sorted_lines(lines) if ordered else lines)


def sorted_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines by code points: runs of them are sorted and packed, then merged."""
    runs = [_sorted_run(run) for run in batched(lines, RUN)]
    return merge(*map(_lines, runs))


def table_rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows of a table of Arrow, of which only a batch is made at a time."""
    for batch in table.to_batches(BATCH):
        yield from batch.to_pylist()


def pieces_of(rows: PartRows) -> Iterator[str]:
    """The text of a part, a piece at a time."""
    if isinstance(rows, RowLines):
        return map(unpack, rows.packed)
    return pieces_of_lines(map(canonical_json, rows))


def packed_of(rows: PartRows) -> Iterable[bytes]:
    """The text of a part as it is stored."""
    return rows.packed if isinstance(rows, RowLines) else map(pack, pieces_of(rows))


def _sorted_run(lines: list[str]) -> list[bytes]:
    return [pack(piece) for piece in pieces_of_lines(sorted(lines), RUN_PIECE)]


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    return (line for piece in pieces for line in unpack(piece)[:-1].split("\n"))


def batched(items: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    """The items in their order, some at a time."""
    waiting = iter(items)
    while batch := list(islice(waiting, size)):
        yield batch
