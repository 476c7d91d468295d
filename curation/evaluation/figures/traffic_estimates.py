"""Estimates for all searches, from queries that were drawn from the traffic with known probability.

A query counts with its `search_weights`: Hájek's ratio, so that measures that some queries do not have need
no other formula. The interval is the score interval of `figures.means` with a design-based variance: the
variance of the ratio, stratum by stratum. A query counts by how the estimate moves without it (the
jackknife), and queries are as many as would say as much with equal weight. In the stratified design a stratum
whose queries were nearly all drawn has little left to vary (the finite population correction), and as much
less is added as unseen. The design pps has no unbiased variance, so its queries are taken as drawn with
replacement, which makes the interval a little too wide. A stratum with one evaluated query shares the
variance of the other such strata, or of the smallest stratum where there is no other.

Differences of systems are often 0. Their interval is Student's t. Where fewer than `CARRIED_BY` differ from
the most common one, it reaches as far as with one more unseen query, at its worst and at its best. That query
is in the stratum with the most searches that were not drawn.

Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, sections 5.7 and 7.3.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from curation.core.statistics.arrays import Floats
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import (
    MINIMUM_QUERIES,
    UNSEEN,
    most_common,
    score_intervals,
    with_unseen,
)
from curation.core.statistics.paired_intervals import CARRIED_BY
from curation.evaluation.figures.means import TOTAL, highest_of
from curation.evaluation.scoring.drawn_queries import DrawnQueries
from curation.evaluation.scoring.measure_names import Measure, averaged, of_mean
from curation.evaluation.scoring.run_scores import RunScores

NOT_SAMPLED = "no evaluated query was drawn from the traffic"
NO_VARIATION = "every drawn query that could vary has the same value"
COLLAPSED = -1
"""The number of the stratum that strata with one query make together."""
ONE_EACH = "each stratum has one query"
TOO_FEW_DRAWN = f"fewer than {MINIMUM_QUERIES} drawn queries have a value"


def traffic_figures(scores: RunScores, drawn: DrawnQueries) -> dict[str, Estimate]:
    """Measure → the estimate for all searches; a total has no estimate."""
    columns = [averaged(measure, scores.values[:, column]) for column, measure in enumerate(scores.measures)]
    highest = [averaged(measure, scores.highest[:, column]) for column, measure in enumerate(scores.measures)]
    estimates = traffic_estimates(np.stack(columns, axis=1), drawn, np.stack(highest, axis=1))
    return {
        measure.name: _of_measure(measure, estimate)
        for measure, estimate in zip(scores.measures, estimates, strict=True)
    }


def traffic_estimates(values: Floats, drawn: DrawnQueries, highest: Floats) -> list[Estimate]:
    """The estimate of each of P columns.

    Parameters
    ----------
    values: shape (Q, P), at least 0, NaN where a query has none.
    highest: shape (Q, P), what a query could have at most.
    """
    most = highest_of(values[drawn.queries], highest[drawn.queries])
    return [
        _bounded(column, drawn, end)
        for column, end in zip(values[drawn.queries].T, most.tolist(), strict=True)
    ]


def traffic_differences(differences: Floats, drawn: DrawnQueries) -> list[Estimate]:
    """The estimate of each of P columns of differences, shape (Q, P), between −1 and 1 or NaN."""
    columns = differences[drawn.queries]
    few = most_common(columns)[1] < CARRIED_BY
    return [
        _guarded(column, drawn) if guarded else _student(column, drawn)
        for column, guarded in zip(columns.T, few.tolist(), strict=True)
    ]


def _of_measure(measure: Measure, estimate: Estimate) -> Estimate:
    """The estimate on the scale of the measure's figure."""
    if measure.summary == "total":
        return estimate._replace(why=TOTAL)
    value, low, high = (None if end is None else of_mean(measure, end) for end in estimate[:3])
    return estimate._replace(value=value, low=low, high=high)


def _bounded(values: Floats, drawn: DrawnQueries, highest: float) -> Estimate:
    estimate, effective, variance, free = _estimate(values, drawn)
    if estimate.why is not None or estimate.value is None:
        return estimate
    weights = np.where(np.isnan(values), 0.0, drawn.weights)
    unseen = float((weights * drawn.open_share[drawn.strata]).sum() / weights.sum())
    if not unseen:
        return estimate._replace(why=NO_VARIATION)
    mean, n = np.array([estimate.value]), np.array([effective])
    ends = score_intervals(mean, variance, n, free, highest, UNSEEN * unseen)
    low, high = with_unseen(ends, mean, values[:, None], n, highest)[:, 0].tolist()
    return estimate._replace(low=low, high=high)


def _student(differences: Floats, drawn: DrawnQueries) -> Estimate:
    estimate, _, variance, free = _estimate(differences, drawn)
    if estimate.why is not None or estimate.value is None:
        return estimate
    if variance == 0:
        return estimate._replace(why=NO_VARIATION)
    half = float(stdtrit(free, 0.975)) * sqrt(variance)
    return estimate._replace(low=max(-1.0, estimate.value - half), high=min(1.0, estimate.value + half))


def _estimate(values: Floats, drawn: DrawnQueries) -> tuple[Estimate, float, float, float]:
    """The estimate without an interval, how many queries of equal weight would say as much ((Σw)² / Σw², Kish
    1965), the variance, and its degrees of freedom."""
    defined = ~np.isnan(values)
    n = int(defined.sum())
    if not n:
        return Estimate(why=NOT_SAMPLED), 0.0, 0.0, 1.0
    weights = np.where(defined, drawn.weights, 0.0)
    total = float(weights.sum())
    value = float((weights * np.where(defined, values, 0.0)).sum() / total)
    effective = total**2 / float((weights**2).sum())
    if n < MINIMUM_QUERIES:
        return Estimate(value, n=n, why=TOO_FEW_DRAWN), effective, 0.0, 1.0
    off = weights * np.where(defined, values - value, 0.0) / (total - weights)
    variance, free = _variance(off, drawn)
    why = ONE_EACH if free < 1 else None
    return Estimate(value, n=n, why=why), effective, variance, max(1.0, min(free, effective - 1))


def _guarded(differences: Floats, drawn: DrawnQueries) -> Estimate:
    """The figure with an interval that holds one more query, at its worst and at its best.

    The unseen query differs by as much as the largest difference that was seen, or by 1 without any
    difference, as in `core.statistics.paired_intervals`.
    """
    figure = _student(differences, drawn)
    weights = np.where(np.isnan(differences), 0.0, drawn.weights)
    unseen = np.bincount(drawn.strata, weights, len(drawn.open_share)) * drawn.open_share
    if figure.n < MINIMUM_QUERIES or not unseen.any():
        return figure
    stratum = int(unseen.argmax())
    weight = float(weights[(drawn.strata == stratum) & (weights > 0)].mean())
    more = drawn._replace(weights=np.append(drawn.weights, weight), strata=np.append(drawn.strata, stratum))
    farthest = float(np.nanmax(np.abs(differences))) or 1.0
    ends = [_student(np.append(differences, end), more) for end in (-farthest, farthest)]
    known = [end for end in (figure, *ends) if end.low is not None and end.high is not None]
    if not known:
        return figure
    low, high = min(end.low or 0.0 for end in known), max(end.high or 0.0 for end in known)
    return figure._replace(low=low, high=high, why=None)


def _variance(off: Floats, drawn: DrawnQueries) -> tuple[float, int]:
    """The variance of the ratio, and its degrees of freedom."""
    strata = _collapsed(drawn)
    variance, free = 0.0, 0
    for stratum in np.unique(strata):
        inside = off[strata == stratum]
        m = len(inside)
        if m == 1:
            continue  # all that the stratum has was evaluated, or it is the only one
        open_share = 1.0 if stratum == COLLAPSED else float(drawn.open_share[stratum])
        variance += open_share * m / (m - 1) * float(((inside - inside.mean()) ** 2).sum())
        free += m - 1
    return variance, free


def _collapsed(drawn: DrawnQueries) -> NDArray[np.int64]:
    """The stratum of each query, where those with one query are one; a single such joins the smallest other.

    What a lone query could have been instead is unknown, so to leave it out would take it for certain.
    """
    counts = np.bincount(drawn.strata, minlength=len(drawn.open_share))
    alone = np.flatnonzero((counts == 1) & (drawn.open_share > 0))
    others = np.flatnonzero((counts > 1) & (drawn.open_share > 0))
    if len(alone) == 1 and len(others):
        alone = np.append(alone, others[np.argmin(counts[others])])
    return np.where(np.isin(drawn.strata, alone), COLLAPSED, drawn.strata)
