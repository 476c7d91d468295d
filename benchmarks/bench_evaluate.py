"""`goldgrade evaluate` of ten runs against ir-measures' own command, each as processes from files to figures.

Both read the same TREC files and compute the same ten measures. goldgrade also opens the release and checks
its sums, and gives intervals, ties, bounds for unjudged documents, and tests of every pair of systems.

- ir_measures: its command line takes one run, so it is called once for each;
- one process: a script that reads the qrels once and all runs, and computes by one evaluator, which spares
  ir-measures everything that a command does again for each run;
- one run: goldgrade and ir_measures with one run alone, which is mostly what starting costs;
- ranx: the measures that it has, in one process, where it is installed (it is no dependency); its compiler
  keeps what it made after the first round.

Written: wall and processor seconds (user and system, of the best of the rounds) with their ratios to
goldgrade, and the largest difference of a mean. Python's compiled files are kept for both sides. Rounds take
turns.

The first round, which compiles, counts if rounds is 0.

Usage: python -m benchmarks.bench_evaluate [runs, default 10] [queries, 1000] [documents, 100] [rounds, 3]
Smallest: python -m benchmarks.bench_evaluate 1 10 20 0
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.support import GOLDGRADE
from tests.support.command_line import invoke

JUDGED = 60
Run = dict[str, dict[str, float]]
MEASURES = {
    "ndcg_exp@10": "nDCG(gains={0:0,1:1,2:3,3:7})@10",
    **{"ndcg@10": "nDCG@10", "mrr@10": "RR@10", "map": "AP", "recall@10": "R@10"},
    **{"success@10": "Success@10", "precision@10": "P@10", "rprec": "Rprec", "bpref": "Bpref"},
    "judged@10": "Judged@10",
}
ONE_PROCESS = """
import sys, ir_measures
measures = [ir_measures.parse_measure(name) for name in sys.argv[1].split()]
evaluator = ir_measures.evaluator(measures, list(ir_measures.read_trec_qrels(sys.argv[2])))
for path in sys.argv[3:]:
    found = evaluator.calc_aggregate(ir_measures.read_trec_run(path))
    print(path, *(repr(found[measure]) for measure in measures), sep="\\t")
"""
RANX = """
import sys, ranx
metrics = sys.argv[1].split()
qrels = ranx.Qrels.from_file(sys.argv[2], kind="trec")
for path in sys.argv[3:]:
    print(path, ranx.evaluate(qrels, ranx.Run.from_file(path, kind="trec"), metrics, make_comparable=True))
"""
RANX_METRICS = "ndcg@10 ndcg_burges@10 mrr@10 map recall@10 hit_rate@10 precision@10 r-precision bpref"


class Cost(NamedTuple):
    """Seconds of one or several processes."""

    wall: float
    processor: float


def corpus_of(queries: int) -> int:
    """How many documents there are for so many queries."""
    return 50 * max(queries, 20)


def grades_of(queries: int, random: np.random.Generator) -> dict[str, dict[str, int]]:
    """Query → document → grade, mostly 0."""
    found = {}
    for query in range(queries):
        documents = random.choice(corpus_of(queries), JUDGED, replace=False)
        grades = random.choice(4, JUDGED, p=[0.6, 0.2, 0.15, 0.05])
        found[f"q{query}"] = {f"d{d}": int(g) for d, g in zip(documents, grades, strict=True)}
    return found


def run_of(grades: Mapping[str, Mapping[str, int]], depth: int, random: np.random.Generator) -> Run:
    """A run that finds most judged documents, the relevant ones a little higher; some scores are equal."""
    found = {}
    skill = random.uniform(0.3, 0.6)
    for query, judged in grades.items():
        others = [f"d{number}" for number in random.choice(corpus_of(len(grades)), depth, replace=False)]
        known = [document for document in judged if random.random() < 0.7]
        documents = list(dict.fromkeys([*known, *others]))[:depth]
        scores = np.round(random.normal(0, 1, len(documents)), 4)
        scores += np.array([skill * judged.get(document, 0) for document in documents])
        found[query] = dict(zip(documents, scores.tolist(), strict=True))
    return found


def write_run(path: Path, run: Run) -> None:
    with path.open("w", encoding="utf-8") as file:
        for query, scores in run.items():
            ordered = sorted(scores.items(), key=lambda item: -item[1])
            for rank, (document, score) in enumerate(ordered, 1):
                file.write(f"{query} Q0 {document} {rank} {score:.4f} {path.stem}\n")


def write_release(folder: Path, grades: Mapping[str, Mapping[str, int]]) -> None:
    """The qrels as a file, and a release of the same grades in a project."""
    pairs = [(query, document, grade) for query, row in grades.items() for document, grade in row.items()]
    (folder / "qrels.txt").write_text("".join(f"{query} 0 {name} {grade}\n" for query, name, grade in pairs))
    corpus = (
        {"_id": f"d{number}", "text": f"text {number} of so many"} for number in range(corpus_of(len(grades)))
    )
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in corpus))
    queries = ({"_id": query, "text": f"what is said about {query}"} for query in grades)
    (folder / "queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in queries))
    for command in (
        "init",
        "import corpus corpus.jsonl",
        "import queries queries.jsonl",
        "import judgments qrels.txt --format qrels --annotator assessor",
        "split --part dev=1.0 --seed 0 --no-query-text --no-paraphrase --no-shared-documents",
        "freeze v1 --override benchmark",
    ):
        in_this_process(folder, command)


def in_this_process(folder: Path, command: str) -> None:
    """A command whose time does not count, on the folder's project, without a process of its own.

    Raises
    ------
    SystemExit: the command failed.
    """
    with chdir(folder):
        done = invoke(["--project", "project.duckdb", *shlex.split(command)])
    if done.exit_code:
        sys.exit(f"failed: {command}: {done.output[:300]}")


def spent(command: Sequence[str], folder: Path, output: str = "output.txt") -> Cost:
    """What one process takes; what it prints is in a file.

    Raises
    ------
    SystemExit: the command failed.
    """
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {
        "GOLDGRADE_PROJECT": str(folder / "project.duckdb"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH", "")])),
    }
    with chdir(folder):
        started = time.monotonic()
        opened = (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        child = os.posix_spawn(command[0], command, environment, file_actions=[opened])
        _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"failed: {shlex.join(command)[:300]}")
    return Cost(time.monotonic() - started, usage.ru_utime + usage.ru_stime)


def sides(runs: Sequence[str]) -> dict[str, list[list[str]]]:
    """What is measured → its commands, one after another."""
    goldgrade = [GOLDGRADE, "evaluate", "v1", "--measures", ",".join(MEASURES)]
    ir_measures = [sys.executable, "-m", "ir_measures", "qrels.txt"]
    named = [word for run in runs for word in ("--run", run)]
    found = {
        "goldgrade": [[*goldgrade, *named]],
        "ir_measures": [[*ir_measures, run, *MEASURES.values()] for run in runs],
        "ir_measures, one process": [
            [sys.executable, "-c", ONE_PROCESS, " ".join(MEASURES.values()), "qrels.txt", *runs]
        ],
    }
    if len(runs) > 1:
        found["goldgrade, one run"] = [[*goldgrade, "--run", runs[0]]]
        found["ir_measures, one run"] = [[*ir_measures, runs[0], *MEASURES.values()]]
    if importlib.util.find_spec("ranx") is not None:
        found["ranx, nine measures, one process"] = [
            [sys.executable, "-c", RANX, RANX_METRICS, "qrels.txt", *runs]
        ]
    return found


def largest_difference(folder: Path, runs: Sequence[str]) -> float:
    """Of any mean of goldgrade and of ir-measures.

    ir-measures is asked for nDCG with gains of its own apart: with nDCG@10 in the same call one of them is
    wrong, in some processes.
    """
    named = [word for run in runs for word in ("--run", run)]
    evaluate = [GOLDGRADE, "evaluate", "v1", "--measures", ",".join(MEASURES), "--json"]
    spent([*evaluate, *named], folder, "ours.json")
    ours = json.loads((folder / "ours.json").read_text())["runs"]
    apart = ("mrr@10", "judged@10")  # ir-measures breaks ties for these by another rule
    differences = []
    for names in (["ndcg_exp@10"], [name for name in MEASURES if name not in ("ndcg_exp@10", *apart)]):
        asked = " ".join(MEASURES[name] for name in names)
        spent([sys.executable, "-c", ONE_PROCESS, asked, "qrels.txt", *runs], folder, "theirs.txt")
        theirs = [line.split("\t")[1:] for line in (folder / "theirs.txt").read_text().splitlines()]
        differences += [
            abs(system["overall"][name]["value"] - float(value))
            for system, values in zip(ours, theirs, strict=True)
            for name, value in zip(names, values, strict=True)
        ]
    return max(differences)


def main() -> None:
    number, queries, depth, rounds = (
        int(text) for text in [*sys.argv[1:], *("10", "1000", "100", "3")[len(sys.argv) - 1 :]]
    )
    random = np.random.default_rng(0)
    grades = grades_of(queries, random)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_release(folder, grades)
        runs = [f"run{place}.trec" for place in range(number)]
        for run in runs:
            write_run(folder / run, run_of(grades, depth, random))
        commands = sides(runs)
        found: dict[str, list[Cost]] = {side: [] for side in commands}
        for again in range(rounds + 1):
            for side, parts in commands.items():
                costs = [spent(part, folder) for part in parts]
                if again or not rounds:  # the first round compiles
                    found[side].append(Cost(*map(sum, zip(*costs, strict=True))))
        difference = largest_difference(folder, runs)
    best = {side: Cost(*map(min, zip(*costs, strict=True))) for side, costs in found.items()}
    print(
        f"{number} runs × {queries:,} queries × {depth:,} documents, {len(MEASURES)} measures, whole commands"
    )
    for side, cost in best.items():
        ours = best["goldgrade, one run" if side.endswith("one run") else "goldgrade"]
        print(
            f"{side:34} {cost.wall:7.2f} s wall, {cost.processor:7.2f} s processor; goldgrade takes "
            f"{ours.wall / cost.wall:.2f} and {ours.processor / cost.processor:.2f} times as long"
        )
    if importlib.util.find_spec("ranx") is None:
        print("ranx is not installed here: not measured")
    print(f"largest difference of a mean: {difference:.1e}")


if __name__ == "__main__":
    main()
