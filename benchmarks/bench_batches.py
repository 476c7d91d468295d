"""What steps cost on a large corpus, of which no step holds all texts: seconds and peak memory.

A project is made with documents as `bench_index` draws them, with queries of three words, and a run of random
documents, 100 a query. Each step is a process of its own: the import of the run, a pool of bm25 with five
random negatives a query, the tags of the queries, judgments of the run's first lines, a split, an audit of
assumed negatives, and a freeze in which identical documents share grades.

Usage: python -m benchmarks.bench_batches [documents, default 1000000] [queries, default 1000]
       [--lines 100000] [--steps run,pool,tags,judgments,split,audit,freeze] [--project FILE] [--here]
    --lines of the run. --project goes on from a project that is there. --here takes all steps in one process.
Smallest: python -m benchmarks.bench_batches 200 10 --lines 1000 --here
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks.bench_index import STEP, VOCABULARY, vocabulary
from benchmarks.steps import goldset, python

PLACES = 100
GRADES = (3, 2, 1, 0, 0, 0, 0, 0, 0, 0)
"""Of the first documents of each list, by two people who agree."""
STEPS: dict[str, tuple[str, ...]] = {
    "run": ("import", "run", "run.trec", "--name", "other"),
    "pool": ("pool", "--systems", "bm25", "--depth", "10", "--random-negatives", "5", "--seed", "1"),
    "tags": ("tags", "find"),
    "judgments": ("import", "judgments", "judgments.csv", "--annotator-columns", "ada,grace"),
    "split": ("split", "--no-paraphrase", "--seed", "1", "--largest-group", "1"),
    "audit": ("negatives", "audit", "--annotators", "ada", "--seed", "1"),
    "freeze": ("freeze", "one", "--share-grades", "identical"),
}


def write_files(folder: Path, documents: int, queries: int, lines: int) -> None:
    """The queries, the run, and two people's grades of its first lines."""
    import numpy as np

    draw = Random(7)
    words = vocabulary(np.random.Generator(np.random.PCG64(7)), min(VOCABULARY, 30 * documents))[50:5_000]
    texts = [" ".join(draw.choices(words, k=3)) for _ in range(queries)]
    _write(folder / "queries.tsv", ["query_id\ttext", *(f"q{n}\t{text}" for n, text in enumerate(texts))])
    asked, places = min(queries, -(-lines // PLACES)), min(PLACES, documents)
    chosen = [draw.sample(range(documents), places) for _ in range(asked)]
    ranked = (
        f"q{query} Q0 d{number:07} {rank} {1 / rank} other"
        for query, numbers in enumerate(chosen)
        for rank, number in enumerate(numbers, 1)
    )
    _write(folder / "run.trec", islice(ranked, lines))
    graded = [
        f"q{query},d{number:07},{grade},{grade}"
        for query, numbers in enumerate(chosen)
        for grade, number in zip(GRADES, numbers, strict=False)
    ]
    _write(folder / "judgments.csv", ["query_id,document_id,ada,grace", *graded])


def _write(path: Path, lines: Sequence[str] | islice[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("documents", type=int, nargs="?", default=1_000_000)
    parser.add_argument("queries", type=int, nargs="?", default=1_000)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--project", type=Path)
    parser.add_argument("--here", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = asked.project or folder / "project.duckdb"
        write_files(folder, asked.documents, asked.queries, asked.lines)
        if not project.exists():
            python(STEP, "make", project, asked.documents, here=asked.here)
            goldset(project, "import", "queries", folder / "queries.tsv", here=asked.here)
            words = ("annotator", "add", "ada", "--password-stdin")
            goldset(project, *words, given="a benchmark's password\n", here=asked.here)
        print(f"{asked.documents:,} documents, {asked.queries:,} queries, a run of {asked.lines:,} lines")
        for step in asked.steps.split(","):
            words = [folder / word if (folder / word).is_file() else word for word in STEPS[step]]
            cost = goldset(project, *words, here=asked.here)
            print(
                f"{step:10} {cost.wall:7.1f} s, {cost.processor:.1f} of processor, {cost.megabytes:,.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
