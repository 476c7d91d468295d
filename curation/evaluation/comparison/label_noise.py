"""Label noise: which other grade another annotator may have given, learned from pairs that several judged.

    P(other | grade) = n(grade, other) / Σ n(grade, ·)

where n counts the ordered pairs of grades that two annotators gave to the same (query, document) pair, each
such pair of m grades with the weight 1 / (m − 1): Krippendorff's coincidences (K. Krippendorff (2011),
Computing Krippendorff's alpha-reliability). It is the noise of one annotator's grade. A consensus of several
has less, so an order that holds under this noise holds the more under that of a consensus.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.errors import InputError
from curation.statistics.arrays import Floats, Ints


@dataclass(frozen=True)
class GradeNoise:
    """How another annotator grades what got a grade.

    Attributes
    ----------
    scale: G grades, ascending.
    shares: shape (G, G), rows the grade, columns the other's; each row adds up to 1.
    judged: pairs with two grades or more, and `grades` how many grades these have.
    unmeasured: grades that no such pair has; they remain as they are.
    """

    scale: tuple[int, ...]
    shares: Floats
    judged: int
    grades: int
    unmeasured: tuple[int, ...]


class NoiseFacts(NamedTuple):
    """What the noise was learned from; see `GradeNoise`."""

    judged: int
    grades: int
    unmeasured: tuple[int, ...]


def grade_noise(judged: Iterable[Sequence[int]], scale: Iterable[int]) -> GradeNoise:
    """The noise, from the grades that different annotators gave to each pair.

    Parameters
    ----------
    judged: a pair's grades, one of each annotator; pairs with one grade say nothing.
    scale: all grades that could be given.

    Raises
    ------
    InputError: no pair has two grades, or one is not of the scale.
    """
    values = tuple(sorted(set(scale)))
    place = {grade: number for number, grade in enumerate(values)}
    met, units, grades = np.zeros((len(values), len(values))), 0, 0
    for row in judged:
        unknown = sorted(set(row) - place.keys())
        if unknown:
            expected = ", ".join(map(str, values))
            raise InputError(f"The grade {unknown[0]} is not of the scale; expected one of {expected}.")
        if len(row) < 2:
            continue
        counts = np.bincount([place[grade] for grade in row], minlength=len(values)).astype(np.float64)
        met += (np.outer(counts, counts) - np.diag(counts)) / (len(row) - 1)
        units, grades = units + 1, grades + len(row)
    if not units:
        raise InputError(
            "No pair was judged by two annotators, so nothing is known about how another would grade. Open a "
            "round in which two judge each pair.",
            command="--overlap 2 asks for that.",
        )
    known = met.sum(axis=1)
    shares = np.where(known[:, None] > 0, met / np.where(known > 0, known, 1)[:, None], np.eye(len(values)))
    unmeasured = tuple(grade for grade, number in zip(values, known, strict=True) if number == 0)
    return GradeNoise(values, shares, units, grades, unmeasured)


def relabelled(grades: Ints, noise: GradeNoise, random: np.random.Generator) -> Ints:
    """Every grade of shape (J,) drawn again, independently, as another annotator may give it.

    Raises
    ------
    InputError: a grade is not of the scale.
    """
    scale = np.array(noise.scale, np.int64)
    rows = np.minimum(np.searchsorted(scale, grades), len(scale) - 1)
    if not np.array_equal(scale[rows], grades):
        raise InputError(f"There are grades outside of the scale {', '.join(map(str, noise.scale))}.")
    ends = np.cumsum(noise.shares, axis=1)[:, :-1]
    drawn: Ints = scale[(random.random(len(grades))[:, None] >= ends[rows]).sum(axis=1)]
    return drawn
