"""Agreement between annotators: every coefficient with its interval and what it rests on.

A unit is a (query, document) pair with at least two grades. All figures rest on the same units, so that they
can be compared; pairs with one grade say nothing and are counted apart, and so is cannot-tell, which has its
own agreement. The point estimates of alpha are the krippendorff package's; resamples are sums of matrices
that were computed once per query (`coefficients`, `intervals`), which is the same formula some thousand
times faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import krippendorff
import numpy as np

from curation.agreement.between.coefficients import COEFFICIENTS, Coefficient, Meetings, meetings
from curation.agreement.between.grades import Grades, value_counts
from curation.statistics.arrays import Floats, Ints
from curation.statistics.intervals import (
    MINIMUM_QUERIES,
    RESAMPLES,
    StudentisedIntervals,
    Sums,
    draws,
    percentile_interval,
    resampled_figures,
    studentised_intervals,
)
from curation.text import amount

RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff (2004), Content Analysis, 2nd ed., p. 241: rely on 0.800, conclude tentatively from 0.667."""
READING = (
    f"Labels are reliable where the whole interval of ordinal alpha is above {RELIABLE}. Above {TENTATIVE} "
    "they carry tentative conclusions (Krippendorff 2004)."
)
"""How alpha is read, wherever it is shown."""
MINIMUM_UNITS = 10
"""With fewer units a figure is marked as resting on too few."""

STUDENTISED_BELOW = 100
"""With fewer queries intervals are studentised: percentiles hold the truth too rarely in skewed sets."""
FEW_EFFECTIVE, FEW_IN_ALL = 3.0, 30
"""With fewer queries that carry a figure, of fewer in all, no method reached 93 % in simulations."""
SMALL_SET, TINY_SET = 50, 15
"""With fewer queries some 95 % intervals held the truth in fewer than 93 % of simulated skewed sets: those of
Gwet's AC1 and AC2, and of alpha."""

NO_UNITS = "no pair has grades of two annotators"
NO_VARIATION = "no variation: every grade of the doubly judged pairs is the same, so chance explains all"
FEW_QUERIES = f"no interval: the pairs belong to fewer than {MINIMUM_QUERIES} queries"
RARE_VARIATION = "no interval: too many resamples have no variation"


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha at one level of measurement with its 95 % interval.

    Attributes
    ----------
    alpha, low, high: None where undefined.
    units: pairs with at least two grades.
    undefined: why there is no alpha; None when there is one.
    no_interval: why there is an alpha without an interval.
    too_few: fewer than `MINIMUM_UNITS` units: not a figure to show.
    pairs: pairs of grades of one unit; three annotators on a unit make three.
    """

    alpha: float | None
    low: float | None
    high: float | None
    units: int
    undefined: str | None = None
    no_interval: str | None = None
    too_few: bool = False
    pairs: int = 0

    @property
    def value(self) -> float | None:
        """The coefficient, by the name that all figures have."""
        return self.alpha


@dataclass(frozen=True)
class RawAgreement:
    """The share of equal grades among all pairs of grades that one document got for one query.

    `pairs` is the number of such pairs of grades; three annotators on one document make three.
    """

    share: float | None
    low: float | None
    high: float | None
    pairs: int
    units: int
    undefined: str | None = None
    no_interval: str | None = None
    too_few: bool = False

    @property
    def value(self) -> float | None:
        """The share, by the name that all figures have."""
        return self.share


@dataclass(frozen=True)
class AgreementFigure:
    """Any other coefficient; the fields mean what they mean in `Alpha`."""

    value: float | None
    low: float | None
    high: float | None
    units: int
    pairs: int
    undefined: str | None = None
    no_interval: str | None = None
    too_few: bool = False


AnyFigure = Alpha | RawAgreement | AgreementFigure


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
    raw: RawAgreement
    nominal: Alpha
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
    doubts: name → why the interval of this figure may hold the truth in fewer than 95 % of cases.
    older: judgments left out because they are about an older text of their document.
    """

    figures: dict[str, AnyFigure]
    units: int
    queries: int
    single: int
    annotators: int
    judgments: int
    cannot_tell: int
    scale: tuple[int, ...]
    marginals: tuple[int, ...]
    judgeable: Judgeable
    doubts: dict[str, str]
    older: int = 0

    @property
    def small_set(self) -> str | None:
        """What simulations say about intervals of so few queries; None without any or from `SMALL_SET` on."""
        if not MINIMUM_QUERIES <= self.queries < SMALL_SET:
            return None
        held = "82 to 97 %" if self.queries <= TINY_SET else "90 to 98 %"
        return (
            f"In simulated skewed sets of so few queries ({self.queries:,}), 95 % intervals held the truth "
            f"in {held} of cases, by figure and set."
        )

    @property
    def ordinal(self) -> Alpha:
        """Ordinal alpha, which findings and the gate speak of."""
        found = self.figures["ordinal"]
        assert isinstance(found, Alpha)
        return found

    @property
    def raw(self) -> RawAgreement:
        """Equal grades among pairs of grades."""
        found = self.figures["raw"]
        assert isinstance(found, RawAgreement)
        return found


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
    figures, doubts = figures_of(basis, scale, COEFFICIENTS, seed, resamples)
    return InterAgreement(
        figures=figures,
        units=len(basis.counts),
        queries=basis.number,
        single=int((given == 1).sum()),
        annotators=grades.annotators,
        judgments=int(given.sum()),
        cannot_tell=grades.cannot_tell,
        scale=tuple(scale),
        marginals=tuple(basis.counts.sum(axis=0).tolist()),
        judgeable=judgeable(grades, seed, resamples),
        doubts=doubts,
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
    found, _ = figures_of(basis, (0, 1), wanted, seed, resamples)
    nominal, raw = found["nominal"], found["raw"]
    assert isinstance(nominal, Alpha)
    assert isinstance(raw, RawAgreement)
    both = basis.counts.min(axis=1) > 0
    return Judgeable(
        judgments=int(given.sum()),
        cannot_tell=grades.cannot_tell,
        share=_share_unjudged(counts, grades.unit_queries, seed, resamples),
        raw=raw,
        nominal=nominal,
        mixed=int(both.sum()),
        nobody=int((basis.counts[:, 0] == 0).sum()),
    )


class Ends(NamedTuple):
    """A studentised interval; NaN where there is none."""

    low: float
    high: float


def interval_of(
    values: Floats, queries: int, student: Ends | None = None
) -> tuple[float | None, float | None, str | None]:
    """The ends of the 95 % interval, or why there is none.

    Parameters
    ----------
    values: resampled figures, shape (R,). Their percentiles are the ends where there are no studentised ones.
    """
    if queries < MINIMUM_QUERIES:
        return None, None, FEW_QUERIES
    ends = percentile_interval(values, queries)
    if ends is None:
        return None, None, RARE_VARIATION
    if student is not None and not np.isnan(student.low + student.high):
        ends = (float(student.low), float(student.high))
    return (*ends, None)


def figure_of(
    value: float, values: Floats, size: Size, undefined: str = NO_VARIATION, student: Ends | None = None
) -> AgreementFigure:
    """A coefficient and its resamples, shape (R,), as a figure with its interval; NaN is undefined."""
    if np.isnan(value):
        return AgreementFigure(
            None, None, None, size.units, size.pairs, undefined if size.units else NO_UNITS
        )
    low, high, why = interval_of(values, size.queries, student)
    return AgreementFigure(
        float(value), low, high, size.units, size.pairs, None, why, size.units < MINIMUM_UNITS
    )


def alpha_figure(value: float, values: Floats, size: Size, student: Ends | None = None) -> Alpha:
    """Krippendorff's alpha and its resamples as a figure."""
    found = figure_of(value, values, size, student=student)
    ends = (found.value, found.low, found.high)
    why = (found.undefined, found.no_interval, found.too_few)
    return Alpha(*ends, found.units, *why, pairs=found.pairs)


def raw_figure(value: float, values: Floats, size: Size, student: Ends | None = None) -> RawAgreement:
    """The share of equal grades and its resamples as a figure."""
    found = figure_of(value, values, size, student=student)
    ends = (found.value, found.low, found.high)
    return RawAgreement(*ends, found.pairs, found.units, found.undefined, found.no_interval, found.too_few)


def studentised(
    per_query: Floats, times: Floats | None, figures: Callable[[Floats], Floats]
) -> StudentisedIntervals | None:
    """Studentised intervals; None where percentiles will do (`times` is None) or queries are too few."""
    if times is None or len(per_query) < MINIMUM_QUERIES:
        return None
    return studentised_intervals(per_query, times, figures)


def ends_of(found: StudentisedIntervals | None, place: int) -> Ends | None:
    """The interval of the figure at this place."""
    return None if found is None else Ends(found.low[place], found.high[place])


def times_drawn(queries: int, seed: int, resamples: int) -> Floats | None:
    """How often each resample drew each query, where there are few enough queries to studentise."""
    if not MINIMUM_QUERIES <= queries < STUDENTISED_BELOW:
        return None
    return np.concatenate(list(draws(queries, seed, resamples)))


def figures_of(
    basis: Basis, scale: Sequence[int], coefficients: Sequence[Coefficient], seed: int, resamples: int
) -> tuple[dict[str, AnyFigure], dict[str, str]]:
    """Name → figure with its interval, and name → doubt; all coefficients have the same resamples."""
    values, many = np.asarray(scale, dtype=np.float64), len(scale)
    met = meetings(basis.counts, basis.queries, basis.number)
    # The three matrices of a query side by side as one row: a resample is a sum of rows.
    columns = np.concatenate([matrix.reshape(basis.number, many * many) for matrix in met], axis=1)

    def formulas(sums: Floats) -> Floats:
        stacked = Meetings(*sums.reshape(-1, 3, many, many).swapaxes(0, 1))
        return np.stack([one.formula(stacked, values) for one in coefficients], axis=1)

    points = formulas(columns.sum(axis=0, keepdims=True))[0]
    drawn = np.empty((0, len(coefficients)))
    if basis.number >= MINIMUM_QUERIES:
        part = Sums(np.arange(basis.number), columns, formulas)
        (drawn,) = resampled_figures([part], basis.number, seed, resamples)
    student = studentised(columns, times_drawn(basis.number, seed, resamples), formulas)
    figures = {
        one.name: _figure(one, basis, values, float(points[place]), drawn[:, place], ends_of(student, place))
        for place, one in enumerate(coefficients)
    }
    return figures, _doubts(coefficients, student, basis.number)


def _doubts(
    coefficients: Sequence[Coefficient], student: StudentisedIntervals | None, queries: int
) -> dict[str, str]:
    if student is None or queries >= FEW_IN_ALL:
        return {}
    carried = zip(coefficients, student.effective_queries.tolist(), strict=True)
    return {
        one.name: (
            f"effectively {count:.1f} of {amount(queries, 'query', 'queries')} decide this figure: the "
            "interval may hold the truth in fewer than 95 % of cases"
        )
        for one, count in carried
        if 0 < count < FEW_EFFECTIVE
    }


def _figure(
    one: Coefficient, basis: Basis, scale: Floats, point: float, drawn: Floats, student: Ends | None
) -> AnyFigure:
    if one.level is not None:
        # By the package, where our formula says that there is one: it fails where there is none.
        if not np.isnan(point):
            point = krippendorff.alpha(
                value_counts=basis.counts, value_domain=scale, level_of_measurement=one.level
            )
        return alpha_figure(float(point), drawn, basis.size, student)
    make = raw_figure if one.is_share else figure_of
    return make(point, drawn, basis.size, student=student)


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
