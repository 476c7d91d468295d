"""The favourite grade: how often each annotator gives one grade to pairs that others graded, too.

If it did not matter who gave which of a pair's grades, each would be the annotator's with equal probability.
Then the count of a grade is a sum of independent draws, one a pair (Poisson binomial).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from curation.agreement.annotators.fast_answers import FEWEST_ANSWERS
from curation.store import Cursor

ONE_GRADE = 0.8
"""Share of one grade from which its probability is worked out."""


class RoundGrades(NamedTuple):
    """Grades in the order in which they were given, in parallel; one a unit and annotator."""

    annotators: Sequence[str]
    units: Sequence[object]
    grades: Sequence[int]


class FavouriteGrade(NamedTuple):
    """The most frequent grade of an annotator on pairs that others graded, too.

    Attributes
    ----------
    times, pairs: how often it was given, of how many pairs; `others_times` of `others_grades`: by others.
    longest_run: of one grade, in the order of all answers; `others_run`: the longest one of anybody else.
    p: how probable a grade as frequent is, were all grades of a pair anybody's; 1 below `ONE_GRADE`.
    """

    grade: int
    times: int
    pairs: int
    others_times: int
    others_grades: int
    longest_run: int
    others_run: int
    p: float


def read_given(cursor: Cursor, round_id: str) -> RoundGrades:
    """The grades of a round, without those of blind duplicates."""
    rows = cursor.execute(_GIVEN, [round_id]).fetchall()
    return RoundGrades([row[0] for row in rows], [(row[1], row[2]) for row in rows], [row[3] for row in rows])


def favourite_grades(people: Sequence[str], given: RoundGrades) -> dict[str, FavouriteGrade | str]:
    """Annotator → favourite grade, or why there is none."""
    units: dict[object, list[tuple[str, int]]] = defaultdict(list)
    for name, unit, grade in zip(given.annotators, given.units, given.grades, strict=True):
        units[unit].append((name, grade))
    several = [judgments for judgments in units.values() if len(judgments) > 1]
    runs = {name: _longest_run(given, name) for name in people}
    scale = sorted(set(given.grades))
    found: dict[str, FavouriteGrade | str] = {}
    for name in people:
        shared = [judgments for judgments in several if any(who == name for who, _ in judgments)]
        if len(shared) < FEWEST_ANSWERS:
            found[name] = f"{len(shared):,} pairs that others graded, too; {FEWEST_ANSWERS} are needed"
            continue
        mine = Counter(grade for judgments in shared for who, grade in judgments if who == name)
        grade = max(mine, key=lambda value: (mine[value], -value))
        theirs = [grade == other for judgments in shared for who, other in judgments if who != name]
        others_run = max((runs[who] for who in people if who != name), default=0)
        counts = (mine[grade], len(shared), sum(theirs), len(theirs), runs[name], others_run)
        p = _chance(shared, mine, scale) if mine[grade] >= ONE_GRADE * len(shared) else 1.0
        found[name] = FavouriteGrade(grade, *counts, p)
    return found


def _chance(
    shared: Sequence[Sequence[tuple[str, int]]], mine: Mapping[int, int], scale: Sequence[int]
) -> float:
    """How probable the most surprising count of a grade is, times the grades (Bonferroni)."""
    from scipy.stats import binom  # takes a second

    values = []
    for grade in mine:
        shares = Counter(
            (sum(other == grade for _, other in judgments), len(judgments)) for judgments in shared
        )
        # Pairs with the same share of this grade make one binomial; their sum is the convolution of all.
        mass = np.ones(1)
        for (times, of), units in sorted(shares.items()):
            mass = np.convolve(mass, binom.pmf(np.arange(units + 1), units, times / of))
        values.append(float(mass[mine[grade] :].sum()))
    return min(1.0, len(scale) * min(values))


def _longest_run(given: RoundGrades, name: str) -> int:
    mine = (grade for who, grade in zip(given.annotators, given.grades, strict=True) if who == name)
    return max((len(list(run)) for _, run in groupby(mine)), default=0)


_GIVEN = """
SELECT annotator, query_id, document_id, grade FROM current_judgments
WHERE round_id = ? AND duplicate_of IS NULL AND kind = 'grade'
ORDER BY submitted_at, presentation_id
"""
