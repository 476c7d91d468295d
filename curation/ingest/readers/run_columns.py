"""A run file's columns, from blocks of its table.

Reading by columns is about ten times as fast as reading line by line. If reading by columns and reading by
lines could find different rows, NeedsRowReader is raised, and the caller iterates over the `RunFile`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.arrow import to_floats, to_ints
from curation.core.statistics.arrays import Floats, Ints
from curation.ingest.readers.blocks import Block, NeedsRowReader

MAX_RANK = 2**31
_FLOATS = (pa.float32(), pa.float64())
_MAX_RANK_DIGITS = 10  # digits of a rank that may be too large


class NameColumn(NamedTuple):
    """A column of names of queries or documents in a run.

    Attributes
    ----------
    codes: index of each row's name in `values`, shape (N,).
    values: names, in the order of their first rows; the same name may occur twice.
    """

    codes: Ints
    values: list[str]

    def find_first_lines(
        self, lines: Ints, chosen: NDArray[np.bool_] | None = None
    ) -> Iterator[tuple[int, str, int]]:
        """Yield each name's code, the name, and the number of its first line, within the selected rows."""
        rows = np.arange(len(lines)) if chosen is None else np.flatnonzero(chosen)
        codes, first = np.unique(self.codes[rows], return_index=True)
        for code, line in zip(codes.tolist(), lines[rows[first]].tolist(), strict=True):
            yield code, self.values[code], line


class RunColumns(NamedTuple):
    """Columns of the N rows of a run file.

    Attributes
    ----------
    lines: number of each line or row, from 1, shape (N,).
    ranks, scores: shape (N,), whole numbers and finite numbers; None if the file has no column of ranks or
    scores.
    chunk: N texts for each field of a chunk.
    """

    lines: Ints
    queries: NameColumn
    documents: NameColumn
    ranks: Ints | None
    scores: Floats | None
    chunk: Mapping[str, pa.Array] = {}


def build_run_columns(
    blocks: Iterable[Block],
    query: str,
    document: str,
    rank: str | None,
    score: str | None,
    chunk: Mapping[str, str] = {},
) -> RunColumns:
    """Return the rows of all blocks as columns; `chunk` maps chunk fields to the file's columns.

    Raises
    ------
    NeedsRowReader: a name or a number is missing, or only the reference reader can read the value.
    """
    block_list = list(blocks)
    if not block_list:
        raise NeedsRowReader
    try:
        return RunColumns(
            np.concatenate([block.lines for block in block_list]),
            _to_names(_join_column(block_list, query)),
            _to_names(_join_column(block_list, document)),
            None if rank is None else _to_ranks(_join_column(block_list, rank)),
            None if score is None else _to_scores(_join_column(block_list, score)),
            {field: _to_texts(_join_column(block_list, name)) for field, name in chunk.items()},
        )
    except (pa.ArrowException, UnicodeDecodeError):
        raise NeedsRowReader from None


def _join_column(blocks: list[Block], name: str) -> pa.Array:
    column = pa.concat_arrays([block.columns[name] for block in blocks])
    if column.null_count:
        raise NeedsRowReader
    return column


def _is_text(column: pa.Array) -> bool:
    return bool(pa.types.is_string(column.type))


def _to_texts(column: pa.Array) -> pa.Array:
    if pa.types.is_integer(column.type):
        column = column.cast(pa.string())
    if not _is_text(column):
        raise NeedsRowReader
    return column


def _to_names(column: pa.Array) -> NameColumn:
    encoded = _to_texts(column).dictionary_encode()
    values = [name.strip() for name in encoded.dictionary.to_pylist()]
    if not all(values) or any("\0" in name for name in values):
        raise NeedsRowReader
    return NameColumn(to_ints(encoded.indices), values)


def _to_scores(column: pa.Array) -> Floats:
    if not (_is_text(column) or pa.types.is_integer(column.type) or column.type in _FLOATS):
        raise NeedsRowReader
    scores: Floats = to_floats(column.cast(pa.float64(), safe=False))
    if not np.isfinite(scores).all():
        raise NeedsRowReader
    return scores


def _to_ranks(column: pa.Array) -> Ints:
    if _is_text(column):
        is_long = to_ints(pc.binary_length(column)).max(initial=0) >= _MAX_RANK_DIGITS
        if is_long or not pc.all(pc.and_(pc.string_is_ascii(column), pc.ascii_is_decimal(column))).as_py():
            raise NeedsRowReader
    elif not pa.types.is_integer(column.type):
        raise NeedsRowReader
    ranks: Ints = to_ints(column.cast(pa.int64()))
    if len(ranks) and not 0 <= ranks.min() <= ranks.max() < MAX_RANK:
        raise NeedsRowReader
    return ranks
