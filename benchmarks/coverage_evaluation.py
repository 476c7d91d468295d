"""Do the intervals and tests of an evaluation hold what they say? The tables of docs/evaluation-method.md.

Figures of queries come from populations like those that nDCG@10 has: spread between 0 and 1, bimodal (nothing
found or all), mostly 0, mostly 1. A second system repeats the first on many queries. Each run draws n queries
and computes what the report shows: the interval of a mean, of a difference and of an estimate for all
searches, the tests' p values, and the smallest detectable difference.

For the ROC area, scores of unanswerable and answerable queries are normal, shifted so that the true area is
0.6, 0.8 or 0.95.

Usage: python -m benchmarks.coverage_evaluation [runs] [mean] [difference] [traffic] [alarms] [power] [roc]
Smallest: python -m benchmarks.coverage_evaluation 1
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from curation.core.statistics.arrays import Floats
from curation.core.statistics.bootstrap import percentile_interval, resample_sums
from curation.core.statistics.intervals import wilson_interval
from curation.core.statistics.multiple_tests import correct_by_holm
from curation.core.statistics.paired_differences import compute_moments, paired_t_p
from curation.core.statistics.paired_intervals import paired_intervals
from curation.core.statistics.power import detectable_difference
from curation.core.statistics.randomisation_test import randomisation_ps
from curation.core.statistics.roc import roc_area
from curation.evaluation.figures.means import estimate_means
from curation.evaluation.figures.traffic_estimates import estimate_for_traffic
from curation.evaluation.scoring.drawn_queries import find_drawn_queries

Draw = Callable[[np.random.Generator, int], Floats]
SIZES = (10, 30, 100, 300)
TRUTH = 400_000
"""Queries that stand for a whole population."""


class Population(NamedTuple):
    """Where figures of queries come from: `figures(random, n)` has shape (n,)."""

    name: str
    figures: Draw


class Change(NamedTuple):
    """How a second system differs: it has other figures on a share of the queries, of which some are better.

    Attributes
    ----------
    share: of the queries on which the figures differ. better: of these, the share that gets a new figure at
        least as good as the old one; the others get one at most as good.
    """

    name: str
    share: float
    better: float


def _mixed(zero: float, one: float, a: float, b: float) -> Draw:
    """A share of 0, a share of 1, and Beta(a, b) for the rest."""

    def figures(random: np.random.Generator, n: int) -> Floats:
        place = random.random(n)
        return np.where(place < zero, 0.0, np.where(place < zero + one, 1.0, random.beta(a, b, n)))

    return figures


POPULATIONS = (
    Population("spread", _mixed(0.05, 0.05, 2, 2)),
    Population("bimodal", _mixed(0.35, 0.25, 4, 2)),
    Population("mostly 0", _mixed(0.8, 0.02, 2, 2)),
    Population("mostly 1", _mixed(0.02, 0.85, 2, 2)),
)


def _reciprocal_ranks(random: np.random.Generator, n: int) -> Floats:
    return np.where(random.random(n) < 0.7, 0.0, 1 / random.geometric(0.3, n))


ONLY_MEANS = (
    Population("reciprocal rank, 0 for 70 %", _reciprocal_ranks),
    Population("success, 85 %", _mixed(0.15, 0.85, 1, 1)),
)
CHANGES = (Change("all queries", 1.0, 0.6), Change("30 %", 0.3, 0.65), Change("10 %", 0.1, 0.8))


def change_values(
    random: np.random.Generator, first: Floats, population: Population, change: Change
) -> Floats:
    """The figures of the second system, shape as the first."""
    redrawn = population.figures(random, first.size).reshape(first.shape)
    better = random.random(first.shape) < change.better
    values = np.where(better, np.maximum(first, redrawn), np.minimum(first, redrawn))
    return np.where(random.random(first.shape) < change.share, values, first)


def format_coverage(truth: float, low: Floats, high: Floats) -> str:
    """Share of intervals that hold the truth, with its own interval, and where the truth is otherwise."""
    is_defined = ~np.isnan(low)
    low, high = low[is_defined] - 1e-12, high[is_defined] + 1e-12
    held_count, runs = int(((low <= truth) & (truth <= high)).sum()), int(is_defined.sum())
    ends = " to ".join(f"{end:.1%}" for end in wilson_interval(held_count, runs))
    sides = f"{(truth < low).mean():.1%} | {(truth > high).mean():.1%}"
    return f"{held_count / runs:.1%} | {ends} | {sides} | {(high - low).mean():.3f}"


HELD = "held | 95 % of that | truth below | above | mean width"
HELD_LINE = "---:|---|---:|---:|---:"


def plain(values: Floats, seed: int) -> Floats:
    """The bootstrap without regard to how few queries carry the mean, shape (2, runs): what ours replaces."""
    draws = np.concatenate(list(resample_sums(values, seed))) / len(values)
    ends = [percentile_interval(column, len(values)) or (np.nan, np.nan) for column in draws.T]
    return np.array(ends).T


def means(runs: int) -> None:
    print(
        f"| population | queries | mean | plain bootstrap held | {HELD} |\n|---|---:|---:|---:|{HELD_LINE}|"
    )
    for population in (*POPULATIONS, *ONLY_MEANS):
        truth = float(population.figures(np.random.default_rng(0), TRUTH).mean())
        for n in (5, *SIZES):
            sets = population.figures(np.random.default_rng(n), runs * n).reshape(n, runs)
            ends = np.array([found[1:3] for found in estimate_means(sets)], float).T
            old = format_coverage(truth, *plain(sets, 1)).partition(" |")[0]
            print(
                f"| {population.name} | {n} | {truth:.3f} | {old} | {format_coverage(truth, *ends)} |",
                flush=True,
            )


def differences(runs: int) -> None:
    print(f"| population | differs on | queries | difference | plain bootstrap held | {HELD} |")
    print(f"|---|---|---:|---:|---:|{HELD_LINE}|")
    for population in POPULATIONS[1:3]:
        for change in CHANGES:
            random = np.random.default_rng(0)
            first = population.figures(random, TRUTH)
            truth = float((change_values(random, first, population, change) - first).mean())
            for n in SIZES:
                random = np.random.default_rng(n)
                first = population.figures(random, runs * n).reshape(n, runs)
                off = change_values(random, first, population, change) - first
                old = format_coverage(truth, *plain(off, 1)).partition(" |")[0]
                found = format_coverage(truth, *paired_intervals(off, 1))
                print(
                    f"| {population.name} | {change.name} | {n} | {truth:.3f} | {old} | {found} |", flush=True
                )


def traffic(runs: int) -> None:
    print(f"| population | queries | for all searches | {HELD} |\n|---|---:|---:|{HELD_LINE}|")
    for population in POPULATIONS[:3]:
        for n in (9, *SIZES[1:]):
            ends, truth = drawn_estimates(population.figures, n, runs)
            print(f"| {population.name} | {n} | {truth:.3f} | {format_coverage(truth, *ends)} |", flush=True)


def drawn_estimates(figures_of: Draw, n: int, runs: int) -> tuple[Floats, float]:
    """Ends of the estimates for all searches, shape (2, runs), and the truth.

    Three strata of 200, 800 and 4,000 queries, a third of the sample from each.
    """
    sizes, names = (200, 800, 4000), ("head", "torso", "tail")
    random = np.random.default_rng(0)
    figures = [figures_of(random, size) * weight for size, weight in zip(sizes, (1, 0.9, 0.7), strict=True)]
    searches = [
        random.pareto(1.5, size) * times + times for size, times in zip(sizes, (50, 5, 1), strict=True)
    ]
    total = sum(float(asked.sum()) for asked in searches)
    truth = sum(float(values @ asked) for values, asked in zip(figures, searches, strict=True)) / total
    ends = [
        _drawn_estimate(np.random.default_rng([n, run]), figures, searches, n // 3, names)
        for run in range(runs)
    ]
    return np.array(ends).T, truth


def _drawn_estimate(
    random: np.random.Generator,
    figures: Sequence[Floats],
    searches: Sequence[Floats],
    n: int,
    names: Sequence[str],
) -> tuple[float, float]:
    rows = [random.choice(len(values), n, replace=False) for values in figures]
    values = np.concatenate([one[row] for one, row in zip(figures, rows, strict=True)])[:, None]
    asked = np.concatenate([one[row] for one, row in zip(searches, rows, strict=True)])
    sizes = {name: len(one) for name, one in zip(names, figures, strict=True)}
    stratum = tuple(name for name in names for _ in range(n))
    chance = np.array([n / sizes[name] for name in stratum])
    drawn = find_drawn_queries(stratum, asked, chance, dict.fromkeys(names, n), sizes, "stratified")
    (found,) = estimate_for_traffic(values, drawn, np.ones(values.shape))
    return (np.nan, np.nan) if found.low is None or found.high is None else (found.low, found.high)


def alarms(runs: int) -> None:
    """False alarms at 5 %: two systems alike, and any of the ten pairs of five systems alike."""
    print("| population | differs on | queries | t | randomisation | any of ten pairs | any after Holm |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for population in POPULATIONS[:3]:
        for change in CHANGES:
            even = change._replace(better=0.5)
            for n in SIZES:
                random = np.random.default_rng(n)
                single, family = [], []
                for run in range(runs):
                    base = population.figures(random, n)
                    systems = [change_values(random, base, population, even) for _ in range(5)]
                    off = np.stack([one - other for one, other in combinations(systems, 2)], axis=1)
                    ps = randomisation_ps(off, run, 1999)
                    single.append((paired_t_p(compute_moments(off[:, :1]))[0], ps[0]))
                    family.append((ps.min(), np.nanmin(correct_by_holm(ps))))
                found = [f"{np.mean(np.array(ps) < 0.05):.1%}" for ps in zip(*single, strict=True)]
                found += [f"{np.mean(np.array(ps) < 0.05):.1%}" for ps in zip(*family, strict=True)]
                print(f"| {population.name} | {change.name} | {n} | {' | '.join(found)} |", flush=True)


def power(runs: int) -> None:
    """How often the difference that is called detectable is found; 80 % is what is stated."""
    print("| population | differs on | queries | detectable | t finds it | randomisation finds it |")
    print("|---|---|---:|---:|---:|---:|")
    for population in POPULATIONS[:3]:
        for change in CHANGES:
            even = change._replace(better=0.5)
            random = np.random.default_rng(0)
            first = population.figures(random, TRUTH)
            sd = float((change_values(random, first, population, even) - first).std())
            for n in SIZES:
                wanted = float(detectable_difference(np.array([n]), np.array([sd]))[0])
                random = np.random.default_rng(n)
                first = population.figures(random, runs * n).reshape(n, runs)
                off = change_values(random, first, population, even) - first + wanted
                by_t = float((paired_t_p(compute_moments(off)) < 0.05).mean())
                by_signs = float((randomisation_ps(off, 1, 1999) < 0.05).mean())
                cells = f"{wanted:.3f} | {by_t:.1%} | {by_signs:.1%}"
                print(f"| {population.name} | {change.name} | {n} | {cells} |", flush=True)


def roc(runs: int) -> None:
    print("| unanswerable | answerable | area | held |\n|---:|---:|---:|---:|")
    for cases in (5, 10, 20, 50):
        for controls in (30, 100):
            for truth in (0.6, 0.8, 0.95):
                held = _roc_held(cases, controls, truth, runs)
                print(f"| {cases} | {controls} | {truth} | {held:.1%} |", flush=True)


def _roc_held(cases: int, controls: int, truth: float, runs: int) -> float:
    """The share of runs whose interval holds the truth."""
    random, shift = np.random.default_rng(0), np.sqrt(2) * norm.ppf(truth)
    inside = 0
    for _ in range(runs):
        area = roc_area(random.normal(shift, 1, cases), random.normal(0, 1, controls))
        inside += (area.low or 0.0) <= truth <= (area.high or 0.0)
    return inside / runs


PARTS = {
    "mean": means,
    "difference": differences,
    "traffic": traffic,
    "alarms": alarms,
    "power": power,
    "roc": roc,
}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name in sys.argv[2:] or PARTS:
        print(f"\n{name}, {runs:,} runs\n")
        PARTS[name](runs)


if __name__ == "__main__":
    main()
