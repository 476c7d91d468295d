"""The page Home on 50,000 judgments of 10,000 pairs in an open round: seconds, first and warm.

Usage: python -m benchmarks.bench_home [judgments]
Smallest: python -m benchmarks.bench_home 200
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.bench_agreement import fill, made_up
from curation.path import read_figures, read_path
from curation.project import init_project
from curation.relabeling.staleness.fingerprint import set_fingerprint
from curation.relabeling.staleness.staleness import staleness
from curation.store import Store, append, put_setting

OPEN = 2_000
"""Items that nobody has answered, if there are so many pairs."""


def complete(store: Store, rows: dict[str, np.ndarray]) -> None:
    """Queries, documents and candidates of the judgments, and items that are open."""
    pairs, first = np.unique(rows["pair"], return_index=True)
    documents = [f"p{number:07}" for number in pairs]
    queries = [f"q{number:07}" for number in rows["query"][first]]
    texts = sorted(set(queries))
    many = len(documents)
    with store.transaction() as cursor:
        versions = {"content_hash": [f"h{one}" for one in documents], "document_id": documents}
        empty = {"title": documents, "body": documents, "metadata": ["{}"] * many}
        append(cursor, "documents", {**versions, **empty})
        append(cursor, "snapshot_documents", {"snapshot_id": ["s"] * many, **versions})
        put_setting(cursor, "corpus", "s")
        columns = {"query_id": texts, "text": texts, "normalised": texts, "source": ["imported"] * len(texts)}
        append(cursor, "queries", {**columns, "metadata": ["{}"] * len(texts)})
        append(cursor, "candidates", {"query_id": queries, "document_id": documents})
        opened = min(OPEN, many)
        shown = {"round_id": ["r"] * opened, "annotator": ["annotator 00"] * opened}
        pair = {"query_id": queries[:opened], "document_id": documents[:opened]}
        ids = {"presentation_id": [f"open {n}" for n in range(opened)], "content_hash": ["h"] * opened}
        append(cursor, "presentations", {**ids, **shown, **pair, "position": list(range(opened))})


def took(what: str, work: Callable[[], object]) -> None:
    """Print what a call takes."""
    began, worked = time.perf_counter(), time.process_time()
    work()
    print(f"{what:34} {time.perf_counter() - began:6.2f} s, processor {time.process_time() - worked:5.2f} s")


def fingerprint(store: Store) -> str:
    with store.reading() as cursor:
        return set_fingerprint(cursor)


def main() -> None:
    judgments = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    rows = made_up(judgments)
    with tempfile.TemporaryDirectory() as folder:
        store = init_project(Path(folder) / "project.duckdb").store
        fill(store, rows)
        complete(store, rows)
        took("steps, first", lambda: read_path(store))
        took("gate", lambda: read_figures(store))
        took("what is due, in any case", lambda: staleness(store))
        figures = read_figures(store)
        for _ in range(3):
            took("steps, with figures that are kept", lambda: (fingerprint(store), read_path(store, figures)))
        for step in read_path(store, figures).steps:
            print(f"  {step.name}: {step.line}")


if __name__ == "__main__":
    main()
