"""nDCG@10 of BM25 with Lucene's idf, beside an idf of 0 for words in half of the documents or more.

Public collections with people's grades: MEDLINE, CISI, Icecat's and Amazon's products. "Rated products alone"
searches each query only in its own rated products, as in a small FAQ about one thing. A row has both means,
their difference with interval and p, and the queries without any result.

Usage: python -m benchmarks.bench_bm25_idf [sets, default all]
Smallest: python -m benchmarks.bench_bm25_idf MEDLINE
Needs: ../shared/data
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Callable, Iterable, Mapping

import numpy as np

import goldgrade
from curation.retrieval.bm25 import Bm25
from curation.store.row_types import Document, Query
from tests.support import ROOT, smart

DATA = ROOT.parent / "shared" / "data"
Grades = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


class Set:
    """A collection: texts of documents and queries by id, and grades."""

    def __init__(self, documents: Mapping[str, str], queries: Mapping[str, str], grades: Grades) -> None:
        self.documents, self.queries = documents, queries
        self.grades = {query: row for query, row in grades.items() if query in queries}


def read_smart(name: str) -> Set:
    folder = DATA / "smart" / name.lower()
    documents, queries = (smart.records(folder / f"{name}.{kind}") for kind in ("ALL", "QRY"))
    return Set(documents, queries, smart.qrels(folder / f"{name}.REL"))


def read_icecat() -> Set:
    with gzip.open(DATA / "chorus_icecat/products.jsonl.gz", "rt", encoding="utf-8") as lines:
        products = [json.loads(line) for line in lines]
    documents = {row["id"]: f"{row['title']}\n{row.get('short_description') or ''}" for row in products}
    grades: Grades = {}
    with (DATA / "chorus_icecat/Broad_Query_Set_rated.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["docid"] in documents and row["rating"]:
                grades.setdefault(row["query"], {})[row["docid"]] = int(float(row["rating"]))
    return Set(documents, {query: query for query in grades}, grades)


def read_amazon() -> Set:
    with gzip.open(DATA / "esci_us/products.json.gz", "rt", encoding="utf-8") as lines:
        products = [json.loads(line) for line in lines]
    names = ("title", "description", "bullet_points")
    ids = next(name for name in ("id", "asin", "product_id", "_id") if name in products[0])
    documents = {row[ids]: "\n".join(row.get(name) or "" for name in names) for row in products}
    ratings = json.loads((DATA / "esci_us/esci_us_judgments.json").read_text(encoding="utf-8"))
    scale = {100: 3, 10: 2, 1: 1, 0: 0}
    grades = {
        row["query"]: {item["docId"]: scale[int(float(item["rating"]))] for item in row["ratings"]}
        for row in ratings["judgmentRatings"]
    }
    return Set(documents, {query: query for query in grades}, grades)


SETS: dict[str, Callable[[], Set]] = {
    "MEDLINE": lambda: read_smart("MED"),
    "CISI": lambda: read_smart("CISI"),
    "Icecat": read_icecat,
    "Amazon": read_amazon,
}


def search(documents: Mapping[str, str], queries: Mapping[str, str], has_former_idf: bool) -> Run:
    """The first ten documents of each query."""
    bm25 = Bm25(Document(name, "", "", text) for name, text in documents.items())
    if has_former_idf:
        postings = bm25._load_postings()
        counts = np.diff(postings.starts)
        idf = np.maximum(np.log((len(documents) - counts + 0.5) / (counts + 0.5)), 0)
        bm25._postings = postings._replace(idf=idf)
    hits = bm25.search([Query(name, text, text, "written") for name, text in queries.items()], 10)
    return {
        name: {hit.document_id: hit.score or 0.0 for hit in found}
        for name, found in zip(queries, hits, strict=True)
        if len(found)
    }


def search_alone(collection: Set, has_former_idf: bool) -> Run:
    """Search each query in its rated documents alone."""
    run: Run = {}
    for query, grades in collection.grades.items():
        texts = {name: collection.documents[name] for name in grades}
        run |= search(texts, {query: collection.queries[query]}, has_former_idf)
    return run


def report(name: str, collection: Set, runs: Iterable[Run]) -> None:
    before, after = runs
    result = goldgrade.evaluate(
        collection.grades, {"after": after, "before": before}, "ndcg@10", baseline="before"
    )
    means = {run.name: run.overall["ndcg@10"] for run in result.runs}
    (pair,) = [comparison for comparison in result.comparisons if comparison.stratum is None]
    empty = [len(collection.grades.keys() - run.keys()) for run in (before, after)]
    interval = f"{pair.difference or 0:+.4f} ({pair.low or 0:+.4f} to {pair.high or 0:+.4f})"
    print(
        f"| {name} | {len(collection.documents):,} | {means['after'].n} | {means['before'].value:.4f} | "
        f"{means['after'].value:.4f} | {interval} | "
        f"{pair.p_corrected} | {empty[0]} | {empty[1]} |"
    )


def main() -> None:
    names = sys.argv[1:] or list(SETS)
    for name in names:
        collection = SETS[name]()
        report(
            name, collection, (search(collection.documents, collection.queries, old) for old in (True, False))
        )
        if name in ("Icecat", "Amazon"):
            alone = (search_alone(collection, old) for old in (True, False))
            report(f"{name}, rated products alone", collection, alone)


if __name__ == "__main__":
    main()
