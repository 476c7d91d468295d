"""Do intervals by judge and people hold the truth whatever the judge is worth? The table of docs/judges.md.

A population of very many queries in eight strata of unequal size, each query with a figure between 0 and 1
under people's grades and one under the judge's: a good judge, one that knows nothing, one that says the
opposite, one that likes nearly all, and one that is right but for one query in twenty. Each run takes 1,000
queries from the population and, from these, the ones that people grade, as `round open --draw` draws them: at
least one of each stratum, the rest in proportion. Then two means are estimated: of all queries alike, and of
all searches, where a query's traffic is log-normal (sigma 1).

Usage: python -m benchmarks.coverage_judges [runs, default 2000]
Smallest: python -m benchmarks.coverage_judges 1
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.difference_estimator import (
    DifferenceEstimate,
    MeanInterval,
    difference_estimate,
)
from curation.core.statistics.intervals import wilson_interval
from curation.labeling.rounds.query_draw import draw_queries

QUERIES, SAMPLED, POPULATION = 1_000, (30, 100, 300), 1_000_000
STRATA = np.array([0.35, 0.25, 0.15, 0.1, 0.06, 0.04, 0.03, 0.02])
"""The strata's shares of the population; the larger a stratum, the better the system does in it."""
HEAD = (
    "| judge | people's queries | held | 95 % of that | people alone | all searches | width | people alone "
    "| queries saved | judge off by |\n|---|---:|---:|---|---:|---:|---:|---:|---:|---:|"
)


def figures(random: np.random.Generator, strata: Ints) -> Floats:
    """Like nDCG of a middling system: some queries at 0, some at 1, the rest in between."""
    kind, zero = random.random(len(strata)), 0.03 + 0.04 * strata
    return np.where(kind < zero, 0.0, np.where(kind > 0.9, 1.0, random.beta(2.0, 1.5, len(strata))))


def good(random: np.random.Generator, people: Floats) -> Floats:
    return np.clip(people + random.normal(0.05, 0.1, len(people)), 0, 1)


def useless(random: np.random.Generator, people: Floats) -> Floats:
    return random.beta(2.0, 2.0, len(people))


def adversarial(random: np.random.Generator, people: Floats) -> Floats:
    return np.clip(1 - people + random.normal(0, 0.1, len(people)), 0, 1)


def flattering(random: np.random.Generator, people: Floats) -> Floats:
    return np.where(random.random(len(people)) < 0.03, people, 1.0)


def seldom_wrong(random: np.random.Generator, people: Floats) -> Floats:
    return np.where(random.random(len(people)) < 0.05, 1.0, people)


JUDGES: dict[str, Callable[[np.random.Generator, Floats], Floats]] = {
    "good": good,
    "useless": useless,
    "adversarial": adversarial,
    "flattering": flattering,
    "seldom wrong": seldom_wrong,
}


def drawn(strata: Ints, sampled: int, seed: int) -> tuple[Mask, Floats]:
    """Which queries people grade, and the probability of each."""
    draw = draw_queries({f"{n:04}": str(stratum) for n, stratum in enumerate(strata)}, sampled, seed)
    probabilities = draw.probabilities
    asked = np.array([query_id in draw.drawn for query_id in probabilities])
    return asked, np.array(list(probabilities.values()))


def run(judge: str, sampled: int, seed: int) -> tuple[DifferenceEstimate, DifferenceEstimate]:
    """The estimates of one run: of all queries alike, and of all searches."""
    random = np.random.default_rng([seed, sampled])
    strata = random.choice(len(STRATA), QUERIES, p=STRATA)
    people = figures(random, strata)
    asked, probabilities = drawn(strata, sampled, seed)
    units = JUDGES[judge](random, people), np.where(asked, people, np.nan), asked, probabilities
    names = [str(stratum) for stratum in strata]
    searches = np.exp(random.normal(0, 1, QUERIES))
    return difference_estimate(*units, names), difference_estimate(*units, names, searches)


@cache
def truth() -> float:
    random = np.random.default_rng(1)
    return float(figures(random, random.choice(len(STRATA), POPULATION, p=STRATA)).mean())


def measured(judge: str, sampled: int, runs: int) -> list[float]:
    """The means over all runs, in the order of the columns: shares of intervals that hold the truth first."""
    rows = []
    for seed in range(runs):
        found, of_searches = run(judge, sampled, seed)
        ends = [found.estimate, found.people_alone, of_searches.estimate]
        off = abs((found.judge_alone or 0.0) - truth())
        rows.append([*map(_holds, ends), *map(_width, ends[:2]), found.saved or 0.0, off])
    means: list[float] = np.mean(rows, axis=0).tolist()
    return means


def _holds(one: MeanInterval) -> bool:
    return one.low is not None and one.high is not None and one.low <= truth() <= one.high


def _width(one: MeanInterval) -> float:
    return (one.high or 0.0) - (one.low or 0.0)


def main(runs: int) -> None:
    print(HEAD)
    for judge in JUDGES:
        for sampled in SAMPLED:
            held, alone, searches, width, alone_width, saved, off = measured(judge, sampled, runs)
            ends = " to ".join(f"{end:.1%}" for end in wilson_interval(round(held * runs), runs))
            print(
                f"| {judge} | {sampled} | {held:.1%} | {ends} | {alone:.1%} | {searches:.1%} | {width:.3f} | "
                f"{alone_width:.3f} | {saved:+.0f} | {off:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
