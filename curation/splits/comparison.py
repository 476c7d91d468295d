"""A comparison of all texts in each part of a split with the other parts, keeping the closest pairs.

Texts are compared by the sets of their shingles (Jaccard), through a product of the sparse incidence matrices
of two parts. Embeddings are compared by the product of the vectors. `PairSieve` keeps the closest pairs.
A. Broder (1997), On the resemblance and containment of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from scipy import sparse

from curation.core.progress import Progress
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.splits.rules import DECIMALS

Block = tuple[Ints, Ints, Floats]
"""Arrays with the numbers of the first texts, the numbers of the second texts, and the similarities."""
PartPair = tuple[Ints, Ints]
"""Numbers of the texts in two parts of a split that are compared with each other."""
NumberedPair = tuple[float, int, int]
"""Similarity of two texts, and their numbers, the smaller number first."""
_ROWS = 256


def pair_parts(part_of: Sequence[str]) -> list[PartPair]:
    """List, for every two parts of the split, the numbers of the texts in both; `part_of` gives each text's
    part."""
    labels = np.array(part_of, dtype=object)
    numbers = [np.flatnonzero(labels == part).astype(np.int64) for part in sorted(set(part_of))]
    return list(combinations(numbers, 2))


def count_compared_pairs(part_pairs: Iterable[PartPair]) -> int:
    """Count the pairs of texts in different parts of the split."""
    return sum(len(first) * len(second) for first, second in part_pairs)


def compute_jaccards(
    sets: Sequence[frozenset[str]], part_pairs: Sequence[PartPair], text_kind: str, progress: Progress
) -> Iterator[Block]:
    """Compute in blocks the Jaccard similarity of all pairs of texts that share a shingle.

    `text_kind` names the compared texts in messages of progress.
    """
    sizes = np.array([len(shingles) for shingles in sets], dtype=np.int64)
    incidence = _build_incidence_matrix(sets, sizes)
    for first_part, second_part in part_pairs:
        second_columns = incidence[second_part].T.tocsr()
        for start in range(0, len(first_part), _ROWS):
            block = first_part[start : start + _ROWS]
            shared = (incidence[block] @ second_columns).tocoo()
            first, second = block[shared.coords[0]], second_part[shared.coords[1]]
            yield first, second, shared.data / (sizes[first] + sizes[second] - shared.data)
            progress(f"checking {text_kind} across the parts", start + len(block), len(first_part))


def compute_cosines(vectors: Floats, part_pairs: Sequence[PartPair], progress: Progress) -> Iterator[Block]:
    """Compute in blocks the rounded cosine of all pairs of texts from unit vectors, shape (texts, d)."""
    for first_part, second_part in part_pairs:
        for start in range(0, len(first_part), _ROWS):
            block = first_part[start : start + _ROWS]
            cosines = np.round(vectors[block] @ vectors[second_part].T, DECIMALS)
            first = np.repeat(block, len(second_part))
            yield first, np.tile(second_part, len(block)), cosines.ravel()
            progress("checking paraphrases across the parts", start + len(block), len(first_part))


def _build_incidence_matrix(sets: Sequence[frozenset[str]], sizes: Ints) -> sparse.csr_array:
    """Build a matrix of shape (texts, shingles) that has 1 where a text has a shingle."""
    vocabulary = {shingle: column for column, shingle in enumerate(sorted(frozenset[str]().union(*sets)))}
    rows = np.repeat(np.arange(len(sets)), sizes)
    column_of_each = (vocabulary[shingle] for shingles in sets for shingle in shingles)
    columns = np.fromiter(column_of_each, np.int64, int(sizes.sum()))
    shape = (len(sets), max(1, len(vocabulary)))
    return sparse.coo_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape).tocsr()


class PairSieve:
    """A sieve that keeps the most similar pair of texts, and each text's closest pair above the threshold.

    Attributes
    ----------
    highest: the most similar pair that is neither cut by name nor has two groups.
    told_apart: the most similar pair of texts that both have a group; the group decides about such a pair.
    leaks: the pairs at or above the threshold, for each text the closest.
    residual: the pairs at or above the threshold that are cut by name.
    """

    def __init__(self, threshold: float | None, size: int, cut: set[tuple[int, int]], grouped: Mask) -> None:
        self.highest: NumberedPair | None = None
        self.told_apart: NumberedPair | None = None
        self.leaks: list[NumberedPair] = []
        self.residual: list[NumberedPair] = []
        self._threshold = threshold
        self._size = size
        self._cut = np.array(sorted(low * size + high for low, high in cut), dtype=np.int64)
        self._grouped = grouped

    def add(self, first: Ints, second: Ints, similarity: Floats) -> None:
        """Add pairs of text numbers, with their similarities, to the sieve."""
        low, high = np.minimum(first, second), np.maximum(first, second)
        is_cut = np.isin(low * self._size + high, self._cut)
        is_grouped = self._grouped[low] & self._grouped[high]
        is_free = ~is_grouped & ~is_cut
        self.told_apart = _find_highest(self.told_apart, low, high, similarity, is_grouped & ~is_cut)
        self.highest = _find_highest(self.highest, low, high, similarity, is_free)
        if self._threshold is None:
            return
        is_above = similarity >= self._threshold
        self.residual += _list_pairs(low, high, similarity, np.flatnonzero(is_above & is_cut & ~is_grouped))
        rows = np.flatnonzero(is_above & is_free)
        ordered = rows[np.lexsort((high[rows], -similarity[rows], first[rows]))]
        closest = np.unique(first[ordered], return_index=True)[1]
        self.leaks += _list_pairs(low, high, similarity, ordered[closest])


def _list_pairs(low: Ints, high: Ints, similarity: Floats, rows: Ints) -> list[NumberedPair]:
    return list(zip(similarity[rows].tolist(), low[rows].tolist(), high[rows].tolist(), strict=True))


def _find_highest(
    previous: NumberedPair | None, low: Ints, high: Ints, similarity: Floats, allowed: Mask
) -> NumberedPair | None:
    """Find the most similar pair among the best previous pair and the pairs of a block; if several are equal,
    the first."""
    rows = np.flatnonzero(allowed)
    if not len(rows):
        return previous
    top = similarity[rows].max()
    if top <= 0 or (previous is not None and top < previous[0]):
        return previous
    best = min(_list_pairs(low, high, similarity, rows[similarity[rows] == top]))
    return best if previous is None else min(previous, best, key=lambda pair: (-pair[0], pair[1:]))
