"""MinHash signatures of texts, and the pairs of texts whose signatures agree in a whole band.

Bands that datasketch picks by itself balance misses against extra candidates and lose a tenth of the pairs;
`choose_banding` picks bands for recall. datasketch computes the same signatures. The index of datasketch, a
Python list for each band and key, takes several kilobytes a text, so bands are sorted as arrays instead: 84
bytes a text.

J. Leskovec, A. Rajaraman, J. Ullman (2020), Mining of Massive Datasets, section 3.4 (banding).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.core.similarity.shingles import ShingleSets
from curation.core.statistics.arrays import Ints

NUM_PERM = 128
MINHASH_SEED = 1
# Minimum probability that a pair with exactly the threshold's similarity becomes a candidate
MIN_RECALL = 0.99
_SIGNED = 8_192  # number of texts whose signatures are in memory at the same time


class Banding(NamedTuple):
    """The division of a MinHash signature into bands of rows."""

    bands: int
    rows: int

    def recall(self, similarity: float) -> float:
        """Compute the probability that a pair of texts with a given similarity shares a band."""
        return 1.0 - (1.0 - similarity**self.rows) ** self.bands


def choose_banding(threshold: float) -> Banding:
    """Choose the bands that give the fewest candidates and keep `MIN_RECALL` at the threshold."""
    choices = [Banding(NUM_PERM // rows, rows) for rows in range(1, NUM_PERM + 1)]
    return [choice for choice in choices if choice.recall(threshold) >= MIN_RECALL][-1]


def minhash_parameters(threshold: float) -> dict[str, str | int | float]:
    """List all parameters that determine which candidates `minhash_links` finds."""
    bands = choose_banding(threshold)
    return {
        "hash": "blake2b, low 32 bits",
        "num_perm": NUM_PERM,
        "scheme": "affine32",
        "seed": MINHASH_SEED,
        "bands": bands.bands,
        "rows": bands.rows,
        "recall_at_threshold": round(bands.recall(threshold), 6),
    }


def compute_signatures(sets: ShingleSets, progress: Progress = silent) -> Iterator[NDArray[np.uint32]]:
    """Yield MinHash signatures in blocks of shape (texts, NUM_PERM), equal to those of datasketch's
    `MinHash`.

    The permutations of datasketch are applied to a whole block of texts; one text at a time takes twelve
    times as long.
    """
    from datasketch import MinHash  # imports half of scipy

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


def find_candidates(
    sets: ShingleSets, bands: Banding, progress: Progress = silent
) -> Iterator[tuple[Ints, Ints]]:
    """Yield every pair of texts that share a band, each once and in blocks, as numbers with the smaller
    first."""
    blocks = [_band_keys(block, bands) for block in compute_signatures(sets, progress)]
    keys = np.concatenate(blocks, axis=1) if blocks else np.empty((bands.bands, 0), np.uint32)
    del blocks
    for band in range(bands.bands):
        order = np.argsort(keys[band], kind="stable")
        sorted_keys = keys[band][order]
        # texts with the same key are paired with the next text, then with the text after it, and so on
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
    """Hash each band of the signatures to a number, shape (bands, texts).

    A collision (1 in 4 billion) only adds a candidate, which the exact comparison then rejects.
    """
    rows = block[:, : bands.bands * bands.rows].reshape(len(block), bands.bands, bands.rows)
    key = np.zeros((len(block), bands.bands), np.uint64)
    for row in range(bands.rows):
        key = (key ^ rows[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return np.ascontiguousarray((key >> np.uint64(32)).astype(np.uint32).T)


def _mixed(hashes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Apply the finalizer of MurmurHash3 (A. Appleby), so that each bit affects all 32 bits."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes = (hashes ^ (hashes >> np.uint32(shift))) * np.uint32(factor)
    return hashes ^ (hashes >> np.uint32(16))
