"""How much of the whole set is wrong: what a re-labeling found, and what its random part says of the rest.

Pairs that were judged again count as they were found. The random part of a plan is drawn from all pairs that
the plan does not choose by itself, so that it estimates the share of wrong grades among the pairs that were
not judged. Both together are the whole set, and no end of the interval is below what was found.

The interval of the share among the rest is Wilson's with the effective number of random pairs: Kish's for the
weights, over the design effect of the queries where it is above 1, less what the random part has of the rest
already (W. G. Cochran 1977, Sampling Techniques, sections 5.5 and 9A.3).

Whether a pair gets its new grade may depend on that grade. So pairs of the plan without a new grade are
counted once as all the same and once as all changed (C. F. Manski 1989, Anatomy of the selection problem,
Journal of Human Resources 24). Both intervals together hold the share at least as often as each of them holds
its own end (G. W. Imbens and C. F. Manski 2004, Econometrica 72). Plans of earlier versions drew the random
part from the whole set: it estimates the whole set, never below what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.intervals import wilson
from curation.relabeling.plan import RANDOM
from curation.relabeling.regraded_pairs import QuarterResult, RegradedPair

Share = tuple[float, float, float, float]
"""A share of pairs, the ends of its 95 % interval, and how many independent pairs they are worth."""
MIN_RANDOM_PAIRS = 10
"""With fewer pairs there is no estimate."""


class WrongLabels(NamedTuple):
    """The share of the whole set whose grade was wrong.

    Attributes
    ----------
    population: graded pairs that could be judged, added up over the quarters.
    judged, found: pairs with both grades, and pairs whose grades differ.
    drawn, drawn_changed: how many of these are in the random part.
    effective: how many independent pairs the random part is worth.
    share, low, high: for the whole set; None with fewer than 10 random pairs. wrong: the share as pairs.
    open: pairs of the plan without a new grade. least, most: the share if none and if all of them changed;
        lowest, highest: the ends of both intervals together. None with fewer than 10 random pairs with them.
    """

    population: int
    judged: int
    found: int
    drawn: int
    drawn_changed: int
    effective: float
    share: float | None
    low: float | None
    high: float | None
    wrong: int | None
    open: int
    least: float | None = None
    most: float | None = None
    lowest: float | None = None
    highest: float | None = None


def wrong_labels(quarters: Sequence[QuarterResult]) -> WrongLabels:
    """What one quarter says of the whole set, or the mean over several, weighted by the size of the set."""
    now = [quarter.comparable for quarter in quarters]
    judged, drawn = sum(map(len, now)), [pair for pairs in now for pair in pairs if pair.part == RANDOM]
    wrong = WrongLabels(
        population=sum(quarter.population for quarter in quarters),
        judged=judged,
        found=sum(pair.changed for pairs in now for pair in pairs),
        drawn=len(drawn),
        drawn_changed=sum(pair.changed for pair in drawn),
        effective=0.0,
        share=None,
        low=None,
        high=None,
        wrong=None,
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
    """The weighted share of pairs that changed; pairs of a query change together."""
    values = np.array(changed, np.float64)
    share = float(weights @ values / weights.sum())
    kish = float(weights.sum() ** 2 / (weights**2).sum())
    effective = kish / _design_effect(pairs, weights * (values - share))
    return share, *wilson_share(share, max(1, int(effective))), effective


def wilson_share(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a share of n pairs; see `core.statistics.intervals.wilson`.

    If the share is no whole number of pairs, the ends lie between the ends for the whole numbers around it.
    """
    lower, upper = int(share * n), min(n, int(share * n) + 1)
    part = share * n - lower
    low_share, other = wilson(lower, n), wilson(upper, n)
    return (1 - part) * low_share[0] + part * other[0], (1 - part) * low_share[1] + part * other[1]


def _share_of_set(quarters: Sequence[QuarterResult], open_changed: bool | None) -> Share | None:
    """The share of the set; the open pairs count as changed, as not changed, or (None) as not judged."""
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

    def of_set(share: float, upper: bool = False) -> float:
        total = 0.0
        for quarter, changed, left in zip(quarters, changed_counts, rest, strict=True):
            whole = changed + left * share
            if not quarter.random_of_rest:
                whole = max(quarter.population * share, whole if upper else changed)
                whole = min(whole, changed + left)
            total += whole
        return total / population

    return of_set(value), of_set(ends[0]), of_set(ends[1], True), effective


def _design_effect(pairs: Sequence[RegradedPair], off: Floats) -> float:
    """How much more the share varies because pairs of a query change together; at least 1."""
    queries, number = query_numbers(pairs)
    alone = float((off**2).sum())
    together = float((np.bincount(queries, off, number) ** 2).sum())
    return max(1.0, together / alone) if alone > 0 else 1.0


def query_numbers(pairs: Sequence[RegradedPair]) -> tuple[Ints, int]:
    """Each pair's query, numbered from 0, and how many there are."""
    names = sorted({pair.query_id for pair in pairs})
    number = {name: index for index, name in enumerate(names)}
    return np.array([number[pair.query_id] for pair in pairs], np.int64), len(names)
