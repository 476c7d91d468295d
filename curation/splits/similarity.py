"""Near-duplicates: shingle sets, and all pairs of them above a Jaccard threshold.

Two searches, one result: `exact_links` multiplies the sparse incidence matrix with itself, and
`minhash_links` verifies each pair of texts whose MinHash signatures agree in a whole band exactly. With fewer
than `EXACT_BELOW` texts all pairs are compared. Verifying by the MinHash estimate instead loses a tenth of
the pairs, and so do the bands that datasketch picks by itself, which balance misses against extra
candidates: `banding` picks them for recall. Signatures are those of datasketch; its index of a Python list
for each band and key takes several kilobytes a text, so bands are sorted as arrays instead: 84 bytes a text.

Of texts that are all alike the pairs grow with the square of their number. So both searches give them in
blocks of arrays, and `alike` keeps of each block what a spanning forest needs, and the number of all.

Shingles are kept as 64-bit hashes: that two of the shingles of a pair of texts share one, and change its
similarity, happens once in 10^14 pairs of a hundred shingles each.

A. Broder (1997), On the resemblance and containment of documents.
J. Leskovec, A. Rajaraman, J. Ullman (2020), Mining of Massive Datasets, section 3.4 (banding).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from datasketch import MinHash
from numpy.typing import NDArray
from scipy import sparse

from curation.progress import Progress, silent
from curation.splits.forest import Forest, Links, joined
from curation.text import normalise_query, words

Shingles = frozenset[str]
Ints = NDArray[np.int64]

CHARACTERS = 3
WORDS = 3
EXACT_BELOW = 50_000
"""With fewer texts than this all pairs are compared."""
EXACTLY = "exact, all pairs"
VERIFIED = "minhash, verified exactly"

NUM_PERM = 128
MINHASH_SEED = 1
LEAST_RECALL = 0.99
"""Least probability that a pair which lies exactly on the threshold becomes a candidate."""

_BLOCK = 256
_SIGNED = 8_192
"""Texts whose signatures are held at once."""
_CELLS = 2_000_000
"""Shingles whose candidates are verified at once."""


class Banding(NamedTuple):
    """How signatures are cut: so many bands of so many rows."""

    bands: int
    rows: int

    def recall(self, similarity: float) -> float:
        """Probability that a pair of this similarity shares a band."""
        return 1.0 - (1.0 - similarity**self.rows) ** self.bands


class Sets(NamedTuple):
    """The shingle sets of texts.

    Attributes
    ----------
    matrix: shape (texts, distinct shingles), 1 where a text has the shingle.
    hashes: of the distinct shingles, 64 bits each.
    """

    matrix: sparse.csr_matrix
    hashes: NDArray[np.uint64]

    @property
    def sizes(self) -> Ints:
        """Number of shingles of each text."""
        sizes: Ints = np.diff(self.matrix.indptr).astype(np.int64)
        return sizes


def character_shingles(text: str) -> Shingles:
    """The 3-grams of the normalised text; a shorter text is its own shingle, an empty one has none."""
    normal = normalise_query(text)
    return _shingles(normal, CHARACTERS)


def word_shingles(text: str) -> Shingles:
    """Each three words in a row; a shorter text is one shingle, a text without words has none."""
    found = words(text)
    grams = [" ".join(found[start : start + WORDS]) for start in range(max(1, len(found) - WORDS + 1))]
    return frozenset(grams) - {""}


def jaccard(first: Shingles, second: Shingles) -> float:
    """The share of the union that both have. Empty sets are similar to nothing, not even to each other."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0


Search = Callable[[Sets, float, Progress], Iterator[Links]]


class Alike(NamedTuple):
    """What a search found.

    Attributes
    ----------
    links: a spanning forest of the strongest pairs; and of the texts that were to stand single all pairs with
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
) -> Alike:
    """The texts with at least this similarity; only different ones are compared, their twins form stars.

    Parameters
    ----------
    search: by default `exact_links` below EXACT_BELOW texts, else `minhash_links`.
    labels: texts with different labels are no pair, however similar.
    single: numbers of texts between which every pair is wanted, not only what holds a group together.
    """
    sets, class_of = distinct(texts, labels, single)
    if search is None:
        search = exact_links if len(class_of) < EXACT_BELOW else minhash_links
    times = np.bincount(class_of[class_of >= 0], minlength=sets.matrix.shape[0])
    # of each class its first text, and the others after it
    order = np.lexsort((np.arange(len(class_of)), class_of))[np.count_nonzero(class_of < 0) :]
    first_of = order[np.cumsum(times) - times]
    label_of = np.zeros(len(times), np.int64)
    if labels is not None:
        label_of = np.unique(np.asarray(labels, dtype=np.str_), return_inverse=True)[1][first_of]
    found = Collected(len(class_of), single)
    for links in search(sets, threshold, progress):
        first, second, similarity = links.at(label_of[links.first] == label_of[links.second])
        pairs = int((times[first] * times[second]).sum())
        ends = np.sort(np.column_stack((first_of[first], first_of[second])), axis=1)
        found.add(Links(ends[:, 0], ends[:, 1], similarity), pairs)
    twins = np.setdiff1d(order, first_of, assume_unique=True)
    pairs = int((times * (times - 1) // 2).sum())
    found.add(Links(first_of[class_of[twins]], twins, np.ones(len(twins))), pairs)
    return Alike(found.links(), found.pairs, EXACTLY if search is exact_links else VERIFIED)


class Collected:
    """Links as they come in blocks: a spanning forest of them, and all that touch a text in `single`."""

    def __init__(self, size: int, single: Collection[int] = ()) -> None:
        self.pairs = 0
        self._forest = Forest(size)
        self._single = np.zeros(size, dtype=bool)
        self._single[list(single)] = True
        self._whole: list[Links] = []

    def add(self, links: Links, pairs: int | None = None) -> None:
        """Add a block of links, which stand for so many pairs; by default for one each."""
        self.pairs += len(links.first) if pairs is None else pairs
        whole = self._single[links.first] | self._single[links.second]
        self._forest.add(links.at(~whole))
        self._whole.append(links.at(whole))

    def links(self) -> Links:
        """What is kept, ordered by first and second."""
        kept = joined([self._forest.links(), *self._whole])
        return kept.at(np.lexsort((kept.second, kept.first)))


def distinct(
    texts: Iterable[Shingles], labels: Sequence[str] | None = None, single: Collection[int] = ()
) -> tuple[Sets, Ints]:
    """The different shingle sets, and for each text the number of its own: -1 where it has no shingle.

    Equal sets with different labels, and those of texts in `single`, are kept apart.
    """
    alone = set(single)
    numbers: dict[bytes, int] = {}
    class_of, flat, ends = array("q"), array("Q"), array("q", [0])
    for number, shingles in enumerate(texts):
        if not shingles:
            class_of.append(-1)
            continue
        hashes = np.sort(np.fromiter(map(_hash, shingles), np.uint64, len(shingles)))
        label = f"{number if number in alone else ''} {labels[number] if labels else ''}"
        key = blake2b(hashes.tobytes() + label.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        place = numbers.setdefault(key, len(numbers))
        class_of.append(place)
        if place == len(ends) - 1:
            flat.frombytes(hashes.tobytes())
            ends.append(len(flat))
    return _sets(np.frombuffer(flat, np.uint64), np.array(ends, np.int64)), np.array(class_of, np.int64)


def exact_links(sets: Sets, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """All pairs with at least this similarity, by comparing all with all; in blocks."""
    matrix, sizes = sets.matrix, sets.sizes
    transposed = matrix.T.tocsr()
    for start in range(0, len(sizes), _BLOCK):
        shared = (matrix[start : start + _BLOCK] @ transposed).tocoo()
        first, second = shared.row.astype(np.int64) + start, shared.col.astype(np.int64)
        similarity = shared.data / (sizes[first] + sizes[second] - shared.data)
        keep = (first < second) & (similarity >= threshold)
        yield Links(first[keep], second[keep], similarity[keep])
        progress("comparing texts", min(start + _BLOCK, len(sizes)), len(sizes))


def minhash_links(sets: Sets, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """Pairs with at least this similarity: MinHash candidates, verified by exact Jaccard; in blocks."""
    matrix, sizes = sets.matrix, sets.sizes
    for first, second in candidates(sets, banding(threshold), progress):
        cells = np.cumsum(sizes[first] + sizes[second])
        for part in np.split(np.arange(len(first)), np.flatnonzero(np.diff(cells // _CELLS)) + 1):
            one, other = first[part], second[part]
            shared = np.asarray(matrix[one].multiply(matrix[other]).sum(axis=1)).ravel()
            similarity = shared / np.maximum(sizes[one] + sizes[other] - shared, 1)
            keep = similarity >= threshold
            yield Links(one[keep], other[keep], similarity[keep])


def banding(threshold: float) -> Banding:
    """The bands with the fewest candidates among those that keep `LEAST_RECALL` at the threshold."""
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
            yield first[new], second[new]
            step += 1
            at = at[at + step < len(order)]
            at = at[sorted_keys[at] == sorted_keys[at + step]]
        progress("comparing signatures", band + 1, bands.bands)


def _band_keys(block: NDArray[np.uint32], bands: Banding) -> NDArray[np.uint32]:
    """One number for what stands in each band, shape (bands, texts).

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


def _hash(shingle: str) -> int:
    return int.from_bytes(blake2b(shingle.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _shingles(text: str, size: int) -> Shingles:
    return frozenset(text[start : start + size] for start in range(max(1, len(text) - size + 1))) - {""}


def _sets(flat: NDArray[np.uint64], ends: Ints) -> Sets:
    hashes, columns = np.unique(flat, return_inverse=True)
    shape = (len(ends) - 1, len(hashes))
    ones = np.ones(len(flat), dtype=np.int32)
    return Sets(sparse.csr_matrix((ones, columns, ends), shape=shape), hashes)
