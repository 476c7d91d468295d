"""Postings: the counts of each word by document, as sparse columns, and the search over them.

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

from curation.retrieval.retriever import find_best_rows

K1 = 1.5
MAX_NUMPY_POSTINGS = 20_000_000
"""Number of postings that numpy reads in about the time that loading numba takes."""
# Rows of the best documents for a query and their scores, the best first
BestRows = tuple[NDArray[np.int32], NDArray[np.float64]]


class Postings(NamedTuple):
    """Postings of a corpus: word `w` is in the documents `rows[starts[w]:starts[w + 1]]`, `counts[…]` times.

    Attributes
    ----------
    idf: idf of each word, above zero.
    field: row in `penalties` of each word: 0 for words, 1 for grams.
    penalties: k1 · (1 − b + b · |d| / mean |d|) of each field and document.
    """

    idf: NDArray[np.float64]
    field: NDArray[np.uint8]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint16] | NDArray[np.uint32]
    penalties: NDArray[np.float64]


Search = Callable[[Postings, Sequence[Sequence[int]], int], list[BestRows]]


def choose_search(postings: Postings, query_words: Sequence[Sequence[int]]) -> Search:
    """Choose the compiled search if numba is installed and the queries have enough postings, otherwise the
    numpy search."""
    words, starts = chain.from_iterable(query_words), postings.starts
    n_postings = int(sum(starts[word + 1] - starts[word] for word in words))
    is_loaded = _import_kernel.cache_info().currsize > 0
    is_worth_loading = is_loaded or n_postings > MAX_NUMPY_POSTINGS
    return search_compiled if is_worth_loading and _import_kernel() else search_numpy


def search_numpy(postings: Postings, query_words: Sequence[Sequence[int]], depth: int) -> list[BestRows]:
    """Find the `depth` best documents for each query with numpy; equal scores are ordered by row."""
    return [_search_one_query(postings, words, depth) for words in query_words]


def search_compiled(postings: Postings, query_words: Sequence[Sequence[int]], depth: int) -> list[BestRows]:
    """Find the same documents as `search_numpy` with the compiled kernel. Needs numba."""
    ends = np.cumsum([0, *map(len, query_words)])
    words = np.fromiter(chain.from_iterable(query_words), np.int64, ends[-1])
    posting_ends = np.cumsum([0, *(postings.starts[words + 1] - postings.starts[words])])
    size = int(np.minimum(np.diff(posting_ends[ends]), depth).sum())
    rows, scores = np.empty(size, np.int32), np.empty(size)
    kernel = _import_kernel()
    assert kernel is not None
    sizes = kernel.fill_best(*postings, K1, words, ends, depth, rows, scores)
    bounds = np.cumsum([0, *sizes]).tolist()
    return [(rows[start:end], scores[start:end]) for start, end in pairwise(bounds)]


def _search_one_query(postings: Postings, words: Sequence[int], depth: int) -> BestRows:
    rows, weights = [np.zeros(0, np.int32)], [np.zeros(0)]
    for word in words:
        span = slice(postings.starts[word], postings.starts[word + 1])
        penalties = postings.penalties[postings.field[word]][postings.rows[span]]
        counts = postings.counts[span].astype(np.float64)
        rows.append(postings.rows[span])
        weights.append(postings.idf[word] * (counts * (K1 + 1) / (counts + penalties)))
    scores: Any = np.bincount(np.concatenate(rows), np.concatenate(weights))
    best = find_best_rows(scores, depth)
    return best, scores[best]


@cache
def _import_kernel() -> ModuleType | None:
    """Import the compiled kernel, or return None if numba or a folder for compiled code is missing."""
    try:
        from curation.retrieval import kernel
    except (ImportError, RuntimeError):
        return None
    return kernel
