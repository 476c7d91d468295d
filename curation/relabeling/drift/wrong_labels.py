"""How many grades of the whole set were wrong, from what a quarter judged again.

What was judged counts as found. The random part of a plan is drawn from all pairs that the plan does not
choose by itself, so that it estimates the share of wrong grades among those that were not judged. Both
together are the whole set, and no end of the interval is below what was found.

The interval of the share among the rest is Wilson's with the effective number of random pairs: Kish's for the
weights, over the design effect of the queries where it is above 1, less what the random part has of the rest
already (W. G. Cochran 1977, Sampling Techniques, sections 5.5 and 9A.3).

Whether a pair gets its new grade may depend on that grade. So pairs of the plan without a new grade (not
judged, disputed, or nobody could tell) are counted once as all the same and once as all changed. C. F. Manski
(1989), Anatomy of the selection problem, Journal of Human Resources 24. Both intervals together hold the
share at least as often as each of them holds its own end (G. W. Imbens and C. F. Manski 2004, Econometrica
72).

Plans of earlier versions drew the random part first, from the whole set, so that it has pairs that were
chosen
anyway: it estimates the whole set, never below what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.intervals import wilson
from curation.relabeling.drift.regraded_pairs import QuarterResult, RegradedPair
from curation.relabeling.plan.choice import RANDOM

FEW = 10
"""With fewer pairs there is no estimate."""


class WrongLabels(NamedTuple):
    """The share of the whole set whose grade was wrong.

    Attributes
    ----------
    population: graded pairs that could be judged; of several quarters together, of each.
    judged, found: pairs with both grades, and those that differ.
    drawn, drawn_changed: of them, those of the random part.
    effective: how many independent pairs the random part is worth.
    share, low, high: of the whole set; None with fewer than 10 random pairs. wrong: the share as pairs.
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


class ShareInterval(NamedTuple):
    """A share of pairs with its 95 % interval, and how many independent pairs they are worth."""

    value: float
    low: float
    high: float
    effective: float


def wrong_labels(quarters: Sequence[QuarterResult]) -> WrongLabels:
    """What one quarter says of the whole set, or the mean over several, weighted by the size of the set."""
    now = [quarter.comparable for quarter in quarters]
    judged, drawn = sum(map(len, now)), [pair for pairs in now for pair in pairs if pair.part == RANDOM]
    found = WrongLabels(
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
        found = found._replace(least=none.value, most=every.value, lowest=none.low, highest=every.high)
    share = _share_of_set(quarters, None)
    if share is None:
        return found
    return found._replace(
        share=share.value,
        low=share.low,
        high=share.high,
        effective=share.effective,
        wrong=round(share.value * found.population),
        lowest=min(share.low, share.low if none is None else none.low),
        highest=max(share.high, share.high if every is None else every.high),
    )


def share_of(pairs: Sequence[RegradedPair], changed: Sequence[bool], weights: Floats) -> ShareInterval:
    """The weighted share of pairs that changed; pairs of a query change together."""
    values = np.array(changed, np.float64)
    share = float(weights @ values / weights.sum())
    kish = float(weights.sum() ** 2 / (weights**2).sum())
    effective = kish / _design_effect(pairs, weights * (values - share))
    return ShareInterval(share, *wilson_share(share, max(1, int(effective))), effective)


def wilson_share(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a share of n pairs that need not be a whole number: between those of the whole
    numbers around it; see `core.statistics.intervals.wilson`.
    """
    lower, upper = int(share * n), min(n, int(share * n) + 1)
    part = share * n - lower
    one, other = wilson(lower, n), wilson(upper, n)
    return (1 - part) * one[0] + part * other[0], (1 - part) * one[1] + part * other[1]


def _share_of_set(quarters: Sequence[QuarterResult], open_changed: bool | None) -> ShareInterval | None:
    """The share of the set; the open pairs count as changed, as not changed, or (None) as not judged."""
    known = [
        [(pair, pair.changed) for pair in quarter.comparable]
        + [(pair, open_changed) for pair in quarter.open if open_changed is not None]
        for quarter in quarters
    ]
    drawn = [[row for row in rows if row[0].part == RANDOM] for rows in known]
    if sum(map(len, drawn)) < FEW:
        return None
    rest = [max(0, quarter.population - len(rows)) for quarter, rows in zip(quarters, known, strict=True)]
    found = [sum(bool(changed) for _, changed in rows) for rows in known]
    population = sum(quarter.population for quarter in quarters)
    if not sum(rest):
        share = sum(found) / population
        return ShareInterval(share, share, share, float(population))
    weights = np.concatenate(
        [np.full(len(rows), left / max(1, len(rows))) for rows, left in zip(drawn, rest, strict=True)]
    )
    flat = [row for rows in drawn for row in rows]
    sample = share_of([pair for pair, _ in flat], [bool(changed) for _, changed in flat], weights)
    effective = sample.effective * sum(rest) / (sum(rest) + len(flat))
    ends = wilson_share(sample.value, max(1, int(effective)))

    def of_set(share: float, upper: bool = False) -> float:
        total = 0.0
        for quarter, changed, left in zip(quarters, found, rest, strict=True):
            whole = changed + left * share
            if not quarter.random_of_rest:
                whole = max(quarter.population * share, whole if upper else changed)
                whole = min(whole, changed + left)
            total += whole
        return total / population

    return ShareInterval(of_set(sample.value), of_set(ends[0]), of_set(ends[1], True), effective)


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
