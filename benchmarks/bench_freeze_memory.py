"""Peak memory of freezing, exporting and agreement at two numbers of judgments, and the ratio of the two.

Each pair is judged twice and has two candidates; each query has 100 pairs on the same 20,000 documents. So
the corpus stays as it is, and what grows is the judgments and all that follows from them. Each step is a
process of its own that says its high-water mark (VmHWM, Linux); `start` opens the project, loads what the
other steps load, and does nothing. The digests are of the release, of an export's files and of the report:
two codes that are compared must have the same.

Usage: python -m benchmarks.bench_freeze_memory [few] [many] [folder of other code, measured beside it]
Smallest: python -m benchmarks.bench_freeze_memory 4000 5000
Needs: minutes
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

DOCUMENTS, PAIRS_OF_A_QUERY, JUDGES, ANNOTATORS, REPEATED = 20_000, 100, 2, 25, 50
STEPS = ("start", "freeze", "verify", "agreement", "details", "csv", "parquet", "trec", "beir", "hf")
BUILD = "import sys; from benchmarks.bench_freeze_memory import build; build(sys.argv[1], int(sys.argv[2]))"
STEP = """
import hashlib, json, re, sys, time
from pathlib import Path
import duckdb, numpy, pyarrow.compute, pyarrow.parquet, scipy.sparse
from curation.agreement.report import make_agreement_report
from curation.releases.export.export import export
from curation.releases.freeze.freeze import freeze
from curation.releases.requests import ExportRequest, FreezeRequest
from curation.releases.verify import verify
from curation.store import open_store
from curation.core.digests import canonical_json, to_json_value
path, step = Path(sys.argv[1]), sys.argv[2]
store, started = open_store(path), time.perf_counter()
found = None
if step == "start":
    with store.reading() as cursor:
        cursor.execute("SELECT 1").fetchall()
elif step == "freeze":
    found = freeze(store, FreezeRequest("v1", allow_disputed=True, override="It is a benchmark.")).release_id
elif step == "verify":
    found = verify(store, "v1").release_id
elif step in ("agreement", "details"):
    report = to_json_value(make_agreement_report(store, details=step == "details"))
    found = hashlib.sha256(canonical_json(report).encode()).hexdigest()
else:
    out = path.parent / f"{sys.argv[3]} {step}"
    files = export(store, ExportRequest("v1", step, reason="It is a benchmark."), out).files
    found = hashlib.sha256(canonical_json(files).encode()).hexdigest()
took = time.perf_counter() - started
store.close()
status = Path("/proc/self/status").read_text()
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) / 1024
print(json.dumps({"peak": peak, "seconds": took, "found": found and found[:12]}))
"""


def build(path: str, judgments: int) -> None:
    """A project with a corpus, a pool, two grades of each pair, and a split."""
    from curation.operations.project import init_project
    from curation.splits.request import SplitRequest
    from curation.splits.rules import Rules
    from curation.splits.split import make_split
    from curation.store import append, put_setting

    store = init_project(Path(path))
    rows = made_up(judgments)
    with store.transaction() as cursor:
        for table, columns in _sources(rows).items():
            append(cursor, table, columns)
        put_setting(cursor, "corpus", "s")
        (guide,) = cursor.execute("SELECT value FROM settings WHERE name = 'guide'").fetchall()[0]
        for table, columns in _judged(rows, guide).items():
            append(cursor, table, columns)
    make_split(store, SplitRequest(rules=Rules(query=None, paraphrase=None, document=None)))
    store.close()


def made_up(judgments: int) -> dict[str, np.ndarray]:
    """Pairs with their document and true grade, and judgments with some noise; a query's relevant documents
    are its own, or all queries would be tied."""
    random = np.random.default_rng(7)
    pairs = judgments // JUDGES
    query, place = np.divmod(np.arange(pairs), PAIRS_OF_A_QUERY)
    own = DOCUMENTS // (query.max() + 1)
    relevant = place < min(10, own)
    start = (query * own)[:, None] + np.arange(PAIRS_OF_A_QUERY)
    document = start[np.arange(pairs), place] % DOCUMENTS
    true = np.where(relevant, random.integers(1, 4, size=pairs), 0)
    noise = random.choice([-1, 0, 1], size=(pairs, JUDGES), p=[0.1, 0.8, 0.1])
    grade = np.where(relevant[:, None], np.clip(true[:, None] + noise, 1, 3), 0)
    first = random.integers(0, ANNOTATORS, size=query.max() + 1)[query]
    people = (first[:, None] + np.array([0, 7])) % ANNOTATORS
    return {"query": query, "document": document, "grade": grade.ravel(), "person": people.ravel()}


def _names(letter: str, numbers: np.ndarray) -> list[str]:
    return [f"{letter}{number:07}" for number in numbers.tolist()]


def _sources(rows: dict[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    from curation.ingest.importers.corpus_documents import compute_content_hash
    from curation.store import Document, utc_now

    ids, now = _names("d", np.arange(DOCUMENTS)), utc_now()
    documents = [Document(name, "", f"title of {name}", f"text of {name}") for name in ids]
    hashes = [compute_content_hash(document) for document in documents]
    queries = _names("q", np.unique(rows["query"]))
    pair = _names("q", rows["query"]), _names("d", rows["document"])
    ranks = np.arange(len(pair[0]), dtype=np.int32) % PAIRS_OF_A_QUERY + 1
    return {
        "documents": {
            "content_hash": hashes,
            "document_id": ids,
            "title": [document.title for document in documents],
            "body": [document.body for document in documents],
            "metadata": ["{}"] * len(ids),
        },
        "snapshot_documents": {"snapshot_id": ["s"] * len(ids), "document_id": ids, "content_hash": hashes},
        "queries": {
            "query_id": queries,
            "text": [f"words of {name}" for name in queries],
            "normalised": [f"words of {name}" for name in queries],
            "source": ["imported"] * len(queries),
            "metadata": ["{}"] * len(queries),
        },
        "pools": {
            "pool_id": ["p"],
            "snapshot_id": ["s"],
            "parameters": ["{}"],
            "report": ["{}"],
            "built_at": [now],
        },
        "candidates": {"query_id": pair[0], "document_id": pair[1]},
        "candidate_sources": {
            "pool_id": ["p"] * (2 * len(ranks)),
            "query_id": pair[0] * 2,
            "document_id": pair[1] * 2,
            "system": ["bm25"] * len(ranks) + ["dense"] * len(ranks),
            "rank": np.concatenate([ranks, ranks[::-1]]),
            "score": np.concatenate([30 / ranks, 1 / (ranks[::-1] + 1)]),
        },
    }


def _judged(rows: dict[str, np.ndarray], guide: str) -> dict[str, dict[str, Any]]:
    from curation.ingest.importers.corpus_documents import compute_content_hash
    from curation.store import Document, utc_now

    times, now = len(rows["grade"]), utc_now()
    again = np.arange(0, times, REPEATED)
    pick = np.concatenate([np.arange(times), again])
    pair, ids = pick // JUDGES, _names("p", np.arange(len(pick)))
    names = _names("d", np.arange(DOCUMENTS))
    hashes = [
        compute_content_hash(Document(name, "", f"title of {name}", f"text of {name}")) for name in names
    ]
    document = rows["document"][pair]
    people = [f"annotator {number:02}" for number in rows["person"][pick].tolist()]
    everybody = sorted(set(people))
    return {
        "annotators": {
            "name": everybody,
            "role": ["annotator"] * len(everybody),
            "imported": [False] * len(everybody),
            "added_at": [now] * len(everybody),
        },
        "rounds": {
            "round_id": ["r"],
            "name": ["one"],
            "kind": ["labeling"],
            "guide_hash": [guide],
            "parameters": ["{}"],
            "opened_at": [now],
            "sequence": [1],
        },
        "presentations": {
            "presentation_id": ids,
            "round_id": ["r"] * len(pick),
            "annotator": people,
            "query_id": _names("q", rows["query"][pair]),
            "document_id": _names("d", document),
            "content_hash": [hashes[number] for number in document.tolist()],
            "position": np.arange(len(pick), dtype=np.int32),
            "duplicate_of": [None] * times + [ids[number] for number in again.tolist()],
        },
        "judgment_events": {
            "presentation_id": ids,
            "revision": np.zeros(len(pick), dtype=np.int32),
            "kind": ["grade"] * len(pick),
            "grade": rows["grade"][pick].astype(np.int32),
            "note": [None if number % 100 else f"note {number}" for number in range(len(pick))],
            "flagged": np.zeros(len(pick), dtype=bool),
            "guide_hash": [guide] * len(pick),
            "author": people,
            "client_key": ids,
            "submitted_at": [now + timedelta(seconds=number) for number in range(len(pick))],
        },
    }


def measure(path: Path, code: Path, label: str) -> dict[str, dict[str, Any]]:
    """Each step in a process of its own on a copy of the project."""
    own = path.with_name(f"{label} {path.name}")
    own.write_bytes(path.read_bytes())
    code = code.resolve()
    environment = {**os.environ, "PYTHONPATH": str(code)}
    found = {}
    for step in STEPS:
        asked = [sys.executable, "-c", STEP, str(own), step, own.stem]
        found[step] = json.loads(subprocess.check_output(asked, text=True, env=environment, cwd=code))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("few", type=int, nargs="?", default=50_000)
    parser.add_argument("many", type=int, nargs="?", default=400_000)
    parser.add_argument("other", type=Path, nargs="*")
    arguments = parser.parse_args()
    sizes = [arguments.few, arguments.many]
    here = Path(__file__).resolve().parents[1]
    codes = dict(zip(("here", "other"), (here, *arguments.other), strict=False))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.duckdb" for number in sizes]
        for path, number in zip(paths, sizes, strict=True):
            subprocess.check_call([sys.executable, "-c", BUILD, str(path), str(number)], cwd=here)
        for label, code in codes.items():
            few, many = (measure(path, code, label) for path in paths)
            print(f"{label}: peak in MB at {sizes[0]:,} and {sizes[1]:,} judgments, and their ratio")
            for step in STEPS:
                one, other = few[step], many[step]
                print(
                    f"{step:10} {one['peak']:6.0f} {other['peak']:6.0f} {other['peak'] / one['peak']:5.2f}   "
                    f"{one['seconds']:5.1f} s {other['seconds']:5.1f} s   {one['found']} {other['found']}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
