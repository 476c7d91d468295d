"""Agreement between annotators: each coefficient with its interval and number of units, and agreement on
evidence.

A unit is a (query, document) pair with at least two grades. All figures use the same units, so the figures
can be compared. Pairs with one grade give no information on agreement and are counted separately. Agreement
on cannot-tell is a separate figure. The `krippendorff` package computes the point estimates of alpha.
Resamples are sums of matrices that are computed once for each query: the same formula, about a thousand times
faster.

A unit of evidence is a pair in which two or more annotators marked evidence. Each two annotators of a pair
are compared by the F1 of their characters, 2 |A ∩ B| / (|A| + |B|). The figure is the mean of all
comparisons.

Every coefficient counts how often two grades of a unit meet: a matrix of values × values. Three matrices
differ in the weight of a unit with m grades; each matrix is a sum over units, and therefore over queries:

    meetings      1            every two grades count alike       raw agreement, the confusion table
    coincidences  1 / (m − 1)  every grade counts alike           Krippendorff's alpha
    shares        1 / m(m − 1) every unit counts alike            Gwet's AC2

A formula returns NaN for an undefined coefficient; the caller of the formula adds the reason. Reports, pages,
commands and JSON take all figures from `COEFFICIENTS`.

Sources: K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. K. L. Gwet (2008), British
Journal of Mathematical and Statistical Psychology 61; (2014), Handbook of Inter-Rater Reliability, 4th ed.,
ch. 2. J. Cohen (1960), Educational and Psychological Measurement 20; (1968), Psychological Bulletin 70.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import krippendorff
import numpy as np

from curation.agreement.grades import Grades, value_counts
from curation.core.spans import Span, intersection, size
from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import (
    MINIMUM_QUERIES,
    RESAMPLES,
    Sums,
    percentile_interval,
    resampled_figures,
)
from curation.labeling.consensus.decisions import Pair
from curation.labeling.consensus.marks import PairMarks

Level = Literal["nominal", "ordinal"]

RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff (2004), Content Analysis, 2nd ed., p. 241: rely on 0.800, conclude tentatively from 0.667."""
READING = (
    f"Labels are reliable where the whole interval of ordinal alpha is above {RELIABLE}. Above {TENTATIVE} "
    "labels allow tentative conclusions (Krippendorff 2004)."
)
"""The interpretation of alpha, for reports, pages and commands."""
MINIMUM_UNITS = 10
"""Minimum number of doubly judged units for a figure that is shown."""
SMALL_SET = 50
"""Number of queries below which 95 % intervals may contain the true value in fewer than 95 % of cases."""
NO_UNITS = "no pair has grades of two annotators"
NO_VARIATION = "no variation: every grade of the doubly judged pairs is the same, so chance explains all"
FEW_QUERIES = f"no interval: the pairs belong to fewer than {MINIMUM_QUERIES} queries"
RARE_VARIATION = "no interval: too many resamples have no variation"


class Coincidences(NamedTuple):
    """Counts of each two grades that meet in a group of units; symmetric, shape (groups, values, values)."""

    meetings: Floats
    coincidences: Floats
    shares: Floats


def meetings(counts: Ints, groups: Ints, number: int) -> Coincidences:
    """Count the three matrices of each group of units.

    Parameters
    ----------
    counts: shape (units, values), number of times that a unit got each grade. Units with one grade do not
        count.
    groups: shape (units,), number of the group (the query) of each unit, below `number`.
    """
    given = counts.sum(axis=1, dtype=np.float64)
    pairable = given >= 2
    every_grade = np.divide(1.0, given - 1, out=np.zeros(len(given)), where=pairable)
    every_unit = np.divide(every_grade, given, out=np.zeros(len(given)), where=pairable)
    values = counts.shape[1]
    matrices = np.zeros((3, number, values, values))
    for value in range(values):
        for other in range(value, values):
            met = (counts[:, value] * (counts[:, other] - (value == other))).astype(np.float64)
            for matrix, weight in zip(matrices, (None, every_grade, every_unit), strict=True):
                sums = np.bincount(groups, met if weight is None else met * weight, number)
                matrix[:, value, other] = matrix[:, other, value] = sums
    return Coincidences(*matrices)


def alpha_of(coincidences: Floats, level: Level) -> Floats:
    """Compute Krippendorff's alpha, shape (R, values, values) → (R,); NaN without variation."""
    marginals = coincidences.sum(axis=2)
    distances = distances_of(marginals, level)
    observed = (coincidences * distances).sum(axis=(1, 2))
    pairs = marginals[:, :, None] * marginals[:, None, :] * distances
    expected = pairs.sum(axis=(1, 2)) / np.maximum(marginals.sum(axis=1) - 1, 1)
    return 1 - ratio(observed, expected)


def distances_of(marginals: Floats, level: Level) -> Floats:
    """Compute the distance between each two grades, shape (R, values) → (R, values, values).

    Ordinal distances are the squared differences between the values' middle ranks.
    """
    if level == "nominal":
        different = 1.0 - np.eye(marginals.shape[1])
        return np.broadcast_to(different, (len(marginals), *different.shape))
    middle = np.cumsum(marginals, axis=1) - marginals / 2
    squares: Floats = (middle[:, :, None] - middle[:, None, :]) ** 2
    return squares


def raw_of(matrices: Floats) -> Floats:
    """Compute the share of equal grades among pairs of grades, shape (R, values, values) → (R,)."""
    return ratio(np.einsum("rkk->r", matrices), matrices.sum(axis=(1, 2)))


def confusion_counts(
    pairs: Iterable[tuple[int | None, int | None]], scale: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Count pairs of grades by first grade (row) and second grade (column), in the order of the scale."""
    counts = Counter(pairs)
    return tuple(tuple(counts[first, second] for second in scale) for first in scale)


def gwet_of(shares: Floats, weights: Floats, grades: Floats | None = None) -> Floats:
    """Compute Gwet's AC2 (AC1 with identity weights), shape (R, values, values) → (R,).

    AC2 is 1 if every grade is the same.

    Parameters
    ----------
    grades: shape (R, values), each grade's share of a unit, summed over the units. Gwet (2014) also counts
        units with one grade here; without `grades`, only units with two or more grades count.
    """
    values, given = shares.shape[1], shares.sum(axis=2) if grades is None else grades
    chances = ratio(given, given.sum(axis=1, keepdims=True))
    agreed = ratio((shares * weights).sum(axis=(1, 2)), shares.sum(axis=(1, 2)))
    spread = (chances * (1 - chances)).sum(axis=1)
    return _corrected(agreed, weights.sum() / (values * (values - 1)) * spread)


def cohen_of(tables: Floats, weights: Floats) -> Floats:
    """Compute Cohen's kappa of two annotators, shape (R, values, values) → (R,); NaN if expected agreement is
    1.

    Parameters
    ----------
    tables: counts of the first annotator's grade (row) and the second annotator's grade (column).
    weights: agreement weights, from 1 for the same grade to 0 for the opposite ends of the scale.
    """
    total = tables.sum(axis=(1, 2))
    chances = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    agreed = ratio((tables * weights).sum(axis=(1, 2)), total)
    return _corrected(agreed, ratio((chances * weights).sum(axis=(1, 2)), total**2))


def rater_figures(tables: Floats, values: Floats | Ints) -> Floats:
    """Compute three figures of two raters, shape (R, values, values) → (R, 3): the share of equal grades,
    Cohen's kappa with quadratic weights, and the mean difference of the second rater's grade and the first's.

    Parameters
    ----------
    tables: counts as in `cohen_of`. values: shape (values,), the number of each step of the scale in the
        difference.
    """
    higher = np.subtract.outer(values, values).T.astype(np.float64)
    difference = ratio((tables * higher).sum(axis=(1, 2)), tables.sum(axis=(1, 2)))
    kappa = cohen_of(tables, weights_of(len(values), "quadratic"))
    return np.stack([raw_of(tables), kappa, difference], axis=1)


def weights_of(values: int, weighting: Literal["identity", "quadratic"]) -> Floats:
    """Compute the agreement weights between the steps of a scale, shape (values, values).

    Quadratic weights fall with the square of the number of steps (Cohen 1968).
    """
    if weighting == "identity":
        return np.eye(values)
    steps = np.subtract.outer(np.arange(values), np.arange(values)).astype(np.float64)
    weights: Floats = 1 - steps**2 / (values - 1) ** 2
    return weights


def _corrected(agreed: Floats, chance: Floats) -> Floats:
    """Compute (agreed − chance) / (1 − chance); NaN if chance is 1 up to rounding."""
    rest = np.where(1 - chance > 1e-12, 1 - chance, 0.0)
    return ratio(agreed - chance, rest)


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


def _ac2(met: Coincidences) -> Floats:
    return gwet_of(met.shares, weights_of(met.shares.shape[1], "quadratic"))


COEFFICIENTS = (
    Coefficient("nominal", "alpha, nominal", lambda met: alpha_of(met.coincidences, "nominal"), "nominal"),
    Coefficient("ordinal", "alpha, ordinal", lambda met: alpha_of(met.coincidences, "ordinal"), "ordinal"),
    Coefficient("ac2", "Gwet's AC2, quadratic", _ac2),
    Coefficient("raw", "same grade", lambda met: raw_of(met.meetings)),
)


@dataclass(frozen=True)
class Judgeable:
    """Agreement of annotators on whether a pair can be judged: any grade against cannot-tell.

    Attributes
    ----------
    judgments, cannot_tell: number of all judgments, and of judgments without a grade.
    share: share of cannot-tell among all judgments.
    raw, nominal: agreement on the pairs with at least two judgments of either kind.
    mixed: number of pairs with both grades and cannot-tell.
    nobody: number of pairs with two or more judgments but without a grade.
    """

    judgments: int
    cannot_tell: int
    share: Estimate
    raw: Estimate
    nominal: Estimate
    mixed: int
    nobody: int


@dataclass(frozen=True)
class InterAgreement:
    """Agreement between annotators, with the number of units, queries and judgments.

    Attributes
    ----------
    figures: name → figure, for each of `COEFFICIENTS` in their order.
    units: number of pairs with at least two grades, from `queries` queries; `pairs`: number of pairs of
        grades of one unit.
    single: number of pairs with one grade only, which give no information on agreement.
    annotators, judgments: numbers of annotators and of grades, single pairs included.
    cannot_tell: number of judgments without a grade.
    scale, marginals: the grades of the scale, and the number of times that each grade was given on the units.
    judgeable: agreement on whether a pair can be judged.
    older: number of judgments that are left out because they are about an older text of the document.
    """

    figures: dict[str, Estimate]
    units: int
    queries: int
    pairs: int
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
        """The warning about intervals from few queries; None without an interval or from `SMALL_SET` queries
        on.
        """
        if not MINIMUM_QUERIES <= self.queries < SMALL_SET:
            return None
        return (
            f"So few queries ({self.queries:,}) can make 95 % intervals too narrow: in simulated skewed sets "
            "of 8 to 15 queries they held the truth in 78 to 94 % of cases, of 40 queries in 90 to 95 %."
        )

    @property
    def ordinal(self) -> Estimate:
        """Ordinal alpha, the figure of findings and of the gate."""
        return self.figures["ordinal"]

    @property
    def raw(self) -> Estimate:
        """Share of equal grades among pairs of grades."""
        return self.figures["raw"]


@dataclass(frozen=True)
class Basis:
    """Units with at least two grades, and their queries numbered from 0.

    Attributes
    ----------
    units: shape (N,), numbers of the pairs in the `Grades`.
    counts: shape (N, values). queries: shape (N,), number of each unit's query, below `number`.
    """

    units: Ints
    counts: Ints
    queries: Ints
    number: int

    @property
    def pairs(self) -> int:
        """Number of pairs of grades of one unit; three annotators on a unit make three pairs."""
        given = self.counts.sum(axis=1)
        return int((given * (given - 1) // 2).sum())


def inter_agreement(
    grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES
) -> InterAgreement:
    """Compute the agreement between annotators on an ordered scale.

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
        pairs=basis.pairs,
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
    """Keep the units with two grades or more, from counts of shape (U, values) and queries of shape (U,)."""
    units = np.flatnonzero(counts.sum(axis=1) >= 2)
    query_numbers, queries = np.unique(unit_queries[units], return_inverse=True)
    return Basis(units, counts[units], queries, len(query_numbers))


def judgeable(grades: Grades, seed: int, resamples: int = RESAMPLES) -> Judgeable:
    """Compute how far annotators agree on whether a pair can be judged."""
    cells = grades.units * 2 + ~grades.graded
    counts = np.bincount(cells, minlength=2 * len(grades.documents)).reshape(-1, 2)
    given, basis = counts.sum(axis=1), basis_of(counts, grades.unit_queries)
    wanted = [coefficient for coefficient in COEFFICIENTS if coefficient.name in ("nominal", "raw")]
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


def figure_of(
    value: float, values: Floats, units: int, queries: int, undefined: str = NO_VARIATION
) -> Estimate:
    """Make an estimate from a coefficient, its resamples of shape (R,), and the number of units; NaN is
    undefined.
    """
    if np.isnan(value):
        return Estimate(n=units, why=undefined if units else NO_UNITS)
    if queries < MINIMUM_QUERIES:
        return Estimate(float(value), n=units, why=FEW_QUERIES)
    ends = percentile_interval(values, queries)
    low, high = ends or (None, None)
    return Estimate(float(value), low, high, units, None if ends else RARE_VARIATION)


def why_not_shown(estimate: Estimate) -> str | None:
    """Say why an estimate of doubly judged pairs is not shown to people; None if it is shown."""
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    if estimate.n < MINIMUM_UNITS:
        return f"too few: {estimate.n} of at least {MINIMUM_UNITS} doubly judged pairs"
    return None


def figures_of(
    basis: Basis, scale: Sequence[int], coefficients: Sequence[Coefficient], seed: int, resamples: int
) -> dict[str, Estimate]:
    """Compute coefficients with intervals, by name; all coefficients have the same resamples."""
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
    for index, coefficient in enumerate(coefficients):
        # The package fails where a coefficient is undefined, so our formula decides whether to ask it.
        if coefficient.level is not None and not np.isnan(points[index]):
            points[index] = krippendorff.alpha(
                value_counts=basis.counts,
                value_domain=np.asarray(scale, dtype=np.float64),
                level_of_measurement=coefficient.level,
            )
    return {
        coefficient.name: figure_of(float(points[index]), drawn[:, index], len(basis.units), basis.number)
        for index, coefficient in enumerate(coefficients)
    }


def _share_unjudged(counts: Ints, unit_queries: Ints, seed: int, resamples: int) -> Estimate:
    """Compute the share of cannot-tell among all judgments of all judged queries."""
    number = int(unit_queries.max(initial=-1)) + 1
    sums = [np.bincount(unit_queries, column, number) for column in (counts[:, 1], counts.sum(axis=1))]
    per_query = np.stack(sums, axis=1).astype(np.float64)
    judgments = int(counts.sum())
    if judgments == 0:
        return Estimate(why="nothing was judged")
    values = np.empty(0)
    if number >= MINIMUM_QUERIES:
        part = Sums(np.arange(number), per_query, lambda drawn: drawn[:, :1] / drawn[:, 1:])
        values = resampled_figures([part], number, seed, resamples)[0][:, 0]
    return figure_of(float(counts[:, 1].sum() / judgments), values, judgments, number)


@dataclass(frozen=True)
class EvidenceAgreement:
    """Agreement of annotators on the evidence that they marked.

    Attributes
    ----------
    apart: number of units in which two annotators marked no common character. comparisons: number of
        comparisons of two annotators.
    f1: mean F1 with its 95 % interval over queries.
    """

    units: int
    queries: int
    apart: int
    comparisons: int
    f1: Estimate


def evidence_agreement(marks: Mapping[Pair, PairMarks]) -> EvidenceAgreement | None:
    """Compute the agreement of annotators on marks; None without marks."""
    if not marks:
        return None
    sums: dict[str, Floats] = {}
    units = apart = 0
    for (query_id, _), pair in sorted(marks.items()):
        people = [list(each.spans) for each in pair.people]
        if len(people) >= 2:
            sums[query_id] = sums.get(query_id, np.zeros(2)) + f1_sums(people)
            units += 1
            apart += any(not intersection(*two) for two in combinations(people, 2))
    table = np.array(list(sums.values())).reshape(-1, 2)
    return EvidenceAgreement(units, len(table), apart, int(table[:, 1].sum()), _figure(table, units))


def f1_sums(people: Sequence[Iterable[Span]]) -> tuple[float, int]:
    """Sum the F1 of each two annotators of one text, and count the comparisons."""
    comparisons = list(combinations([list(spans) for spans in people], 2))
    return (
        sum(2 * size(intersection(*two)) / (size(two[0]) + size(two[1])) for two in comparisons),
        len(comparisons),
    )


def _figure(sums: Floats, units: int) -> Estimate:
    """Compute the mean F1 with its interval: Student's t on the logit, with the jackknife over queries.

    Parameters
    ----------
    sums: shape (queries, 2), the sum of F1 and the number of comparisons of each query.
    """
    from scipy.special import expit, logit, stdtrit

    queries, total = len(sums), sums.sum(axis=0)
    if not units:
        return Estimate(why=NO_UNITS)
    value = float(total[0] / total[1])
    if queries < MINIMUM_QUERIES:
        return Estimate(value, n=units, why=FEW_QUERIES)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (total[0] - sums[:, 0]) / (total[1] - sums[:, 1])
        error = np.sqrt((queries - 1) * without.var())
        half = stdtrit(queries - 1, 0.975) * error / (value * (1 - value))
        low, high = expit(logit(value) - half), expit(logit(value) + half)
    if error < 1e-9:
        low = high = value
    if not np.isfinite(low + high):
        return Estimate(value, n=units, why=RARE_VARIATION)
    return Estimate(value, float(low), float(high), units)
