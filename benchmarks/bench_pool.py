"""A pool of 1,000 queries over 20,000 documents by BM25, against rank-bm25 scoring the same queries.

The documents are Icecat products, the queries the rated ones and beginnings of product titles, until there
are enough. Timed: the whole command as a process of its own on a fresh project, again with another depth
(word counts kept), after 1 % of the documents changed, and the step alone; rank-bm25 scores a part of the
queries, extrapolated.

Usage: python -m benchmarks.bench_pool [documents, default 20000] [queries, default 1000] [--here]
    --here runs the commands in this process.
Smallest: python -m benchmarks.bench_pool 150 5 --here
Needs: ../shared/data
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from pathlib import Path

from rank_bm25 import BM25Okapi

from benchmarks.steps import goldset, shared_data
from curation.pooling.pool import build_pool
from curation.project import init_project
from curation.retrieval.terms import content_words
from curation.sources.corpus import import_corpus
from curation.sources.queries import active_queries
from curation.sources.query_import import import_queries
from curation.store import Store, open_store
from tests.support import ROOT, icecat
from tests.support.projects import documents_in_force

SHARED = ROOT.parent / "shared" / "data"
SAMPLE = 25  # queries that rank-bm25 scores
NEGATIVES = 5


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


def put_corpus(store: Store, folder: Path, rows: list[dict[str, str]]) -> None:
    path = folder / "corpus.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    import_corpus(store, path)


def command(project: Path, depth: int, here: bool) -> float:
    """Seconds of the whole `goldset pool`, from the start of the process to its end."""
    words = ("pool", "--systems", "bm25", "--depth", depth, "--random-negatives", NEGATIVES)
    return goldset(project, *words, "--seed", 1, "--json", here=here).wall


def step(project: Path, depth: int) -> float:
    started = time.perf_counter()
    build_pool(open_store(project), ["bm25"], depth, NEGATIVES, 1)
    return time.perf_counter() - started


def rank_bm25_seconds(store: Store) -> tuple[float, float]:
    """Seconds of its index, and of scoring all queries (a part of them, extrapolated)."""
    with store.reading() as cursor:
        queries = active_queries(cursor)
    documents = documents_in_force(store)
    started = time.perf_counter()
    engine = BM25Okapi([content_words(document.text) for document in documents])
    index = time.perf_counter() - started
    some = queries[:: max(1, len(queries) // SAMPLE)]
    started = time.perf_counter()
    for query in some:
        engine.get_scores(content_words(query.text))
    return index, (time.perf_counter() - started) / len(some) * len(queries)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("documents", type=int, nargs="?", default=20_000)
    parser.add_argument("queries", type=int, nargs="?", default=1_000)
    parser.add_argument("--here", action="store_true")
    asked = parser.parse_args()
    shared_data()
    rows = products(asked.documents)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = init_project(folder / "project.duckdb").store
        put_corpus(store, folder, rows)
        path = folder / "queries.jsonl"
        texts = query_texts(rows, asked.queries)
        path.write_text("\n".join(json.dumps({"id": f"q{n}", "text": t}) for n, t in enumerate(texts)))
        import_queries(store, path)
        store.close()
        times = {
            "command, cold": command(store.path, 10, asked.here),
            "command, word counts kept": command(store.path, 20, asked.here),
            "step alone, word counts kept": step(store.path, 30),
        }
        for row in rows[::100]:
            row["text"] += " changed"
        put_corpus(store, folder, rows)
        store.close()
        times["command, 1 % of the documents changed"] = command(store.path, 10, asked.here)
        index, scoring = rank_bm25_seconds(store)
    print(f"{len(rows):,} documents, {len(texts):,} queries, {NEGATIVES} random negatives each\n")
    print("| what | seconds | rank-bm25's index and scoring takes times as long |\n|---|---|---|")
    for what, seconds in times.items():
        print(f"| {what} | {seconds:.2f} | {(index + scoring) / seconds:.1f} |")
    print(f"| rank-bm25: index | {index:.2f} | |\n| rank-bm25: scoring all queries | {scoring:.1f} | |")


if __name__ == "__main__":
    main()
