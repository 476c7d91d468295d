"""Is our BM25 the one that it says? nDCG@10 and recall@100 on MEDLINE and CISI, in one table.

The same words (our content words), the same k1 and b: goldset's retriever, rank-bm25's BM25Okapi and
bm25s' own. nDCG has linear gain, as in trec_eval; recall@100 is the share of relevant documents found.

Usage: python -m benchmarks.bench_smart [med] [cisi]
Smallest: python -m benchmarks.bench_smart med
Needs: ../shared/data
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from functools import partial

import bm25s
import numpy as np
import pytrec_eval
from rank_bm25 import BM25Okapi

from benchmarks.steps import shared_data
from curation.retrieval import Bm25
from curation.retrieval.terms import content_words
from curation.store.rows import Document, Query
from tests.support import ROOT
from tests.support.smart import qrels, records

SMART = ROOT.parent / "shared" / "data" / "smart"
DEPTH = 100
Run = dict[str, dict[str, float]]


def ours(documents: list[Document], queries: list[Query], stemmer: str | None = None) -> Run:
    found = Bm25(documents, stemmer=stemmer).search(queries, DEPTH)
    return {
        query.query_id: {hit.document_id: float(hit.score or 0) for hit in hits}
        for query, hits in zip(queries, found, strict=True)
    }


def top(documents: list[Document], scores: np.ndarray) -> dict[str, float]:
    best = np.argsort(-scores, kind="stable")[:DEPTH]
    return {documents[row].document_id: float(scores[row]) for row in best if scores[row] > 0}


def rank_bm25(documents: list[Document], queries: list[Query]) -> Run:
    engine = BM25Okapi([content_words(document.text) for document in documents])
    return {query.query_id: top(documents, engine.get_scores(content_words(query.text))) for query in queries}


def plain_bm25s(documents: list[Document], queries: list[Query]) -> Run:
    engine = bm25s.BM25(k1=1.5, b=0.75)
    engine.index([content_words(document.text) for document in documents], show_progress=False)
    return {
        query.query_id: top(documents, np.asarray(engine.get_scores(content_words(query.text))))
        for query in queries
    }


def main() -> None:
    shared_data()
    engines: dict[str, Callable[[list[Document], list[Query]], Run]] = {
        "goldset": ours,
        "goldset --stemmer english": partial(ours, stemmer="english"),
        "rank-bm25": rank_bm25,
        "bm25s": plain_bm25s,
    }
    print("| collection | engine | nDCG@10 | recall@100 |\n|---|---|---|---|")
    for name in sys.argv[1:] or ("med", "cisi"):
        stem = SMART / name / name.upper()
        documents = [
            Document(i, i, "", text) for i, text in sorted(records(stem.with_suffix(".ALL")).items())
        ]
        judged = qrels(stem.with_suffix(".REL"))
        texts = records(stem.with_suffix(".QRY"))
        queries = [Query(i, texts[i], texts[i], "imported") for i in sorted(judged) if i in texts]
        evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut_10", "recall_100"})
        for engine, search in engines.items():
            results = evaluator.evaluate(search(documents, queries))
            ndcg, recall = (
                statistics.fmean(results.get(query.query_id, {}).get(measure, 0.0) for query in queries)
                for measure in ("ndcg_cut_10", "recall_100")
            )
            print(f"| {name} ({len(documents):,}, {len(queries)}) | {engine} | {ndcg:.4f} | {recall:.4f} |")


if __name__ == "__main__":
    main()
