"""Does the interval of the mean of Cohen's kappas hold the truth? The table of docs/agreement-method.md.

Annotators who are all alike, queries that differ in their mix of grades and in how noisily they are judged,
each query judged by a few of the annotators: so each two of them share some queries. The truth is kappa of
two annotators on very many queries.

Usage: python -m benchmarks.coverage_cohen [runs]
Smallest: python -m benchmarks.coverage_cohen 1
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from curation.agreement.between import annotator_pairs
from curation.agreement.between.coefficients import cohen_of, weights_of
from curation.agreement.between.grades import Grades
from curation.statistics.intervals import wilson

SCALE, NOISE, RESAMPLES = (0, 1, 2, 3), 0.6, 400


class Project(NamedTuple):
    """How many annotators, judges and documents a query, and queries."""

    annotators: int
    judges: int
    documents: int
    queries: int


PROJECTS = (
    Project(3, 3, 10, 50),
    Project(6, 2, 10, 100),
    Project(12, 3, 10, 150),
    Project(12, 2, 4, 500),
    Project(25, 5, 4, 200),
    Project(25, 2, 10, 500),
)


def drawn(random: np.random.Generator, project: Project) -> Grades:
    people, judges, documents, queries = project
    mix = random.dirichlet(np.array([0.45, 0.25, 0.2, 0.1]) * 4, size=queries)
    place = random.random((queries, documents))
    true = np.minimum((place[:, :, None] > np.cumsum(mix, axis=1)[:, None, :]).sum(axis=2), 3)
    own = NOISE * np.exp(random.normal(0, 0.3, size=(queries, 1, 1)))
    seen = true[:, :, None] + own * random.normal(size=(queries, documents, judges))
    who = np.sort(np.argsort(random.random((queries, people)), axis=1)[:, :judges], axis=1)
    pairs = queries * documents
    return Grades(
        query_ids=[f"q{n:05}" for n in range(queries)],
        documents=[f"d{n:06}" for n in range(pairs)],
        names=[f"annotator {n:02}" for n in range(people)],
        unit_queries=np.repeat(np.arange(queries), documents),
        units=np.repeat(np.arange(pairs), judges),
        people=np.repeat(who, documents, axis=0).ravel(),
        graded=np.ones(pairs * judges, dtype=bool),
        grades=np.clip(np.rint(seen), 0, 3).astype(np.int64).ravel(),
        weeks=np.zeros(pairs * judges, dtype="datetime64[D]"),
    )


def truth(queries: int = 50_000) -> float:
    """Quadratic kappa of two annotators."""
    grades = drawn(np.random.default_rng(0), Project(2, 2, 10, queries)).grades.reshape(-1, 2)
    table = np.bincount(grades[:, 0] * 4 + grades[:, 1], minlength=16).reshape(1, 4, 4).astype(np.float64)
    return float(cohen_of(table, weights_of(4, "quadratic"))[0])


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    true = truth()
    print(f"True quadratic kappa: {true:.3f}; {runs:,} runs.\n")
    columns = [
        "annotators",
        "judges",
        "documents",
        "queries",
        "queries a pair",
        "mean",
        "too low by",
        "held",
    ]
    print(f"| {' | '.join([*columns, '95 % of that'])} |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    for project in PROJECTS:
        found = [
            annotator_pairs.cohen(
                drawn(np.random.default_rng([run, *project]), project), SCALE, run, RESAMPLES
            )
            for run in range(runs)
        ]
        means = [one.quadratic for one in found]
        usual = np.mean([one.shared_queries for one in found])
        value = np.mean([one.value for one in means])
        head = " | ".join(map(str, project))
        low_by = [one.too_low_by for one in means if one.too_low_by is not None]
        ends = [(one.low, one.high) for one in means if one.low is not None]
        held = "none given | –"
        if ends:
            times = sum(low <= true <= high for low, high in ends)
            span = " to ".join(f"{share:.1%}" for share in wilson(times, len(ends)))
            held = f"{times / len(ends):.1%} | {span}"
        told = f"{np.mean(low_by):.3f}" if low_by else "–"
        print(f"| {head} | {usual:.1f} | {value:.3f} | {told} | {held} |", flush=True)


if __name__ == "__main__":
    main()
