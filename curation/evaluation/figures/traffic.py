"""Estimates for all searches of the traffic, from queries that were drawn with known probability.

A query counts with its `search_weights`: Hájek's ratio, so that measures that some queries do not have need
no other formula.

The interval is the score interval of `core.statistics.means` with a design-based variance: that of the ratio,
stratum by stratum. A query counts by how the estimate moves without it (the jackknife), and queries are as
many as would say as much with equal weight. In the stratified design a stratum whose queries were nearly all
drawn has little left to vary (the finite population correction), and as much less is added as unseen. The
design pps has no unbiased variance, so its queries are taken as drawn with replacement, which makes the
interval a little too wide. A stratum with one evaluated query shares the variance of the other such strata,
or of the smallest stratum where there is no other.

Differences of systems are often 0. Their interval is Student's t; where fewer than `CARRIED_BY` differ from
the most common one, it reaches as far as with one query more that nobody has seen, at its worst and at its
best, in the stratum of which most searches were not drawn.

Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, sections 5.7 and 7.3.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from curation.core.statistics.arrays import Floats, ratio
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.core.statistics.means import UNSEEN, most_common, score_intervals, with_unseen
from curation.core.statistics.paired.differences import CARRIED_BY
from curation.evaluation.figures.means import TOTAL, highest_of
from curation.evaluation.scoring.inputs.release import DrawnQueries
from curation.evaluation.scoring.metrics.measures import Measure, averaged, of_mean
from curation.evaluation.scoring.metrics.run_scores import RunScores
from curation.releases.search_weights import search_weights

NOT_SAMPLED = "no evaluated query was drawn from the traffic"
NO_VARIATION = "every drawn query that could vary has the same value"
COLLAPSED = -1
"""The number of the stratum that strata with one query make together."""
TOO_FEW_DRAWN = f"fewer than {MINIMUM_QUERIES} drawn queries have a value"


class TrafficFigure(NamedTuple):
    """The mean over searches.

    Attributes
    ----------
    value: None where no drawn query has a value.
    low, high: 95 % interval; None where there is none, and `no_interval` says why.
    n: drawn queries with a value.
    effective: how many queries of equal weight would say as much: (Σw)² / Σw² (Kish 1965).
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    effective: float | None
    no_interval: str | None


class _Design(NamedTuple):
    """Drawn queries: weight, number of the stratum, and each stratum's share that was not evaluated."""

    queries: NDArray[np.int64]
    weights: Floats
    strata: NDArray[np.int64]
    open_share: Floats


def traffic_figures(scores: RunScores, drawn: DrawnQueries) -> dict[str, TrafficFigure]:
    """Measure → the estimate for all searches; of a total there is none."""
    columns = [averaged(measure, scores.values[:, place]) for place, measure in enumerate(scores.measures)]
    highest = [averaged(measure, scores.highest[:, place]) for place, measure in enumerate(scores.measures)]
    estimates = traffic_estimates(np.stack(columns, axis=1), drawn, np.stack(highest, axis=1))
    return {
        measure.name: _of_measure(measure, estimate)
        for measure, estimate in zip(scores.measures, estimates, strict=True)
    }


def traffic_estimates(values: Floats, drawn: DrawnQueries, highest: Floats) -> list[TrafficFigure]:
    """The estimate of each of P columns.

    Parameters
    ----------
    values: shape (Q, P), at least 0, NaN where a query has none.
    highest: shape (Q, P), what a query could have at most.
    """
    design = _design(drawn)
    most = highest_of(values[design.queries], highest[design.queries])
    return [
        _bounded(column, design, end)
        for column, end in zip(values[design.queries].T, most.tolist(), strict=True)
    ]


def traffic_differences(differences: Floats, drawn: DrawnQueries) -> list[TrafficFigure]:
    """The estimate of each of P columns of differences, shape (Q, P), between −1 and 1 or NaN."""
    design = _design(drawn)
    columns = differences[design.queries]
    few = most_common(columns)[1] < CARRIED_BY
    return [
        _guarded(column, design) if guarded else _student(column, design)
        for column, guarded in zip(columns.T, few.tolist(), strict=True)
    ]


def _of_measure(measure: Measure, estimate: TrafficFigure) -> TrafficFigure:
    """The estimate on the scale of the measure's figure."""
    if measure.summary == "total":
        return estimate._replace(no_interval=TOTAL)
    value, low, high = (None if end is None else of_mean(measure, end) for end in estimate[:3])
    return estimate._replace(value=value, low=low, high=high)


def _design(drawn: DrawnQueries) -> _Design:
    weights = search_weights(drawn.stratum, drawn.traffic, drawn.probability, drawn.drawn)
    queries = np.flatnonzero(~np.isnan(weights))
    names = sorted({drawn.stratum[place] for place in queries.tolist()})
    number = {name: place for place, name in enumerate(names)}
    strata = np.array([number[drawn.stratum[place]] for place in queries.tolist()], np.int64)
    counts = np.bincount(strata, minlength=len(names))
    population = np.array([drawn.population.get(name, 0) for name in names], np.float64)
    evaluated = ratio(counts, population, 0.0)
    open_share = np.clip(1 - evaluated, 0, 1) if drawn.design == "stratified" else np.ones(len(names))
    return _Design(queries, weights[queries], strata, open_share)


class _Estimate(NamedTuple):
    """An estimate without an interval, the variance of it, and the degrees of freedom."""

    figure: TrafficFigure
    variance: float = 0.0
    free: float = 1.0


def _bounded(values: Floats, design: _Design, highest: float) -> TrafficFigure:
    found = _estimate(values, design)
    figure = found.figure
    if figure.no_interval is not None or figure.value is None or figure.effective is None:
        return figure
    weights = np.where(np.isnan(values), 0.0, design.weights)
    unseen = float((weights * design.open_share[design.strata]).sum() / weights.sum())
    if not unseen:
        return figure._replace(no_interval=NO_VARIATION)
    mean, n = np.array([figure.value]), np.array([figure.effective])
    ends = score_intervals(mean, found.variance, n, found.free, highest, UNSEEN * unseen)
    low, high = with_unseen(ends, mean, values[:, None], n, highest)[:, 0].tolist()
    return figure._replace(low=low, high=high)


def _student(differences: Floats, design: _Design) -> TrafficFigure:
    found = _estimate(differences, design)
    value = found.figure.value
    if found.figure.no_interval is not None or value is None:
        return found.figure
    if found.variance == 0:
        return found.figure._replace(no_interval=NO_VARIATION)
    half = float(stdtrit(found.free, 0.975)) * sqrt(found.variance)
    return found.figure._replace(low=max(-1.0, value - half), high=min(1.0, value + half))


def _estimate(values: Floats, design: _Design) -> _Estimate:
    defined = ~np.isnan(values)
    n = int(defined.sum())
    if not n:
        return _Estimate(TrafficFigure(None, None, None, 0, None, NOT_SAMPLED))
    weights = np.where(defined, design.weights, 0.0)
    total = float(weights.sum())
    value = float((weights * np.where(defined, values, 0.0)).sum() / total)
    effective = total**2 / float((weights**2).sum())
    figure = TrafficFigure(value, None, None, n, effective, None)
    if n < MINIMUM_QUERIES:
        return _Estimate(figure._replace(no_interval=TOO_FEW_DRAWN))
    off = weights * np.where(defined, values - value, 0.0) / (total - weights)
    variance, free = _variance(off, design)
    if free < 1:
        return _Estimate(figure._replace(no_interval="each stratum has one query"))
    return _Estimate(figure, variance, max(1.0, min(free, effective - 1)))


def _guarded(differences: Floats, design: _Design) -> TrafficFigure:
    """The figure with an interval that holds one more query, at its worst and at its best.

    That is the largest difference that was seen, or 1 where there was none, as in
    `core.statistics.paired.differences`.
    """
    found = _student(differences, design)
    weights = np.where(np.isnan(differences), 0.0, design.weights)
    unseen = np.bincount(design.strata, weights, len(design.open_share)) * design.open_share
    if found.n < MINIMUM_QUERIES or not unseen.any():
        return found
    stratum = int(unseen.argmax())
    weight = float(weights[(design.strata == stratum) & (weights > 0)].mean())
    more = design._replace(
        weights=np.append(design.weights, weight), strata=np.append(design.strata, stratum)
    )
    farthest = float(np.nanmax(np.abs(differences))) or 1.0
    ends = [_student(np.append(differences, end), more) for end in (-farthest, farthest)]
    known = [one for one in (found, *ends) if one.low is not None and one.high is not None]
    if not known:
        return found
    low, high = min(one.low or 0.0 for one in known), max(one.high or 0.0 for one in known)
    return found._replace(low=low, high=high, no_interval=None)


def _variance(off: Floats, design: _Design) -> tuple[float, int]:
    """The variance of the ratio, and its degrees of freedom."""
    strata = _collapsed(design)
    variance, free = 0.0, 0
    for stratum in np.unique(strata):
        inside = off[strata == stratum]
        m = len(inside)
        if m == 1:
            continue  # all that the stratum has was evaluated, or it is the only one
        open_share = 1.0 if stratum == COLLAPSED else float(design.open_share[stratum])
        variance += open_share * m / (m - 1) * float(((inside - inside.mean()) ** 2).sum())
        free += m - 1
    return variance, free


def _collapsed(design: _Design) -> NDArray[np.int64]:
    """The stratum of each query, where those with one query are one; a single such joins the smallest other.

    What a lone query could have been instead is unknown, so to leave it out would take it for certain.
    """
    counts = np.bincount(design.strata, minlength=len(design.open_share))
    alone = np.flatnonzero((counts == 1) & (design.open_share > 0))
    others = np.flatnonzero((counts > 1) & (design.open_share > 0))
    if len(alone) == 1 and len(others):
        alone = np.append(alone, others[np.argmin(counts[others])])
    return np.where(np.isin(design.strata, alone), COLLAPSED, design.strata)
