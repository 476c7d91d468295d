"""The full report of `goldset evaluate` against ir-measures computing the metrics alone, in one process.

Each run is given to ir-measures as the dictionaries that it reads, and to goldset in the same form, with
conversion counted. Then goldset makes the report of all runs: intervals, kinds of queries, estimates for the
traffic, ties, bounds for unjudged documents, and tests of every pair of systems.

Written: processor seconds of both and their ratio, peak memory, and whether both have the same values.
ir-measures computes those of the default measures that it has, with its own providers. A second ratio is
against trec_eval's part of that alone, without MRR@10 and Judged@10, which it computes in Python. ranx
computes the eight of these measures that it has, where it is installed (it is no dependency): all runs, from
the same dictionaries, after one that is not counted, in which it compiles.

Usage: python -m benchmarks.bench_evaluate [runs, default 20] [queries, 1000] [documents, 1000]
Smallest: python -m benchmarks.bench_evaluate 2 10 20
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import ir_measures as ir
import numpy as np

from curation.evaluation.evaluate_runs import evaluate_read
from curation.evaluation.evaluation import EvaluationOptions
from curation.evaluation.inputs.facets import facets_of
from curation.evaluation.inputs.pooled import PooledPairs
from curation.evaluation.inputs.release import DrawnQueries, EvaluatedRelease
from curation.evaluation.inputs.system_runs import SystemRun
from curation.evaluation.metrics.qrels import qrels_from
from curation.evaluation.metrics.rankings import run_rows
from curation.sources.queries import KnownQueries

JUDGED = 60
CORPUS = 50_000
BANDS = ("head", "torso", "tail")
Run = dict[str, dict[str, float]]
GAINS = {grade: 2**grade - 1 for grade in range(4)}
TREC_EVAL = {
    **{"ndcg@10": ir.nDCG @ 10, "map": ir.AP, "recall@10": ir.R @ 10, "success@10": ir.Success @ 10},
    **{"precision@10": ir.P @ 10, "rprec": ir.Rprec, "bpref": ir.Bpref},
}
IN_PYTHON = {"mrr@10": ir.RR @ 10, "judged@10": ir.Judged @ 10}
EXPONENTIAL = {"ndcg_exp@10": ir.nDCG(gains=GAINS) @ 10}


class Clock:
    """Processor seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def run(self, step: str, work: Any) -> Any:
        started = time.process_time()
        result = work()
        self.seconds[step] = self.seconds.get(step, 0.0) + time.process_time() - started
        return result


def grades_of(queries: int, random: np.random.Generator) -> dict[str, dict[str, int]]:
    """Query → document → grade, mostly 0."""
    found = {}
    for query in range(queries):
        documents = random.choice(CORPUS, JUDGED, replace=False)
        grades = random.choice(4, JUDGED, p=[0.6, 0.2, 0.15, 0.05])
        found[f"q{query}"] = {f"d{d}": int(g) for d, g in zip(documents, grades, strict=True)}
    return found


def run_of(grades: Mapping[str, Mapping[str, int]], depth: int, random: np.random.Generator) -> Run:
    """A run that finds most judged documents, the relevant ones a little higher; some scores are equal."""
    found = {}
    skill = random.uniform(0.3, 0.6)
    for query, judged in grades.items():
        others = [f"d{number}" for number in random.choice(CORPUS, depth, replace=False)]
        known = [document for document in judged if random.random() < 0.7]
        documents = list(dict.fromkeys([*known, *others]))[:depth]
        scores = np.round(random.normal(0, 1, len(documents)), 4)
        scores += np.array([skill * judged.get(document, 0) for document in documents])
        found[query] = dict(zip(documents, scores.tolist(), strict=True))
    return found


def release_of(grades: Mapping[str, Mapping[str, int]], random: np.random.Generator) -> EvaluatedRelease:
    """The grades as a release: a sample of three bands and two tags."""
    qrels = qrels_from(grades)
    number = len(qrels.query_ids)
    strata = [BANDS[place % 3] for place in range(number)]
    rows = [
        {
            "stratum": stratum,
            "segment": f"segment {place % 4}",
            "tags": ["question"] if place % 5 == 0 else ["entity"] if place % 7 == 0 else [],
            "source": "sampled",
            "part": "dev",
            "inclusion_probability": 0.01,
        }
        for place, stratum in enumerate(strata)
    ]
    drawn = {band: strata.count(band) for band in BANDS}
    population = {band: 100 * count for band, count in drawn.items()}
    traffic = random.integers(1, 1000, number).astype(np.float64)
    return EvaluatedRelease(
        name="bench",
        release_id="0" * 64,
        parts=("dev",),
        sealed=(),
        qrels=qrels,
        texts={query: query for query in qrels.query_ids},
        facets=facets_of(rows, ["band"]),
        drawn=DrawnQueries(tuple(strata), traffic, np.full(number, 0.01), drawn, population, "stratified"),
        known=KnownQueries([], {}),
        documents=frozenset(),
        pooled=PooledPairs({}, {}, (), frozenset()),
    )


def theirs(grades: Any, run: Run, clock: Clock) -> dict[str, float]:
    """Mean of each measure by ir-measures; gains have a call of their own."""
    found: dict[str, float] = {}
    for step, measures in (("trec_eval", TREC_EVAL), ("gains", EXPONENTIAL), ("python", IN_PYTHON)):
        values = clock.run(step, lambda measures=measures: list(ir.iter_calc(measures.values(), grades, run)))
        names = {measure: name for name, measure in measures.items()}
        sums: dict[str, float] = {}
        for row in values:
            sums[names[row.measure]] = sums.get(names[row.measure], 0.0) + row.value
        found |= {name: total / len(grades) for name, total in sums.items()}
    return found


def system_run(name: str, run: Run, release: EvaluatedRelease) -> SystemRun:
    rows = run_rows(run, release.qrels)
    return SystemRun(name, name, rows, len(rows.query), 0, 0, {}, None)


def runs_of(number: int, grades: Any, depth: int, random: np.random.Generator) -> Iterator[tuple[str, Run]]:
    for place in range(number):
        yield f"system {place + 1:02}", run_of(grades, depth, random)


class Ranx:
    """The metrics alone by ranx, where it is installed."""

    METRICS = (
        *("ndcg@10", "ndcg_burges@10", "mrr@10", "map", "recall@10", "hit_rate@10", "precision@10"),
        "r-precision",
    )

    def __init__(self, grades: Any) -> None:
        self.clock = Clock()
        try:
            import ranx
        except ImportError:
            self._ranx = None
            return
        self._ranx, self._compiled = ranx, False
        ranx.Qrels(grades)  # compiles
        self._qrels = self.clock.run("qrels", lambda: ranx.Qrels(grades))

    def score(self, run: Run) -> None:
        if self._ranx is None:
            return
        if not self._compiled:
            self._ranx.evaluate(self._qrels, self._ranx.Run(run), list(self.METRICS))
            self._compiled = True
        read = self.clock.run("reading", lambda: self._ranx.Run(run))
        self.clock.run("metrics", lambda: self._ranx.evaluate(self._qrels, read, list(self.METRICS)))

    def show(self, theirs: float) -> None:
        if self._ranx is None:
            print("ranx is not installed here: not measured")
            return
        total = sum(self.clock.seconds.values())
        steps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in self.clock.seconds.items())
        print(f"ranx        {total:8.1f} s, {len(self.METRICS)} metrics alone ({steps})")
        print(f"ranx's ratio: {total / theirs:.2f} times ir-measures")


def main() -> None:
    number, queries, depth = (
        int(text) for text in [*sys.argv[1:], *("20", "1000", "1000")[len(sys.argv) - 1 :]]
    )
    random = np.random.default_rng(0)
    grades = grades_of(queries, random)
    release = release_of(grades, random)
    clock, other, ranx = Clock(), Clock(), Ranx(grades)
    read: dict[str, list[SystemRun]] = {}
    expected: dict[str, dict[str, float]] = {}
    for name, run in runs_of(number, grades, depth, random):
        expected[name] = theirs(grades, run, other)
        ranx.score(run)
        read[name] = [clock.run("columns", lambda run=run, name=name: system_run(name, run, release))]
    options = EvaluationOptions(by=("type", "segment"))
    report = clock.run("report", lambda: evaluate_read(release, read, options))
    worst = max(
        abs((system.overall[measure].value or 0.0) - value)
        for system in report.runs
        for measure, value in expected[system.name].items()
        if measure not in IN_PYTHON
    )
    every, ours = sum(other.seconds.values()), sum(clock.seconds.values())
    engine = other.seconds["trec_eval"] + other.seconds["gains"]
    steps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in clock.seconds.items())
    print(f"{number} runs × {queries:,} queries × {depth:,} documents, processor seconds")
    print(f"ir-measures {every:8.1f} s, metrics alone ({engine:.1f} of it in trec_eval)")
    print(f"goldset     {ours:8.1f} s, full report ({steps})")
    print(f"largest difference of a mean: {worst:.1e}")
    print(
        f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} MB, with a run's "
        "dictionaries"
    )
    ranx.show(every)
    print(
        f"ratio: {ours / every:.2f} times the metrics alone, {ours / engine:.2f} times trec_eval's part of "
        "them"
    )


if __name__ == "__main__":
    main()
