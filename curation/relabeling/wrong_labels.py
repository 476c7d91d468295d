"""The share of wrong grades in the whole gold set, as estimated from a re-labeling.

A pair that was judged again counts as wrong if its grade changed. The random part of a plan is drawn from all
pairs that the plan does not choose by their score, so it estimates the share of wrong grades among the pairs
that nobody judged again. The counted and the estimated wrong grades together cover the whole set, and no end
of the interval is below the counted share.

The interval for the pairs that nobody judged again is Wilson's interval with an effective number of random
pairs. The effective number is Kish's effective size for the weights, divided by the design effect of the
queries if the effect is above 1, and corrected for the fraction of the pairs that the random part already
holds (W. G. Cochran 1977, Sampling Techniques, sections 5.5 and 9A.3).

Whether a pair gets a new grade may depend on its grade. So the estimate is made twice for the pairs of the
plan without a new grade: once as if all of them had kept their grade, once as if all of them had changed it
(C. F. Manski 1989, Anatomy of the selection problem, Journal of Human Resources 24). The union of both
intervals covers the share at least as often as each interval covers its bound (G. W. Imbens and C. F. Manski
2004, Econometrica 72).

Plans of earlier versions drew the random part from the whole set. A random part from the whole set estimates
the share of the whole set, and the estimate is never below the share that was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.intervals import interpolate_wilson
from curation.relabeling.pair_selection import RANDOM
from curation.relabeling.regraded_pairs import QuarterResult, RegradedPair

MIN_RANDOM_PAIRS = 10
"""Minimum number of random pairs for an estimate of the share of wrong grades."""


class ShareEstimate(NamedTuple):
    """A share of pairs with its 95 % interval, and the effective number of independent pairs."""

    share: float
    low: float
    high: float
    effective: float


class WrongLabels(NamedTuple):
    """The share of wrong grades in the whole set. Figures are None if there are fewer than 10 random pairs.

    Attributes
    ----------
    population: number of graded pairs that could be judged, summed over the quarters.
    judged, found: number of pairs with both grades, and number of these pairs whose grades differ.
    drawn, drawn_changed: the same two numbers for the random part.
    effective: effective number of independent pairs of the random part.
    share, low, high: the share of the whole set and its interval. wrong: the share as a number of pairs.
    open: number of pairs of the plan without a new grade.
    least, most: the share if no open pair changed, and if all open pairs changed.
    lowest, highest: the ends of the union of both intervals.
    """

    population: int
    judged: int
    found: int
    drawn: int
    drawn_changed: int
    effective: float = 0.0
    share: float | None = None
    low: float | None = None
    high: float | None = None
    wrong: int | None = None
    open: int = 0
    least: float | None = None
    most: float | None = None
    lowest: float | None = None
    highest: float | None = None


class _QuarterCounts(NamedTuple):
    """Counts of a quarter's pairs, if its open pairs are assumed to be all changed, all unchanged, or left
    out.

    Attributes
    ----------
    population: number of graded pairs of the set.
    changed: number of pairs whose grade changed.
    unjudged: number of pairs without an outcome, for which the share of wrong grades is estimated.
    random_pairs, random_changed: the pairs of the random part, and whether the grade of each pair changed.
    is_random_of_rest: see `QuarterResult.is_random_of_rest`.
    """

    population: int
    changed: int
    unjudged: int
    random_pairs: list[RegradedPair]
    random_changed: list[bool]
    is_random_of_rest: bool

    def count_wrong(self, share: float, is_upper_end: bool = False) -> float:
        """Return the number of wrong grades in the set if this share of the unjudged pairs is wrong."""
        total = self.changed + self.unjudged * share
        if self.is_random_of_rest:
            return total
        lower_bound = total if is_upper_end else self.changed
        return min(max(self.population * share, lower_bound), self.changed + self.unjudged)


def estimate_wrong_labels(quarters: Sequence[QuarterResult]) -> WrongLabels:
    """Estimate the share of wrong grades in a quarter, or its mean over quarters, weighted by set size."""
    judged = [pair for quarter in quarters for pair in quarter.comparable]
    random_pairs = [pair for pair in judged if pair.part == RANDOM]
    wrong = WrongLabels(
        population=sum(quarter.population for quarter in quarters),
        judged=len(judged),
        found=sum(pair.changed for pair in judged),
        drawn=len(random_pairs),
        drawn_changed=sum(pair.changed for pair in random_pairs),
        open=sum(len(quarter.open) for quarter in quarters),
    )
    none_changed = _estimate_set_share(quarters, open_changed=False)
    all_changed = _estimate_set_share(quarters, open_changed=True)
    if none_changed and all_changed:
        wrong = wrong._replace(
            least=none_changed.share,
            most=all_changed.share,
            lowest=none_changed.low,
            highest=all_changed.high,
        )
    estimate = _estimate_set_share(quarters, open_changed=None)
    if estimate is None:
        return wrong
    return wrong._replace(
        **estimate._asdict(),
        wrong=round(estimate.share * wrong.population),
        lowest=min(estimate.low, none_changed.low if none_changed else estimate.low),
        highest=max(estimate.high, all_changed.high if all_changed else estimate.high),
    )


def estimate_share(pairs: Sequence[RegradedPair], changed: Sequence[bool], weights: Floats) -> ShareEstimate:
    """Estimate the weighted share of changed pairs. The pairs of a query depend on each other.

    Parameters
    ----------
    changed, weights: one value for each pair.
    """
    values = np.array(changed, np.float64)
    share = float(weights @ values / weights.sum())
    kish_size = float(weights.sum() ** 2 / (weights**2).sum())
    effective = kish_size / _compute_design_effect(pairs, weights * (values - share))
    low, high = interpolate_wilson(share, max(1, int(effective)))
    return ShareEstimate(share, low, high, effective)


def index_queries(pairs: Sequence[RegradedPair]) -> tuple[Ints, int]:
    """Return the index of each pair's query, and the number of queries."""
    query_ids = sorted({pair.query_id for pair in pairs})
    index_of = {query_id: index for index, query_id in enumerate(query_ids)}
    return np.array([index_of[pair.query_id] for pair in pairs], np.int64), len(query_ids)


def _estimate_set_share(quarters: Sequence[QuarterResult], open_changed: bool | None) -> ShareEstimate | None:
    """Estimate the share of wrong grades in the set; None if there are too few random pairs.

    Parameters
    ----------
    open_changed: whether open pairs count as changed; None if open pairs count as not judged.
    """
    counts = [_count_quarter(quarter, open_changed) for quarter in quarters]
    random_pairs = [pair for row in counts for pair in row.random_pairs]
    if len(random_pairs) < MIN_RANDOM_PAIRS:
        return None
    population = sum(row.population for row in counts)
    unjudged_count = sum(row.unjudged for row in counts)
    if not unjudged_count:
        share = sum(row.changed for row in counts) / population
        return ShareEstimate(share, share, share, float(population))
    weights = np.concatenate(
        [np.full(len(row.random_pairs), row.unjudged / max(1, len(row.random_pairs))) for row in counts]
    )
    random_changed = [changed for row in counts for changed in row.random_changed]
    estimate = estimate_share(random_pairs, random_changed, weights)
    effective = estimate.effective * unjudged_count / (unjudged_count + len(random_pairs))
    low, high = interpolate_wilson(estimate.share, max(1, int(effective)))
    return ShareEstimate(
        sum(row.count_wrong(estimate.share) for row in counts) / population,
        sum(row.count_wrong(low) for row in counts) / population,
        sum(row.count_wrong(high, is_upper_end=True) for row in counts) / population,
        effective,
    )


def _count_quarter(quarter: QuarterResult, open_changed: bool | None) -> _QuarterCounts:
    outcomes = [(pair, pair.changed) for pair in quarter.comparable]
    if open_changed is not None:
        outcomes += [(pair, open_changed) for pair in quarter.open]
    random_outcomes = [(pair, changed) for pair, changed in outcomes if pair.part == RANDOM]
    return _QuarterCounts(
        population=quarter.population,
        changed=sum(changed for _, changed in outcomes),
        unjudged=max(0, quarter.population - len(outcomes)),
        random_pairs=[pair for pair, _ in random_outcomes],
        random_changed=[changed for _, changed in random_outcomes],
        is_random_of_rest=quarter.is_random_of_rest,
    )


def _compute_design_effect(pairs: Sequence[RegradedPair], deviations: Floats) -> float:
    """Compute the factor (1 or more) by which the dependence of a query's pairs raises the variance."""
    indexes, query_count = index_queries(pairs)
    variance_if_independent = float((deviations**2).sum())
    if variance_if_independent <= 0:
        return 1.0
    variance = float((np.bincount(indexes, deviations, query_count) ** 2).sum())
    return max(1.0, variance / variance_if_independent)
