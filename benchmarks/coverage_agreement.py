"""Do the 95 % intervals of agreement hold the truth 95 times of 100? The tables of docs/agreement-method.md.

Queries are drawn from a population: each has its own mix of relevant documents and its own noise, so that
documents of one query resemble each other. The truth is the figure of 20,000 such queries. A run draws some,
annotators grade ten documents of each, and the interval is the one that the report shows.

The skewed populations have three annotators, each of whom leaves out 30 %, and most grades are 0. In the
concentrated one a few queries hold nearly all that is relevant.

Usage: python -m benchmarks.coverage_agreement [runs]
Smallest: python -m benchmarks.coverage_agreement 1
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.agreement.inter_annotator import estimate_coefficients, find_overlap
from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.bootstrap import RESAMPLES
from curation.core.statistics.intervals import wilson_interval

SCALE = (0, 1, 2, 3)
DOCUMENTS = 10


class Population(NamedTuple):
    """Where queries come from.

    Attributes
    ----------
    mix: the grades' mean shares. alike: how much queries resemble each other in their mix.
    noise: standard deviation of what an annotator sees; zero_noise: the same where a document is a 0.
    missing: share of grades that an annotator leaves out.
    """

    name: str
    mix: tuple[float, ...]
    alike: float
    noise: float
    zero_noise: float
    annotators: int = 2
    missing: float = 0.0


_MIX = (0.45, 0.25, 0.2, 0.1)
EVEN = tuple(
    Population(name, _MIX, 4, noise, noise)
    for name, noise in (("low", 0.3), ("middling", 0.6), ("high", 1.0))
)
SKEWED = (
    Population("skewed", (0.9, 0.045, 0.03, 0.025), 6, 0.6, 0.33, 3, 0.3),
    Population("concentrated", (0.95, 0.0225, 0.015, 0.0125), 2.4, 0.6, 0.33, 3, 0.3),
)


class Coverage(NamedTuple):
    """How often the interval held the truth, where the truth was else, and how often there was none."""

    figure: str
    truth: float
    held: int
    below: int
    above: int
    none: int
    width: float


def draw_counts(random: np.random.Generator, queries: int, population: Population) -> tuple[Ints, Ints]:
    """Grades of queries drawn from the population: counts of shape (units, 4), and each unit's query."""
    mix = random.dirichlet(np.array(population.mix) * population.alike, size=queries)
    positions = random.random((queries, DOCUMENTS))
    true = np.minimum((positions[:, :, None] > np.cumsum(mix, axis=1)[:, None, :]).sum(axis=2), 3)[:, :, None]
    noise = np.where(true == 0, population.zero_noise, population.noise) * np.exp(
        random.normal(0, 0.3, size=(queries, 1, 1))
    )
    perceived = true + noise * random.normal(size=(queries, DOCUMENTS, population.annotators))
    grades = np.clip(np.rint(perceived), 0, 3).astype(np.int64).reshape(-1, population.annotators)
    is_graded = random.random(grades.shape) >= population.missing
    counts = ((grades[:, :, None] == np.arange(4)) & is_graded[:, :, None]).sum(axis=1)
    return counts, np.repeat(np.arange(queries), DOCUMENTS)


def coverage(
    queries: int,
    population: Population,
    names: Sequence[str],
    runs: int,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> list[Coverage]:
    """`runs` simulated projects of so many queries."""
    random = np.random.default_rng(seed)
    whole = find_overlap(*draw_counts(random, 20_000 if runs > 10 else 200, population))
    truths = estimate_coefficients(whole, SCALE, seed, resamples=1)
    ends = np.full((runs, len(names), 2), np.nan)
    for run in range(runs):
        sample = find_overlap(*draw_counts(random, queries, population))
        figures = estimate_coefficients(sample, SCALE, run, resamples)
        for index, name in enumerate(names):
            low, high = figures[name].low, figures[name].high
            ends[run, index] = (np.nan, np.nan) if low is None or high is None else (low, high)
    results = zip(names, np.moveaxis(ends, 1, 0), strict=True)
    return [_count_held(name, truths[name].value or 0.0, intervals) for name, intervals in results]


def _count_held(name: str, truth: float, ends: Floats) -> Coverage:
    is_defined = ~np.isnan(ends[:, 0])
    below, above = truth < ends[:, 0], truth > ends[:, 1]
    is_held = is_defined & ~below & ~above
    width = float((ends[is_defined, 1] - ends[is_defined, 0]).mean())
    counts = (int(is_held.sum()), int(below.sum()), int(above.sum()), int((~is_defined).sum()))
    return Coverage(name, truth, *counts, width)


def _even(runs: int) -> None:
    print("| noise | queries | figure | truth | held | 95 % of that | truth below | above | mean width |")
    print("|---|---:|---|---:|---:|---|---:|---:|---:|")
    for of in EVEN:
        for queries in (20, 50, 150):
            for one in coverage(queries, of, ("nominal", "ordinal"), runs):
                print(_row(of.name, queries, one, runs), flush=True)


def _row(name: str, queries: int, result: Coverage, runs: int) -> str:
    n = runs - result.none
    shares = [
        f"{share:.1%}" for share in (*wilson_interval(result.held, n), result.below / n, result.above / n)
    ]
    held_cells = f"{result.held / n:.1%} | {shares[0]} to {shares[1]} | {shares[2]} | {shares[3]}"
    return (
        f"| {name} | {queries} | {result.figure} | {result.truth:.3f} | {held_cells} | {result.width:.3f} |"
    )


def _skewed(runs: int) -> None:
    print("| set | queries | figure | truth | held | 95 % of that | truth below | above | mean width |")
    print("|---|---:|---|---:|---:|---|---:|---:|---:|")
    for of in SKEWED:
        for queries in (8, 15, 40):
            for one in coverage(queries, of, ("nominal", "ordinal", "ac2"), runs):
                print(_row(of.name, queries, one, runs), flush=True)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    _skewed(runs)
    print()
    _even(runs)


if __name__ == "__main__":
    main()
