"""BM25 search against bm25s and rank-bm25: the same words, the same queries, in one process.

The corpus is the Icecat products, repeated under new ids until there are enough; the queries are the
rated ones and beginnings of product titles. The others are given the words that our retriever counts, cut
before; ours cuts the queries itself. Written: queries per second of processor time of ours with numba and
without, of bm25s with numba, and of rank-bm25; and the share of queries whose top 100 scores agree with
rank-bm25's. One thread each.

Usage: python -m benchmarks.bench_bm25 [documents, default 60000] [queries for rank-bm25, default 20] [numpy]
    numpy leaves numba out.
Smallest: python -m benchmarks.bench_bm25 200 2 numpy
Needs: ../shared/data
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable

import bm25s
import numpy as np
from rank_bm25 import BM25Okapi

from benchmarks.steps import shared_data
from curation.ingest.importers.queries import make_query_id
from curation.retrieval import Bm25, postings
from curation.retrieval.terms import content_words
from curation.store.row_types import Document, Query
from tests.support import ROOT, icecat

SHARED = ROOT.parent / "shared" / "data"
DEPTH = 100
REAL = 19_406
QUERIES = 2_000


def corpus(size: int) -> list[Document]:
    with gzip.open(SHARED / "chorus_icecat" / "products.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    copies = [
        (f"{row['id']}-{number // len(rows)}", row)
        for number, row in enumerate(rows * (size // len(rows) + 1))
    ]
    return [
        Document(name, name, row.get("title") or "", row.get("short_description") or "")
        for name, row in copies[:size]
    ]


def products(size: int) -> list[dict[str, str]]:
    with gzip.open(SHARED / "chorus_icecat" / "products.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line, _ in zip(file, range(size), strict=False)]
    return [
        {"id": row["id"], "title": row.get("title") or "", "text": row.get("short_description") or ""}
        for row in rows
    ]


def query_texts(rows: list[dict[str, str]], number: int) -> list[str]:
    titles = (" ".join(row["title"].split()[: 2 + place % 3]) for place, row in enumerate(rows))
    texts = dict.fromkeys([*sorted({row["query"] for row in icecat.ratings(SHARED)}), *titles])
    return [text for text in texts if content_words(text)][:number]


def rate(search: Callable[[], object], queries: int) -> float:
    """Queries a second of processor time, the best of five times; the first search is not timed."""
    search()
    times = []
    for _ in range(5):
        started = time.process_time()
        search()
        times.append(time.process_time() - started)
    return queries / min(times)


def our_rate(engine: Bm25, queries: list[Query], worth: int) -> float:
    """The rate of goldgrade, by numba for so many postings and more."""
    before, postings.MAX_NUMPY_POSTINGS = postings.MAX_NUMPY_POSTINGS, worth
    found = rate(lambda: engine.search(queries, DEPTH), len(queries))
    postings.MAX_NUMPY_POSTINGS = before
    return found


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
    few = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    shared_data()
    documents = sorted(corpus(size), key=lambda document: document.document_id)
    texts = query_texts(products(min(REAL, size)), min(QUERIES, size))
    queries = [Query(make_query_id(text), text, text, "imported") for text in texts]
    backend = sys.argv[3] if len(sys.argv) > 3 else "numba"

    started = time.process_time()
    engine = Bm25(documents)
    found = engine.search(queries[:few], DEPTH)
    seconds = time.process_time() - started
    print(f"{size:,} documents, {len(queries):,} queries; index and {few} searches: {seconds:.2f} s")
    rates = {"goldgrade, numpy": our_rate(engine, queries, sys.maxsize)}
    if backend == "numba":
        rates["goldgrade, numba"] = our_rate(engine, queries, 0)
    best = max(rates.values())

    tokens = [content_words(document.text) for document in documents]
    asked = [content_words(query.text) for query in queries]
    theirs = bm25s.BM25(k1=1.5, b=0.75, method="robertson", backend=backend)
    theirs.index(tokens, show_progress=False)
    rates[f"bm25s, {backend}"] = rate(
        lambda: theirs.retrieve(asked, k=min(DEPTH, size), show_progress=False), len(queries)
    )
    reference = BM25Okapi(tokens, epsilon=0)
    started = time.process_time()
    scores = [np.sort(reference.get_scores(words))[::-1][:DEPTH] for words in asked[:few]]
    rates["rank-bm25"] = few / (time.process_time() - started)

    print(f"| top {DEPTH} | queries a second | goldgrade's best is so many times as fast |\n|---|--:|--:|")
    for name, found_rate in rates.items():
        print(f"| {name} | {found_rate:,.0f} | {best / found_rate:,.1f} |")
    same = sum(
        np.allclose([hit.score for hit in hits], wanted[: len(hits)], rtol=1e-9)
        for hits, wanted in zip(found, scores, strict=True)
    )
    print(f"the same top {DEPTH} scores as rank-bm25: {same} of {len(scores)}")


if __name__ == "__main__":
    main()
