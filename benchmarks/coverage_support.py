"""Do corrected scores of nuggets hold the truth, whatever the judge is worth? The table of docs/answers.md.

A population of queries with two to six nuggets, a third of them okay ones, and answers that support some
queries' nuggets well and others' badly; one query in ten has no answer. Each run draws a set of queries from
the population, and with the product's own draw the queries that people grade. Scores and estimates are those
of `goldset evaluate --support --judge`.

    right    people's grade for 85 % of the nuggets, else any
    kind     a grade above people's for half of the nuggets
    random   any grade

Usage: python -m benchmarks.coverage_support [runs]
Smallest: python -m benchmarks.coverage_support 1
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from curation.evaluation.answers.answer_files import SystemAnswer, SystemAnswers
from curation.evaluation.answers.judged_support import system_estimates, whole_queries
from curation.evaluation.answers.nugget_scores import NUGGET_SCORES, WEIGHTED, scores_of_answers
from curation.judges.estimates import sample_of
from curation.labeling.rounds.query_draw import draw_queries
from curation.sources.answers.nuggets import Nugget
from curation.statistics.arrays import Floats, Ints
from curation.statistics.prediction_powered import PredictionPoweredMean

QUERIES, SAMPLED = 120, (15, 40)
IDS = [f"q{number:03}" for number in range(QUERIES)]
NUGGETS = {
    query: [Nugget(f"fact {place}", place % 3 < 2) for place in range(2 + number % 5)]
    for number, query in enumerate(IDS)
}
NAMES = {query: [one.id_for(query) for one in nuggets] for query, nuggets in NUGGETS.items()}
ENDS = np.cumsum([0, *map(len, NAMES.values())])
Judge = Callable[[np.random.Generator, Ints], Ints]


def right(random: np.random.Generator, people: Ints) -> Ints:
    return np.where(random.random(len(people)) < 0.85, people, random.integers(0, 3, len(people)))


def kind(random: np.random.Generator, people: Ints) -> Ints:
    return np.minimum(2, people + (random.random(len(people)) < 0.5))


def at_random(random: np.random.Generator, people: Ints) -> Ints:
    return random.integers(0, 3, len(people))


JUDGES: Mapping[str, Judge] = {"right": right, "kind": kind, "random": at_random}


class Held(NamedTuple):
    """Over all runs: how often the interval held the truth, widths, and how far the judge alone is off."""

    powered: float
    alone: float
    width: float
    alone_width: float
    saved: float
    off: float


def drawn_answers(random: np.random.Generator) -> tuple[SystemAnswers, Ints]:
    """A set of queries of the population: the answers, and people's grade of each nugget."""
    asked = random.random(QUERIES) >= 0.1
    given = {query: SystemAnswer(query, "x", ()) for query, there in zip(IDS, asked, strict=True) if there}
    level = np.repeat(random.beta(1.0, 0.8, QUERIES), np.diff(ENDS))
    grades = (random.random(len(level)) < level) * 1 + (random.random(len(level)) < level)
    return SystemAnswers("system", "", given, {}), grades


def shares(file: SystemAnswers, grades: Ints) -> dict[tuple[str, str], float]:
    found = {}
    for (query, names), (first, last) in zip(NAMES.items(), pairwise(ENDS), strict=True):
        if query in file.answers:
            answer = file.answers[query].answer_id
            found |= {(name, answer): one / 2 for name, one in zip(names, grades[first:last], strict=True)}
    return found


def run(random: np.random.Generator, judge: Judge, sampled: int) -> PredictionPoweredMean:
    file, people = drawn_answers(random)
    names = {query: NAMES[query] for query in file.answers}
    units = {name: query for query, own in names.items() for name in own}
    draw = draw_queries(dict.fromkeys(units, "all"), sampled, int(random.integers(2**31)), units)
    asked = np.array([name in draw.drawn for name in units])
    sample = sample_of(units, ["all"] * len(units), asked, ["draw"], {})
    own = shares(file, people)
    found = system_estimates(
        *(file, IDS, NUGGETS, whole_queries(sample, names, set()), shares(file, judge(random, people))),
        {pair: share for pair, share in own.items() if pair[0] in draw.drawn},
    )
    return found.overall[WEIGHTED]


@cache
def truth(sets: int) -> float:
    random, place = np.random.default_rng(1), NUGGET_SCORES.index(WEIGHTED)
    means = []
    for _ in range(sets):
        file, people = drawn_answers(random)
        scores: Floats = scores_of_answers(file.ids_of(IDS), NUGGETS, shares(file, people))
        means.append(scores[:, place].mean())
    return float(np.mean(means))


def measured(judge: str, sampled: int, runs: int, seed: int = 0) -> Held:
    random, value = np.random.default_rng(seed), truth(400 if runs > 10 else 20)
    rows = []
    for _ in range(runs):
        found = run(random, JUDGES[judge], sampled)
        ends = [found.estimate, found.classical]
        held = [float(one.low <= value <= one.high) for one in ends]
        rows.append((*held, *(one.high - one.low for one in ends), found.saved, abs(found.judge - value)))
    return Held(*np.asarray(rows).mean(axis=0).tolist())


def main(runs: int = 1_000) -> None:
    print("| judge | people's queries | held | people alone | width | people alone | saved | judge off by |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for judge in JUDGES:
        for sampled in SAMPLED:
            found = measured(judge, sampled, runs)
            print(
                f"| {judge} | {sampled} | {found.powered:.1%} | {found.alone:.1%} | {found.width:.3f} | "
                f"{found.alone_width:.3f} | {found.saved:+.0f} | {found.off:.3f} |"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
