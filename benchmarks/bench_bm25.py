"""BM25 search against rank-bm25's own scoring: the same formula, the same queries, in one process.

The corpus is the Icecat products, repeated under new ids until there are enough; the queries are the
rated ones, cut to the words that our retriever counts, so that both sides score the same words. Written:
queries per second of both, their ratio, and the share of queries whose top 100 scores agree.

Usage: python -m benchmarks.bench_bm25 [documents, default 60000] [queries for rank-bm25, default 20]
Smallest: python -m benchmarks.bench_bm25 200 2
Needs: ../shared/data
"""

from __future__ import annotations

import gzip
import json
import sys
import time

import numpy as np
from rank_bm25 import BM25Okapi

from benchmarks.steps import shared_data
from curation.retrieval import Bm25
from curation.retrieval.terms import content_words
from curation.sources.queries import query_id_of
from curation.store.rows import Document, Query
from tests.support import ROOT, icecat

SHARED = ROOT.parent / "shared" / "data"
DEPTH = 100


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


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
    few = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    shared_data()
    documents = sorted(corpus(size), key=lambda document: document.document_id)
    texts = sorted({row["query"] for row in icecat.ratings(SHARED)})
    queries = [Query(query_id_of(text), text, text, "imported") for text in texts if content_words(text)]

    started = time.perf_counter()
    ours = Bm25(documents)
    ours.search(queries[:1], 1)
    index_seconds = time.perf_counter() - started
    started = time.perf_counter()
    found = ours.search(queries, DEPTH)
    our_rate = len(queries) / (time.perf_counter() - started)

    reference = BM25Okapi([content_words(document.text) for document in documents])
    started = time.perf_counter()
    scores = [
        np.sort(reference.get_scores(content_words(query.text)))[::-1][:DEPTH] for query in queries[:few]
    ]
    their_rate = few / (time.perf_counter() - started)

    same = sum(
        np.allclose([hit.score for hit in hits], wanted[: len(hits)], rtol=1e-5)
        for hits, wanted in zip(found, scores, strict=False)
    )
    print(f"{size:,} documents; index {index_seconds:.2f} s")
    print(f"goldset   {our_rate:10,.0f} queries/s, top {DEPTH}")
    print(f"rank-bm25 {their_rate:10,.1f} queries/s")
    print(
        f"ratio: {our_rate / their_rate:,.0f} times as many; the same top {DEPTH} scores for {same} of {few}"
    )


if __name__ == "__main__":
    main()
