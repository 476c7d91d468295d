"""The coefficients as formulas of a few sums, for one set of units or for a stack of resamples at once.

Every coefficient counts how often two grades of a unit meet: a matrix of values × values. Three matrices
differ in what a unit with m grades weighs, and each adds up over units, so over queries too:

    meetings      1            every two grades count alike       raw agreement, the confusion table
    coincidences  1 / (m − 1)  every grade counts alike           Krippendorff's alpha
    shares        1 / m(m − 1) every unit counts alike            Gwet's AC2

The formulas take any number of annotators and missing cells. Only Cohen's kappa is about two annotators: it
takes their table. A function gives NaN where its coefficient is undefined; its caller says why.
`COEFFICIENTS` is the registry that reports, pages, commands and JSON take all figures from.

Sources: K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. K. L. Gwet (2008), British
Journal of Mathematical and Statistical Psychology 61; (2014), Handbook of Inter-Rater Reliability, 4th ed.,
ch. 2. J. Cohen (1960), Educational and Psychological Measurement 20; (1968), Psychological Bulletin 70.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio

Level = Literal["nominal", "ordinal"]


class Coincidences(NamedTuple):
    """How often grades meet, per group of units; each of shape (groups, values, values), symmetric."""

    meetings: Floats
    coincidences: Floats
    shares: Floats


def meetings(counts: Ints, groups: Ints, number: int) -> Coincidences:
    """The three matrices of each group of units.

    Parameters
    ----------
    counts: shape (units, values), how often a unit got each grade. Units with one grade add nothing.
    groups: shape (units,), which of `number` groups a unit belongs to: its query.
    """
    given = counts.sum(axis=1, dtype=np.float64)
    pairable = given >= 2
    every_grade = np.divide(1.0, given - 1, out=np.zeros(len(given)), where=pairable)
    every_unit = np.divide(every_grade, given, out=np.zeros(len(given)), where=pairable)
    values = counts.shape[1]
    matrices = np.zeros((3, number, values, values))
    for one in range(values):
        for other in range(one, values):
            met = (counts[:, one] * (counts[:, other] - (one == other))).astype(np.float64)
            for matrix, weight in zip(matrices, (None, every_grade, every_unit), strict=True):
                sums = np.bincount(groups, met if weight is None else met * weight, number)
                matrix[:, one, other] = matrix[:, other, one] = sums
    return Coincidences(*matrices)


def alpha_of(coincidences: Floats, level: Level) -> Floats:
    """Krippendorff's alpha, shape (R, values, values) → (R,); NaN where there is no variation."""
    marginals = coincidences.sum(axis=2)
    distances = distances_of(marginals, level)
    observed = (coincidences * distances).sum(axis=(1, 2))
    pairs = marginals[:, :, None] * marginals[:, None, :] * distances
    expected = pairs.sum(axis=(1, 2)) / np.maximum(marginals.sum(axis=1) - 1, 1)
    return 1 - ratio(observed, expected)


def distances_of(marginals: Floats, level: Level) -> Floats:
    """What it counts to have said one grade and not the other, shape (R, values) → (R, values, values).

    Ordinal distances are the squared differences between the values' middle ranks.
    """
    if level == "nominal":
        different = 1.0 - np.eye(marginals.shape[1])
        return np.broadcast_to(different, (len(marginals), *different.shape))
    middle = np.cumsum(marginals, axis=1) - marginals / 2
    squares: Floats = (middle[:, :, None] - middle[:, None, :]) ** 2
    return squares


def raw_of(matrices: Floats) -> Floats:
    """The share of equal grades among those that met, shape (R, values, values) → (R,)."""
    return ratio(np.einsum("rkk->r", matrices), matrices.sum(axis=(1, 2)))


def gwet_of(shares: Floats, weights: Floats, grades: Floats | None = None) -> Floats:
    """Gwet's AC2 (AC1 with weights of identity), shape (R, values, values) → (R,).

    AC2 is defined also where every grade is the same: then it is 1.

    Parameters
    ----------
    grades: shape (R, values), each grade's share of a unit, summed over the units. Gwet (2014) counts units
        with one grade here too; without it, only units with two or more count.
    """
    values, given = shares.shape[1], shares.sum(axis=2) if grades is None else grades
    chances = ratio(given, given.sum(axis=1, keepdims=True))
    agreed = ratio((shares * weights).sum(axis=(1, 2)), shares.sum(axis=(1, 2)))
    spread = (chances * (1 - chances)).sum(axis=1)
    return _corrected(agreed, weights.sum() / (values * (values - 1)) * spread)


def cohen_of(tables: Floats, weights: Floats) -> Floats:
    """Cohen's kappa of two annotators, shape (R, values, values) → (R,); NaN where chance explains all.

    Parameters
    ----------
    tables: how often the first annotator's grade (row) met the second one's (column).
    weights: agreement weights: 1 for the same grade, 0 for the opposite ends.
    """
    total = tables.sum(axis=(1, 2))
    chances = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    agreed = ratio((tables * weights).sum(axis=(1, 2)), total)
    return _corrected(agreed, ratio((chances * weights).sum(axis=(1, 2)), total**2))


def weights_of(values: int, weighting: Literal["identity", "quadratic"]) -> Floats:
    """Agreement weights between the steps of a scale, shape (values, values).

    Quadratic weights fall with the square of the number of steps (Cohen 1968).
    """
    if weighting == "identity":
        return np.eye(values)
    steps = np.subtract.outer(np.arange(values), np.arange(values)).astype(np.float64)
    weights: Floats = 1 - steps**2 / (values - 1) ** 2
    return weights


def _corrected(agreed: Floats, chance: Floats) -> Floats:
    """(agreed − chance) / (1 − chance); chance within rounding of 1 leaves nothing to explain."""
    rest = np.where(1 - chance > 1e-12, 1 - chance, 0.0)
    return ratio(agreed - chance, rest)


class Coefficient(NamedTuple):
    """A figure of agreement between annotators, as reports compute and show it.

    Attributes
    ----------
    name: its key in JSON.
    label: its name for people.
    formula: the matrices of stacked resamples to figures of shape (R,).
    level: of an alpha; its point estimate is the krippendorff package's.
    """

    name: str
    label: str
    formula: Callable[[Coincidences], Floats]
    level: Level | None = None


def _ac2(met: Coincidences) -> Floats:
    return gwet_of(met.shares, weights_of(met.shares.shape[1], "quadratic"))


COEFFICIENTS = (
    Coefficient("nominal", "alpha, nominal", lambda met: alpha_of(met.coincidences, "nominal"), "nominal"),
    Coefficient("ordinal", "alpha, ordinal", lambda met: alpha_of(met.coincidences, "ordinal"), "ordinal"),
    Coefficient("ac2", "Gwet's AC2, quadratic", _ac2),
    Coefficient("raw", "same grade", lambda met: raw_of(met.meetings)),
)
