"""Postings: the counts of each word by document, as sparse columns, and the search in postings.

The idea of sparse columns is from Lù (BM25S, 2024). Only documents with a word of the query are scored. The
search computes weights from counts, because a stored count takes two bytes and a stored weight would take
eight. A compiled kernel searches if numba (extra `fast`) is installed, and numpy otherwise. The kernel and
numpy add the same numbers in the same order, so lists, scores and ties are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.retrieval.retriever import best_rows

K1 = 1.5
WORTH = 20_000_000  # number of postings that numpy reads in about the time that loading numba takes
# Rows of the best documents for a query and their scores, the best first
Best = tuple[NDArray[np.int32], NDArray[np.float64]]


class Postings(NamedTuple):
    """Postings of a corpus: word `w` is in the documents `rows[starts[w]:starts[w + 1]]`, `counts[…]` times.

    Attributes
    ----------
    idf: idf of each word; above zero for every word that is searched.
    field: row in `penalties` of each word: 0 for words, 1 for grams.
    penalties: k1 · (1 − b + b · |d| / mean |d|) of each field and document.
    """

    idf: NDArray[np.float64]
    field: NDArray[np.uint8]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint16] | NDArray[np.uint32]
    penalties: NDArray[np.float64]


Search = Callable[[Postings, Sequence[Sequence[int]], int], list[Best]]


def search_for(postings: Postings, asked: Sequence[Sequence[int]]) -> Search:
    """Choose the compiled search if numba is installed and the queries have enough postings, else numpy."""
    numbers = chain.from_iterable(asked)
    posting_count = int(sum(postings.starts[number + 1] - postings.starts[number] for number in numbers))
    loaded = _kernel.cache_info().currsize > 0
    return search_compiled if (loaded or posting_count > WORTH) and _kernel() else search_numpy


def search_numpy(postings: Postings, asked: Sequence[Sequence[int]], depth: int) -> list[Best]:
    """Find the `depth` best documents for the words of each query with numpy. Equal scores are ordered by
    row.
    """
    return [_best(postings, numbers, depth) for numbers in asked]


def search_compiled(postings: Postings, asked: Sequence[Sequence[int]], depth: int) -> list[Best]:
    """Find the same documents as `search_numpy` with the compiled kernel. Needs numba."""
    ends = np.cumsum([0, *map(len, asked)])
    numbers = np.fromiter(chain.from_iterable(asked), np.int64, ends[-1])
    posting_ends = np.cumsum([0, *(postings.starts[numbers + 1] - postings.starts[numbers])])
    size = int(np.minimum(np.diff(posting_ends[ends]), depth).sum())
    rows, scores = np.empty(size, np.int32), np.empty(size)
    kernel = _kernel()
    assert kernel is not None
    bounds = np.cumsum([0, *kernel.fill_best(*postings, K1, numbers, ends, depth, rows, scores)]).tolist()
    return [(rows[start:end], scores[start:end]) for start, end in pairwise(bounds)]


def _best(postings: Postings, numbers: Sequence[int], depth: int) -> Best:
    rows, weights = [np.zeros(0, np.int32)], [np.zeros(0)]
    for number in numbers:
        span = slice(postings.starts[number], postings.starts[number + 1])
        penalty = postings.penalties[postings.field[number]]
        rows.append(postings.rows[span])
        counts = postings.counts[span].astype(np.float64)
        weights.append(postings.idf[number] * (counts * (K1 + 1) / (counts + penalty[rows[-1]])))
    scores: Any = np.bincount(np.concatenate(rows), np.concatenate(weights))
    best = best_rows(scores, depth)
    return best, scores[best]


@cache
def _kernel() -> ModuleType | None:
    """Import the compiled kernel, or return None without numba or without a folder for compiled code."""
    try:
        from curation.retrieval import kernel
    except (ImportError, RuntimeError):
        return None
    return kernel
