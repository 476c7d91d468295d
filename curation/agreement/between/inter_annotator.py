"""Agreement between annotators: every coefficient with its interval and what it rests on.

A unit is a (query, document) pair with at least two grades. All figures rest on the same units, so that they
can be compared; pairs with one grade say nothing and are counted apart, and so is cannot-tell, which has its
own agreement. The point estimates of alpha are the krippendorff package's; resamples are sums of matrices
that were computed once per query (`coefficients`, `intervals`), which is the same formula some thousand
times faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import krippendorff
import numpy as np

from curation.agreement.between.coefficients import COEFFICIENTS, Coefficient, Coincidences, meetings
from curation.agreement.between.grades import Grades, value_counts
from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.intervals import (
    MINIMUM_QUERIES,
    RESAMPLES,
    Sums,
    percentile_interval,
    resampled_figures,
)

RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff (2004), Content Analysis, 2nd ed., p. 241: rely on 0.800, conclude tentatively from 0.667."""
READING = (
    f"Labels are reliable where the whole interval of ordinal alpha is above {RELIABLE}. Above {TENTATIVE} "
    "they carry tentative conclusions (Krippendorff 2004)."
)
"""How alpha is read, wherever it is shown."""
MINIMUM_UNITS = 10
"""With fewer units a figure is marked as resting on too few."""

SMALL_SET = 50
"""With fewer queries 95 % intervals may hold the truth in fewer than 95 % of cases."""
NO_UNITS = "no pair has grades of two annotators"
NO_VARIATION = "no variation: every grade of the doubly judged pairs is the same, so chance explains all"
FEW_QUERIES = f"no interval: the pairs belong to fewer than {MINIMUM_QUERIES} queries"
RARE_VARIATION = "no interval: too many resamples have no variation"


@dataclass(frozen=True)
class AgreementFigure:
    """A coefficient of agreement with its 95 % interval.

    Attributes
    ----------
    value, low, high: None where undefined.
    units: (query, document) pairs with at least two grades.
    pairs: pairs of grades of one unit; three annotators on a unit make three.
    undefined: why there is no value; None when there is one.
    no_interval: why there is a value without an interval.
    too_few: fewer than `MINIMUM_UNITS` units: not a figure to show.
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    pairs: int
    undefined: str | None = None
    no_interval: str | None = None
    too_few: bool = False

    @property
    def not_shown(self) -> str | None:
        """Why the figure is not shown to people, or None when it is."""
        if self.undefined:
            return f"undefined: {self.undefined}"
        if self.too_few:
            return f"too few: {self.units} of at least {MINIMUM_UNITS} doubly judged pairs"
        return None


@dataclass(frozen=True)
class Judgeable:
    """Whether annotators agree on what can be judged at all: a grade against cannot-tell.

    Attributes
    ----------
    judgments, cannot_tell: all judgments, and those without a grade.
    share: cannot-tell among all judgments.
    raw, nominal: agreement on the pairs with at least two judgments of either kind.
    mixed: pairs that some graded and some could not tell.
    nobody: pairs with two judgments or more and no grade at all.
    """

    judgments: int
    cannot_tell: int
    share: AgreementFigure
    raw: AgreementFigure
    nominal: AgreementFigure
    mixed: int
    nobody: int


@dataclass(frozen=True)
class InterAgreement:
    """Agreement between annotators, and what it rests on.

    Attributes
    ----------
    figures: name → figure, for each of `COEFFICIENTS` in their order.
    units: pairs with at least two grades, from `queries` queries.
    single: pairs with one grade only, which say nothing about agreement.
    annotators, judgments: who judged, and grades given, single pairs included.
    cannot_tell: judgments without a grade, kept apart.
    scale, marginals: the grades, and how often each was given on the units.
    judgeable: agreement on what can be judged at all.
    older: judgments left out because they are about an older text of their document.
    """

    figures: dict[str, AgreementFigure]
    units: int
    queries: int
    single: int
    annotators: int
    judgments: int
    cannot_tell: int
    scale: tuple[int, ...]
    marginals: tuple[int, ...]
    judgeable: Judgeable
    older: int = 0

    @property
    def small_set(self) -> str | None:
        """What is known of intervals of so few queries; None without any or from `SMALL_SET` on."""
        if not MINIMUM_QUERIES <= self.queries < SMALL_SET:
            return None
        return (
            f"So few queries ({self.queries:,}) can make 95 % intervals too narrow: in simulated skewed sets "
            "of 8 to 15 queries they held the truth in 78 to 94 % of cases, of 40 queries in 90 to 95 %."
        )

    @property
    def ordinal(self) -> AgreementFigure:
        """Ordinal alpha, which findings and the gate speak of."""
        return self.figures["ordinal"]

    @property
    def raw(self) -> AgreementFigure:
        """Equal grades among pairs of grades."""
        return self.figures["raw"]


class Size(NamedTuple):
    """What a figure rests on: units, pairs of grades of one unit, and queries."""

    units: int
    pairs: int
    queries: int


@dataclass(frozen=True)
class Basis:
    """Units with at least two grades, and their queries numbered from 0.

    Attributes
    ----------
    units: shape (N,), which pairs of the `Grades` these are.
    counts: shape (N, values). queries: shape (N,), of `number` queries.
    """

    units: Ints
    counts: Ints
    queries: Ints
    number: int

    @property
    def size(self) -> Size:
        """What a figure of all these units rests on."""
        given = self.counts.sum(axis=1)
        return Size(len(self.counts), int((given * (given - 1) // 2).sum()), self.number)


def inter_agreement(
    grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES
) -> InterAgreement:
    """Agreement between annotators on an ordered scale.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    counts = value_counts(grades, scale)
    given = counts.sum(axis=1)
    basis = basis_of(counts, grades.unit_queries)
    return InterAgreement(
        figures=figures_of(basis, scale, COEFFICIENTS, seed, resamples),
        units=len(basis.counts),
        queries=basis.number,
        single=int((given == 1).sum()),
        annotators=grades.annotators,
        judgments=int(given.sum()),
        cannot_tell=grades.cannot_tell,
        scale=tuple(scale),
        marginals=tuple(basis.counts.sum(axis=0).tolist()),
        judgeable=judgeable(grades, seed, resamples),
        older=grades.older,
    )


def basis_of(counts: Ints, unit_queries: Ints) -> Basis:
    """The units that say something about agreement: counts of shape (U, values), queries of shape (U,)."""
    units = np.flatnonzero(counts.sum(axis=1) >= 2)
    found, queries = np.unique(unit_queries[units], return_inverse=True)
    return Basis(units, counts[units], queries, len(found))


def judgeable(grades: Grades, seed: int, resamples: int = RESAMPLES) -> Judgeable:
    """How far annotators agree on whether a pair can be judged at all."""
    cells = grades.units * 2 + ~grades.graded
    counts = np.bincount(cells, minlength=2 * len(grades.documents)).reshape(-1, 2)
    given, basis = counts.sum(axis=1), basis_of(counts, grades.unit_queries)
    wanted = [one for one in COEFFICIENTS if one.name in ("nominal", "raw")]
    figures = figures_of(basis, (0, 1), wanted, seed, resamples)
    both = basis.counts.min(axis=1) > 0
    return Judgeable(
        judgments=int(given.sum()),
        cannot_tell=grades.cannot_tell,
        share=_share_unjudged(counts, grades.unit_queries, seed, resamples),
        raw=figures["raw"],
        nominal=figures["nominal"],
        mixed=int(both.sum()),
        nobody=int((basis.counts[:, 0] == 0).sum()),
    )


def interval_of(values: Floats, queries: int) -> tuple[float | None, float | None, str | None]:
    """The ends of the 95 % interval of resampled figures, shape (R,), or why there is none."""
    if queries < MINIMUM_QUERIES:
        return None, None, FEW_QUERIES
    ends = percentile_interval(values, queries)
    return (None, None, RARE_VARIATION) if ends is None else (*ends, None)


def figure_of(value: float, values: Floats, size: Size, undefined: str = NO_VARIATION) -> AgreementFigure:
    """A coefficient and its resamples, shape (R,), as a figure with its interval; NaN is undefined."""
    if np.isnan(value):
        why = undefined if size.units else NO_UNITS
        return AgreementFigure(None, None, None, size.units, size.pairs, why)
    low, high, why_none = interval_of(values, size.queries)
    few = size.units < MINIMUM_UNITS
    return AgreementFigure(float(value), low, high, size.units, size.pairs, None, why_none, few)


def figures_of(
    basis: Basis, scale: Sequence[int], coefficients: Sequence[Coefficient], seed: int, resamples: int
) -> dict[str, AgreementFigure]:
    """Name → figure with its interval; all coefficients have the same resamples."""
    many = len(scale)
    met = meetings(basis.counts, basis.queries, basis.number)
    # The three matrices of a query side by side as one row: a resample is a sum of rows.
    columns = np.concatenate([matrix.reshape(basis.number, many * many) for matrix in met], axis=1)

    def formulas(sums: Floats) -> Floats:
        stacked = Coincidences(*sums.reshape(-1, 3, many, many).swapaxes(0, 1))
        return np.stack([coefficient.formula(stacked) for coefficient in coefficients], axis=1)

    points = formulas(columns.sum(axis=0, keepdims=True))[0]
    drawn = np.empty((0, len(coefficients)))
    if basis.number >= MINIMUM_QUERIES:
        part = Sums(np.arange(basis.number), columns, formulas)
        (drawn,) = resampled_figures([part], basis.number, seed, resamples)
    for place, one in enumerate(coefficients):
        # By the package, where our formula says that there is one: it fails where there is none.
        if one.level is not None and not np.isnan(points[place]):
            points[place] = krippendorff.alpha(
                value_counts=basis.counts,
                value_domain=np.asarray(scale, dtype=np.float64),
                level_of_measurement=one.level,
            )
    return {
        coefficient.name: figure_of(float(points[place]), drawn[:, place], basis.size)
        for place, coefficient in enumerate(coefficients)
    }


def _share_unjudged(counts: Ints, unit_queries: Ints, seed: int, resamples: int) -> AgreementFigure:
    """Cannot-tell among all judgments, over all queries that were judged."""
    number = int(unit_queries.max(initial=-1)) + 1
    sums = [np.bincount(unit_queries, column, number) for column in (counts[:, 1], counts.sum(axis=1))]
    per_query = np.stack(sums, axis=1).astype(np.float64)
    judgments, units = int(counts.sum()), len(counts)
    if judgments == 0:
        return AgreementFigure(None, None, None, 0, 0, "nothing was judged")
    values = np.empty(0)
    if number >= MINIMUM_QUERIES:
        part = Sums(np.arange(number), per_query, lambda drawn: drawn[:, :1] / drawn[:, 1:])
        values = resampled_figures([part], number, seed, resamples)[0][:, 0]
    low, high, why = interval_of(values, number)
    return AgreementFigure(float(counts[:, 1].sum() / judgments), low, high, units, judgments, None, why)
