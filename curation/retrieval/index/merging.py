"""From counts by document to documents by word: the index of a corpus, block by block.

Words are in the order of their bytes, documents in that of the corpus. So the index of a corpus has the same
bytes, however its documents were counted: in which parts, in which order, by how many processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.retrieval.index.counting import Counts, Places
from curation.retrieval.terms import GRAM

_BLOCK = 50_000  # documents

Numbers = NDArray[np.int32]


class CorpusIndex(NamedTuple):
    """Word `w` is in documents `rows[starts[w]:starts[w + 1]]`, `counts[…]` times in each.

    Attributes
    ----------
    words: in order, so that grams come first.
    words_in, grams_in: of each document how many words, and how many grams, it has.
    """

    words: pa.StringArray
    starts: NDArray[np.int64]
    rows: Numbers
    counts: NDArray[Any]
    words_in: NDArray[np.uint32]
    grams_in: NDArray[np.uint32]


def merge(parts: Sequence[Counts], places: Places) -> CorpusIndex:
    """The index of documents: `places` are theirs among those of all parts."""
    words, numbers = _numbered(parts)
    firsts = range(0, len(places), _BLOCK)
    held_by, most = np.zeros(len(words), np.int64), 0
    for first in firsts:
        block = _counted(parts, numbers, places[first : first + _BLOCK], len(words))
        held_by += np.bincount(block.indices, minlength=len(words))
        most = max(most, int(block.data.max(initial=0)))
    used = held_by > 0
    words, number = words.filter(pa.array(used)), np.cumsum(used, dtype=np.int32) - 1
    numbers = [number[one] for one in numbers]
    starts, grams = np.append(0, np.cumsum(held_by[used])), count_grams(words)
    rows = np.empty(starts[-1], np.int32)
    counts = np.empty(starts[-1], np.uint16 if most < 2**16 else np.uint32)
    lengths, at = np.empty((2, len(places)), np.uint32), starts[:-1].copy()
    for first in firsts:
        block = _counted(parts, numbers, places[first : first + _BLOCK], len(words)).tocsc()
        held = np.diff(block.indptr)
        to = np.repeat(at - block.indptr[:-1], held) + np.arange(len(block.indices))
        rows[to], counts[to] = block.indices + np.int32(first), block.data
        at += held
        for field, part in enumerate((slice(block.indptr[grams], None), slice(block.indptr[grams]))):
            totals = np.bincount(block.indices[part], block.data[part], block.shape[0])
            lengths[field, first : first + _BLOCK] = totals
    for array in (rows, counts, starts):
        array.setflags(write=False)  # as those of a file: numba compiles for one kind
    return CorpusIndex(words, starts, rows, counts, *lengths)


def count_grams(words: pa.StringArray) -> int:
    """How many of these words are grams."""
    return int(pc.sum(pc.starts_with(words, GRAM)).as_py() or 0)


def _numbered(parts: Sequence[Counts]) -> tuple[pa.StringArray, list[Numbers]]:
    """The words of all parts in order, and for each part the number of each of its words there."""
    words = pa.concat_arrays([pa.array([], pa.string()), *(part.words for part in parts)]).dictionary_encode()
    order = pc.sort_indices(words.dictionary)
    number = np.argsort(order.to_numpy()).astype(np.int32)
    ends = np.cumsum([len(part.words) for part in parts])
    return words.dictionary.take(order), np.split(number[words.indices.to_numpy()], ends[:-1])


def _counted(parts: Sequence[Counts], numbers: Sequence[Numbers], places: Places, width: int) -> Any:
    """The counts of some documents as a sparse matrix: a row for each document, a column for each word."""
    from scipy.sparse import csr_matrix, vstack

    firsts = np.cumsum([0, *(len(part.starts) - 1 for part in parts)])
    part_of = np.searchsorted(firsts, places, "right") - 1
    order, pieces = np.argsort(part_of, kind="stable"), []
    for at in np.unique(part_of):
        part, shape = parts[at], (len(parts[at].starts) - 1, len(parts[at].words))
        held = csr_matrix((part.counts, part.numbers, part.starts), shape)
        held = held[places[part_of == at] - firsts[at]]
        pieces.append(csr_matrix((held.data, numbers[at][held.indices], held.indptr), (held.shape[0], width)))
    return vstack(pieces, "csr")[np.argsort(order)]
