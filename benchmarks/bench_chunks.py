"""`goldset evaluate` of runs of chunks against runs of as many documents, on a release with evidence.

Both are whole commands, from files to the figures in a terminal. Runs of documents are scored by the default
measures of documents. Runs of chunks are scored by the default ones of chunks, which are of documents, too,
and have the curve of recall against words. Lists are as long; rounds take turns.

Written: wall and processor seconds of each, of the best of the rounds, and their ratio. With 0 rounds both
run once in this process, so the start of Python is not counted.

Usage: python -m benchmarks.bench_chunks [runs, default 20] [queries, 1000] [chunks, 100] [rounds, 3]
Smallest: python -m benchmarks.bench_chunks 1 5 5 0
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.bench_evaluate import Cost, in_this_process, spent
from tests.support import GOLDSET

WORDS, CHUNK = 400, 40
"""Words of a document and of a chunk, seven letters and a space each."""
MARKED = 10
GUIDE = """---
title: Marked
evidence: {ask: optional, from_grade: 1}
scale:
  - {value: 0, name: Not relevant, key: "0", colour: "#a8323e", definition: It does not answer.}
  - {value: 1, name: Relevant, key: "1", colour: "#2b62a8", definition: It answers.}
---
Mark what answers.
"""


def documents(queries: int) -> int:
    return max(MARKED, 2 * queries)


def write_release(folder: Path, queries: int, random: np.random.Generator) -> None:
    """Documents of random words, a few relevant ones for each query, and ranges of them as evidence."""
    names = [f"d{number}" for number in range(documents(queries))]
    letters = random.integers(97, 123, (len(names), WORDS, 8), np.uint8)
    letters[:, :, 7] = 32
    corpus = (
        {"_id": name, "text": bytes(own).decode()}
        for name, own in zip(names, letters.reshape(len(names), -1), strict=True)
    )
    judged = []
    for query in range(queries):
        for name in random.choice(len(names), MARKED, replace=False).tolist():
            start = int(random.integers(0, 8 * WORDS - 400))
            evidence = [{"start": start, "end": start + 200}, {"start": start + 300, "end": start + 360}]
            judged.append({"query": f"q{query}", "document": f"d{name}", "grade": 1, "evidence": evidence})
    rows = {
        "corpus.jsonl": corpus,
        "queries.jsonl": (
            {"_id": f"q{query}", "text": f"what is said about q{query}"} for query in range(queries)
        ),
        "judged.jsonl": judged,
    }
    for file, lines in rows.items():
        (folder / file).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "guide.md").write_text(GUIDE)
    for command in (
        "init --guide guide.md",
        "import corpus corpus.jsonl",
        "import queries queries.jsonl",
        "import judgments judged.jsonl --annotator assessor --evidence-field evidence",
        "split --part dev=1 --no-query-text --no-paraphrase --no-shared-documents",
        "freeze v1 --override benchmark",
    ):
        in_this_process(folder, command)


def write_runs(folder: Path, name: str, queries: int, depth: int, random: np.random.Generator) -> None:
    """A run of chunks, and one of as many documents."""
    number = documents(queries)
    places = 8 * CHUNK * np.arange(WORDS // CHUNK)
    with (
        (folder / f"chunks{name}.csv").open("w") as chunks,
        (folder / f"whole{name}.trec").open("w") as whole,
    ):
        chunks.write("query_id,document_id,start,end,score\n")
        for query in range(queries):
            found = random.choice(number * len(places), depth, replace=False)
            ids = random.choice(number, min(depth, number), replace=False)
            scores = np.sort(random.normal(0, 1, depth))[::-1]
            for rank, (one, own, score) in enumerate(
                zip(found.tolist(), ids.tolist(), scores.tolist(), strict=False), 1
            ):
                start = int(places[one % len(places)])
                chunks.write(f"q{query},d{one // len(places)},{start},{start + 8 * CHUNK},{score:.5f}\n")
                whole.write(f"q{query} Q0 d{own} {rank} {score:.5f} {name}\n")


def _spent(words: Sequence[str], folder: Path, inside: bool) -> Cost:
    if not inside:
        return spent([GOLDSET, *words], folder)
    began, processor = time.monotonic(), time.process_time()
    in_this_process(folder, shlex.join(words))
    return Cost(time.monotonic() - began, time.process_time() - processor)


def main() -> None:
    runs, queries, depth, rounds = (
        int(text) for text in [*sys.argv[1:], *("20", "1000", "100", "3")[len(sys.argv) - 1 :]]
    )
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_release(folder, queries, random)
        for run in range(runs):
            write_runs(folder, f"{run:02}", queries, depth, random)
        found: dict[str, list[Cost]] = {"whole": [], "chunks": []}
        for _ in range(max(1, rounds)):
            for side, costs in found.items():
                files = sorted(path.name for path in folder.glob(f"{side}*"))
                named = [word for file in files for word in ("--run", file)]
                costs.append(_spent(["evaluate", "v1", *named], folder, inside=not rounds))
    best = {side: Cost(*map(min, zip(*costs, strict=True))) for side, costs in found.items()}
    print(f"{runs} runs × {queries:,} queries × {depth:,} places, whole commands")
    for side, cost in best.items():
        print(f"{side:8} {cost.wall:7.2f} s wall, {cost.processor:7.2f} s processor")
    wall, processor = (one / other for one, other in zip(best["chunks"], best["whole"], strict=True))
    print(f"chunks take {wall:.2f} times as long, and {processor:.2f} times the processor")


if __name__ == "__main__":
    main()
