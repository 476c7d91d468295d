"""The compiled search in postings (`postings`). Importing this module needs numba (extra `fast`).

The search counts scores into buckets of equal width, and sorts only the documents of the highest buckets.

The library numba keeps compiled code next to this file, or in the user's cache if this folder cannot be
written (`NUMBA_CACHE_DIR` names another folder). So only the first process waits for the compiler. Options
that allow numba to reorder sums are off, so that numba adds the same doubles in the same order as numpy.
Indices of arrays are unsigned, because numba would check signed indices for negative values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_BUCKETS = 2048


@njit(cache=True, nogil=True)
def fill_best(
    idf: Any,
    field: Any,
    starts: Any,
    rows: Any,
    counts: Any,
    penalties: Any,
    k1: float,
    words: Any,
    ends: Any,
    depth: int,
    best_rows: Any,
    best_scores: Any,
) -> Any:
    """Fill in the best documents of each query; return their number for each query, shape (queries,).

    Parameters
    ----------
    idf, field, starts, rows, counts, penalties: the fields of `postings.Postings`.
    words, ends: numbers of the words of the queries; query `i` has the words `words[ends[i]:ends[i + 1]]`.
    best_rows, best_scores: arrays that get the rows and scores of the best documents of all queries.
    """
    documents = penalties.shape[1]
    totals = np.zeros(documents)
    touched, scores = np.empty(documents + 1, np.int32), np.empty(documents)
    sorted_rows, sorted_scores = np.empty(documents, np.int32), np.empty(documents)
    sizes = np.zeros(len(ends) - 1, np.int64)
    first = 0
    for query in range(len(ends) - 1):
        n_touched = np.uint64(0)
        for word in words[ends[query] : ends[query + 1]]:
            weight, penalty = idf[word], penalties[field[word]]
            for index in range(np.uint64(starts[word]), np.uint64(starts[word + 1])):
                row, count = np.uint64(rows[index]), float(counts[index])
                touched[n_touched] = row
                n_touched += np.uint64(totals[row] == 0)
                totals[row] += weight * (count * (k1 + 1) / (count + penalty[row]))
        for index in range(n_touched):
            row = np.uint64(touched[index])
            scores[index], totals[row] = totals[row], 0
        size: Any = min(np.int64(n_touched), depth)
        sizes[query] = size
        end = first + size
        if end > first:
            best = best_rows[first:end], best_scores[first:end]
            _select_best(touched[:n_touched], scores[:n_touched], sorted_rows, sorted_scores, *best)
        first = end
    return sizes


@njit(cache=True, nogil=True)
def _select_best(
    rows: Any, scores: Any, sorted_rows: Any, sorted_scores: Any, best_rows: Any, best_scores: Any
) -> None:
    """Order the documents of the highest buckets by bucket, and within each bucket by score."""
    size = len(best_rows)
    scale = (_BUCKETS - 1) / scores.max()
    ends = np.zeros(_BUCKETS, np.int64)
    for score in scores:
        ends[np.uint64(score * scale)] += 1
    lowest, n_above = _BUCKETS, 0
    while n_above < size:
        lowest -= 1
        ends[lowest], n_above = n_above, n_above + ends[lowest]
    for row, score in zip(rows, scores):  # noqa: B905  numba knows no strict
        bucket = np.uint64(score * scale)
        if bucket >= lowest:
            target = ends[bucket]
            sorted_rows[target], sorted_scores[target] = row, score
            ends[bucket] = target + 1
    first = 0
    for end in ends[lowest:][::-1]:
        if end > first:
            span, best_span = slice(first, end), slice(first, min(end, size))
            _sort_best(sorted_rows[span], sorted_scores[span], best_rows[best_span], best_scores[best_span])
            first = end


@njit(cache=True, nogil=True)
def _sort_best(rows: Any, scores: Any, best_rows: Any, best_scores: Any) -> None:
    """Sort the best documents into the arrays of results, by a heap with the worst document at the top."""
    size = len(best_rows)
    best_rows[:], best_scores[:] = rows[:size], scores[:size]
    for top in range(size // 2 - 1, -1, -1):
        _sink(best_rows, best_scores, top, size, best_rows[top], best_scores[top])
    for row, score in zip(rows[size:], scores[size:]):  # noqa: B905
        if score > best_scores[0] or (score == best_scores[0] and row < best_rows[0]):
            _sink(best_rows, best_scores, 0, size, row, score)
    for last in range(size - 1, 0, -1):
        row, score = best_rows[last], best_scores[last]
        best_rows[last], best_scores[last] = best_rows[0], best_scores[0]
        _sink(best_rows, best_scores, 0, last, row, score)


@njit(cache=True, nogil=True)
def _sink(rows: Any, scores: Any, top: int, size: int, row: int, score: float) -> None:
    """Put a document at the position `top` of a heap, and move it down below all worse documents.

    A document is worse if its score is lower, or if its score is equal and its row is later.
    """
    index = top
    while 2 * index + 1 < size:
        child = 2 * index + 1
        other = child + 1
        if other < size and (
            scores[other] < scores[child] or (scores[other] == scores[child] and rows[other] > rows[child])
        ):
            child = other
        if scores[child] > score or (scores[child] == score and rows[child] < row):
            break
        rows[index], scores[index] = rows[child], scores[child]
        index = child
    rows[index], scores[index] = row, score
