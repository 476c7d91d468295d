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
from functools import partial
from typing import NamedTuple

import krippendorff
import numpy as np

from curation.agreement.coefficients import (
    LEVELS,
    Floats,
    Ints,
    Level,
    Meetings,
    alpha_of,
    fleiss_of,
    gwet_of,
    meetings,
    raw_of,
    weights_of,
)
from curation.agreement.grades import Grades, read_grades, value_counts, voices_of
from curation.agreement.intervals import (
    MINIMUM_QUERIES,
    RESAMPLES,
    Sums,
    percentile_interval,
    resampled_figures,
)

__all__ = ["LEVELS", "Alpha", "Between", "Figure", "Grades", "Level", "RawAgreement", "between"]
__all__ += ["basis_of", "read_grades", "voices_of"]

MINIMUM_UNITS = 10
"""With fewer units a figure is marked as resting on too few."""

NO_UNITS = "no pair has grades of two annotators"
NO_VARIATION = "no variation: every grade of the doubly judged pairs is the same, so chance explains all"
FEW_QUERIES = f"no interval: the pairs belong to fewer than {MINIMUM_QUERIES} queries"
RARE_VARIATION = "no interval: too many resamples have no variation"
NO_TRUE_ZERO = "the ratio level takes grade 0 for a true zero, which a relevance scale does not have"


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


@dataclass(frozen=True)
class Figure:
    """Any other coefficient; the fields mean what they mean in `Alpha`."""

    value: float | None
    low: float | None
    high: float | None
    units: int
    pairs: int
    undefined: str | None = None
    no_interval: str | None = None
    too_few: bool = False


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
    share: Figure
    raw: RawAgreement
    nominal: Alpha
    mixed: int
    nobody: int


@dataclass(frozen=True)
class Between:
    """Agreement between annotators, and what it rests on.

    Attributes
    ----------
    nominal, ordinal, interval, ratio: Krippendorff's alpha. The ratio level takes 0 for a true zero.
    raw: equal grades among pairs of grades.
    fleiss: Fleiss' kappa, for annotators that vary in number.
    ac1, ac2, ac2_ordinal: Gwet's, AC2 with quadratic and with ordinal weights.
    units: pairs with at least two grades, from `queries` queries.
    single: pairs with one grade only, which say nothing about agreement.
    annotators, judgments: who judged, and grades given, single pairs included.
    cannot_tell: judgments without a grade, kept apart.
    scale, marginals: the grades, and how often each was given on the units.
    judgeable: agreement on what can be judged at all.
    """

    nominal: Alpha
    ordinal: Alpha
    interval: Alpha
    ratio: Alpha
    raw: RawAgreement
    fleiss: Figure
    ac1: Figure
    ac2: Figure
    ac2_ordinal: Figure
    units: int
    queries: int
    single: int
    annotators: int
    judgments: int
    cannot_tell: int
    scale: tuple[int, ...]
    marginals: tuple[int, ...]
    judgeable: Judgeable


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


def between(grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES) -> Between:
    """Agreement between annotators on an ordered scale.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    counts = value_counts(grades, scale)
    given = counts.sum(axis=1)
    basis = basis_of(counts, grades.unit_queries)
    found = _coefficients(basis, np.asarray(scale, dtype=np.float64), seed, resamples)
    size = basis.size
    nominal, ordinal, interval, ratio = (_alpha(basis, scale, level, found[level]) for level in LEVELS)
    return Between(
        nominal=nominal,
        ordinal=ordinal,
        interval=interval,
        ratio=ratio,
        raw=raw_figure(*found["raw"], size),
        fleiss=figure_of(*found["fleiss"], size),
        ac1=figure_of(*found["ac1"], size),
        ac2=figure_of(*found["ac2"], size),
        ac2_ordinal=figure_of(*found["ac2_ordinal"], size),
        units=len(basis.counts),
        queries=basis.number,
        single=int((given == 1).sum()),
        annotators=grades.annotators,
        judgments=int(given.sum()),
        cannot_tell=grades.cannot_tell,
        scale=tuple(scale),
        marginals=tuple(basis.counts.sum(axis=0).tolist()),
        judgeable=judgeable(grades, seed, resamples),
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
    found = _coefficients(basis, np.arange(2.0), seed, resamples)
    both = basis.counts.min(axis=1) > 0
    return Judgeable(
        judgments=int(given.sum()),
        cannot_tell=grades.cannot_tell,
        share=_share_unjudged(counts, grades.unit_queries, seed, resamples),
        raw=raw_figure(*found["raw"], basis.size),
        nominal=_alpha(basis, (0, 1), "nominal", found["nominal"]),
        mixed=int(both.sum()),
        nobody=int((basis.counts[:, 0] == 0).sum()),
    )


def interval_of(values: Floats, queries: int) -> tuple[float | None, float | None, str | None]:
    """The ends of the 95 % interval of resampled figures, shape (R,), or why there is none."""
    if queries < MINIMUM_QUERIES:
        return None, None, FEW_QUERIES
    ends = percentile_interval(values, queries)
    return (*ends, None) if ends else (None, None, RARE_VARIATION)


def figure_of(value: float, values: Floats, size: Size, undefined: str = NO_VARIATION) -> Figure:
    """A coefficient and its resamples, shape (R,), as a figure with its interval; NaN is undefined."""
    if np.isnan(value):
        return Figure(None, None, None, size.units, size.pairs, undefined if size.units else NO_UNITS)
    low, high, why = interval_of(values, size.queries)
    return Figure(float(value), low, high, size.units, size.pairs, None, why, size.units < MINIMUM_UNITS)


def alpha_figure(value: float, values: Floats, size: Size) -> Alpha:
    """Krippendorff's alpha and its resamples as a figure."""
    found = figure_of(value, values, size)
    ends = (found.value, found.low, found.high)
    why = (found.undefined, found.no_interval, found.too_few)
    return Alpha(*ends, found.units, *why, pairs=found.pairs)


def raw_figure(value: float, values: Floats, size: Size) -> RawAgreement:
    """The share of equal grades and its resamples as a figure."""
    found = figure_of(value, values, size)
    ends = (found.value, found.low, found.high)
    return RawAgreement(*ends, found.pairs, found.units, found.undefined, found.no_interval, found.too_few)


_Of = Callable[[Meetings], Floats]


def _statistics(scale: Floats) -> dict[str, _Of]:
    """Name → figure of stacked matrices; alphas first."""
    weights = partial(weights_of, len(scale))

    def alpha(level: Level) -> _Of:
        return lambda met: alpha_of(met.coincidences, scale, level)

    return {
        **{level: alpha(level) for level in LEVELS},
        "raw": lambda met: raw_of(met.meetings),
        "fleiss": lambda met: fleiss_of(met.shares),
        "ac1": lambda met: gwet_of(met.shares, weights("identity")),
        "ac2": lambda met: gwet_of(met.shares, weights("quadratic")),
        "ac2_ordinal": lambda met: gwet_of(met.shares, weights("ordinal")),
    }


def _coefficients(basis: Basis, scale: Floats, seed: int, resamples: int) -> dict[str, tuple[float, Floats]]:
    """Name → the coefficient and its resamples, shape (R,)."""
    statistics, many = _statistics(scale), len(scale)
    met = meetings(basis.counts, basis.queries, basis.number)
    columns = np.concatenate([matrix.reshape(basis.number, many * many) for matrix in met], axis=1)

    def figures(sums: Floats) -> Floats:
        stacked = Meetings(*sums.reshape(-1, 3, many, many).swapaxes(0, 1))
        return np.stack([statistic(stacked) for statistic in statistics.values()], axis=1)

    points = figures(columns.sum(axis=0, keepdims=True))[0]
    drawn = np.empty((0, len(statistics)))
    if basis.number >= MINIMUM_QUERIES:
        part = Sums(np.arange(basis.number), columns, figures)
        (drawn,) = resampled_figures([part], basis.number, seed, resamples)
    return {name: (float(points[place]), drawn[:, place]) for place, name in enumerate(statistics)}


def _alpha(basis: Basis, scale: Sequence[int], level: Level, found: tuple[float, Floats]) -> Alpha:
    """Alpha by the package, where our formula says that there is one: it fails where there is none."""
    point, values = found
    if not np.isnan(point):
        domain = np.asarray(scale, dtype=np.float64)
        point = krippendorff.alpha(value_counts=basis.counts, value_domain=domain, level_of_measurement=level)
    return alpha_figure(float(point), values, basis.size)


def _share_unjudged(counts: Ints, unit_queries: Ints, seed: int, resamples: int) -> Figure:
    """Cannot-tell among all judgments, over all queries that were judged."""
    number = int(unit_queries.max(initial=-1)) + 1
    sums = [np.bincount(unit_queries, column, number) for column in (counts[:, 1], counts.sum(axis=1))]
    per_query = np.stack(sums, axis=1).astype(np.float64)
    judgments, units = int(counts.sum()), len(counts)
    if judgments == 0:
        return Figure(None, None, None, 0, 0, "nothing was judged")
    values = np.empty(0)
    if number >= MINIMUM_QUERIES:
        part = Sums(np.arange(number), per_query, lambda drawn: drawn[:, :1] / drawn[:, 1:])
        values = resampled_figures([part], number, seed, resamples)[0][:, 0]
    low, high, why = interval_of(values, number)
    return Figure(float(counts[:, 1].sum() / judgments), low, high, units, judgments, None, why)
