"""Each annotator's most frequent (modal) grade, with a test of whether it is more frequent than the judged
pairs explain.

Only pairs that other annotators also graded count. Under the null hypothesis, the annotator gave each of a
pair's grades with equal probability, so the count of a grade is a sum of independent draws, one for each pair
(Poisson binomial).
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
"""Minimum share of an annotator's modal grade for the test."""


class ModalGrade(NamedTuple):
    """An annotator's most frequent grade on pairs that other annotators also graded.

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


def find_modal_grades(grades: Grades, outliers: Collection[str] = ()) -> dict[str, ModalGrade | str]:
    """Compare each annotator's modal grade with the others who are not outliers. Map each annotator to the
    modal grade, or to the reason why it has no modal grade.
    """
    graded = grades.graded_by_annotator
    scale, shared_grades = np.unique(graded.grades), iterate_shared_grades(graded, graded.exclude(outliers))
    return {
        name: _find_modal_grade(steps, other_counts, scale)
        for name, (steps, other_counts) in zip(grades.names, shared_grades, strict=True)
    }


def iterate_shared_grades(graded: Grades, is_compared: Mask) -> Iterator[tuple[Ints, Ints]]:
    """Yield each annotator's grades on pairs that other compared annotators also graded, and the others'
    grades.

    Parameters
    ----------
    graded: grades in the order of `graded_by_annotator`.
    is_compared: shape (A,), False for an annotator whose grades do not count for others.

    Yields
    ------
    The scale's steps of the annotator's grades, shape (n,), and counts of the others' grades, shape (n,
    grades).
    """
    scale, all_steps = np.unique(graded.grades, return_inverse=True)
    unit_count = len(graded.documents)
    cells = (graded.units * len(scale) + all_steps)[is_compared[graded.people]]
    counts = np.bincount(cells, minlength=unit_count * len(scale)).reshape(unit_count, len(scale))
    for annotator, rows in enumerate(graded.annotator_slices):
        steps = all_steps[rows]
        other_counts = counts[graded.units[rows]]
        other_counts[np.arange(len(steps)), steps] -= bool(is_compared[annotator])
        is_shared = other_counts.any(axis=1)
        yield steps[is_shared], other_counts[is_shared]


def compute_one_grade_p(steps: Ints, other_counts: Ints) -> float:
    """Compute the p value of the grade whose count surprises most for an annotator, with Bonferroni's
    correction.

    Parameters
    ----------
    steps: shape (n,), the scale's step of each grade of the annotator.
    other_counts: shape (n, grades), number of others who gave each grade.

    Returns
    -------
    The p value; 1 if no grade makes up `ONE_GRADE_SHARE`.
    """
    times = np.bincount(steps, minlength=other_counts.shape[1])
    if times.max(initial=0) < ONE_GRADE_SHARE * len(steps):
        return 1.0
    from scipy.stats import binom  # this import takes a second

    counts = other_counts.copy()
    counts[np.arange(len(steps)), steps] += 1
    judges = counts.sum(axis=1)
    ps: list[float] = []
    for grade in np.flatnonzero(times).tolist():
        shares, pairs = np.unique(np.stack([counts[:, grade], judges], axis=1), axis=0, return_counts=True)
        # Pairs with the same share of this grade form one binomial; the total is the convolution of these.
        mass = np.ones(1)
        for (grade_count, judge_count), n in zip(shares.tolist(), pairs.tolist(), strict=True):
            mass = np.convolve(mass, binom.pmf(np.arange(n + 1), n, grade_count / judge_count))
        ps.append(float(mass[times[grade] :].sum()))
    return min(1.0, float(other_counts.shape[1] * min(ps)))


def _find_modal_grade(steps: Ints, other_counts: Ints, scale: Ints) -> ModalGrade | str:
    if len(steps) < MIN_ANSWERS:
        return f"{pluralize(len(steps), 'pair')} that other annotators graded, too; {MIN_ANSWERS} are needed"
    times = np.bincount(steps, minlength=len(scale))
    mode = int(times.argmax())
    others_times, others_grades = int(other_counts[:, mode].sum()), int(other_counts.sum())
    p = compute_one_grade_p(steps, other_counts)
    return ModalGrade(int(scale[mode]), int(times[mode]), len(steps), others_times, others_grades, p)
