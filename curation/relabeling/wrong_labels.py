"""The estimated share of wrong grades in the whole gold set, from a re-labeling.

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
from curation.core.statistics.intervals import wilson_interval
from curation.relabeling.plan import RANDOM
from curation.relabeling.regraded_pairs import QuarterResult, RegradedPair

Share = tuple[float, float, float, float]
"""A share of pairs, the two ends of its 95 % interval, and the effective number of independent pairs."""
MIN_RANDOM_PAIRS = 10
"""Minimum number of random pairs for an estimate of the share of wrong grades."""


class WrongLabels(NamedTuple):
    """The share of wrong grades in the whole set. Figures are None with fewer than 10 random pairs.

    Attributes
    ----------
    population: number of graded pairs that could be judged, summed over the quarters.
    judged, found: numbers of pairs with both grades, and of pairs whose grades differ.
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


def estimate_wrong_labels(quarters: Sequence[QuarterResult]) -> WrongLabels:
    """Estimate the share of wrong grades of a quarter, or its mean over quarters, weighted by set size."""
    judged = [pair for quarter in quarters for pair in quarter.comparable]
    drawn = [pair for pair in judged if pair.part == RANDOM]
    wrong = WrongLabels(
        population=sum(quarter.population for quarter in quarters),
        judged=len(judged),
        found=sum(pair.changed for pair in judged),
        drawn=len(drawn),
        drawn_changed=sum(pair.changed for pair in drawn),
        open=sum(len(quarter.open) for quarter in quarters),
    )
    lower, upper = (_estimate_set_share(quarters, changed) for changed in (False, True))
    if lower and upper:
        wrong = wrong._replace(least=lower[0], most=upper[0], lowest=lower[1], highest=upper[2])
    estimate = _estimate_set_share(quarters, None)
    if estimate is None:
        return wrong
    share, low, high, effective = estimate
    return wrong._replace(
        share=share,
        low=low,
        high=high,
        effective=effective,
        wrong=round(share * wrong.population),
        lowest=min(low, low if lower is None else lower[1]),
        highest=max(high, high if upper is None else upper[2]),
    )


def estimate_share(pairs: Sequence[RegradedPair], changed: Sequence[bool], weights: Floats) -> Share:
    """Compute the weighted share of changed pairs and its interval. Pairs of one query are dependent."""
    values = np.array(changed, np.float64)
    share = float(weights @ values / weights.sum())
    kish = float(weights.sum() ** 2 / (weights**2).sum())
    effective = kish / _design_effect(pairs, weights * (values - share))
    return share, *interpolate_wilson(share, max(1, int(effective))), effective


def interpolate_wilson(share: float, n: int) -> tuple[float, float]:
    """Compute Wilson's interval of a share of n pairs; see `core.statistics.intervals.wilson_interval`.

    If the share is not a whole number of pairs, the interval is interpolated between the two nearest numbers.
    """
    count = int(share * n)
    fraction = share * n - count
    below, above = (np.array(wilson_interval(number, n)) for number in (count, min(n, count + 1)))
    low, high = (1 - fraction) * below + fraction * above
    return float(low), float(high)


def index_queries(pairs: Sequence[RegradedPair]) -> tuple[Ints, int]:
    """Return the number of each pair's query, counted from 0, and the count of queries."""
    index_of = {name: index for index, name in enumerate(sorted({pair.query_id for pair in pairs}))}
    return np.array([index_of[pair.query_id] for pair in pairs], np.int64), len(index_of)


def _estimate_set_share(quarters: Sequence[QuarterResult], open_changed: bool | None) -> Share | None:
    """Estimate the share of wrong grades in the set.

    Open pairs count as changed, as unchanged, or (None) as not judged.
    """
    judged = [
        [(pair, pair.changed) for pair in quarter.comparable]
        + [(pair, open_changed) for pair in quarter.open if open_changed is not None]
        for quarter in quarters
    ]
    drawn = [[row for row in rows if row[0].part == RANDOM] for rows in judged]
    if sum(map(len, drawn)) < MIN_RANDOM_PAIRS:
        return None
    unseen = [max(0, quarter.population - len(rows)) for quarter, rows in zip(quarters, judged, strict=True)]
    changed_counts = [sum(bool(changed) for _, changed in rows) for rows in judged]
    population = sum(quarter.population for quarter in quarters)
    if not sum(unseen):
        share = sum(changed_counts) / population
        return share, share, share, float(population)
    sizes = zip(map(len, drawn), unseen, strict=True)
    weights = np.concatenate([np.full(size, others / max(1, size)) for size, others in sizes])
    all_drawn = [row for rows in drawn for row in rows]
    value, _, _, independent = estimate_share(
        [pair for pair, _ in all_drawn], [bool(changed) for _, changed in all_drawn], weights
    )
    effective = independent * sum(unseen) / (sum(unseen) + len(all_drawn))
    interval = interpolate_wilson(value, max(1, int(effective)))

    def add_counted(share: float, upper: bool = False) -> float:
        total = 0.0
        for quarter, changed, others in zip(quarters, changed_counts, unseen, strict=True):
            count = changed + others * share
            if not quarter.random_of_rest:
                count = max(quarter.population * share, count if upper else changed)
                count = min(count, changed + others)
            total += count
        return total / population

    return add_counted(value), add_counted(interval[0]), add_counted(interval[1], True), effective


def _design_effect(pairs: Sequence[RegradedPair], deviations: Floats) -> float:
    """Compute the factor (1 or more) by which the dependence of a query's pairs raises the variance."""
    queries, query_count = index_queries(pairs)
    if_independent = float((deviations**2).sum())
    by_query = float((np.bincount(queries, deviations, query_count) ** 2).sum())
    return max(1.0, by_query / if_independent) if if_independent > 0 else 1.0
