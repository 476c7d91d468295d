"""From counts by document to documents by word: the index of a corpus, block by block.

Words are in the order of their bytes, documents in that of the corpus. So the index of a corpus has the same
bytes, however its documents were counted: in which parts, in which order, by how many processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.retrieval.index.array_files import Arrays, Layout, packed
from curation.retrieval.index.counting import Counts
from curation.retrieval.terms import GRAM

_BLOCK = 50_000  # documents

NewArrays = Callable[[Layout], AbstractContextManager[Arrays]]


class _Numbered(NamedTuple):
    """The words of all parts in order, and for each part the number of each of its words there."""

    words: pa.StringArray
    numbers: list[NDArray[np.int32]]


@contextmanager
def in_memory(layout: Layout) -> Iterator[Arrays]:
    """Arrays that are in no file, and cannot be changed once they are filled in."""
    made = {name: np.empty(length, kind) for name, (kind, length) in layout.items()}
    yield made
    for array in made.values():
        array.setflags(write=False)


def merge(parts: Sequence[Counts], places: NDArray[np.int64], new: NewArrays) -> Arrays:
    """The index of documents: `places` are theirs among those of all parts.

    Word `w` is in documents `rows[starts[w]:starts[w + 1]]`, `counts[…]` times in each. Words are packed, and
    grams come first. `words_in` and `grams_in` say how many words and grams each document has.
    """
    found, held_by, most = _used(parts, places)
    grams = count_grams(found.words)
    word_ends, word_letters = packed(found.words)
    layout = {
        "word_ends": ("i4", len(word_ends)),
        "word_letters": ("u1", len(word_letters)),
        "starts": ("i8", len(held_by) + 1),
        "rows": ("i4", int(held_by.sum())),
        "counts": ("u2" if most < 2**16 else "u4", int(held_by.sum())),
        "words_in": ("u4", len(places)),
        "grams_in": ("u4", len(places)),
    }
    with new(layout) as made:
        made["word_ends"][:], made["word_letters"][:] = word_ends, word_letters
        made["starts"][0], made["starts"][1:] = 0, np.cumsum(held_by)
        at = made["starts"][:-1].copy()
        for start in range(0, len(places), _BLOCK):
            block = _by_word(parts, found, places[start : start + _BLOCK])
            held = np.diff(block.indptr)
            to = np.repeat(at - block.indptr[:-1], held) + np.arange(len(block.indices))
            made["rows"][to], made["counts"][to] = block.indices + np.int32(start), block.data
            at += held
            rows, end = slice(start, start + block.shape[0]), block.indptr[grams]
            made["grams_in"][rows] = _totals(block.indices[:end], block.data[:end], block.shape[0])
            made["words_in"][rows] = _totals(block.indices[end:], block.data[end:], block.shape[0])
    return made


def count_grams(words: pa.StringArray) -> int:
    """How many of these words are grams."""
    return int(pc.sum(pc.starts_with(words, GRAM)).as_py() or 0)


def _used(parts: Sequence[Counts], places: NDArray[np.int64]) -> tuple[_Numbered, NDArray[np.int64], int]:
    """The words that these documents hold, in how many each is, and the largest of the counts."""
    found, ends = _numbered(parts), np.cumsum([len(part.starts) - 1 for part in parts])
    wanted = np.split(np.bincount(places, minlength=int(ends[-1]) if parts else 0), ends[:-1])
    held_by, most = np.zeros(len(found.words), np.int64), 0
    for part, numbers, times in zip(parts, found.numbers, wanted, strict=False):
        occurrences = np.repeat(times, np.diff(part.starts))
        held_by += np.bincount(np.repeat(numbers[part.numbers], occurrences), minlength=len(held_by))
        most = max(most, int(part.counts.max(initial=0, where=occurrences > 0)))
    kept = held_by > 0
    number = np.cumsum(kept, dtype=np.int32) - 1
    words = found.words.filter(pa.array(kept))
    return _Numbered(words, [number[numbers] for numbers in found.numbers]), held_by[kept], most


def _numbered(parts: Sequence[Counts]) -> _Numbered:
    words = pa.concat_arrays([pa.array([], pa.string()), *(part.words for part in parts)]).dictionary_encode()
    order = pc.sort_indices(words.dictionary).to_numpy()
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    ends = np.cumsum([len(part.words) for part in parts])
    numbers = np.split(number[words.indices.to_numpy()], ends[:-1])
    return _Numbered(words.dictionary.take(pa.array(order)), numbers)


def _by_word(parts: Sequence[Counts], found: _Numbered, places: NDArray[np.int64]) -> Any:
    """The counts of some documents as a sparse matrix by column: a row for each document in this order."""
    from scipy.sparse import csr_matrix, vstack

    firsts = np.cumsum([0, *(len(part.starts) - 1 for part in parts)])
    part_of = np.searchsorted(firsts, places, "right") - 1
    order = np.argsort(part_of, kind="stable")
    pieces = []
    for number in np.unique(part_of):
        part, width = parts[number], len(parts[number].words)
        counted = csr_matrix((part.counts, part.numbers, part.starts), (len(part.starts) - 1, width))
        taken = counted[places[part_of == number] - firsts[number]]
        numbers = found.numbers[number][taken.indices]
        pieces.append(csr_matrix((taken.data, numbers, taken.indptr), (taken.shape[0], len(found.words))))
    return vstack(pieces, "csr")[np.argsort(order)].tocsc()


def _totals(rows: NDArray[np.int32], counts: NDArray[Any], documents: int) -> NDArray[Any]:
    return np.bincount(rows, counts, documents)
