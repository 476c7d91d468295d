"""The modal grade: how often each annotator gives one grade to pairs that others graded, too.

If it did not matter who gave which of a pair's grades, each would be the annotator's with equal probability.
Then the count of a grade is a sum of independent draws, one a pair (Poisson binomial).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from curation.agreement.annotators.fast_answers import FEWEST_ANSWERS
from curation.agreement.between.grades import Grades
from curation.core.statistics.arrays import Ints, Mask
from curation.core.text import amount

ONE_GRADE = 0.8
"""Share of one grade from which its probability is worked out."""


class ModalGrade(NamedTuple):
    """The most frequent grade of an annotator on pairs that others graded, too.

    Attributes
    ----------
    times, pairs: how often it was given, of how many pairs; `others_times` of `others_grades`: by others.
    p: how probable a grade as frequent is, were all grades of a pair anybody's; 1 below `ONE_GRADE`.
    """

    grade: int
    times: int
    pairs: int
    others_times: int
    others_grades: int
    p: float


def modal_grades(grades: Grades, left_out: Collection[str] = ()) -> dict[str, ModalGrade | str]:
    """Annotator → modal grade against the others who are not left out, or why there is none."""
    inside = np.asarray([name not in left_out for name in grades.names], dtype=bool)
    scale, shared = np.unique(grades.grades[grades.graded]), shared_grades(grades, inside)
    return {
        name: _modal(own, others, scale) for name, (own, others) in zip(grades.names, shared, strict=True)
    }


def shared_grades(grades: Grades, inside: Mask) -> Iterator[tuple[Ints, Ints]]:
    """Of each person the grades on pairs that others inside graded, too, and those others' grades.

    Yields
    ------
    Places on the scale of the grades given, shape (n,), and how many others gave each, shape (n, grades).
    """
    rows = np.flatnonzero(grades.graded)
    rows = rows[np.argsort(grades.people[rows], kind="stable")]
    person, unit = grades.people[rows], grades.units[rows]
    scale, value = np.unique(grades.grades[rows], return_inverse=True)
    counted, number = inside[person], len(grades.documents)
    cells = (unit * len(scale) + value)[counted]
    tally = np.bincount(cells, minlength=number * len(scale)).reshape(number, len(scale))
    ends = np.searchsorted(person, np.arange(len(grades.names) + 1)).tolist()
    for who, (first, last) in enumerate(pairwise(ends)):
        own = value[first:last]
        others = tally[unit[first:last]]
        others[np.arange(len(own)), own] -= bool(inside[who])
        there = others.any(axis=1)
        yield own[there], others[there]


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


def _modal(own: Ints, others: Ints, scale: Ints) -> ModalGrade | str:
    if len(own) < FEWEST_ANSWERS:
        return f"{amount(len(own), 'pair')} that others graded, too; {FEWEST_ANSWERS} are needed"
    times = np.bincount(own, minlength=len(scale))
    most = int(times.argmax())
    theirs = int(others[:, most].sum()), int(others.sum())
    return ModalGrade(int(scale[most]), int(times[most]), len(own), *theirs, one_grade_p(own, others))
