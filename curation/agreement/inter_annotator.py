"""Agreement between annotators: coefficients over all doubly judged pairs, each with its interval.

A unit is a (query, document) pair with at least two grades. All coefficients use the same units and can be
compared. Pairs with one grade say nothing about agreement and are counted separately, as are answers "cannot
tell". The `krippendorff` package computes the point estimates of alpha. Resamples sum matrices that are
computed once for each query (`coefficients`): the same formula, about a thousand times faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import krippendorff
import numpy as np

from curation.agreement.coefficients import COEFFICIENTS, Coincidences, count_coincidences
from curation.agreement.grades import Grades, count_values
from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.bootstrap import RESAMPLES, Sums, percentile_interval, resample_figures
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES

MINIMUM_UNITS = 10
"""Minimum number of doubly judged units for showing a statistic."""
SMALL_SET = 50
"""Number of queries below which 95 % intervals may contain the true value in fewer than 95 % of cases."""
NO_UNITS = "no pair has grades of two annotators"
NO_VARIATION = "undefined: all grades of the doubly judged pairs are the same"
FEW_QUERIES = f"no interval: the pairs belong to fewer than {MINIMUM_QUERIES} queries"
RARE_VARIATION = "no interval: too many bootstrap samples have only one grade"


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
    older: number of judgments that are left out because they are about an older text of the document.
    confused: the two different grades that one pair got most often; None if no pair has different grades.
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
    older: int = 0
    confused: tuple[int, int] | None = None

    @property
    def small_set(self) -> str | None:
        """Warn about intervals from few queries; None if there is no interval, or with `SMALL_SET` queries or
        more."""
        if not MINIMUM_QUERIES <= self.queries < SMALL_SET:
            return None
        return (
            f"With so few queries ({self.queries:,}), 95 % intervals can be too narrow: in simulated "
            "skewed sets of 8 to 15 queries they contained the true value in 78 to 94 % of cases, with "
            "40 queries in 90 to 95 %."
        )

    @property
    def ordinal(self) -> Estimate:
        """Return ordinal alpha, the coefficient that findings and the gate use."""
        return self.figures["ordinal"]

    @property
    def raw(self) -> Estimate:
        """Return the share of equal grades among pairs of grades."""
        return self.figures["raw"]


@dataclass(frozen=True)
class Overlap:
    """Units with at least two grades, with the indexes of their queries.

    Attributes
    ----------
    units: shape (N,), indexes of the pairs in the `Grades`.
    counts: shape (N, values), how often each unit got each grade.
    queries: shape (N,), index of each unit's query, below `query_count`.
    """

    units: Ints
    counts: Ints
    queries: Ints
    query_count: int

    @property
    def pairs(self) -> int:
        """Count pairs of grades given to the same unit; three annotators on one unit make three pairs."""
        grade_counts = self.counts.sum(axis=1)
        return int((grade_counts * (grade_counts - 1) // 2).sum())


def compute_agreement(
    grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES
) -> InterAgreement:
    """Compute the agreement between annotators on an ordered scale.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    counts = count_values(grades, scale)
    grade_counts = counts.sum(axis=1)
    overlap = find_overlap(counts, grades.unit_queries)
    return InterAgreement(
        figures=estimate_coefficients(overlap, scale, seed, resamples),
        units=len(overlap.counts),
        queries=overlap.query_count,
        pairs=overlap.pairs,
        single=int((grade_counts == 1).sum()),
        annotators=grades.annotators,
        judgments=int(grade_counts.sum()),
        cannot_tell=grades.cannot_tell,
        scale=tuple(scale),
        marginals=tuple(overlap.counts.sum(axis=0).tolist()),
        older=grades.older,
        confused=_find_confused(overlap.counts, scale),
    )


def _find_confused(counts: Ints, scale: Sequence[int]) -> tuple[int, int] | None:
    times = {
        (scale[low], scale[high]): int((counts[:, low] * counts[:, high]).sum())
        for low, high in combinations(range(len(scale)), 2)
    }
    pair = max(times, key=times.__getitem__, default=None)
    return pair if pair and times[pair] else None


def find_overlap(counts: Ints, unit_queries: Ints) -> Overlap:
    """Select the units (query-document pairs) that have at least two grades.

    Parameters
    ----------
    counts: shape (U, values), how often each pair got each grade.
    unit_queries: shape (U,), the query of each pair.
    """
    units = np.flatnonzero(counts.sum(axis=1) >= 2)
    query_indexes, queries = np.unique(unit_queries[units], return_inverse=True)
    return Overlap(units, counts[units], queries, len(query_indexes))


def estimate_coefficients(
    overlap: Overlap, scale: Sequence[int], seed: int, resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Estimate all coefficients with intervals, by name, all from the same resamples."""
    values, queries = len(scale), overlap.query_count
    matrices = count_coincidences(overlap.counts, overlap.queries, queries)
    # The three matrices of a query lie side by side in one row, so a resample is a sum of rows.
    rows = np.concatenate([matrix.reshape(queries, values * values) for matrix in matrices], axis=1)

    def compute(sums: Floats) -> Floats:
        stacked = Coincidences(*sums.reshape(-1, 3, values, values).swapaxes(0, 1))
        return np.stack([coefficient.formula(stacked) for coefficient in COEFFICIENTS], axis=1)

    points = compute(rows.sum(axis=0, keepdims=True))[0]
    drawn = np.empty((0, len(COEFFICIENTS)))
    if queries >= MINIMUM_QUERIES:
        sums = Sums(np.arange(queries), rows, compute)
        (drawn,) = resample_figures([sums], queries, seed, resamples)
    for index, coefficient in enumerate(COEFFICIENTS):
        # The krippendorff package fails if a coefficient is undefined, so our formula decides whether to call
        # it.
        if coefficient.level is not None and not np.isnan(points[index]):
            points[index] = krippendorff.alpha(
                value_counts=overlap.counts,
                value_domain=np.asarray(scale, dtype=np.float64),
                level_of_measurement=coefficient.level,
            )
    units = len(overlap.units)
    return {
        coefficient.name: make_estimate(float(points[index]), drawn[:, index], units, queries)
        for index, coefficient in enumerate(COEFFICIENTS)
    }


def make_estimate(
    value: float, resampled_values: Floats, units: int, queries: int, undefined: str = NO_VARIATION
) -> Estimate:
    """Build an estimate from a coefficient, its resamples of shape (R,), and the number of units; NaN means
    undefined.
    """
    if np.isnan(value):
        return Estimate(n=units, why=undefined if units else NO_UNITS)
    if queries < MINIMUM_QUERIES:
        return Estimate(float(value), n=units, why=FEW_QUERIES)
    interval = percentile_interval(resampled_values, queries)
    low, high = interval or (None, None)
    return Estimate(float(value), low, high, units, None if interval else RARE_VARIATION)


def why_not_shown(estimate: Estimate) -> str | None:
    """Say why users do not see an estimate on doubly judged pairs; None if they see it."""
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    if estimate.n < MINIMUM_UNITS:
        return f"too few: {estimate.n} of at least {MINIMUM_UNITS} doubly judged pairs"
    return None
