"""`goldset evaluate` of a few queries on a packed release, and ir-measures' own command: what a start costs.

Both read the same run and the same grades and print a few measures. goldset reads the release from its one
file, in a folder without a project. A project's own evaluation of the same is the third side. Rounds take
turns, and the best of each counts; the first round, which compiles, counts if rounds is 0.

Usage: python -m benchmarks.bench_packed [queries, default 8] [rounds, 5]
Smallest: python -m benchmarks.bench_packed 4 0
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.bench_evaluate import (
    Cost,
    grades_of,
    in_this_process,
    run_of,
    spent,
    write_release,
    write_run,
)
from tests.support import GOLDSET

OURS, PROJECT, THEIRS = "goldset, packed release", "goldset, project", "ir_measures"


def main() -> None:
    queries, rounds = (int(text) for text in [*sys.argv[1:], *("8", "5")[len(sys.argv) - 1 :]])
    random = np.random.default_rng(0)
    grades = grades_of(queries, random)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_release(folder, grades)
        write_run(folder / "run.trec", run_of(grades, 100, random))
        in_this_process(folder, "release pack v1 v1.goldset")
        evaluate = ["--run", "run.trec", "--measures", "ndcg@10,map,mrr@10"]
        sides = {
            OURS: [GOLDSET, "--project", "none.duckdb", "evaluate", "v1.goldset", *evaluate],
            PROJECT: [GOLDSET, "evaluate", "v1", *evaluate],
            THEIRS: [sys.executable, "-m", "ir_measures", "qrels.txt", "run.trec", "nDCG@10", "AP", "RR@10"],
        }
        found: dict[str, list[Cost]] = {side: [] for side in sides}
        for again in range(rounds + 1):
            for side, command in sides.items():
                cost = spent(command, folder)
                if again or not rounds:
                    found[side].append(cost)
    best = {side: Cost(*map(min, zip(*costs, strict=True))) for side, costs in found.items()}
    for side, cost in best.items():
        print(
            f"{side:24} {cost.wall:6.2f} s wall, {cost.processor:6.2f} s processor; "
            f"{cost.wall / best[THEIRS].wall:.1f} and {cost.processor / best[THEIRS].processor:.1f} times "
            f"{THEIRS}"
        )


if __name__ == "__main__":
    main()
