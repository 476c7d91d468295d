"""Each annotator's agreement with the others on the same pairs.

An annotator who grades at random, always gives one grade, or reads the scale upside down may be consistent,
but agrees with nobody. So the annotator's weighted kappa with the others is compared with the kappa of the
others among themselves, on the same pairs if two others graded enough of these pairs. Both kappas fall if one
grade is very common; the share of equal grades does not. The module `outliers` finds the annotators who do
not count as others.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from curation.agreement.grades import MINIMUM_GRADES, Grades
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.bootstrap import percentile_interval, resample_sums
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.core.statistics.p_values import mean_t_p
from curation.core.text import pluralize

MIN_SHARE_OF_OTHERS = 0.5
"""An annotator agrees too little if their kappa is clearly below this share of the kappa among the others."""
NO_VARIATION = "undefined: everyone gave the same grade"
NOBODY_ELSE = f"two comparable annotators also graded fewer than {MINIMUM_GRADES} of these pairs"
OTHERS_BY_CHANCE = "the others agree among themselves no better than chance"
_ROUNDING_ERROR = 1e-12


class OthersAgreement(NamedTuple):
    """Weighted kappa (quadratic, by grade values) between an annotator and the others on the same pairs.

    J. Cohen (1968), Weighted kappa, Psychological Bulletin 70; with several others the result is the mean
    over the others.

    Attributes
    ----------
    pairs, queries: numbers of the annotator's pairs that others also graded, and of their queries.
    kappa: value with a 95 % interval by bootstrap over queries; None if `undefined` gives the reason.
    others: kappa of the others among themselves, over any two of the others.
    p: the probability of such low agreement if kappa were half of the others' kappa and disagreement were no
        larger than among the others (Student's t over queries).
    """

    annotator: str
    pairs: int
    queries: int
    kappa: float | None = None
    low: float | None = None
    high: float | None = None
    others: float | None = None
    p: float | None = None
    undefined: str | None = None

    @property
    def follows(self) -> bool:
        """Return whether this annotator's kappa is at least half of the others' kappa among themselves."""
        return None not in (self.kappa, self.others) and follows(self.kappa or 0.0, self.others or 0.0)


class OthersKappa(NamedTuple):
    """The other annotators' agreement among themselves: mean squared distance between two grades, and
    kappa."""

    distance: float
    kappa: float


class SharedGrades(NamedTuple):
    """One annotator's grades on pairs that others also graded; all arrays have the shape (pairs,).

    Attributes
    ----------
    grade: the annotator's grades. query: indexes of the queries.
    others, mean, square: number, mean and mean square of the others' grades.
    """

    grade: Floats
    query: Ints
    others: Floats
    mean: Floats
    square: Floats

    @property
    def distances(self) -> Floats:
        """Compute each pair's mean squared distance between the annotator's grade and the others' grades."""
        return self.grade**2 - 2 * self.grade * self.mean + self.square

    @property
    def has_enough(self) -> bool:
        """Return whether there are enough grades and queries to compare the annotator with the others."""
        return len(self.grade) >= MINIMUM_GRADES and len(np.unique(self.query)) >= MINIMUM_QUERIES


class GradeTotals:
    """Sums of all compared annotators' grades for each pair, from which an annotator's own grades can be
    subtracted.

    Parameters
    ----------
    graded: grades in the order of `graded_by_annotator`.
    is_compared: shape (A,), False for an annotator whose grades do not count for others.
    """

    def __init__(self, graded: Grades, is_compared: Mask) -> None:
        self._units, self._is_compared, self._slices = graded.units, is_compared, graded.annotator_slices
        self._grades = graded.grades.astype(np.float64)
        self._queries = graded.unit_queries[graded.units]
        counts = is_compared[graded.people]
        units, unit_count = self._units[counts], int(self._units.max(initial=-1)) + 1
        sums = [np.bincount(units, self._grades[counts] ** power, unit_count) for power in range(3)]
        self._sums = np.stack(sums).astype(np.float64)
        self._moments = _pair_moments(self._sums)
        self._total_moments = self._moments.sum(axis=1)

    def share(self, annotator: int) -> SharedGrades:
        """Select one annotator's grades on pairs that at least one other compared annotator graded."""
        rows = self._slices[annotator]
        other_sums = self._subtract(annotator)
        is_shared = other_sums[0] > 0
        count, first, second = other_sums[:, is_shared]
        query = self._queries[rows][is_shared]
        return SharedGrades(self._grades[rows][is_shared], query, count, first / count, second / count)

    def compare_others(self, annotator: int, shared: SharedGrades) -> OthersKappa | None:
        """Compute the other annotators' agreement on one annotator's pairs, or on all pairs if two others
        graded too few of these; None if the agreement is undefined.
        """
        sums = np.stack([shared.others, shared.others * shared.mean, shared.others * shared.square])
        moments = _pair_moments(sums).sum(axis=1)
        if moments[0] < MINIMUM_GRADES:
            units = self._units[self._slices[annotator]]
            without_annotator = _pair_moments(self._subtract(annotator)).sum(axis=1)
            moments = self._total_moments - self._moments[:, units].sum(axis=1) + without_annotator
        if moments[0] < MINIMUM_GRADES:
            return None
        pairs, distance, mean, square = moments
        chance = 2 * (square / pairs - (mean / pairs) ** 2)
        if chance <= _ROUNDING_ERROR:
            return None
        kappa = float(1 - distance / pairs / chance)
        return OthersKappa(float(distance / pairs), kappa)

    def _subtract(self, annotator: int) -> Floats:
        """Sum the other annotators' grades on one annotator's pairs, shape (3, pairs)."""
        rows = self._slices[annotator]
        grade, sums = self._grades[rows], self._sums[:, self._units[rows]]
        if self._is_compared[annotator]:
            sums = sums - np.stack([grade**power for power in range(3)])
        others: Floats = sums
        return others


def compute_agreement_with_others(
    grades: Grades, outliers: Collection[str] = (), seed: int = 0
) -> dict[str, OthersAgreement]:
    """Compute each annotator's agreement with the others who are not outliers, by name."""
    graded = grades.graded_by_annotator
    totals = GradeTotals(graded, graded.exclude(outliers))
    agreements = {}
    for annotator, name in enumerate(grades.names):
        shared = totals.share(annotator)
        agreements[name] = _compare(name, shared, totals.compare_others(annotator, shared), seed)
    return agreements


def test_kappa(shared: SharedGrades, others: OthersKappa | None) -> tuple[float, float | None] | None:
    """Compute an annotator's kappa and its p value, which is None if the others do not agree; return None if
    the grades do not vary."""
    distances, grade, mean = shared.distances, shared.grade.mean(), shared.mean.mean()
    chance = float((shared.grade**2).mean() - 2 * grade * mean + shared.square.mean())
    if chance <= _ROUNDING_ERROR:
        return None
    kappa = 1 - float(distances.mean()) / chance
    if others is None or others.kappa <= 0:
        return kappa, None
    # Contribution of each pair to distance minus its share of chance, to first order in the two means.
    by_pair = shared.grade**2 + shared.square - 2 * (grade * shared.mean + shared.grade * mean - grade * mean)
    excess = distances - (1 - MIN_SHARE_OF_OTHERS * others.kappa) * by_pair
    return kappa, max(_above_p(excess, shared.query), _above_p(distances - others.distance, shared.query))


def follows(kappa: float, others_kappa: float) -> bool:
    """Return whether an annotator's kappa is at least half of the others' kappa among themselves."""
    return kappa > 0 and kappa >= MIN_SHARE_OF_OTHERS * others_kappa


def test_mean(values: Floats, query: Ints) -> float:
    """Compute the two-sided p value for a mean that differs from 0 (Student's t over queries)."""
    _, index = np.unique(query, return_inverse=True)
    deviations = np.bincount(index, values - values.mean()) / len(values)
    return mean_t_p(float(values.mean()), deviations.astype(np.float64))


def _above_p(values: Floats, query: Ints) -> float:
    """Compute the one-sided p value for a mean above 0 (Student's t over queries)."""
    p = test_mean(values, query)
    return p / 2 if values.mean() > 0 else 1 - p / 2


def _pair_moments(sums: Floats) -> Floats:
    """Compute four numbers for each pair: 1, mean squared distance between two grades, mean, mean square; all
    four are 0 for a pair without two grades.

    Parameters
    ----------
    sums: shape (3, pairs), the number of grades, their sum, and the sum of their squares.
    """
    count, first, second = sums
    has_two = count >= 2
    n = np.where(has_two, count, 2)
    columns = (np.ones(len(n)), 2 * (n * second - first**2) / (n * (n - 1)), first / n, second / n)
    return np.stack([np.where(has_two, column, 0.0) for column in columns])


def _compare(name: str, shared: SharedGrades, others: OthersKappa | None, seed: int) -> OthersAgreement:
    pairs, queries = len(shared.grade), len(np.unique(shared.query))
    agreement = OthersAgreement(name, pairs, queries)
    if not shared.has_enough:
        shared_pairs = f"{pluralize(pairs, 'pair')} of {pluralize(queries, 'query', 'queries')}"
        needed = f"needed: {MINIMUM_GRADES} pairs of {MINIMUM_QUERIES} queries"
        return agreement._replace(undefined=f"shared with other annotators: {shared_pairs}; {needed}")
    comparison = test_kappa(shared, others)
    if comparison is None:
        return agreement._replace(undefined=NO_VARIATION)
    kappa, p = comparison
    low, high = _resample_kappa(shared, seed)
    agreement = agreement._replace(kappa=_round(kappa), low=_round(low), high=_round(high), p=p)
    if others is None:
        return agreement._replace(undefined=NOBODY_ELSE)
    agreement = agreement._replace(others=others.kappa)
    return agreement if p is not None else agreement._replace(undefined=OTHERS_BY_CHANCE)


def _round(value: float | None) -> float | None:
    """Round a value, so that a floating-point error just below 0 becomes 0."""
    return None if value is None else round(value, 9) + 0.0


def _resample_kappa(shared: SharedGrades, seed: int) -> tuple[float | None, float | None]:
    """Compute the 95 % interval of kappa by bootstrap over queries; None if there is no interval."""
    _, index = np.unique(shared.query, return_inverse=True)
    squares = shared.grade**2 + shared.square
    columns = (shared.distances, shared.grade, shared.mean, squares, np.ones(len(index)))
    sums = np.stack([np.bincount(index, column) for column in columns], axis=1).astype(np.float64)
    kappas = [_compute_kappas(block) for block in resample_sums(sums, seed)]
    return percentile_interval(np.concatenate(kappas), len(sums)) or (None, None)


def _compute_kappas(sums: Floats) -> Floats:
    distance, grade, mean, squares, pairs = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = squares / pairs - 2 * grade * mean / pairs**2
        kappas: Floats = np.where(chance > _ROUNDING_ERROR, 1 - distance / pairs / chance, np.nan)
    return kappas
