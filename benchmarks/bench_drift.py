"""How often do the tests of one annotator's work find what is there, and what is not?

Annotators are simulated: true grades of four with shares .4, .3, .2, .1, an answer that is true with their
accuracy and else off by one; 60 blind duplicates and 600 grades of 60 queries over six weeks beside two
others, and 40 known answers. Each kind of trouble is planted in so many annotators, and the signals
that come of it are counted; in the first row nothing is the matter. The same seeds give the same table,
which is in docs/agreement-method.md.

Usage: python -m benchmarks.bench_drift [--runs 1000]
Smallest: python -m benchmarks.bench_drift --runs 1
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np

from curation.agreement.annotators.agreement_with_others import agreement_with_others
from curation.agreement.annotators.bias import Differences, annotator_bias
from curation.agreement.annotators.details import details_of
from curation.agreement.annotators.fast_answers import (
    AnswerTimes,
    RoundGrades,
    fast_answers,
    favourite_grades,
)
from curation.agreement.annotators.intra_annotator import Repeats, Showings, intra_agreement, self_consistency
from curation.agreement.annotators.signals import FEEDBACK, control_item_share
from curation.agreement.between.grades import grades_of
from curation.statistics.intervals import wilson

REPEATS, QUERIES, EACH, KNOWN, OTHERS, WEEKS = 60, 60, 10, 40, 2, 6
SCALE = (0, 1, 2, 3)
START = datetime(2026, 3, 2)
ABOUT = tuple(signal.name for signal in FEEDBACK)

Course = Callable[[np.ndarray], np.ndarray]


class Person:
    """What is planted: accuracy and shift by time (0 to 1), memory of near repeats, what hurry costs, grades
    that are 1 by habit, and how much higher the second grade is.
    """

    def __init__(
        self,
        accuracy: Course = lambda t: np.full(len(t), 0.9),
        shift: Course = lambda t: np.zeros(len(t)),
        memory: float = 0.0,
        hurry: float = 0.0,
        second: float = 0.0,
        habit: float = 0.0,
    ) -> None:
        self.accuracy, self.shift, self.memory, self.hurry = accuracy, shift, memory, hurry
        self.second, self.habit = second, habit


def flat(value: float) -> Course:
    return lambda t: np.full(len(t), value)


KINDS = {
    "nothing is the matter (90 % right)": Person(),
    "careless (70 % right)": Person(flat(0.7)),
    "lazy: a third of the grades are 1 by habit": Person(habit=1 / 3),
    "tires: 95 %, from the middle on 70 %": Person(lambda t: np.where(t < 0.5, 0.95, 0.7)),
    "twelve bad repeats in the middle: 95 %, then 45 %": Person(
        lambda t: np.where((t >= 0.45) & (t < 0.65), 0.45, 0.95)
    ),
    "half a grade too high, always": Person(shift=flat(0.5)),
    "drifts by half a grade": Person(shift=lambda t: t / 2 - 0.25),
    "drifts by a whole grade": Person(shift=lambda t: t - 0.5),
    "half a grade too low in the third week": Person(
        shift=lambda t: np.where((t * 6).astype(int) == 2, -0.5, 0)
    ),
    "hurries: 75 % right when fast": Person(hurry=0.15),
    "remembers near repeats (70 % right)": Person(flat(0.7), memory=0.9),
    "a third of a grade higher the second time": Person(second=0.33),
}


def answers(
    random: np.random.Generator, true: np.ndarray, accuracy: np.ndarray, shift: np.ndarray, habit: float = 0
) -> np.ndarray:
    """Grades: true, or off by one; moved by one with the probability of the shift; or 1 by habit."""
    wrong = random.random(len(true)) >= accuracy
    grades = true + wrong * random.choice([-1, 1], size=len(true))
    grades = grades + (random.random(len(true)) < np.abs(shift)) * np.sign(shift)
    if habit:
        grades = np.where(random.random(len(true)) < habit, 1, grades)
    return np.clip(grades, 0, 3).astype(np.int64)


def truth(random: np.random.Generator, number: int) -> np.ndarray:
    return random.choice(4, size=number, p=[0.4, 0.3, 0.2, 0.1])


def repeats(random: np.random.Generator, person: Person) -> Showings:
    when = np.linspace(0, 1, REPEATS, endpoint=False)
    true, accuracy = truth(random, REPEATS), person.accuracy(when)
    first = answers(random, true, accuracy, person.shift(when), person.habit)
    again = answers(random, true, accuracy, person.shift(when) + person.second, person.habit)
    distance = random.integers(20, 120, size=REPEATS)
    remembered = (distance < 60) & (random.random(REPEATS) < person.memory)
    return Showings("ada", first, np.where(remembered, first, again), distance, times(when))


def times(when: np.ndarray) -> np.ndarray:
    return np.asarray([START + timedelta(weeks=WEEKS * float(t)) for t in when], dtype="datetime64[us]")


def beside(random: np.random.Generator, person: Person) -> tuple[Differences, np.ndarray]:
    """The grades beside the others' mean, and all of them: shape (people, pairs)."""
    query = np.repeat(np.arange(QUERIES), EACH)
    when = np.arange(QUERIES * EACH) / (QUERIES * EACH)
    true = np.clip(truth(random, len(query)), 0, 3)
    length = np.exp(random.normal(6, 1, size=len(query)))
    fast = random.random(len(query)) < 0.5
    accuracy = person.accuracy(when) - fast * person.hurry
    own = answers(random, true, accuracy, person.shift(when), person.habit)
    zero = np.zeros(len(query))
    others = np.stack([answers(random, true, zero + 0.9, zero) for _ in range(OTHERS)])
    agreed = (others == others[0]).all(axis=0)
    right = np.where(agreed, own == others[0], -1)
    seconds = length / 60 * np.where(fast, 0.6, 1.5) * np.exp(random.normal(0, 0.2, size=len(query)))
    given = Differences(
        "ada", query, times(when), own - others.mean(axis=0), right, seconds, length.astype(np.int64)
    )
    return given, np.stack([own, *others])


def raised(seed: int, person: Person) -> set[str]:
    """The signals raised by one simulated annotator's work."""
    random = np.random.default_rng(seed)
    shown = repeats(random, person)
    counted = Repeats(
        "ada", REPEATS, [1] * REPEATS, (shown.first == shown.again).astype(int).tolist(), 0, 60.0
    )
    true = truth(random, KNOWN)
    when = np.linspace(0, 1, KNOWN, endpoint=False)
    right = int(
        (answers(random, true, person.accuracy(when), person.shift(when), person.habit) == true).sum()
    )
    given, grades = beside(random, person)
    number, who = grades.shape[1], ["ada", *(f"other {n}" for n in range(OTHERS))]
    rows = [
        (f"q{given.query[pair]:03}", f"d{pair:04}", name, int(own[pair]))
        for name, own in zip(who, grades, strict=True)
        for pair in range(number)
    ]
    by_row = RoundGrades(
        np.repeat(who, number).tolist(), list(range(number)) * len(who), grades.ravel().tolist()
    )
    found = details_of(
        intra_agreement(counted),
        self_consistency(shown, SCALE, seed),
        annotator_bias(given, seed),
        control_item_share(right, KNOWN),
        agreement=agreement_with_others(grades_of(rows))["ada"],
        fast=fast_answers(["ada"], AnswerTimes(who[:1] * number, given.seconds.tolist(), [300] * number))[
            "ada"
        ],
        favourite=favourite_grades(["ada"], by_row)["ada"],
    ).feedback
    return {finding.about for finding in found}


def rates(person: Person, runs: int) -> Counter[str]:
    """About what → of how many annotators it is raised; 'anything' is one or more."""
    counts: Counter[str] = Counter()
    for seed in range(runs):
        found = raised(seed, person)
        counts.update(found)
        counts["anything"] += bool(found)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    started = time.perf_counter()
    columns = (*ABOUT, "anything")
    print("| planted | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
    for name, person in KINDS.items():
        counts = rates(person, runs)
        print(
            f"| {name} | " + " | ".join(f"{counts[about] / runs:.1%}" for about in columns) + " |", flush=True
        )
    low, high = wilson(runs // 20, runs)
    print(f"\n{runs:,} annotators a row; a rate of 5 % is known to {low:.1%}–{high:.1%}.")
    print(f"{(time.perf_counter() - started) / runs / len(KINDS) * 1000:.0f} ms an annotator")


if __name__ == "__main__":
    main()
