"""All pairs of texts whose Jaccard similarity reaches a threshold.

Two searches give one result. `exact_links` multiplies the sparse incidence matrix with itself, and compares
all pairs. `minhash_links` verifies each MinHash candidate exactly; to verify by the MinHash estimate instead
would lose a tenth of the pairs. With fewer than `EXACT_BELOW` texts all pairs are compared.

Among texts that are all alike the pairs grow with the square of their number. So both searches give them in
blocks of arrays, and `alike` keeps of each block what a spanning forest needs, and the number of all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.core.similarity.forest import Forest, Links, joined
from curation.core.similarity.minhash import banding, candidates
from curation.core.similarity.shingles import Sets, Shingles, distinct
from curation.core.statistics.arrays import Ints

EXACT_BELOW = 50_000
"""With fewer texts than this all pairs are compared."""
EXACTLY = "exact, all pairs"
VERIFIED = "minhash, verified exactly"
_BLOCK = 256
_CELLS = 2_000_000
"""Shingles whose candidates are verified at once."""
Search = Callable[[Sets, float, Progress], Iterator[Links]]


class SimilarPairs(NamedTuple):
    """What a search found.

    Attributes
    ----------
    links: a spanning forest of the strongest pairs; and of the texts in `single` all pairs with
        each other and with one of each sort of twins.
    pairs: how many pairs there were in all.
    method: EXACTLY or VERIFIED.
    """

    links: Links
    pairs: int
    method: str


def alike(
    texts: Iterable[Shingles],
    threshold: float,
    search: Search | None = None,
    progress: Progress = silent,
    labels: Sequence[str] | None = None,
    single: Collection[int] = (),
    apart: Collection[int] = (),
) -> SimilarPairs:
    """The texts with at least this similarity; only different ones are compared, their twins form stars.

    Parameters
    ----------
    search: by default `exact_links` below EXACT_BELOW texts, else `minhash_links`.
    labels: texts with different labels are no pair, however similar.
    single: numbers of texts between which every pair is wanted, not only what holds a group together.
    apart: numbers of texts of which no two are a pair, however similar.
    """
    sets, class_of = distinct(texts, labels, {*single, *apart})
    if search is None:
        search = exact_links if len(class_of) < EXACT_BELOW else minhash_links
    times = np.bincount(class_of[class_of >= 0], minlength=sets.matrix.shape[0])
    # of each class its first text, and the others after it
    order = np.lexsort((np.arange(len(class_of)), class_of))[np.count_nonzero(class_of < 0) :]
    first_of = order[np.cumsum(times) - times]
    label_of = np.zeros(len(times), np.int64)
    if labels is not None:
        label_of = np.unique(np.asarray(labels, dtype=np.str_), return_inverse=True)[1][first_of]
    collected = PairCollector(len(class_of), single, apart)
    for links in search(sets, threshold, progress):
        comparable = collected.comparable(first_of[links.first], first_of[links.second])
        first, second, similarity = links.at(comparable & (label_of[links.first] == label_of[links.second]))
        pairs = int((times[first] * times[second]).sum())
        ends = np.sort(np.column_stack((first_of[first], first_of[second])), axis=1)
        collected.add(Links(ends[:, 0], ends[:, 1], similarity), pairs)
    twins = np.setdiff1d(order, first_of, assume_unique=True)
    pairs = int((times * (times - 1) // 2).sum())
    collected.add(Links(first_of[class_of[twins]], twins, np.ones(len(twins))), pairs)
    return SimilarPairs(collected.links(), collected.pairs, EXACTLY if search is exact_links else VERIFIED)


class PairCollector:
    """Links as they come in blocks: a spanning forest of them, and all that touch a text in `single`; none
    between two texts in `apart`."""

    def __init__(self, size: int, single: Collection[int] = (), apart: Collection[int] = ()) -> None:
        self.pairs = 0
        self._forest = Forest(size)
        self._single = np.zeros(size, dtype=bool)
        self._single[list(single)] = True
        self._apart = np.zeros(size, dtype=bool)
        self._apart[list(apart)] = True
        self._whole: list[Links] = []

    def comparable(self, first: Ints, second: Ints) -> NDArray[np.bool_]:
        """Whether two texts may be a pair, of each of these two."""
        return ~(self._apart[first] & self._apart[second])

    def add(self, links: Links, pairs: int | None = None) -> None:
        """Add a block of links that represent so many pairs; by default one each."""
        links = links.at(self.comparable(links.first, links.second))
        self.pairs += len(links.first) if pairs is None else pairs
        whole = self._single[links.first] | self._single[links.second]
        self._forest.add(links.at(~whole))
        self._whole.append(links.at(whole))

    def links(self) -> Links:
        """What is kept, ordered by first and second."""
        kept = joined([self._forest.links(), *self._whole])
        return kept.at(np.lexsort((kept.second, kept.first)))


def exact_links(sets: Sets, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """All pairs with at least this similarity, by comparing all with all; in blocks."""
    sizes = sets.sizes
    for block, (first, second, shared) in enumerate(_shared(sets), 1):
        similarity = shared / (sizes[first] + sizes[second] - shared)
        keep = (first < second) & (similarity >= threshold)
        yield Links(first[keep], second[keep], similarity[keep])
        progress("comparing texts", min(block * _BLOCK, len(sizes)), len(sizes))


def contained_links(
    sets: Sets, share: float, least: int, below: float, progress: Progress = silent
) -> Iterator[Links]:
    """Pairs of which one has this share of the other's shingles or more, by comparing all; in blocks.

    Parameters
    ----------
    least: shingles that the smaller of the two has at least.
    below: only pairs with less Jaccard similarity than this.
    """
    sizes = sets.sizes
    for block, (first, second, shared) in enumerate(_shared(sets), 1):
        smaller = np.minimum(sizes[first], sizes[second])
        contained = np.round(shared / smaller, 4)  # as the certificate, which gets it by another way
        similarity = shared / (sizes[first] + sizes[second] - shared)
        keep = (first < second) & (smaller >= least) & (contained >= share) & (similarity < below)
        yield Links(first[keep], second[keep], contained[keep])
        progress("comparing parts of texts", min(block * _BLOCK, len(sizes)), len(sizes))


def _shared(sets: Sets) -> Iterator[tuple[Ints, Ints, Ints]]:
    """The number of shingles that two texts share, where they share any; in blocks by the first."""
    transposed = sets.matrix.T.tocsr()
    for start in range(0, sets.matrix.shape[0], _BLOCK):
        shared = (sets.matrix[start : start + _BLOCK] @ transposed).tocoo()
        yield shared.row.astype(np.int64) + start, shared.col.astype(np.int64), shared.data


def minhash_links(sets: Sets, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """Pairs with at least this similarity: MinHash candidates, verified by exact Jaccard; in blocks."""
    sizes = sets.sizes
    for first, second in candidates(sets, banding(threshold), progress):
        cells = np.cumsum(sizes[first] + sizes[second])
        for part in np.split(np.arange(len(first)), np.flatnonzero(np.diff(cells // _CELLS)) + 1):
            one, other = first[part], second[part]
            similarity = sets.similarity(one, other)
            keep = similarity >= threshold
            yield Links(one[keep], other[keep], similarity[keep])
