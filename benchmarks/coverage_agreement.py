"""Does the 95 % interval of alpha hold the true alpha 95 times of 100? The table of docs/agreement-method.md.

Queries are drawn from a population: each has its own mix of relevant documents and its own noise, so that
documents of one query resemble each other. The truth is alpha of 20,000 such queries. A run draws some, two
annotators grade ten documents of each, and the interval is the one that the report shows.

Usage: python -m benchmarks.coverage_agreement [runs]
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from curation.agreement.between.coefficients import LEVELS, Floats, Level, alpha_of, meetings
from curation.agreement.between.inter_annotator import interval_of
from curation.statistics.intervals import Sums, resampled_figures, wilson

SCALE = np.arange(4.0)
DOCUMENTS, ANNOTATORS = 10, 2
NOISE = {"low": 0.3, "middling": 0.6, "high": 1.0}
QUERIES = (20, 50, 150)
SHOWN: tuple[Level, ...] = ("nominal", "ordinal", "interval")


class Coverage(NamedTuple):
    """How often the interval held the truth, and where the truth lay else."""

    level: Level
    truth: float
    held: int
    below: int
    above: int
    none: int
    width: float


def drawn(random: np.random.Generator, queries: int, noise: float) -> Floats:
    """Coincidence matrices of queries drawn from the population, shape (queries, 4, 4)."""
    mix = random.dirichlet(np.array([0.45, 0.25, 0.2, 0.1]) * 4, size=queries)
    place = random.random((queries, DOCUMENTS))
    true = np.minimum((place[:, :, None] > np.cumsum(mix, axis=1)[:, None, :]).sum(axis=2), 3)
    own = noise * np.exp(random.normal(0, 0.3, size=(queries, 1, 1)))
    seen = true[:, :, None] + own * random.normal(size=(queries, DOCUMENTS, ANNOTATORS))
    grades = np.clip(np.rint(seen), 0, 3).astype(np.int64)
    counts = (grades.reshape(-1, ANNOTATORS)[:, :, None] == np.arange(4)).sum(axis=1)
    return meetings(counts, np.repeat(np.arange(queries), DOCUMENTS), queries).coincidences


def alphas(sums: Floats) -> Floats:
    stacked = sums.reshape(-1, 4, 4)
    return np.stack([alpha_of(stacked, SCALE, level) for level in SHOWN], axis=1)


def coverage(queries: int, noise: float, runs: int, seed: int = 1) -> list[Coverage]:
    """`runs` simulated projects of so many queries."""
    random = np.random.default_rng(seed)
    truth = alphas(drawn(random, 20_000, noise).sum(axis=0))[0]
    ends = np.full((runs, len(SHOWN), 2), np.nan)
    for run in range(runs):
        columns = drawn(random, queries, noise).reshape(queries, 16)
        part = Sums(np.arange(queries), columns, alphas)
        (values,) = resampled_figures([part], queries, seed=run)
        for place in range(len(SHOWN)):
            low, high, _ = interval_of(values[:, place], queries)
            ends[run, place] = (np.nan, np.nan) if low is None or high is None else (low, high)
    return [_counted(level, truth[place], ends[:, place]) for place, level in enumerate(SHOWN)]


def _counted(level: Level, truth: float, ends: Floats) -> Coverage:
    there = ~np.isnan(ends[:, 0])
    below, above = int((truth < ends[there, 0]).sum()), int((truth > ends[there, 1]).sum())
    held = int(there.sum()) - below - above
    width = float((ends[there, 1] - ends[there, 0]).mean())
    return Coverage(level, float(truth), held, below, above, int((~there).sum()), width)


def main() -> None:
    assert set(SHOWN) <= set(LEVELS)
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| noise | queries | level | alpha | held | 95 % of that | truth below | above | mean width |")
    print("|---|---:|---|---:|---:|---|---:|---:|---:|")
    for name, noise in NOISE.items():
        for queries in QUERIES:
            for one in coverage(queries, noise, runs):
                n = runs - one.none
                shares = [f"{share:.1%}" for share in (*wilson(one.held, n), one.below / n, one.above / n)]
                held = f"{one.held / n:.1%} | {shares[0]} to {shares[1]} | {shares[2]} | {shares[3]}"
                row = f"| {name} | {queries} | {one.level} | {one.truth:.3f} | {held} | {one.width:.3f} |"
                print(row, flush=True)


if __name__ == "__main__":
    main()
