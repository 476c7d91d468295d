"""Near-duplicates: shingle sets, and all pairs of them above a Jaccard threshold.

Two searches, one result: `exact_links` multiplies the sparse incidence matrix with itself, and
`minhash_links` asks an LSH index for candidates and verifies each of them exactly. Verifying by the MinHash
estimate instead loses a tenth of the pairs, and so do the bands that datasketch picks by itself, which
balance misses against extra candidates: `banding` picks them for recall.

Of texts that are all alike the pairs grow with the square of their number. So both searches give them in
blocks of arrays, and `alike` keeps of each block what a spanning forest needs, and the number of all.

A. Broder (1997), On the resemblance and containment of documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from datasketch import MinHash, MinHashLSH
from numpy.typing import NDArray
from scipy import sparse

from curation.progress import Progress, silent
from curation.splits.forest import Forest, Links
from curation.text import normalise_query, words

Shingles = frozenset[str]
Ints = NDArray[np.int64]

CHARACTERS = 3
WORDS = 3
EXACT_BELOW = 50_000
"""With fewer texts than this all pairs are compared."""

NUM_PERM = 128
MINHASH_SEED = 1
LEAST_RECALL = 0.99
"""Least probability that a pair which lies exactly on the threshold becomes a candidate."""

_BLOCK = 256
_CELLS = 2_000_000
"""Shingles whose candidates are verified at once."""


class Banding(NamedTuple):
    """How an LSH index cuts its signatures."""

    bands: int
    rows: int

    def recall(self, similarity: float) -> float:
        """Probability that a pair of this similarity shares a band."""
        return 1.0 - (1.0 - similarity**self.rows) ** self.bands


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


Search = Callable[[Sequence[Shingles], float, Progress], Iterator[Links]]


class Alike(NamedTuple):
    """What a search found: a spanning forest of the strongest pairs, and how many pairs there were in all."""

    forest: Links
    pairs: int


def alike(sets: Sequence[Shingles], threshold: float, search: Search, progress: Progress = silent) -> Alike:
    """The texts with at least this similarity; only different ones are compared, their twins form stars."""
    same: dict[Shingles, list[int]] = defaultdict(list)
    for number, shingles in enumerate(sets):
        if shingles:
            same[shingles].append(number)
    times = np.array([len(numbers) for numbers in same.values()], dtype=np.int64)
    first_of = np.array([numbers[0] for numbers in same.values()], dtype=np.int64)
    pairs = int((times * (times - 1) // 2).sum())
    forest = Forest(len(sets))
    for links in search(list(same), threshold, progress):
        pairs += int((times[links.first] * times[links.second]).sum())
        forest.add(Links(first_of[links.first], first_of[links.second], links.similarity))
    twins = np.array(
        [(numbers[0], other) for numbers in same.values() for other in numbers[1:]], dtype=np.int64
    )
    first, second = twins.reshape(-1, 2).T
    forest.add(Links(first, second, np.ones(len(twins))))
    return Alike(forest.links(), pairs)


def exact_links(sets: Sequence[Shingles], threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """All pairs with at least this similarity, by comparing all with all; in blocks."""
    matrix = _incidence(sets)
    transposed = matrix.T.tocsr()
    sizes = np.diff(matrix.indptr)
    for start in range(0, len(sets), _BLOCK):
        shared = (matrix[start : start + _BLOCK] @ transposed).tocoo()
        first, second = shared.row + start, shared.col
        similarity = shared.data / (sizes[first] + sizes[second] - shared.data)
        keep = (first < second) & (similarity >= threshold)
        yield Links(first[keep].astype(np.int64), second[keep].astype(np.int64), similarity[keep])
        progress("comparing texts", min(start + _BLOCK, len(sets)), len(sets))


def minhash_links(sets: Sequence[Shingles], threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """Pairs with at least this similarity: LSH candidates, each verified by its exact Jaccard; in blocks."""
    matrix = _incidence(sets)
    sizes = np.diff(matrix.indptr).astype(np.int64)
    for first, second in _candidates(sets, sizes, banding(threshold), progress):
        shared = np.asarray(matrix[first].multiply(matrix[second]).sum(axis=1)).ravel()
        similarity = shared / np.maximum(sizes[first] + sizes[second] - shared, 1)
        keep = similarity >= threshold
        yield Links(first[keep], second[keep], similarity[keep])


def banding(threshold: float) -> Banding:
    """The bands with the fewest candidates among those that keep `LEAST_RECALL` at the threshold."""
    choices = [Banding(NUM_PERM // rows, rows) for rows in range(1, NUM_PERM + 1)]
    return [choice for choice in choices if choice.recall(threshold) >= LEAST_RECALL][-1]


def minhash_parameters(threshold: float) -> dict[str, str | int | float]:
    """All that decides which candidates `minhash_pairs` finds."""
    bands = banding(threshold)
    return {
        "hash": "crc32",
        "num_perm": NUM_PERM,
        "scheme": "affine32",
        "seed": MINHASH_SEED,
        "bands": bands.bands,
        "rows": bands.rows,
        "recall_at_threshold": round(bands.recall(threshold), 6),
    }


def _candidates(
    sets: Sequence[Shingles], sizes: Ints, bands: Banding, progress: Progress
) -> Iterator[tuple[Ints, Ints]]:
    """Numbers of the texts that share a band, the smaller ones first; in blocks."""
    index = MinHashLSH(num_perm=NUM_PERM, params=tuple(bands))
    encoded = ([shingle.encode("utf-8", "surrogatepass") for shingle in shingles] for shingles in sets)
    signatures = MinHash.bulk(
        encoded, num_perm=NUM_PERM, seed=MINHASH_SEED, hashfunc=crc32, scheme="affine32"
    )
    waiting: list[tuple[Ints, Ints]] = []
    cells = 0
    for number, signature in enumerate(signatures):
        earlier = np.array(index.query(signature), dtype=np.int64)
        waiting.append((earlier, np.full(len(earlier), number)))
        cells += int(sizes[earlier].sum()) + len(earlier) * int(sizes[number])
        if cells > _CELLS or number == len(sets) - 1:
            first, second = (np.concatenate(ends) for ends in zip(*waiting, strict=True))
            yield first, second
            waiting, cells = [], 0
        index.insert(number, signature, check_duplication=False)
        progress("comparing documents", number + 1, len(sets))


def _shingles(text: str, size: int) -> Shingles:
    return frozenset(text[start : start + size] for start in range(max(1, len(text) - size + 1))) - {""}


def _incidence(sets: Sequence[Shingles]) -> sparse.csr_matrix:
    """Shape (texts, distinct shingles), 1 where a text has the shingle."""
    numbers: dict[str, int] = {}
    columns = [[numbers.setdefault(shingle, len(numbers)) for shingle in shingles] for shingles in sets]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.fromiter((number for row in columns for number in row), dtype=np.int64, count=int(ends[-1]))
    shape = (len(sets), len(numbers))
    return sparse.csr_matrix((np.ones(len(flat), dtype=np.int32), flat, ends), shape=shape)
