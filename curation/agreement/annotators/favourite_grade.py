"""The favourite grade: how often each annotator gives one grade to pairs that others graded, too.

If it did not matter who gave which of a pair's grades, each would be the annotator's with equal probability.
Then the count of a grade is a sum of independent draws, one a pair (Poisson binomial).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.agreement.annotators.fast_answers import FEWEST_ANSWERS
from curation.labeling.judgments.events import EVENT
from curation.statistics.arrays import Ints
from curation.store import Cursor
from curation.text import amount

ONE_GRADE = 0.8
"""Share of one grade from which its probability is worked out."""


class RoundGrades(NamedTuple):
    """Grades in the order in which they were given, in parallel; one a unit and annotator.

    `timed`: whether its time, and so its place in the order, is known; without it all are.
    """

    annotators: Sequence[str]
    units: Sequence[object]
    grades: Sequence[int]
    timed: Sequence[bool] | None = None


class FavouriteGrade(NamedTuple):
    """The most frequent grade of an annotator on pairs that others graded, too.

    Attributes
    ----------
    times, pairs: how often it was given, of how many pairs; `others_times` of `others_grades`: by others.
    longest_run: of one grade, in the order of all answers whose time is known; `others_run`: the longest one
        of anybody else.
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


def read_given(cursor: Cursor, round_id: str | None) -> RoundGrades:
    """The grades of a round, or all that count, without those of blind duplicates."""
    relation = _ROUND if round_id else "counted_judgments"
    columns = cursor.execute(_GIVEN.format(relation), [round_id] if round_id else []).fetchnumpy()
    names = ("annotator", "unit", "grade", "timed")
    return RoundGrades(*(np.asarray(columns[name]).tolist() for name in names))


def favourite_grades(
    people: Sequence[str], given: RoundGrades, left_out: Collection[str] = ()
) -> dict[str, FavouriteGrade | str]:
    """Annotator → favourite grade against the others who are not left out, or why there is none."""
    scale, value = np.unique(np.asarray(given.grades, dtype=np.int64), return_inverse=True)
    who = np.asarray(given.annotators, dtype=object)
    _, unit = np.unique(_numbers(given.units), return_inverse=True)
    inside = ~np.isin(who, list(left_out))
    tally = tallied(unit[inside], value[inside], int(unit.max(initial=-1)) + 1, len(scale))
    runs = {name: _longest_run(given, name) for name in people}
    found: dict[str, FavouriteGrade | str] = {}
    for name in people:
        mine = who == name
        others = others_of(tally, unit[mine], value[mine], name not in left_out)
        shared = others.any(axis=1)
        if shared.sum() < FEWEST_ANSWERS:
            found[name] = (
                f"{amount(shared.sum(), 'pair')} that others graded, too; {FEWEST_ANSWERS} are needed"
            )
            continue
        own, theirs = value[mine][shared], others[shared]
        times = np.bincount(own, minlength=len(scale))
        grade = int(times.argmax())
        others_run = max((runs[who] for who in people if who != name), default=0)
        counts = (int(times[grade]), len(own), int(theirs[:, grade].sum()), int(theirs.sum()))
        found[name] = FavouriteGrade(
            int(scale[grade]), *counts, runs[name], others_run, one_grade_p(own, theirs)
        )
    return found


def tallied(units: Ints, values: Ints, number: int, grades: int) -> Ints:
    """How often each unit got each value, shape (number, grades)."""
    return np.bincount(units * grades + values, minlength=number * grades).reshape(number, grades)


def others_of(tally: Ints, units: Ints, values: Ints, counted: bool) -> Ints:
    """The tally of somebody's units without their own grades, which are in it if they are `counted`."""
    others = tally[units]
    others[np.arange(len(units)), values] -= counted
    return others


def one_grade_p(own: Ints, others: Ints) -> float:
    """How probable the most surprising count of a grade is, times the grades (Bonferroni).

    Parameters
    ----------
    own: shape (n,), the place of the annotator's grade on the scale; others: shape (n, grades), how many
        others gave each. It is 1 where no grade makes up `ONE_GRADE`.
    """
    times = np.bincount(own, minlength=others.shape[1])
    if times.max(initial=0) < ONE_GRADE * len(own):
        return 1.0
    from scipy.stats import binom  # takes a second

    everybody = others.copy()
    everybody[np.arange(len(own)), own] += 1
    judges = everybody.sum(axis=1)
    values: list[float] = []
    for grade in np.flatnonzero(times).tolist():
        shares, units = np.unique(np.stack([everybody[:, grade], judges], axis=1), axis=0, return_counts=True)
        # Pairs with the same share of this grade make one binomial; their sum is the convolution of all.
        mass = np.ones(1)
        for (named, of), number in zip(shares.tolist(), units.tolist(), strict=True):
            mass = np.convolve(mass, binom.pmf(np.arange(number + 1), number, named / of))
        values.append(float(mass[times[grade] :].sum()))
    return min(1.0, float(others.shape[1] * min(values)))


def _longest_run(given: RoundGrades, name: str) -> int:
    timed = given.timed if given.timed is not None else [True] * len(given.grades)
    rows = zip(given.annotators, given.grades, timed, strict=True)
    mine = (grade for who, grade, known in rows if who == name and known)
    return max((len(list(run)) for _, run in groupby(mine)), default=0)


def _numbers(units: Sequence[object]) -> NDArray[Any]:
    places: dict[object, int] = {}
    return np.asarray([places.setdefault(unit, len(places)) for unit in units], dtype=np.int64)


_GIVEN = f"""
SELECT j.annotator, dense_rank() OVER (ORDER BY j.query_id, j.content_hash) AS unit, j.grade,
       e.time_known AS timed
FROM {{}} j {EVENT}
WHERE j.kind = 'grade'
ORDER BY j.submitted_at, j.presentation_id
"""  # noqa: S608
_ROUND = "(SELECT * FROM current_judgments WHERE round_id = ? AND duplicate_of IS NULL)"
