"""Near-duplicates: shingle sets, and all pairs of them above a Jaccard threshold.

Two searches, one result: `exact_pairs` multiplies the sparse incidence matrix with itself, and
`minhash_pairs` asks an LSH index for candidates and verifies each of them exactly. Verifying by the MinHash
estimate instead loses a tenth of the pairs, and so do the bands that datasketch picks by itself, which
balance misses against extra candidates: `banding` picks them for recall.

A. Broder (1997), On the resemblance and containment of documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple
from zlib import crc32

import numpy as np
from datasketch import MinHash, MinHashLSH
from numpy.typing import NDArray
from scipy import sparse

from curation.progress import Progress, silent
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


class Pair(NamedTuple):
    """Two texts by their numbers (first < second) and their exact Jaccard similarity."""

    first: int
    second: int
    similarity: float


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


def exact_pairs(sets: Sequence[Shingles], threshold: float, progress: Progress = silent) -> list[Pair]:
    """All pairs with at least this similarity, by comparing all with all; ordered."""
    matrix = _incidence(sets)
    transposed = matrix.T.tocsr()
    sizes = np.diff(matrix.indptr)
    pairs: list[Pair] = []
    for start in range(0, len(sets), _BLOCK):
        shared = (matrix[start : start + _BLOCK] @ transposed).tocoo()
        first, second = shared.row + start, shared.col
        similarity = shared.data / (sizes[first] + sizes[second] - shared.data)
        keep = (first < second) & (similarity >= threshold)
        found = zip(first[keep].tolist(), second[keep].tolist(), similarity[keep].tolist(), strict=True)
        pairs.extend(Pair(*row) for row in found)
        progress("comparing texts", min(start + _BLOCK, len(sets)), len(sets))
    return sorted(pairs)


def minhash_pairs(sets: Sequence[Shingles], threshold: float, progress: Progress = silent) -> list[Pair]:
    """Pairs with at least this similarity: LSH candidates, each verified by its exact Jaccard; ordered.

    Identical sets are compared once and all pairs of their texts returned.
    """
    same: dict[Shingles, list[int]] = defaultdict(list)
    for number, shingles in enumerate(sets):
        if shingles:
            same[shingles].append(number)
    pairs = [Pair(*twins, 1.0) for numbers in same.values() for twins in combinations(numbers, 2)]
    distinct = list(same)
    for first, second in _candidates(distinct, banding(threshold), progress):
        similarity = jaccard(distinct[first], distinct[second])
        if similarity >= threshold:
            alike = product(same[distinct[first]], same[distinct[second]])
            pairs.extend(Pair(min(one), max(one), similarity) for one in alike)
    return sorted(pairs)


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


def _candidates(sets: Sequence[Shingles], bands: Banding, progress: Progress) -> Iterator[tuple[int, int]]:
    index = MinHashLSH(num_perm=NUM_PERM, params=tuple(bands))
    encoded = ([shingle.encode("utf-8", "surrogatepass") for shingle in shingles] for shingles in sets)
    signatures = MinHash.bulk(
        encoded, num_perm=NUM_PERM, seed=MINHASH_SEED, hashfunc=crc32, scheme="affine32"
    )
    for number, signature in enumerate(signatures):
        for earlier in sorted(index.query(signature)):
            yield earlier, number
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
