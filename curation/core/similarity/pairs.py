"""Similar texts: all pairs whose Jaccard similarity reaches a threshold.

Two searches give the same result. `exact_links` multiplies the sparse incidence matrix with itself, and
compares all pairs. `minhash_links` verifies each MinHash candidate exactly; to verify by the MinHash estimate
instead would lose a tenth of the pairs.

Among texts that are all alike, the number of pairs grows with the square of the number of texts. So both
searches yield pairs in blocks of arrays, and `find_similar_pairs` keeps only the pairs that a spanning forest
needs, and the number of all pairs.

A maximum spanning forest makes the same groups as all pairs, and the weakest step between two members is as
strong as it can be. Equally strong pairs are taken in the order of their numbers. J. B. Kruskal (1956), On
the shortest spanning subtree of a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from curation.core.progress import Progress, silent
from curation.core.similarity.minhash import choose_banding, find_candidates
from curation.core.similarity.shingles import Shingles, ShingleSets, collect_distinct_sets
from curation.core.statistics.arrays import Floats, Ints

_MAX_PENDING = 1_000_000  # number of links after which the forest is computed before more links are added

EXACTLY = "exact, all pairs"
VERIFIED = "minhash, verified exactly"  # names of the two searches
_BLOCK = 256
_CELLS = 2_000_000  # number of shingles of the candidates that are verified together


class Links(NamedTuple):
    """Pairs of texts as numbers (first < second) with their similarity, all of shape (L,)."""

    first: Ints
    second: Ints
    similarity: Floats

    def at(self, indices: NDArray[Any]) -> Links:
        """Select links between similar texts by the links' indexes or by a mask."""
        return Links(self.first[indices], self.second[indices], self.similarity[indices])


def concatenate_links(blocks: Sequence[Links]) -> Links:
    """Join several blocks of links between similar texts into one."""
    if not blocks:
        return Links(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return Links(
        np.concatenate([block.first for block in blocks]),
        np.concatenate([block.second for block in blocks]),
        np.concatenate([block.similarity for block in blocks]),
    )


def find_spanning_forest(links: Links, size: int) -> Ints:
    """Find the indexes of the links in the maximum spanning forest, ordered by first and second.

    Of several equally strong links between the same two nodes, the first link counts.
    """
    order = np.lexsort((links.second, links.first, -links.similarity))
    _, first_of_pair = np.unique((links.first * size + links.second)[order], return_index=True)
    order = order[np.sort(first_of_pair)]
    ranks = np.arange(1, len(order) + 1, dtype=np.float64)  # unique weights leave only one forest
    graph = coo_matrix((ranks, (links.first[order], links.second[order])), shape=(size, size))
    forest = order[minimum_spanning_tree(graph.tocsr()).data.astype(np.int64) - 1]
    ordered: Ints = forest[np.lexsort((links.second[forest], links.first[forest]))]
    return ordered


Search = Callable[[ShingleSets, float, Progress], Iterator[Links]]


def find_similar_pairs(
    texts: Iterable[Shingles],
    threshold: float,
    search: Search,
    progress: Progress = silent,
    single: Collection[int] = (),
    apart: Collection[int] = (),
) -> PairCollector:
    """Find the pairs of texts with at least a given similarity, and keep a maximum spanning forest.

    Only different texts are compared; identical texts are linked to the first of them.

    Parameters
    ----------
    search: `exact_links` or `minhash_links`.
    single: numbers of texts between which every pair is kept, not only the pairs that hold a group together,
        and one pair with each set of identical texts.
    apart: numbers of texts; two of these texts are never a pair, however similar.
    """
    sets, class_of = collect_distinct_sets(texts, {*single, *apart})
    times = np.bincount(class_of[class_of >= 0], minlength=sets.matrix.shape[0])
    # the first text of each class, and the other texts after it
    order = np.lexsort((np.arange(len(class_of)), class_of))[np.count_nonzero(class_of < 0) :]
    first_of = order[np.cumsum(times) - times]
    collected = PairCollector(len(class_of), single, apart)
    for links in search(sets, threshold, progress):
        comparable = collected.comparable(first_of[links.first], first_of[links.second])
        first, second, similarity = links.at(comparable)
        pairs = int((times[first] * times[second]).sum())
        ends = np.sort(np.column_stack((first_of[first], first_of[second])), axis=1)
        collected.add(Links(ends[:, 0], ends[:, 1], similarity), pairs)
    twins = np.setdiff1d(order, first_of, assume_unique=True)
    pairs = int((times * (times - 1) // 2).sum())
    collected.add(Links(first_of[class_of[twins]], twins, np.ones(len(twins))), pairs)
    return collected


class PairCollector:
    """Collects blocks of links, keeping a maximum spanning forest and all links of texts in `single`.

    Links between two texts in `apart` are left out. `pairs` is the number of all pairs.
    """

    def __init__(self, size: int, single: Collection[int] = (), apart: Collection[int] = ()) -> None:
        self.pairs = 0
        self._size = size
        self._forest: list[Links] = []
        self._single = np.zeros(size, dtype=bool)
        self._single[list(single)] = True
        self._apart = np.zeros(size, dtype=bool)
        self._apart[list(apart)] = True
        self._whole: list[Links] = []

    def comparable(self, first: Ints, second: Ints) -> NDArray[np.bool_]:
        """Return which of these pairs of texts may count as similar, shape (L,)."""
        return ~(self._apart[first] & self._apart[second])

    def add(self, links: Links, pairs: int | None = None) -> None:
        """Add a block of links that stand for `pairs` pairs, by default for one pair each."""
        links = links.at(self.comparable(links.first, links.second))
        self.pairs += len(links.first) if pairs is None else pairs
        whole = self._single[links.first] | self._single[links.second]
        self._whole.append(links.at(whole))
        self._forest.append(links.at(~whole))
        if sum(len(block.first) for block in self._forest) > _MAX_PENDING:
            self._forest = [self._strongest()]

    def links(self) -> Links:
        """Return the links that were kept, ordered by first and second text."""
        links = concatenate_links([self._strongest(), *self._whole])
        return links.at(np.lexsort((links.second, links.first)))

    def _strongest(self) -> Links:
        links = concatenate_links(self._forest)
        return links.at(find_spanning_forest(links, self._size))


def exact_links(sets: ShingleSets, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """Yield in blocks all similar pairs of texts, by comparing all texts with each other."""
    sizes = sets.sizes
    for block, (first, second, shared) in enumerate(_shared(sets), 1):
        similarity = shared / (sizes[first] + sizes[second] - shared)
        mask = (first < second) & (similarity >= threshold)
        yield Links(first[mask], second[mask], similarity[mask])
        progress("comparing texts", min(block * _BLOCK, len(sizes)), len(sizes))


def contained_links(
    sets: ShingleSets, share: float, min_size: int, max_similarity: float, progress: Progress = silent
) -> Iterator[Links]:
    """Yield in blocks all pairs in which one text has at least a given share of the other's shingles.

    Parameters
    ----------
    min_size: minimum number of shingles of the smaller text.
    max_similarity: limit of Jaccard similarity; pairs at or above this limit are left out.
    """
    sizes = sets.sizes
    for block, (first, second, shared) in enumerate(_shared(sets), 1):
        smaller = np.minimum(sizes[first], sizes[second])
        contained = np.round(shared / smaller, 4)  # rounded as in the certificate
        similarity = shared / (sizes[first] + sizes[second] - shared)
        mask = (first < second) & (smaller >= min_size) & (contained >= share) & (similarity < max_similarity)
        yield Links(first[mask], second[mask], contained[mask])
        progress("comparing parts of texts", min(block * _BLOCK, len(sizes)), len(sizes))


def minhash_links(sets: ShingleSets, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """Yield in blocks the similar pairs of texts among MinHash candidates, verified by exact Jaccard."""
    sizes = sets.sizes
    for first, second in find_candidates(sets, choose_banding(threshold), progress):
        cells = np.cumsum(sizes[first] + sizes[second])
        for batch in np.split(np.arange(len(first)), np.flatnonzero(np.diff(cells // _CELLS)) + 1):
            text, other = first[batch], second[batch]
            similarity = sets.similarity(text, other)
            mask = similarity >= threshold
            yield Links(text[mask], other[mask], similarity[mask])


def _shared(sets: ShingleSets) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield, in blocks by first text, how many shingles two texts share, for texts that share at least
    one."""
    transposed = sets.matrix.T.tocsr()
    for start in range(0, sets.matrix.shape[0], _BLOCK):
        shared = (sets.matrix[start : start + _BLOCK] @ transposed).tocoo()
        yield shared.row.astype(np.int64) + start, shared.col.astype(np.int64), shared.data
