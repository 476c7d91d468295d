"""Do prediction-powered intervals hold the truth whatever the judge is worth? The table of docs/judges.md.

A population of very many queries, each with a figure between 0 and 1 under people's grades and one under the
judge's: a good judge, one that knows nothing, one that says the opposite, one that likes nearly all.
Each run draws a set of queries from the population and from these the queries that people grade: with equal
probabilities, or systematically with probabilities proportional to a size that goes with the figure: within a
factor of five, or very unequal (log-normal, sigma 1.5).

Usage: python -m benchmarks.coverage_judges [runs]
Smallest: python -m benchmarks.coverage_judges 1
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from curation.statistics.arrays import Floats
from curation.statistics.intervals import wilson
from curation.statistics.prediction_powered import PredictionPoweredMean, prediction_powered_mean

QUERIES, SAMPLED = 1_000, (30, 100, 300)
DRAWN = ("equally", "by size", "very unequally")
POPULATION = 2_000_000


def figures(random: np.random.Generator, size: int) -> Floats:
    """Like nDCG of a middling system: a tenth of the queries at 0, some at 1, the rest in between."""
    inner = random.beta(2.0, 1.5, size)
    kind = random.random(size)
    return np.where(kind < 0.1, 0.0, np.where(kind > 0.9, 1.0, inner))


def good(random: np.random.Generator, people: Floats) -> Floats:
    return np.clip(people + random.normal(0.05, 0.1, len(people)), 0, 1)


def useless(random: np.random.Generator, people: Floats) -> Floats:
    return random.beta(2.0, 2.0, len(people))


def adversarial(random: np.random.Generator, people: Floats) -> Floats:
    return np.clip(1 - people + random.normal(0, 0.1, len(people)), 0, 1)


def flattering(random: np.random.Generator, people: Floats) -> Floats:
    return np.where(random.random(len(people)) < 0.03, people, 1.0)


def seldom_wrong(random: np.random.Generator, people: Floats) -> Floats:
    """Right but for one query in twenty, where it says that all is perfect; in the text below the table."""
    return np.where(random.random(len(people)) < 0.05, 1.0, people)


JUDGES: dict[str, Callable[[np.random.Generator, Floats], Floats]] = {
    "good": good,
    "useless": useless,
    "adversarial": adversarial,
    "flattering": flattering,
}


class Held(NamedTuple):
    """Over all runs: how often each interval held the truth, and its mean width."""

    powered: float
    untuned: float
    classical: float
    width: float
    untuned_width: float
    classical_width: float
    saved: float
    off: float


def drawn(random: np.random.Generator, sizes: Floats | None, sampled: int) -> tuple[Floats, Floats]:
    """Whom people grade, as 0 or 1, and the probabilities of that; proportional to `sizes` where given."""
    if sizes is None:
        chosen = np.zeros(QUERIES)
        chosen[random.choice(QUERIES, sampled, replace=False)] = 1
        return chosen, np.full(QUERIES, sampled / QUERIES)
    probabilities = np.minimum(1, sampled * sizes / sizes.sum())
    order = random.permutation(QUERIES)
    steps = np.floor(np.cumsum(probabilities[order]) + random.random())
    chosen = np.zeros(QUERIES)
    chosen[order] = np.diff(steps, prepend=np.floor(steps[0] - probabilities[order[0]]))
    return np.minimum(chosen, 1), probabilities


def run(random: np.random.Generator, judge: str, sampled: int, how: str) -> list[PredictionPoweredMean]:
    """Tuned and untuned, on the same draw."""
    people = figures(random, QUERIES)
    said = JUDGES[judge](random, people)
    sizes = None
    if how != "equally":
        sizes = _skewed(random, people) if how == DRAWN[2] else 0.5 + people + random.random(QUERIES)
    chosen, probabilities = drawn(random, sizes, sampled)
    known = np.where(chosen > 0, people, np.nan)
    return [
        prediction_powered_mean(said, known, probabilities=probabilities, power=power)
        for power in (None, 1.0)
    ]


def _skewed(random: np.random.Generator, people: Floats) -> Floats:
    return np.exp(random.normal(0, 1.5, QUERIES) + people / 2)


@cache
def _truth(size: int) -> float:
    return float(figures(np.random.default_rng(1), size).mean())


def measured(judge: str, sampled: int, how: str, runs: int, seed: int = 0) -> Held:
    random = np.random.default_rng(seed)
    truth = _truth(POPULATION if runs > 10 else 10_000)
    rows = []
    for _ in range(runs):
        tuned, untuned = run(random, judge, sampled, how)
        ends = [tuned.estimate, untuned.estimate, tuned.classical]
        held = [float(one.low <= truth <= one.high) for one in ends]
        widths = [one.high - one.low for one in ends]
        rows.append((*held, *widths, tuned.saved, abs(tuned.judge - truth)))
    return Held(*np.asarray(rows).mean(axis=0).tolist())


def main(runs: int = 2_000) -> None:
    print(
        "| judge | people's queries | drawn | held | 95 % of that | untuned | people alone | width | "
        "untuned | people alone | queries saved | judge off by |"
    )
    print("|---|---:|---|---:|---|---:|---:|---:|---:|---:|---:|---:|")
    for how in DRAWN:
        for judge in JUDGES:
            for sampled in SAMPLED:
                found = measured(judge, sampled, how, runs)
                low, high = wilson(round(found.powered * runs), runs)
                print(
                    f"| {judge} | {sampled} | {how} | {found.powered:.1%} | "
                    f"{low:.1%} to {high:.1%} | {found.untuned:.1%} | {found.classical:.1%} | "
                    f"{found.width:.3f} | {found.untuned_width:.3f} | {found.classical_width:.3f} | "
                    f"{found.saved:+.0f} | {found.off:.3f} |"
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
