"""Index time, search speed and memory of BM25 at 10,000, 100,000 and 1,000,000 documents.

The documents are drawn by seed: words by Zipf's law from a vocabulary of 300,000, lengths lognormal, about
80 words. Every measurement is a process of its own. For each size: reading the corpus; the index with nothing
counted before (cold), with its file there (warm), and after 1 % of the documents changed; searches of the
first 100 for queries of three words; the process's peak memory after reading the corpus and at its end, and
that of the largest process that counted words for it; the project's file and the index's; and bm25s' own
index of the same words, where its lists of words fit (up to 100,000 documents).

Usage: python -m benchmarks.bench_index [documents ..., default 10000 100000 1000000] [--here]
    --here takes all steps in one process.
Smallest: python -m benchmarks.bench_index 60 --here
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.steps import python
from curation.operations.project import init_project
from curation.retrieval import Bm25
from curation.retrieval.stored_index import find_index_folder
from curation.retrieval.terms import content_words
from curation.store import Store, append, open_store, put_setting
from curation.store.documents import Corpus, current_corpus, documents_by_hash
from curation.store.row_types import Query
from tests.support.projects import documents_in_force

SIZES = (10_000, 100_000, 1_000_000)
VOCABULARY = 300_000
CHUNK = 20_000
QUERIES = 200
DEPTH = 100
LARGEST_FOR_BM25S = 100_000
STEP = """
import json, sys
from pathlib import Path
from benchmarks.bench_index import STEPS
print(json.dumps(STEPS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))))
"""
Figures = dict[str, float]


def vocabulary(random: np.random.Generator, number: int) -> np.ndarray:
    """Distinct words of two to five syllables; the order is their frequency."""
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "on")]
    drawn = random.integers(0, len(syllables), (2 * number, 5))
    lengths = random.integers(2, 6, 2 * number)
    words = ("".join(syllables[i] for i in row[:n]) for row, n in zip(drawn, lengths, strict=True))
    return np.array(list(dict.fromkeys(words))[:number])


def texts(words: np.ndarray, random: np.random.Generator, number: int) -> list[str]:
    weights = 1 / (np.arange(1, len(words) + 1) + 2.7) ** 1.07
    lengths = np.clip(random.lognormal(4.3, 0.45, number).astype(int), 5, 500)
    places = np.searchsorted(np.cumsum(weights) / weights.sum(), random.random(int(lengths.sum())))
    ends = np.cumsum(lengths)
    drawn = words[np.minimum(places, len(words) - 1)]
    return [" ".join(drawn[end - n : end]) for end, n in zip(ends, lengths, strict=True)]


def make(project: Path, size: int) -> Figures:
    """A project with `size` documents in its corpus, written past the import: that is not measured here."""
    store = init_project(project)
    random = np.random.Generator(np.random.PCG64(7))
    words = vocabulary(random, min(VOCABULARY, 30 * size))
    for start in range(0, size, CHUNK):
        bodies = texts(words, random, min(CHUNK, size - start))
        ids = [f"d{number:07}" for number in range(start, start + len(bodies))]
        hashes = [f"{number * 2654435761 % 2**61:032x}" for number in range(start, start + len(bodies))]
        rows = {"content_hash": hashes, "document_id": ids, "title": [b[:30] for b in bodies], "body": bodies}
        with store.transaction() as cursor:
            append(cursor, "documents", rows | {"metadata": ["{}"] * len(ids)})
            snapshot = {"snapshot_id": ["one"] * len(ids), "document_id": ids, "content_hash": hashes}
            append(cursor, "snapshot_documents", snapshot)
    with store.transaction() as cursor:
        put_setting(cursor, "corpus", "one")
    return {}


def change(project: Path, _: int) -> Figures:
    """Every hundredth document gets a new version, in a new snapshot."""
    with open_store(project).transaction() as cursor:
        cursor.execute(
            "INSERT INTO documents SELECT 'changed' || content_hash, document_id, title, body || ' changed', "
            "url, published, group_key, metadata FROM documents WHERE document_id LIKE '%00'"
        )
        cursor.execute(
            "INSERT INTO snapshot_documents SELECT 'two', document_id, CASE WHEN document_id LIKE '%00' "
            "THEN 'changed' || content_hash ELSE content_hash END FROM snapshot_documents"
        )
        put_setting(cursor, "corpus", "two")
    return {}


def index(project: Path, _: int) -> Figures:
    store = open_store(project)
    started = time.perf_counter()
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    read_seconds, read_peak = time.perf_counter() - started, peak()
    asked = queries(store, corpus)
    engine = Bm25.from_store(store, corpus)
    started = time.perf_counter()
    engine.search(asked[:1], 1)
    index_seconds = time.perf_counter() - started
    started = time.perf_counter()
    engine.search(asked, DEPTH)
    rate = len(asked) / (time.perf_counter() - started)
    return {
        "read": read_seconds,
        "read_peak": read_peak,
        "index": index_seconds,
        "rate": rate,
        "peak": peak(),
        "counting_peak": peak(resource.RUSAGE_CHILDREN),
        "file": project.stat().st_size / 1e6,
        "index_files": sum(path.stat().st_size for path in find_index_folder(project).glob("*")) / 1e6,
    }


def bm25s_index(project: Path, _: int) -> Figures:
    import bm25s

    documents = documents_in_force(open_store(project))
    started = time.perf_counter()
    engine = bm25s.BM25(k1=1.5, b=0.75, method="robertson", dtype="float64")
    engine.index([content_words(document.text) for document in documents], show_progress=False)
    return {"index": time.perf_counter() - started, "peak": peak()}


def queries(store: Store, corpus: Corpus) -> list[Query]:
    """Three words out of the middle of documents."""
    hashes = corpus.hashes[:: max(1, len(corpus.ids) // QUERIES)].to_pylist()
    with store.reading() as cursor:
        documents = documents_by_hash(cursor, hashes)
    found = [content_words(documents[one].text)[4:10:2] for one in hashes]
    return [Query(f"q{n}", " ".join(words), "", "written") for n, words in enumerate(found)]


def peak(of: int = resource.RUSAGE_SELF) -> float:
    """MB of memory that this process has held at most, or the largest of its children."""
    return resource.getrusage(of).ru_maxrss / 1024


STEPS: dict[str, Callable[[Path, int], Figures]] = {
    "make": make,
    "change": change,
    "index": index,
    "bm25s": bm25s_index,
}


def process(step: str, project: Path, size: int, here: bool) -> Figures:
    figures: Figures = json.loads(python(STEP, step, project, size, here=here).output)
    return figures


def rows_of(size: int, project: Path, here: bool) -> None:
    process("make", project, size, here)
    measured = {"cold": process("index", project, size, here), "warm": process("index", project, size, here)}
    process("change", project, size, here)
    measured["1 % changed"] = process("index", project, size, here)
    for name, figures in measured.items():
        ratio = measured["cold"]["index"] / figures["index"]
        print(
            f"| {size:,} | {name} | {figures['read']:.1f} | {figures['index']:.2f} | {ratio:.1f} "
            f"| {figures['rate']:,.0f} | {figures['read_peak']:,.0f} | {figures['peak']:,.0f} "
            f"| {figures['counting_peak']:,.0f} | {figures['file']:,.0f} | {figures['index_files']:,.0f} |",
            flush=True,
        )
    if size <= LARGEST_FOR_BM25S:
        theirs = process("bm25s", project, size, here)
        ratio = measured["cold"]["index"] / theirs["index"]
        print(
            f"| {size:,} | bm25s | | {theirs['index']:.1f} | {ratio:.1f} | | | {theirs['peak']:,.0f} | | | |"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--here", action="store_true")
    arguments = parser.parse_args()
    print(
        "| documents | index | read corpus, s | index, s | cold takes times as long | queries/s "
        "| peak after reading, MB | peak, MB | peak of counting, MB | project file, MB | index, MB |"
    )
    print(f"|{'---|' * 11}")
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as folder:
            rows_of(size, Path(folder) / "project.duckdb", arguments.here)


if __name__ == "__main__":
    main()
