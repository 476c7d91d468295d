"""The rows of a part as their lines: text in a column of Arrow, not a Python object for each row.

A row as an object takes a kilobyte and more, its line some 150 bytes. Parts with a row for each judgment,
grade or candidate are therefore made, sorted, summed and walked through batch by batch, and never are a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.text import canonical_json

Item = TypeVar("Item")
Places = NDArray[Any]

BATCH = 10_000
"""Rows of a batch."""


class RowLines:
    """Rows as canonical JSON lines, in the order in which they came or were sorted."""

    def __init__(self, batches: Iterable[list[str]], *, ordered: bool = False) -> None:
        """`batches` have `BATCH` lines each, the last one at most; `ordered` sorts by code points."""
        self._chunks = [pa.array(batch, pa.string()) for batch in batches]
        self._length = sum(map(len, self._chunks))
        self._order: Places | None = None
        if ordered:
            self._order = pc.sort_indices(pa.chunked_array(self._chunks, pa.string())).to_numpy()

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (json.loads(line) for batch in self.batches() for line in batch)

    def batches(self) -> Iterator[list[str]]:
        """The lines, `BATCH` at a time."""
        if self._order is None:
            return (chunk.to_pylist() for chunk in self._chunks)
        return batched(self._at(self._order))

    def of_groups(self, groups: Places) -> Iterator[tuple[int, Iterator[str]]]:
        """Each group with its lines.

        Parameters
        ----------
        groups: shape (lines,), a number from 0 for each line, in the order in which the lines came.
        """
        order = np.arange(self._length) if self._order is None else self._order
        order = order[np.argsort(groups[order], kind="stable")]
        numbers, starts = np.unique(groups[order], return_index=True)
        for number, places in zip(numbers.tolist(), np.split(order, starts[1:]), strict=False):
            yield number, self._at(places)

    def _at(self, places: Places) -> Iterator[str]:
        for start in range(0, len(places), BATCH):
            chunks, rows = np.divmod(places[start : start + BATCH], BATCH)
            for chunk, row in zip(chunks.tolist(), rows.tolist(), strict=True):
                yield self._chunks[chunk][row].as_py()


PartRows = list[dict[str, Any]] | RowLines
"""The rows of a part: a list where there are few."""


def row_lines(rows: Iterable[Any], *, ordered: bool = False) -> RowLines:
    """The lines of rows that are made one by one; `ordered` sorts the lines."""
    return RowLines(map(_lines, batched(rows)), ordered=ordered)


def table_rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows of a table of Arrow, of which only a batch is made at a time."""
    for batch in table.to_batches(BATCH):
        yield from batch.to_pylist()


def batched(items: Iterable[Item]) -> Iterator[list[Item]]:
    """The items, `BATCH` at a time."""
    waiting = iter(items)
    while batch := list(islice(waiting, BATCH)):
        yield batch


def _lines(rows: Iterable[Any]) -> list[str]:
    return [canonical_json(row) for row in rows]


def pieces_of(rows: PartRows) -> Iterator[str]:
    """The text of a part, a batch of lines at a time."""
    batches = rows.batches() if isinstance(rows, RowLines) else map(_lines, batched(rows))
    return ("".join(f"{line}\n" for line in batch) for batch in batches)


def text_value(rows: PartRows) -> pa.Array:
    """The text of a part as a column with one value; the text itself is there once."""
    size = sum(len(piece.encode("utf-8")) for piece in pieces_of(rows))
    text = pa.allocate_buffer(size)
    with pa.FixedSizeBufferWriter(text) as writer:
        for piece in pieces_of(rows):
            writer.write(piece.encode("utf-8"))
    ends = pa.py_buffer(np.array([0, size], dtype=np.int64))
    return pa.LargeStringArray.from_buffers(1, ends, text)
