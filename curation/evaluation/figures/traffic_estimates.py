"""Estimates of measures over all searches, from queries drawn from the traffic.

Each query was drawn with a known probability. A query counts with its `search_weights` (Hájek's ratio), so
that a measure without a value for some queries needs no different formula. The interval is the score interval
of `figures.means` with a design-based variance: the variance of the ratio, stratum by stratum. The variance
measures how far the estimate moves without each query (the jackknife). The effective number of queries is the
number of equally weighted queries that would give the same precision.

In the stratified design, a stratum whose queries were nearly all drawn has little left to vary (the finite
population correction), and the allowance for unseen queries shrinks by the same share. The design pps has no
unbiased variance, so its queries are taken as drawn with replacement, which makes the interval a little too
wide. All strata with one evaluated query share one variance; a single stratum with one query joins the
smallest other stratum.

Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, sections 5.7 and 7.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from curation.core.statistics import intervals
from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.evaluation.figures.means import find_highest
from curation.evaluation.scoring.drawn_queries import DrawnQueries
from curation.evaluation.scoring.run_scores import RunScores

NOT_SAMPLED = "no evaluated query was drawn from the traffic"
NO_VARIATION = "all drawn queries have the same value"
COLLAPSED = -1
"""Number of the stratum that combines all strata with one query."""
ONE_EACH = "each stratum has only one query"
TOO_FEW_DRAWN = f"fewer than {MINIMUM_QUERIES} drawn queries have a value"


class _WeightedMean(NamedTuple):
    """A mean weighted by traffic, which estimates the mean over all searches, without an interval.

    Attributes
    ----------
    effective_n: the number of equally weighted queries that would give the same precision ((Σw)² / Σw², Kish
        1965).
    variance, freedom: the variance of the mean, and its degrees of freedom.
    """

    estimate: Estimate
    effective_n: float = 0.0
    variance: float = 0.0
    freedom: float = 1.0


def estimate_traffic_figures(scores: RunScores, drawn: DrawnQueries) -> dict[str, Estimate]:
    """Estimate each measure for all searches."""
    estimates = estimate_for_traffic(scores.values, drawn, scores.highest)
    return {measure.name: estimate for measure, estimate in zip(scores.measures, estimates, strict=True)}


def estimate_for_traffic(values: Floats, drawn: DrawnQueries, highest: Floats) -> list[Estimate]:
    """Estimate the mean over all searches for each of P columns of values.

    Parameters
    ----------
    values: shape (Q, P), values of at least 0, NaN where a query has no value.
    highest: shape (Q, P), the highest value that a query could have.
    """
    limits = find_highest(values[drawn.queries], highest[drawn.queries])
    columns = zip(values[drawn.queries].T, limits.tolist(), strict=True)
    return [_estimate_with_score_interval(column, drawn, end) for column, end in columns]


def _estimate_with_score_interval(values: Floats, drawn: DrawnQueries, highest: float) -> Estimate:
    weighted_mean = _compute_weighted_mean(values, drawn)
    estimate = weighted_mean.estimate
    if estimate.why is not None or estimate.value is None:
        return estimate
    weights = np.where(np.isnan(values), 0.0, drawn.weights)
    unseen = float((weights * drawn.open_share[drawn.strata]).sum() / weights.sum())
    if not unseen:
        return estimate._replace(why=NO_VARIATION)
    mean, n = np.array([estimate.value]), np.array([weighted_mean.effective_n])
    ends = intervals.mean_score_intervals(
        *(mean, weighted_mean.variance, n, weighted_mean.freedom, highest), intervals.UNSEEN * unseen
    )
    low, high = intervals.widen_for_uncommon(ends, mean, values[:, None], n, highest)[:, 0].tolist()
    return estimate._replace(low=low, high=high)


def _compute_weighted_mean(values: Floats, drawn: DrawnQueries) -> _WeightedMean:
    """Compute the weighted mean for all searches with its variance; `why` explains an undefined variance."""
    is_defined = ~np.isnan(values)
    n = int(is_defined.sum())
    if not n:
        return _WeightedMean(Estimate(why=NOT_SAMPLED))
    weights = np.where(is_defined, drawn.weights, 0.0)
    total = float(weights.sum())
    value = float((weights * np.where(is_defined, values, 0.0)).sum() / total)
    effective_n = total**2 / float((weights**2).sum())
    if n < MINIMUM_QUERIES:
        return _WeightedMean(Estimate(value, n=n, why=TOO_FEW_DRAWN), effective_n)
    influence = weights * np.where(is_defined, values - value, 0.0) / (total - weights)
    variance, freedom = _compute_variance(influence, drawn)
    estimate = Estimate(value, n=n, why=ONE_EACH if freedom < 1 else None)
    return _WeightedMean(estimate, effective_n, variance, max(1.0, min(freedom, effective_n - 1)))


def _compute_variance(influence: Floats, drawn: DrawnQueries) -> tuple[float, int]:
    """Compute the variance of the ratio estimate, and the variance's degrees of freedom."""
    strata = _collapse_strata(drawn)
    variance, freedom = 0.0, 0
    for stratum in np.unique(strata):
        values = influence[strata == stratum]
        n = len(values)
        if n == 1:
            continue  # the whole stratum was evaluated, or it is the only stratum
        open_share = 1.0 if stratum == COLLAPSED else float(drawn.open_share[stratum])
        variance += open_share * n / (n - 1) * float(((values - values.mean()) ** 2).sum())
        freedom += n - 1
    return variance, freedom


def _collapse_strata(drawn: DrawnQueries) -> Ints:
    """Number the stratum of each query, combining all strata that have one query into `COLLAPSED`.

    A single stratum of one query joins the smallest other stratum. Leaving out a query that is alone in its
    stratum would treat the query's value as certain.
    """
    counts = np.bincount(drawn.strata, minlength=len(drawn.open_share))
    single = np.flatnonzero((counts == 1) & (drawn.open_share > 0))
    larger = np.flatnonzero((counts > 1) & (drawn.open_share > 0))
    if len(single) == 1 and len(larger):
        single = np.append(single, larger[np.argmin(counts[larger])])
    return np.where(np.isin(drawn.strata, single), COLLAPSED, drawn.strata)
