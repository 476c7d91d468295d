"""All pairs of texts whose Jaccard similarity reaches a threshold.

Two searches give one result. `exact_links` multiplies the sparse incidence matrix with itself, and compares
all pairs. `minhash_links` verifies each MinHash candidate exactly; to verify by the MinHash estimate instead
would lose a tenth of the pairs. With fewer than `EXACT_BELOW` texts all pairs are compared.

Among texts that are all alike the pairs grow with the square of their number. So both searches give them in
blocks of arrays, and `alike` keeps of each block what a spanning forest needs, and the number of all.

Spanning forests: of all pairs that are tied, the strongest ones that hold each group together.

The groups are the same as with all pairs, and the weakest step between two members is as strong as it can be
(a maximum spanning forest). Pairs come as arrays and go when they are not needed, so that a million of them
costs a few megabytes. Equally strong pairs are taken in the order of their numbers, not in
that of their arrival.

J. B. Kruskal (1956), On the shortest spanning subtree of a graph.

MinHash signatures, and the pairs of texts that agree in a whole band of them.

Bands that datasketch picks by itself balance misses against extra candidates and lose a tenth of the pairs;
`banding` picks them for recall. Signatures are those of datasketch. Its index of a Python list for each band
and key takes several kilobytes a text, so bands are sorted as arrays instead: 84 bytes a text.

J. Leskovec, A. Rajaraman, J. Ullman (2020), Mining of Massive Datasets, section 3.4 (banding).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from curation.progress import Progress, silent
from curation.similarity.shingles import Sets, Shingles, distinct
from curation.statistics.arrays import Floats, Ints

NUM_PERM = 128
MINHASH_SEED = 1
LEAST_RECALL = 0.99
"""Least probability that a pair which is exactly as similar as the threshold becomes a candidate."""

_SIGNED = 8_192
"""Texts whose signatures are held at once."""


class Banding(NamedTuple):
    """How signatures are cut: so many bands of so many rows."""

    bands: int
    rows: int

    def recall(self, similarity: float) -> float:
        """Probability that a pair of this similarity shares a band."""
        return 1.0 - (1.0 - similarity**self.rows) ** self.bands


def banding(threshold: float) -> Banding:
    """The bands with the smallest candidate set that keep `LEAST_RECALL` at the threshold."""
    choices = [Banding(NUM_PERM // rows, rows) for rows in range(1, NUM_PERM + 1)]
    return [choice for choice in choices if choice.recall(threshold) >= LEAST_RECALL][-1]


def minhash_parameters(threshold: float) -> dict[str, str | int | float]:
    """All that decides which candidates `minhash_links` finds."""
    bands = banding(threshold)
    return {
        "hash": "blake2b, low 32 bits",
        "num_perm": NUM_PERM,
        "scheme": "affine32",
        "seed": MINHASH_SEED,
        "bands": bands.bands,
        "rows": bands.rows,
        "recall_at_threshold": round(bands.recall(threshold), 6),
    }


def signatures(sets: Sets, progress: Progress = silent) -> Iterator[NDArray[np.uint32]]:
    """MinHash signatures in blocks of shape (texts, NUM_PERM): those that datasketch's `MinHash` gives.

    Its permutations, applied to all texts of a block at once; a text at a time takes twelve times as long.
    """
    from datasketch import MinHash  # it imports half of scipy

    hashes = _mixed((sets.hashes & np.uint64(0xFFFFFFFF)).astype(np.uint32))
    factors, terms = MinHash(num_perm=NUM_PERM, seed=MINHASH_SEED, scheme="affine32").permutations
    matrix, texts = sets.matrix, sets.matrix.shape[0]
    for start in range(0, texts, _SIGNED):
        ends = matrix.indptr[start : start + _SIGNED + 1]
        shingles = hashes[matrix.indices[ends[0] : ends[-1]]]
        block = np.empty((len(ends) - 1, NUM_PERM), np.uint32)
        for number, (factor, term) in enumerate(zip(factors, terms, strict=True)):
            block[:, number] = np.minimum.reduceat(shingles * factor + term, ends[:-1] - ends[0])
        yield block
        progress("signing texts", min(start + _SIGNED, texts), texts)


def candidates(sets: Sets, bands: Banding, progress: Progress = silent) -> Iterator[tuple[Ints, Ints]]:
    """Numbers of the texts that share a band, the smaller ones first, each pair once; in blocks."""
    blocks = [_band_keys(block, bands) for block in signatures(sets, progress)]
    keys = np.concatenate(blocks, axis=1) if blocks else np.empty((bands.bands, 0), np.uint32)
    del blocks
    for band in range(bands.bands):
        order = np.argsort(keys[band], kind="stable")
        sorted_keys = keys[band][order]
        # of texts that share a key each is paired with the next, then with the one after it, and so on
        at = np.flatnonzero(sorted_keys[:-1] == sorted_keys[1:])
        step = 1
        while len(at):
            first, second = order[at], order[at + step]
            new = np.ones(len(at), dtype=bool)
            for earlier in range(band):
                new &= keys[earlier][first] != keys[earlier][second]
            if new.any():
                yield first[new], second[new]
            step += 1
            at = at[at + step < len(order)]
            at = at[sorted_keys[at] == sorted_keys[at + step]]
        progress("comparing signatures", band + 1, bands.bands)


def _band_keys(block: NDArray[np.uint32], bands: Banding) -> NDArray[np.uint32]:
    """One number for the content of each band, shape (bands, texts).

    Two contents with one number (1 in 4 billion) are a candidate more, which is then found to be none.
    """
    rows = block[:, : bands.bands * bands.rows].reshape(len(block), bands.bands, bands.rows)
    key = np.zeros((len(block), bands.bands), np.uint64)
    for row in range(bands.rows):
        key = (key ^ rows[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return np.ascontiguousarray((key >> np.uint64(32)).astype(np.uint32).T)


def _mixed(hashes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The finalizer of MurmurHash3 (A. Appleby), which spreads each bit over all 32."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes = (hashes ^ (hashes >> np.uint32(shift))) * np.uint32(factor)
    return hashes ^ (hashes >> np.uint32(16))


_WAITING = 1_000_000


class Links(NamedTuple):
    """Pairs by their numbers (first < second) and their similarity, all of shape (L,)."""

    first: Ints
    second: Ints
    similarity: Floats

    def at(self, places: NDArray[Any]) -> Links:
        """The links at these places, or those where a mask is true."""
        return Links(self.first[places], self.second[places], self.similarity[places])


class Forest:
    """The strongest spanning forest of all links that were added, over `size` nodes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._links: list[Links] = []

    def add(self, links: Links) -> None:
        self._links.append(links)
        if sum(len(block.first) for block in self._links) > _WAITING:
            self._links = [self.links()]

    def links(self) -> Links:
        """Ordered by first and second."""
        links = joined(self._links)
        return links.at(strongest(links, self._size))


def joined(blocks: Sequence[Links]) -> Links:
    """The links of all blocks, one block after the other."""
    if not blocks:
        return Links(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return Links(
        np.concatenate([block.first for block in blocks]),
        np.concatenate([block.second for block in blocks]),
        np.concatenate([block.similarity for block in blocks]),
    )


def strongest(links: Links, size: int) -> Ints:
    """Which of the links make the forest: their places, ordered by first and second.

    Of links between the same two nodes that are equally strong the first one counts.
    """
    order = np.lexsort((links.second, links.first, -links.similarity))
    _, seen_first = np.unique((links.first * size + links.second)[order], return_index=True)
    order = order[np.sort(seen_first)]
    ranks = np.arange(1, len(order) + 1, dtype=np.float64)  # unique weights: one forest only
    graph = coo_matrix((ranks, (links.first[order], links.second[order])), shape=(size, size))
    kept = order[minimum_spanning_tree(graph.tocsr()).data.astype(np.int64) - 1]
    ordered: Ints = kept[np.lexsort((links.second[kept], links.first[kept]))]
    return ordered


EXACT_BELOW = 50_000
"""With fewer texts than this all pairs are compared."""
EXACTLY = "exact, all pairs"
VERIFIED = "minhash, verified exactly"

_BLOCK = 256
_CELLS = 2_000_000
"""Shingles whose candidates are verified at once."""

Search = Callable[[Sets, float, Progress], Iterator[Links]]


class Alike(NamedTuple):
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
) -> Alike:
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
    found = Collected(len(class_of), single, apart)
    for links in search(sets, threshold, progress):
        comparable = found.comparable(first_of[links.first], first_of[links.second])
        first, second, similarity = links.at(comparable & (label_of[links.first] == label_of[links.second]))
        pairs = int((times[first] * times[second]).sum())
        ends = np.sort(np.column_stack((first_of[first], first_of[second])), axis=1)
        found.add(Links(ends[:, 0], ends[:, 1], similarity), pairs)
    twins = np.setdiff1d(order, first_of, assume_unique=True)
    pairs = int((times * (times - 1) // 2).sum())
    found.add(Links(first_of[class_of[twins]], twins, np.ones(len(twins))), pairs)
    return Alike(found.links(), found.pairs, EXACTLY if search is exact_links else VERIFIED)


class Collected:
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
