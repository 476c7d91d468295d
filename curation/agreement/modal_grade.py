"""The modal grade: the grade that an annotator gives most often, and whether the pairs explain its frequency.

Only pairs that other annotators also graded are counted. The null hypothesis is that the annotator gave each
of a pair's grades with equal probability. Then the count of a grade is a sum of independent draws, one for
each pair (Poisson binomial).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from curation.agreement.fast_answers import MIN_ANSWERS
from curation.agreement.grades import Grades
from curation.core.statistics.arrays import Ints, Mask
from curation.core.text import pluralize

ONE_GRADE_SHARE = 0.8
"""Minimum share of the modal grade for the test."""


class ModalGrade(NamedTuple):
    """The most frequent grade of an annotator on pairs that other annotators also graded.

    Attributes
    ----------
    times, pairs: number of times that the annotator gave the grade, and number of pairs; `others_times`,
        `others_grades`: the same counts for others' grades.
    p: the probability of such a frequent grade if the annotator gave each of a pair's grades with equal
        probability; 1 below `ONE_GRADE_SHARE`.
    """

    grade: int
    times: int
    pairs: int
    others_times: int
    others_grades: int
    p: float


def modal_grades(grades: Grades, left_out: Collection[str] = ()) -> dict[str, ModalGrade | str]:
    """Compare modal grades with the others who are not left out: annotator → modal grade, or a reason for
    none.
    """
    graded = grades.graded_by_person
    scale, shared = np.unique(graded.grades), shared_grades(graded, graded.without(left_out))
    return {
        name: _modal(given, others, scale) for name, (given, others) in zip(grades.names, shared, strict=True)
    }


def shared_grades(graded: Grades, inside: Mask) -> Iterator[tuple[Ints, Ints]]:
    """Yield each annotator's grades on pairs that compared annotators also graded, and the others' grades.

    Parameters
    ----------
    graded: grades in the order of `graded_by_person`.

    Yields
    ------
    Places of the annotator's grades on the scale, shape (n,), and counts of the others' grades, shape (n,
    grades).
    """
    scale, value = np.unique(graded.grades, return_inverse=True)
    number = len(graded.documents)
    cells = (graded.units * len(scale) + value)[inside[graded.people]]
    tally = np.bincount(cells, minlength=number * len(scale)).reshape(number, len(scale))
    for who, rows in enumerate(graded.rows_of):
        given = value[rows]
        others = tally[graded.units[rows]]
        others[np.arange(len(given)), given] -= bool(inside[who])
        there = others.any(axis=1)
        yield given[there], others[there]


def one_grade_p(given: Ints, others: Ints) -> float:
    """Compute the p value of the most surprising count of a grade, with Bonferroni's correction.

    Parameters
    ----------
    given: shape (n,), the place of the annotator's grade on the scale; others: shape (n, grades), number of
        others who gave each grade. The p value is 1 if no grade makes up `ONE_GRADE_SHARE`.
    """
    times = np.bincount(given, minlength=others.shape[1])
    if times.max(initial=0) < ONE_GRADE_SHARE * len(given):
        return 1.0
    from scipy.stats import binom  # takes a second

    everybody = others.copy()
    everybody[np.arange(len(given)), given] += 1
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


def _modal(given: Ints, others: Ints, scale: Ints) -> ModalGrade | str:
    if len(given) < MIN_ANSWERS:
        return f"{pluralize(len(given), 'pair')} that others graded, too; {MIN_ANSWERS} are needed"
    times = np.bincount(given, minlength=len(scale))
    most = int(times.argmax())
    others_counts = int(others[:, most].sum()), int(others.sum())
    return ModalGrade(
        int(scale[most]), int(times[most]), len(given), *others_counts, one_grade_p(given, others)
    )
