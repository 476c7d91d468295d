"""The coefficients as formulas of a few sums, for one set of units or for a stack of resamples at once.

What all of them need of a unit is how often each two of its grades meet: a matrix of values × values. Three
matrices differ in what a unit with m grades weighs, and each adds up over units, so over queries too:

    meetings      1            every two grades count alike       raw agreement, the confusion table
    coincidences  1 / (m − 1)  every grade counts alike           Krippendorff's alpha
    shares        1 / m(m − 1) every unit counts alike            Fleiss' kappa, Gwet's AC1 and AC2

Everything below takes any number of annotators and missing cells, but Cohen's kappa, which is about two
annotators and takes their table. A function gives NaN where its coefficient is undefined; who asks says why.
`COEFFICIENTS`, at the end, is the registry that reports, pages, commands and JSON take all figures from.

Sources: K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. J. L. Fleiss (1971),
Psychological Bulletin 76; for annotators that vary in number K. L. Gwet (2014), Handbook of Inter-Rater
Reliability, 4th ed., ch. 2. K. L. Gwet (2008), British Journal of Mathematical and Statistical Psychology 61.
J. Cohen (1960), Educational and Psychological Measurement 20; (1968), Psychological Bulletin 70.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from curation.statistics.arrays import Floats, Ints, ratio

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
Weighting = Literal["identity", "linear", "quadratic", "ordinal"]


class Meetings(NamedTuple):
    """How often grades meet, per group of units; each of shape (groups, values, values), symmetric."""

    meetings: Floats
    coincidences: Floats
    shares: Floats


def meetings(counts: Ints, groups: Ints, number: int) -> Meetings:
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
    return Meetings(*matrices)


def alpha_of(coincidences: Floats, scale: Floats, level: Level) -> Floats:
    """Krippendorff's alpha, shape (R, values, values) → (R,); NaN where there is no variation.

    Ordinal distances are interval distances between the values' middle ranks. The ratio level takes the
    scale's zero for a true one: the distance of 0 to anything is the largest there is.
    """
    marginals = coincidences.sum(axis=2)
    distances = distances_of(marginals, scale, level)
    observed = (coincidences * distances).sum(axis=(1, 2))
    pairs = marginals[:, :, None] * marginals[:, None, :] * distances
    expected = pairs.sum(axis=(1, 2)) / np.maximum(marginals.sum(axis=1) - 1, 1)
    return 1 - ratio(observed, expected)


def distances_of(marginals: Floats, scale: Floats, level: Level) -> Floats:
    """What it counts to have said one grade and not the other, shape (R, values) → (R, values, values)."""
    if level == "nominal":
        different = 1.0 - np.eye(len(scale))
        return np.broadcast_to(different, (len(marginals), *different.shape))
    middle = np.cumsum(marginals, axis=1) - marginals / 2
    places = middle if level == "ordinal" else np.broadcast_to(scale, marginals.shape)
    apart = places[:, :, None] - places[:, None, :]
    if level == "ratio":
        apart = _or_zero(apart, places[:, :, None] + places[:, None, :])
    squares: Floats = apart**2
    return squares


def raw_of(matrices: Floats) -> Floats:
    """The share of equal grades among those that met, shape (R, values, values) → (R,)."""
    return ratio(np.einsum("rkk->r", matrices), matrices.sum(axis=(1, 2)))


def fleiss_of(shares: Floats, grades: Floats | None = None) -> Floats:
    """Fleiss' kappa, shape (R, values, values) → (R,); NaN where every grade is the same.

    Parameters
    ----------
    grades: shape (R, values), each grade's share of a unit, summed over the units. Gwet (2014) counts units
        with one grade here too; without it, only units with two or more count.
    """
    chances = _chances(shares, grades)
    return _corrected(raw_of(shares), (chances**2).sum(axis=1))


def gwet_of(shares: Floats, weights: Floats, grades: Floats | None = None) -> Floats:
    """Gwet's AC1 (weights of identity) or AC2 (any other), shape (R, values, values) → (R,).

    Defined also where every grade is the same: then it is 1.
    """
    values, chances = shares.shape[1], _chances(shares, grades)
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
    return cohens_of(tables, [weights])[0]


def cohens_of(tables: Floats, weights: Sequence[Floats]) -> list[Floats]:
    """`cohen_of` the same tables by each of several weights."""
    total = tables.sum(axis=(1, 2))
    chances = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    return [
        _corrected(
            ratio((tables * one).sum(axis=(1, 2)), total),
            ratio((chances * one).sum(axis=(1, 2)), total**2),
        )
        for one in weights
    ]


def weights_of(values: int, weighting: Weighting) -> Floats:
    """Agreement weights between the steps of a scale, shape (values, values).

    Linear and quadratic weights fall with the number of steps (Cohen 1968; Fleiss and Cohen 1973), ordinal
    ones with the number of pairs of grades between them (Gwet 2014, ch. 3).
    """
    steps = np.abs(np.subtract.outer(np.arange(values), np.arange(values))).astype(np.float64)
    if weighting == "identity":
        return np.eye(values)
    loss = {"linear": steps, "quadratic": steps**2, "ordinal": steps * (steps + 1) / 2}[weighting]
    weights: Floats = 1 - loss / loss.max()
    return weights


def _chances(shares: Floats, grades: Floats | None) -> Floats:
    sums = shares.sum(axis=2) if grades is None else grades
    return ratio(sums, sums.sum(axis=1, keepdims=True))


def _corrected(agreed: Floats, chance: Floats) -> Floats:
    """(agreed − chance) / (1 − chance); chance within rounding of 1 leaves nothing to explain."""
    rest = np.where(1 - chance > 1e-12, 1 - chance, 0.0)
    return ratio(agreed - chance, rest)


def _or_zero(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
    return share


class Coefficient(NamedTuple):
    """A figure of agreement between annotators, as reports compute and show it.

    Attributes
    ----------
    name: its key in JSON.
    label: its name for people.
    formula: the matrices of stacked resamples, and the scale's values, to figures of shape (R,).
    level: of an alpha; its point estimate is the krippendorff package's.
    is_share: whether it is a share of pairs of grades.
    """

    name: str
    label: str
    formula: Callable[[Meetings, Floats], Floats]
    level: Level | None = None
    is_share: bool = False


def _alpha(met: Meetings, scale: Floats, level: Level) -> Floats:
    return alpha_of(met.coincidences, scale, level)


def _gwet(met: Meetings, scale: Floats, weighting: Weighting) -> Floats:
    return gwet_of(met.shares, weights_of(len(scale), weighting))


COEFFICIENTS = (
    *(Coefficient(level, f"alpha, {level}", partial(_alpha, level=level), level) for level in LEVELS),
    Coefficient("fleiss", "Fleiss' kappa", lambda met, _: fleiss_of(met.shares)),
    Coefficient("ac1", "Gwet's AC1", partial(_gwet, weighting="identity")),
    Coefficient("ac2", "Gwet's AC2, quadratic", partial(_gwet, weighting="quadratic")),
    Coefficient("ac2_ordinal", "Gwet's AC2, ordinal", partial(_gwet, weighting="ordinal")),
    Coefficient("raw", "same grade", lambda met, _: raw_of(met.meetings), is_share=True),
)
