"""Signatures and candidate pairs per second: ours, datasketch used plainly, and rensa, at equal recall.

Ours signs with datasketch, sorts bands as arrays and verifies by exact Jaccard. Datasketch plainly: sketches
of the same shingles (its default hash, SHA-1), `MinHashLSH` with our bands, each hit verified exactly, pair
by pair. Rensa: `RMinHash` signatures of as many values as our bands use, `RMinHashLSH` with the same bands,
hits verified in the same way. The threshold is 0.8; recall is the share of the pairs that comparing all with
all finds. Texts are titles and short descriptions of Icecat products, cut in halves and put together anew,
seeded; one in ten is a copy of an earlier one with its last word changed. One process, one run after the
other; seconds are the processor's.

Rensa is no dependency: `pip install rensa`, else its lines are left out with a sentence.

At the end the recall and precision of ours on the products as they are, all 19,406, at several thresholds.

Usage: python -m benchmarks.bench_minhash [TEXTS] [PRODUCTS]      (default 20000, all)
Smallest: python -m benchmarks.bench_minhash 200 200
Needs: ../shared/data
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from datasketch import MinHash, MinHashLSH

from benchmarks.steps import shared_data
from curation.core.similarity.minhash import (
    MINHASH_SEED,
    NUM_PERM,
    choose_banding,
    compute_signatures,
    find_candidates,
)
from curation.core.similarity.pairs import exact_links, minhash_links
from curation.core.similarity.shingles import Shingles, collect_distinct_sets, jaccard, word_shingles

PRODUCTS = "chorus_icecat/products.jsonl.gz"
THRESHOLD, SEED, PART = 0.8, 7, 50_000
Pairs = set[tuple[int, int]]


class Way(NamedTuple):
    """What one way took: processor seconds of hashing and signing, and of all up to verified pairs."""

    name: str
    signing: float
    whole: float
    candidates: int
    pairs: Pairs


def halves(products: int) -> list[list[str]]:
    """The first and the second half of each product's words, of so many products at most."""
    found = []
    with gzip.open(shared_data() / PRODUCTS, "rt", encoding="utf-8") as file:
        for line in islice(file, products):
            product = json.loads(line)
            words = f"{product['title']} {product.get('short_description') or ''}".split()[:24]
            found += [words[: len(words) // 2], words[len(words) // 2 :]]
    return [half for half in found if len(half) > 4]


def corpus(size: int) -> list[str]:
    """So many texts: 2 in 100 copy an earlier one, and 10 in 100 copy one with another last word."""
    random, parts = np.random.default_rng(SEED), halves(max(1_000, 2 * size))
    first, second = random.integers(len(parts), size=(2, size)).tolist()
    fates, earlier = random.random(size).tolist(), random.random(size).tolist()
    texts: list[list[str]] = []
    for number in range(size):
        words = parts[first[number]] + parts[second[number]]
        if fates[number] < 0.12 and texts:
            words = list(texts[int(earlier[number] * min(len(texts), PART))])
            if fates[number] < 0.1:
                words[-1] = f"{words[-1]}x"
        texts.append(words)
    return [" ".join(words) for words in texts]


def ours(texts: list[Shingles]) -> Way:
    started = time.process_time()
    sets, _ = collect_distinct_sets(texts)
    for _ in compute_signatures(sets):
        pass
    signing = time.process_time() - started
    started = time.process_time()
    pairs = {
        pair
        for links in minhash_links(collect_distinct_sets(texts)[0], THRESHOLD)
        for pair in zip(links.first.tolist(), links.second.tolist(), strict=True)
    }
    whole = time.process_time() - started
    number = sum(len(first) for first, _ in find_candidates(sets, choose_banding(THRESHOLD)))
    return Way("goldgrade", signing, whole, number, pairs)


def _verified(texts: list[Shingles], hits: Iterator[tuple[int, int]]) -> tuple[int, Pairs]:
    seen = set(hits)
    return len(seen), {pair for pair in seen if jaccard(texts[pair[0]], texts[pair[1]]) >= THRESHOLD}


def plain_datasketch(texts: list[Shingles]) -> Way:
    started = time.process_time()
    sketches = []
    for text in texts:
        sketch = MinHash(num_perm=NUM_PERM, seed=MINHASH_SEED)
        sketch.update_batch([shingle.encode() for shingle in text])
        sketches.append(sketch)
    signed = time.process_time()
    index = MinHashLSH(num_perm=NUM_PERM, params=tuple(choose_banding(THRESHOLD)))

    def hits() -> Iterator[tuple[int, int]]:
        for number, sketch in enumerate(sketches):
            yield from ((earlier, number) for earlier in index.query(sketch))
            index.insert(number, sketch, check_duplication=False)

    count, pairs = _verified(texts, hits())
    return Way("datasketch plainly", signed - started, time.process_time() - started, count, pairs)


def with_rensa(texts: list[Shingles]) -> Way:
    from rensa import RMinHash, RMinHashLSH

    bands = choose_banding(THRESHOLD)
    used = bands.bands * bands.rows
    started = time.process_time()
    sketches = RMinHash.from_token_sets([list(text) for text in texts], used, MINHASH_SEED)
    signed = time.process_time()
    index = RMinHashLSH(threshold=THRESHOLD, num_perm=used, num_bands=bands.bands)

    def hits() -> Iterator[tuple[int, int]]:
        for number, sketch in enumerate(sketches):
            yield from ((earlier, number) for earlier in index.query(sketch))
            index.insert(number, sketch)

    count, pairs = _verified(texts, hits())
    return Way("rensa", signed - started, time.process_time() - started, count, pairs)


def exact(texts: list[Shingles]) -> Pairs:
    sets, _ = collect_distinct_sets(texts)
    return {
        pair
        for links in exact_links(sets, THRESHOLD)
        for pair in zip(links.first.tolist(), links.second.tolist(), strict=True)
    }


def main() -> None:
    size, number = (int(text) for text in [*sys.argv[1:], *("20000", "19406")[len(sys.argv) - 1 :]])
    texts = sorted({word_shingles(text) for text in corpus(size)} - {frozenset()}, key=sorted)
    truth = exact(texts)
    ways: list[Callable[[list[Shingles]], Way]] = [ours, plain_datasketch]
    if importlib.util.find_spec("rensa"):
        ways.append(with_rensa)
    else:
        print("rensa is not installed (pip install rensa): its lines are left out.")
    bands = choose_banding(THRESHOLD)
    print(
        f"{len(texts):,} different texts, {bands.bands} bands of {bands.rows} rows, {len(truth):,} pairs "
        f"from {THRESHOLD} on"
    )
    found = [way(texts) for way in ways]
    for way in found:
        recall, precision = len(way.pairs & truth) / len(truth), len(way.pairs & truth) / len(way.pairs)
        print(
            f"{way.name:>18}: {len(texts) / way.signing:>9,.0f} signatures/s, "
            f"{way.candidates / way.whole:>8,.0f} candidate pairs/s; {way.candidates:,} candidates, "
            f"recall {recall:.4f}, precision {precision:.4f}, "
            f"{way.whole:.2f} s from texts to verified pairs"
        )
    for way in found[1:]:
        print(
            f"goldgrade / {way.name}: {way.signing / found[0].signing:.2f} x the signatures/s, "
            f"{way.whole / found[0].whole:.2f} x as fast from texts to verified pairs"
        )

    products(number)


def products(number: int) -> None:
    """Recall and precision on the real products."""
    with gzip.open(shared_data() / PRODUCTS, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, number)]
    sets, _ = collect_distinct_sets(
        word_shingles(f"{row['title']}\n{row.get('short_description') or ''}") for row in rows
    )
    for threshold in (0.9, 0.8, 0.7, 0.6, 0.5):
        truth, found = (
            {
                pair
                for links in search(sets, threshold)
                for pair in zip(links.first.tolist(), links.second.tolist(), strict=True)
            }
            for search in (exact_links, minhash_links)
        )
        print(
            f"{len(rows):,} products from {threshold} on: {len(truth):,} pairs of different ones, "
            f"recall {len(found & truth) / max(1, len(truth)):.4f}, "
            f"precision {len(found & truth) / max(1, len(found)):.4f}"
        )


if __name__ == "__main__":
    main()
