"""Near-duplicate groups of 10,000, 100,000 and 1,000,000 short documents: seconds and peak memory.

The documents are made of real ones: titles and short descriptions of the Icecat products (../shared/data),
cut in halves and put together anew, seeded. One in ten is a copy of an earlier document with its last word
changed, one in fifty an exact copy; both are known, so that it can be counted how many of those that really
lie above the threshold (0.8) share a group. Each size runs in a process of its own; written are wall and
processor seconds of the grouping and the peak memory of the whole process, Python and the texts included.

Usage: python -m benchmarks.bench_groups [SIZE ...] [--here]      (default 10000 100000 1000000)
    --here groups in this process.
Smallest: python -m benchmarks.bench_groups 200 --here
Needs: ../shared/data
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import time
from itertools import islice

import numpy as np
import pyarrow as pa

from benchmarks.steps import python, shared_data

PRODUCTS = "chorus_icecat/products.jsonl.gz"
SIZES = (10_000, 100_000, 1_000_000)
THRESHOLD, SEED, PART = 0.8, 7, 50_000
ONE = "import sys; from benchmarks.bench_groups import one; one(int(sys.argv[1]))"


def halves(products: int) -> list[list[str]]:
    """The first and the second half of each product's words, of so many products at most."""
    found = []
    with gzip.open(shared_data() / PRODUCTS, "rt", encoding="utf-8") as file:
        for line in islice(file, products):
            product = json.loads(line)
            words = f"{product['title']} {product.get('short_description') or ''}".split()[:24]
            found += [words[: len(words) // 2], words[len(words) // 2 :]]
    return [half for half in found if len(half) > 4]


def corpus(size: int) -> tuple[pa.Table, list[tuple[int, int]]]:
    """So many documents, and the pairs (document, its copy) that were made alike."""
    random, parts = np.random.default_rng(SEED), halves(max(1_000, 2 * size))
    first, second = random.integers(len(parts), size=(2, size)).tolist()
    fates, earlier = random.random(size).tolist(), random.random(size).tolist()
    blocks: list[pa.Array] = []
    texts: list[str] = []
    originals: list[list[str]] = []
    copies = []
    for number in range(size):
        words = parts[first[number]] + parts[second[number]]
        if fates[number] < 0.12 and originals:
            at = int(earlier[number] * len(originals))
            words = list(originals[at])
            if fates[number] < 0.1:
                words[-1] = f"{words[-1]}x"
            copies.append((at, number))
        if len(originals) < PART:
            originals.append(words)
        texts.append(" ".join(words))
        if len(texts) == PART:
            blocks.append(pa.array(texts))
            texts = []
    blocks.append(pa.array(texts, pa.string()))
    bodies = pa.chunked_array(blocks)
    ids = pa.array([f"d{number:07}" for number in range(size)])
    return pa.table({"document_id": ids, "title": pa.array([""] * size), "body": bodies}), copies


def one(size: int) -> None:
    """Group so many documents and print one JSON object."""
    from curation.similarity.near_duplicates import near_duplicate_groups
    from curation.similarity.shingles import jaccard, word_shingles

    table, copies = corpus(size)
    wall, processor = time.monotonic(), time.process_time()
    report = near_duplicate_groups(table, THRESHOLD)
    wall, processor = time.monotonic() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    group_of = {name: place for place, group in enumerate(report.groups) for name in group.documents}
    bodies = table["body"]
    known = [
        pair
        for pair in copies
        if jaccard(*(word_shingles(bodies[place].as_py()) for place in pair)) >= THRESHOLD
    ]
    together = sum(
        f"d{a:07}" in group_of and group_of[f"d{a:07}"] == group_of.get(f"d{b:07}") for a, b in known
    )
    print(
        json.dumps(
            {
                "documents": size,
                "method": report.method,
                "wall": wall,
                "processor": processor,
                "megabytes": peak,
                "pairs": report.pairs,
                "groups": len(report.groups),
                "known": len(known),
                "together": together,
            }
        )
    )


def main() -> None:
    """One process a size, and a line for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--here", action="store_true")
    asked = parser.parse_args()
    for size in asked.sizes:
        found = json.loads(python(ONE, size, here=asked.here).output)
        print(
            f"{found['documents']:>9,} documents ({found['method']}): {found['wall']:,.1f} s wall, "
            f"{found['processor']:,.1f} s processor, {found['megabytes']:,.0f} MB at the peak; "
            f"{found['pairs']:,} pairs, {found['groups']:,} groups; {found['together']:,} of "
            f"{found['known']:,} known copies found together",
            flush=True,
        )


if __name__ == "__main__":
    main()
