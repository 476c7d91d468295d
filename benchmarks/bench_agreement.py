"""The whole agreement report on 1,000,000 judgments of 200,000 pairs: seconds, memory, and the ratio.

Beside it, in the same run, what the krippendorff package needs for the same judgments handed over as its
matrix of annotators and units, once for each of two levels, without any interval. The report has those
two alphas too, and 1,000 resamples of every figure, all breakdowns, consistency and consensus.

Usage: python -m benchmarks.bench_agreement [judgments] [annotators] [--here]
    --here makes the report in this process.
Smallest: python -m benchmarks.bench_agreement 200 5 --here
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import krippendorff
import numpy as np
import pyarrow as pa

from benchmarks import steps
from curation.operations.project import init_project
from curation.store import Store, append, utc_now

ANNOTATORS, VOICES, DOCUMENTS, REPEATED = 25, 5, 20, 0.02
WEEKS = 8
REPORT = """
import json, resource, sys, time
from pathlib import Path
from curation.agreement.report import make_agreement_report
from curation.store import open_store
store, took = open_store(Path(sys.argv[1])), {}
for name, details in (("plain", False), ("details", True)):
    started, worked = time.perf_counter(), time.process_time()
    make_agreement_report(store, details=details)
    took[name], took[name + " cpu"] = time.perf_counter() - started, time.process_time() - worked
store.close()
took["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps(took))
"""


def made_up(judgments: int, annotators: int = ANNOTATORS) -> dict[str, np.ndarray]:
    """Queries of 20 documents, each judged by 5 of the annotators, who add noise to a true grade."""
    random = np.random.default_rng(0)
    pairs = judgments // VOICES
    queries = -(-pairs // DOCUMENTS)
    people = np.argsort(random.random((queries, annotators)), axis=1)[:, :VOICES]
    query = np.repeat(np.arange(pairs) // DOCUMENTS, VOICES)
    true = np.repeat(random.choice(4, size=pairs, p=[0.45, 0.25, 0.2, 0.1]), VOICES)
    noise = np.rint(random.normal(0, 0.6, size=len(true))).astype(np.int64)
    return {
        "query": query,
        "pair": np.repeat(np.arange(pairs), VOICES),
        "annotator": people[query, np.tile(np.arange(VOICES), pairs)],
        "grade": np.clip(true + noise, 0, 3),
        "graded": random.random(len(true)) > 0.01,
        "week": query * WEEKS // queries,
    }


def fill(store: Store, rows: dict[str, np.ndarray], round_id: str = "r") -> None:
    """Presentations and judgments in one round, with blind duplicates of every fiftieth judgment."""
    times = len(rows["pair"])
    again = np.arange(0, times, round(1 / REPEATED))
    pick = np.concatenate([np.arange(times), again])
    ids = np.array([f"p{number:07}" for number in range(len(pick))])
    texts = {name: [f"{name[0]}{number:07}" for number in rows[name][pick]] for name in ("query", "pair")}
    graded, now = rows["graded"][pick], utc_now()
    duplicate = [None] * times + ids[again].tolist()
    with store.transaction() as cursor:
        (guide,) = cursor.execute("SELECT value FROM settings WHERE name = 'guide'").fetchall()[0]
        cursor.execute(
            "INSERT INTO rounds VALUES (?, 'r', 'labeling', ?, '{}', ?, 1)", [round_id, guide, now]
        )
        presentations = {
            "presentation_id": ids,
            "round_id": [round_id] * len(pick),
            "annotator": [f"annotator {number:03}" for number in rows["annotator"][pick]],
            "query_id": texts["query"],
            "document_id": texts["pair"],
            "content_hash": ["h"] * len(pick),
            "position": np.arange(len(pick), dtype=np.int32),
            "duplicate_of": duplicate,
        }
        append(cursor, "presentations", presentations)
        events = {
            "presentation_id": ids,
            "revision": np.zeros(len(pick), dtype=np.int32),
            "kind": np.where(graded, "grade", "cannot_tell"),
            "grade": pa.array(rows["grade"][pick], pa.int32(), mask=~graded),
            "flagged": np.zeros(len(pick), dtype=bool),
            "guide_hash": [guide] * len(pick),
            "author": presentations["annotator"],
            "client_key": ids,
            "submitted_at": [now + timedelta(weeks=int(week)) for week in rows["week"][pick]],
        }
        append(cursor, "judgment_events", events)


def by_the_package(rows: dict[str, np.ndarray]) -> float:
    """Seconds that the package takes for its matrix, at the two levels."""
    matrix = np.full((rows["annotator"].max() + 1, rows["pair"].max() + 1), np.nan)
    graded = rows["graded"]
    matrix[rows["annotator"][graded], rows["pair"][graded]] = rows["grade"][graded]
    started = time.perf_counter()
    for level in ("nominal", "ordinal"):
        krippendorff.alpha(matrix, value_domain=[0, 1, 2, 3], level_of_measurement=level)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("judgments", type=int, nargs="?", default=1_000_000)
    parser.add_argument("annotators", type=int, nargs="?", default=ANNOTATORS)
    parser.add_argument("--here", action="store_true")
    arguments = parser.parse_args()
    judgments = arguments.judgments
    rows = made_up(judgments, arguments.annotators)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.duckdb"
        store = init_project(path)
        fill(store, rows)
        store.close()
        figures = json.loads(steps.python(REPORT, path, here=arguments.here).output)
    package = by_the_package(rows)
    print(f"{judgments:,} judgments of {judgments // VOICES:,} pairs, from DuckDB to the report:")
    for name, told in (("plain", "figures alone"), ("details", "with all details")):
        print(f"{told:17} {figures[name]:6.1f} s, of a processor {figures[f'{name} cpu']:.1f} s")
    print(f"at most {figures['memory']:.2f} GB")
    print(f"the package, two alphas of a matrix in memory, no intervals: {package:.2f} s")
    print(f"ratio: the whole report takes {figures['details'] / package:.1f} times as long as that;")
    print(f"its 1,000 resamples of those two alone would take the package {1000 * package:,.0f} s")


if __name__ == "__main__":
    main()
