"""The comparison of all texts of one part with all texts of each other part, and the sieve of close pairs.

Texts are compared by the sets of their shingles (Jaccard), through a product of the sparse incidence matrices
of two parts. Embeddings are compared by the product of the vectors. The sieve keeps the closest pairs.
A. Broder (1997), On the resemblance and containment of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from curation.core.progress import Progress
from curation.core.statistics.arrays import Floats, Ints
from curation.splits.request import DECIMALS

Block = tuple[Ints, Ints, Floats]
"""Three arrays: the numbers of the first texts, the numbers of the second texts, and the similarities."""
PartPair = tuple[Ints, Ints]
"""Numbers of the texts in two parts of the split that are compared with each other."""
NumberedPair = tuple[float, int, int]
"""Similarity and the numbers of two texts, the smaller number first."""
_ROWS = 256


def part_pairs(part_of: Sequence[str]) -> list[PartPair]:
    """Return the numbers of the texts for each two parts of the split. `part_of` is the part of each text."""
    labels = np.array(part_of, dtype=object)
    numbers = [np.flatnonzero(labels == part).astype(np.int64) for part in sorted(set(part_of))]
    return list(combinations(numbers, 2))


def pairs_compared(part_pairs: Iterable[PartPair]) -> int:
    """Count the pairs of texts in different parts of the split."""
    return sum(len(first) * len(second) for first, second in part_pairs)


def jaccard_blocks(
    sets: Sequence[frozenset[str]], part_pairs: Sequence[PartPair], what: str, progress: Progress
) -> Iterator[Block]:
    """Compute the Jaccard similarity of all pairs that share a shingle, in blocks."""
    sizes = np.array([len(shingles) for shingles in sets], dtype=np.int64)
    vocabulary = {shingle: index for index, shingle in enumerate(sorted(frozenset[str]().union(*sets)))}
    rows = np.repeat(np.arange(len(sets)), sizes)
    columns = np.fromiter((vocabulary[s] for shingles in sets for s in shingles), np.int64, int(sizes.sum()))
    ones = np.ones(len(rows), dtype=np.int32)
    has = sparse.coo_array((ones, (rows, columns)), shape=(len(sets), max(1, len(vocabulary)))).tocsr()
    for one_part, other_part in part_pairs:
        other = has[other_part].T.tocsr()
        for start in range(0, len(one_part), _ROWS):
            numbers = one_part[start : start + _ROWS]
            shared = (has[numbers] @ other).tocoo()
            first, second = numbers[shared.coords[0]], other_part[shared.coords[1]]
            yield first, second, shared.data / (sizes[first] + sizes[second] - shared.data)
            progress(f"checking {what} across the parts", start + len(numbers), len(one_part))


def cosine_blocks(vectors: Floats, part_pairs: Sequence[PartPair], progress: Progress) -> Iterator[Block]:
    """Compute the rounded cosine of all pairs, in blocks. `vectors` are unit vectors, shape (texts, d)."""
    for one_part, other_part in part_pairs:
        for start in range(0, len(one_part), _ROWS):
            numbers = one_part[start : start + _ROWS]
            cosines = np.round(vectors[numbers] @ vectors[other_part].T, DECIMALS)
            first = np.repeat(numbers, len(other_part))
            yield first, np.tile(other_part, len(numbers)), cosines.ravel()
            progress("checking paraphrases across the parts", start + len(numbers), len(one_part))


class Sieve:
    """A sieve that keeps the most similar pair, and for each text its closest pair at or above the threshold.

    Attributes
    ----------
    highest: the most similar pair that is neither cut by name nor has two groups.
    told_apart: the most similar pair of texts that both have a group; the group decides about such a pair.
    leaks: the pairs at or above the threshold, for each text the closest.
    residual: the pairs at or above the threshold that are cut by name.
    """

    def __init__(
        self, threshold: float | None, size: int, cut: set[tuple[int, int]], grouped: NDArray[np.bool_]
    ) -> None:
        self.highest: NumberedPair | None = None
        self.told_apart: NumberedPair | None = None
        self.leaks: list[NumberedPair] = []
        self.residual: list[NumberedPair] = []
        self._threshold = threshold
        self._size = size
        self._cut = np.array(sorted(low * size + high for low, high in cut), dtype=np.int64)
        self._grouped = grouped

    def take(self, first: Ints, second: Ints, similarity: Floats) -> None:
        """Add pairs of text numbers with their similarities to the sieve."""
        low, high = np.minimum(first, second), np.maximum(first, second)
        cut = np.isin(low * self._size + high, self._cut)
        apart = self._grouped[low] & self._grouped[high]
        free = ~apart & ~cut
        self.told_apart = _highest_pair(self.told_apart, low, high, similarity, apart & ~cut)
        self.highest = _highest_pair(self.highest, low, high, similarity, free)
        if self._threshold is None:
            return
        over = similarity >= self._threshold
        self.residual += _list_pairs(low, high, similarity, np.flatnonzero(over & cut & ~apart))
        places = np.flatnonzero(over & free)
        order = places[np.lexsort((high[places], -similarity[places], first[places]))]
        closest = np.unique(first[order], return_index=True)[1]
        self.leaks += _list_pairs(low, high, similarity, order[closest])


def _list_pairs(low: Ints, high: Ints, similarity: Floats, places: Ints) -> list[NumberedPair]:
    return list(zip(similarity[places].tolist(), low[places].tolist(), high[places].tolist(), strict=True))


def _highest_pair(
    known: NumberedPair | None, low: Ints, high: Ints, similarity: Floats, among: NDArray[np.bool_]
) -> NumberedPair | None:
    """Return the more similar of a known pair and the best pair of a block. The first pair wins a tie."""
    places = np.flatnonzero(among)
    if not len(places):
        return known
    top = similarity[places].max()
    if top <= 0 or (known is not None and top < known[0]):
        return known
    highest = min(_list_pairs(low, high, similarity, places[similarity[places] == top]))
    return highest if known is None else min(known, highest, key=lambda pair: (-pair[0], pair[1:]))
