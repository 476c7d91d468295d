"""Estimate of the share of wrong grades in the whole gold set, from a re-labeling.

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


def wrong_labels(quarters: Sequence[QuarterResult]) -> WrongLabels:
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
    none, every = (_share_of_set(quarters, more) for more in (False, True))
    if none and every:
        wrong = wrong._replace(least=none[0], most=every[0], lowest=none[1], highest=every[2])
    whole = _share_of_set(quarters, None)
    if whole is None:
        return wrong
    share, low, high, effective = whole
    return wrong._replace(
        share=share,
        low=low,
        high=high,
        effective=effective,
        wrong=round(share * wrong.population),
        lowest=min(low, low if none is None else none[1]),
        highest=max(high, high if every is None else every[2]),
    )


def share_of(pairs: Sequence[RegradedPair], changed: Sequence[bool], weights: Floats) -> Share:
    """Compute the weighted share of changed pairs and its interval. Pairs of one query are dependent."""
    values = np.array(changed, np.float64)
    share = float(weights @ values / weights.sum())
    kish = float(weights.sum() ** 2 / (weights**2).sum())
    effective = kish / _design_effect(pairs, weights * (values - share))
    return share, *wilson_share(share, max(1, int(effective))), effective


def wilson_share(share: float, n: int) -> tuple[float, float]:
    """Compute Wilson's interval of a share of n pairs; see `core.statistics.intervals.wilson_interval`.

    If the share is not a whole number of pairs, the interval is interpolated between the two nearest numbers.
    """
    count = int(share * n)
    part = share * n - count
    low, high = (1 - part) * np.array(wilson_interval(count, n)) + part * np.array(
        wilson_interval(min(n, count + 1), n)
    )
    return float(low), float(high)


def query_numbers(pairs: Sequence[RegradedPair]) -> tuple[Ints, int]:
    """Return the number of each pair's query, counted from 0, and the count of queries."""
    number = {name: index for index, name in enumerate(sorted({pair.query_id for pair in pairs}))}
    return np.array([number[pair.query_id] for pair in pairs], np.int64), len(number)


def _share_of_set(quarters: Sequence[QuarterResult], open_changed: bool | None) -> Share | None:
    """Estimate the share of wrong grades in the set.

    Open pairs count as changed, as unchanged, or (None) as not judged.
    """
    known = [
        [(pair, pair.changed) for pair in quarter.comparable]
        + [(pair, open_changed) for pair in quarter.open if open_changed is not None]
        for quarter in quarters
    ]
    drawn = [[row for row in rows if row[0].part == RANDOM] for rows in known]
    if sum(map(len, drawn)) < MIN_RANDOM_PAIRS:
        return None
    rest = [max(0, quarter.population - len(rows)) for quarter, rows in zip(quarters, known, strict=True)]
    changed_counts = [sum(bool(changed) for _, changed in rows) for rows in known]
    population = sum(quarter.population for quarter in quarters)
    if not sum(rest):
        share = sum(changed_counts) / population
        return share, share, share, float(population)
    weights = np.concatenate(
        [np.full(len(rows), left / max(1, len(rows))) for rows, left in zip(drawn, rest, strict=True)]
    )
    flat = [row for rows in drawn for row in rows]
    value, _, _, worth = share_of([pair for pair, _ in flat], [bool(changed) for _, changed in flat], weights)
    effective = worth * sum(rest) / (sum(rest) + len(flat))
    ends = wilson_share(value, max(1, int(effective)))

    def share_of_all(share: float, upper: bool = False) -> float:
        total = 0.0
        for quarter, changed, left in zip(quarters, changed_counts, rest, strict=True):
            whole = changed + left * share
            if not quarter.random_of_rest:
                whole = max(quarter.population * share, whole if upper else changed)
                whole = min(whole, changed + left)
            total += whole
        return total / population

    return share_of_all(value), share_of_all(ends[0]), share_of_all(ends[1], True), effective


def _design_effect(pairs: Sequence[RegradedPair], off: Floats) -> float:
    """Compute the factor (1 or more) by which the dependence of a query's pairs raises the variance."""
    queries, number = query_numbers(pairs)
    alone = float((off**2).sum())
    together = float((np.bincount(queries, off, number) ** 2).sum())
    return max(1.0, together / alone) if alone > 0 else 1.0
