"""Coefficients of agreement, as formulas over counts of how often two grades were given to one unit.

Every coefficient counts how often two grades of a unit meet: a matrix of values × values. Three matrices
differ in the weight of a unit with m grades; each matrix is a sum over units, and therefore over queries:

    meetings      1            every two grades count alike       raw agreement, the confusion table
    coincidences  1 / (m − 1)  every grade counts alike           Krippendorff's alpha
    shares        1 / m(m − 1) every unit counts alike            Gwet's AC2

Two raters have a table of values × values instead: the first rater's grade by the second rater's grade.

All formulas compute R resamples together, and return NaN for an undefined coefficient; the caller adds the
reason. Reports, pages, commands and JSON take all figures from `COEFFICIENTS`.

Sources: K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. K. L. Gwet (2008), British
Journal of Mathematical and Statistical Psychology 61; (2014), Handbook of Inter-Rater Reliability, 4th ed.,
ch. 2. J. Cohen (1960), Educational and Psychological Measurement 20; (1968), Psychological Bulletin 70.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio

Level = Literal["nominal", "ordinal"]


class Coincidences(NamedTuple):
    """Symmetric counts of how often two grades were given to the same unit, by group of units, shape (groups,
    values, values)."""

    meetings: Floats
    coincidences: Floats
    shares: Floats


class Coefficient(NamedTuple):
    """A coefficient of agreement between annotators, with its formula.

    Attributes
    ----------
    name: key of the coefficient in JSON. label: name of the coefficient for people.
    formula: function from the matrices of stacked resamples to figures of shape (R,).
    level: level of measurement of an alpha, whose point estimate comes from the krippendorff package.
    """

    name: str
    label: str
    formula: Callable[[Coincidences], Floats]
    level: Level | None = None


def count_coincidences(counts: Ints, groups: Ints, group_count: int) -> Coincidences:
    """Count, for each group of units, how often every two grades were given to the same unit, with each of
    the three weights.

    Parameters
    ----------
    counts: shape (units, values), number of times that a unit got each grade. Units with one grade do not
        count.
    groups: shape (units,), index of the group (the query) of each unit, below `group_count`.
    """
    grade_counts = counts.sum(axis=1, dtype=np.float64)
    pairable = grade_counts >= 2
    by_grade = np.divide(1.0, grade_counts - 1, out=np.zeros(len(counts)), where=pairable)
    by_unit = np.divide(by_grade, grade_counts, out=np.zeros(len(counts)), where=pairable)
    values = counts.shape[1]
    matrices = np.zeros((3, group_count, values, values))
    for row in range(values):
        for column in range(row, values):
            pairs = (counts[:, row] * (counts[:, column] - (row == column))).astype(np.float64)
            for matrix, weight in zip(matrices, (None, by_grade, by_unit), strict=True):
                sums = np.bincount(groups, pairs if weight is None else pairs * weight, group_count)
                matrix[:, row, column] = matrix[:, column, row] = sums
    return Coincidences(*matrices)


def compute_alpha(coincidences: Floats, level: Level) -> Floats:
    """Compute Krippendorff's alpha, shape (R, values, values) → (R,); NaN if grades do not vary."""
    marginals = coincidences.sum(axis=2)
    distances = compute_distances(marginals, level)
    observed = (coincidences * distances).sum(axis=(1, 2))
    pairs = marginals[:, :, None] * marginals[:, None, :] * distances
    expected = pairs.sum(axis=(1, 2)) / np.maximum(marginals.sum(axis=1) - 1, 1)
    return 1 - ratio(observed, expected)


def compute_distances(marginals: Floats, level: Level) -> Floats:
    """Compute the distance between every two grades, shape (R, values) → (R, values, values).

    Ordinal distances are the squared differences between the values' middle ranks.
    """
    if level == "nominal":
        different = 1.0 - np.eye(marginals.shape[1])
        return np.broadcast_to(different, (len(marginals), *different.shape))
    middle_ranks = np.cumsum(marginals, axis=1) - marginals / 2
    squares: Floats = (middle_ranks[:, :, None] - middle_ranks[:, None, :]) ** 2
    return squares


def compute_raw(matrices: Floats) -> Floats:
    """Compute the share of equal grades among pairs of grades, shape (R, values, values) → (R,)."""
    return ratio(np.einsum("rkk->r", matrices), matrices.sum(axis=(1, 2)))


def compute_gwet(shares: Floats, weights: Floats, grades: Floats | None = None) -> Floats:
    """Compute Gwet's AC2 (AC1 with identity weights), shape (R, values, values) → (R,).

    AC2 is 1 if every grade is the same.

    Parameters
    ----------
    grades: shape (R, values), each grade's share of a unit, summed over the units. Gwet (2014) also counts
        units with one grade here; without `grades`, only units with two or more grades count.
    """
    values, frequencies = shares.shape[1], shares.sum(axis=2) if grades is None else grades
    chances = ratio(frequencies, frequencies.sum(axis=1, keepdims=True))
    observed = ratio((shares * weights).sum(axis=(1, 2)), shares.sum(axis=(1, 2)))
    spread = (chances * (1 - chances)).sum(axis=1)
    return _correct_for_chance(observed, weights.sum() / (values * (values - 1)) * spread)


def compute_cohen(tables: Floats, weights: Floats) -> Floats:
    """Compute Cohen's kappa of two raters, shape (R, values, values) → (R,); NaN if expected agreement is 1.

    Parameters
    ----------
    tables: counts of the first rater's grade (row) and the second rater's grade (column).
    weights: agreement weights, from 1 for the same grade to 0 for the opposite ends of the scale.
    """
    total = tables.sum(axis=(1, 2))
    chances = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    observed = ratio((tables * weights).sum(axis=(1, 2)), total)
    return _correct_for_chance(observed, ratio((chances * weights).sum(axis=(1, 2)), total**2))


def compare_raters(tables: Floats, values: Floats | Ints) -> Floats:
    """Compute three statistics for two raters, shape (R, values, values) → (R, 3): the share of equal grades,
    Cohen's kappa with quadratic weights, and the mean of the second rater's grade minus the first's.

    Parameters
    ----------
    tables: counts as in `compute_cohen_kappa`. values: shape (values,), the number of each step of the scale
        in the difference.
    """
    differences = np.subtract.outer(values, values).T.astype(np.float64)
    mean_difference = ratio((tables * differences).sum(axis=(1, 2)), tables.sum(axis=(1, 2)))
    kappa = compute_cohen(tables, agreement_weights(len(values), "quadratic"))
    return np.stack([compute_raw(tables), kappa, mean_difference], axis=1)


def agreement_weights(values: int, weighting: Literal["identity", "quadratic"]) -> Floats:
    """Compute the agreement weights between the steps of a scale, shape (values, values).

    Quadratic weights fall with the square of the number of steps (Cohen 1968).
    """
    if weighting == "identity":
        return np.eye(values)
    steps = np.subtract.outer(np.arange(values), np.arange(values)).astype(np.float64)
    weights: Floats = 1 - steps**2 / (values - 1) ** 2
    return weights


def count_confusion(
    pairs: Iterable[tuple[int | None, int | None]], scale: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Count pairs of grades by first grade (row) and second grade (column), in the order of the scale."""
    counts = Counter(pairs)
    return tuple(tuple(counts[first, second] for second in scale) for first in scale)


def _correct_for_chance(observed: Floats, chance: Floats) -> Floats:
    """Correct agreement for chance: (observed − chance) / (1 − chance); NaN if chance is 1 up to rounding."""
    remainder = np.where(1 - chance > 1e-12, 1 - chance, 0.0)
    return ratio(observed - chance, remainder)


def _compute_ac2(counts: Coincidences) -> Floats:
    return compute_gwet(counts.shares, agreement_weights(counts.shares.shape[1], "quadratic"))


COEFFICIENTS = (
    Coefficient(
        "nominal", "alpha, nominal", lambda counts: compute_alpha(counts.coincidences, "nominal"), "nominal"
    ),
    Coefficient(
        "ordinal", "alpha, ordinal", lambda counts: compute_alpha(counts.coincidences, "ordinal"), "ordinal"
    ),
    Coefficient("ac2", "Gwet's AC2, quadratic", _compute_ac2),
    Coefficient("raw", "same grade", lambda counts: compute_raw(counts.meetings)),
)
