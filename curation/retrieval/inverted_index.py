"""The inverted index of BM25: for each word, the documents that contain it and how often they do.

The words of an index are in the order of their bytes, and the documents are in the order of the corpus. So
the index of a corpus has the same bytes, whatever batches its documents were counted in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.retrieval.terms import GRAM
from curation.retrieval.word_counts import Positions, WordCounts

_BLOCK_SIZE = 50_000  # number of documents in a matrix of counts
WordNumbers = NDArray[np.int32]


class CorpusIndex(NamedTuple):
    """The index of a corpus: word `w` is in the documents `rows[starts[w]:starts[w + 1]]`, `counts[…]` times.

    Attributes
    ----------
    words: all words, sorted, so that grams come first.
    words_in, grams_in: number of words, and number of grams, of each document.
    """

    words: pa.StringArray
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[Any]
    words_in: NDArray[np.uint32]
    grams_in: NDArray[np.uint32]


def build_index(batches: Sequence[WordCounts], positions: Positions) -> CorpusIndex:
    """Build the index of a corpus from the word counts of batches of documents.

    Parameters
    ----------
    positions: position of each document of the corpus among the documents of all batches.
    """
    words, word_numbers = _number_words(batches)
    document_counts, max_count = np.zeros(len(words), np.int64), 0
    for matrix in _count_blocks(batches, word_numbers, positions, len(words)):
        document_counts += np.bincount(matrix.indices, minlength=len(words))
        max_count = max(max_count, int(matrix.data.max(initial=0)))
    is_used = document_counts > 0
    words, new_numbers = words.filter(pa.array(is_used)), np.cumsum(is_used, dtype=np.int32) - 1
    word_numbers = [new_numbers[numbers] for numbers in word_numbers]
    starts, grams = np.append(0, np.cumsum(document_counts[is_used])), count_grams(words)
    rows = np.empty(starts[-1], np.int32)
    counts = np.empty(starts[-1], np.uint16 if max_count < 2**16 else np.uint32)
    words_in, grams_in = np.empty((2, len(positions)), np.uint32)
    next_postings = starts[:-1].copy()
    first = 0
    for block in _count_blocks(batches, word_numbers, positions, len(words)):
        matrix = block.tocsc()
        block_counts = np.diff(matrix.indptr)
        targets = np.repeat(next_postings - matrix.indptr[:-1], block_counts) + np.arange(len(matrix.indices))
        rows[targets] = matrix.indices + np.int32(first)
        counts[targets] = matrix.data
        next_postings += block_counts
        end, grams_end = first + matrix.shape[0], matrix.indptr[grams]
        words_in[first:end] = _sum_by_row(matrix, slice(grams_end, None))
        grams_in[first:end] = _sum_by_row(matrix, slice(grams_end))
        first = end
    for array in (rows, counts, starts):
        array.setflags(write=False)  # like arrays from a file, so that numba compiles once
    return CorpusIndex(words, starts, rows, counts, words_in, grams_in)


def count_grams(words: pa.StringArray) -> int:
    """Count how many of these words are grams of scripts without spaces."""
    return int(pc.sum(pc.starts_with(words, GRAM)).as_py() or 0)


def _number_words(batches: Sequence[WordCounts]) -> tuple[pa.StringArray, list[WordNumbers]]:
    """Sort the words of all batches, and number each batch's words in this order."""
    empty = pa.array([], pa.string())
    words = pa.concat_arrays([empty, *(batch.words for batch in batches)]).dictionary_encode()
    order = pc.sort_indices(words.dictionary)
    ranks = np.argsort(order.to_numpy()).astype(np.int32)
    ends = np.cumsum([len(batch.words) for batch in batches])
    return words.dictionary.take(order), np.split(ranks[words.indices.to_numpy()], ends[:-1])


def _count_blocks(
    batches: Sequence[WordCounts], word_numbers: Sequence[WordNumbers], positions: Positions, n_words: int
) -> Iterator[Any]:
    """Yield the counts of `_BLOCK_SIZE` documents at a time as a CSR matrix, shape (documents, words)."""
    from scipy.sparse import csr_matrix, vstack

    batch_starts = np.cumsum([0, *(len(batch.starts) - 1 for batch in batches)])
    for first in range(0, len(positions), _BLOCK_SIZE):
        block = positions[first : first + _BLOCK_SIZE]
        batch_of = np.searchsorted(batch_starts, block, "right") - 1
        order, matrices = np.argsort(batch_of, kind="stable"), []
        for index in np.unique(batch_of):
            batch = batches[index]
            shape = (len(batch.starts) - 1, len(batch.words))
            matrix = csr_matrix((batch.counts, batch.numbers, batch.starts), shape)
            matrix = matrix[block[batch_of == index] - batch_starts[index]]
            columns = word_numbers[index][matrix.indices]
            matrices.append(csr_matrix((matrix.data, columns, matrix.indptr), (matrix.shape[0], n_words)))
        yield vstack(matrices, "csr")[np.argsort(order)]


def _sum_by_row(matrix: Any, entries: slice) -> NDArray[Any]:
    """Sum some entries of a sparse matrix by row, shape (rows,)."""
    return np.bincount(matrix.indices[entries], matrix.data[entries], matrix.shape[0])
