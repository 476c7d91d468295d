"""Means over queries, each with an interval, its size and how much of what it saw was judged.

The interval is the score interval of `core.statistics.means`, between 0 and the highest value that a query
can have on the data. It needs no draws, so the same values have the same interval in every table. Where every
value is 0 or 1, as those of success@k, it is Wilson's. The interval of a geometric mean is that of the mean
logarithm. A total has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.statistics import means
from curation.core.statistics.arrays import Floats
from curation.core.statistics.intervals import MINIMUM_QUERIES, wilson
from curation.evaluation.scoring.metrics.measures import averaged, mean_of, of_mean, summary_of
from curation.evaluation.scoring.metrics.run_scores import RunScores

TOO_FEW = f"fewer than {MINIMUM_QUERIES} queries"
UNDEFINED = "no query has a relevant document"
TOTAL = "a total, no mean"
FEW_QUERIES = 25
OF_FEW = (
    f"Intervals of fewer than {FEW_QUERIES} queries: with 10 topics of real collections, 97 % of them held "
    "the mean, and 92 % where they did worst."
)
"""Measured by `benchmarks.coverage_means`."""


class Figure(NamedTuple):
    """A figure of n queries with its 95 % interval; None is unknown, and `no_interval` may say why."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    no_interval: str | None = None


class MeasureFigure(NamedTuple):
    """One measure of one system.

    Attributes
    ----------
    value: mean over the queries that have one (of gmap the geometric mean, of totals their sum); None where
        none has.
    low, high: 95 % interval; None where there is none, and `no_interval` says why.
    n: queries with a value.
    judged: mean share of judged documents among those that the measure looks at, over queries with any; of
        measures without a depth it is of the whole list.
    best, worst: the value with equal scores in the best and the worst order.
    if_none, if_all: the value if no unjudged document that was returned were relevant, or every one; None for
        judged@k and num_ret, for bpref, which passes them over, and for alpha_ndcg@k.
    residual: what unjudged and unseen documents could add to rbp; None for other measures.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    judged: float | None
    no_interval: str | None
    best: float | None
    worst: float | None
    if_none: float | None
    if_all: float | None
    residual: float | None


def mean_figures(
    scores: Sequence[RunScores], queries: NDArray[np.bool_] | None = None
) -> list[dict[str, MeasureFigure]]:
    """For each run, measure → figure.

    Parameters
    ----------
    queries: which of the Q queries; all by default.
    """
    if not scores:
        return []
    chosen = np.arange(len(scores[0].query_ids)) if queries is None else np.flatnonzero(queries)
    return [_run_figures(run, chosen) for run in scores]


def _run_figures(run: RunScores, chosen: NDArray[np.int64]) -> dict[str, MeasureFigure]:
    values, highest = (
        np.stack([averaged(measure, of[chosen, place]) for place, measure in enumerate(run.measures)], axis=1)
        for of in (run.values, run.highest)
    )
    ends = mean_intervals(values, highest)
    return {
        measure.name: _figure(run, chosen, place, *ends[place]) for place, measure in enumerate(run.measures)
    }


def rate_of_few(sizes: Iterable[int]) -> str:
    """How often intervals of so few queries hold the mean, in a sentence; empty where none has so few."""
    return OF_FEW if any(MINIMUM_QUERIES <= n < FEW_QUERIES for n in sizes) else ""


def mean_intervals(
    values: Floats, highest: Floats | None = None
) -> list[tuple[tuple[float, float] | None, str | None]]:
    """The 95 % interval of each column's mean, NaN left out, or why there is none.

    Parameters
    ----------
    values, highest: shape (Q, K), each value at least 0, and at most what is highest, 1 by default.
    """
    most = highest_of(values, np.ones(values.shape) if highest is None else highest)
    ends = means.mean_intervals(values, most).T
    return [_interval(column[~np.isnan(column)], own) for column, own in zip(values.T, ends, strict=True)]


def highest_of(values: Floats, highest: Floats) -> Floats:
    """The highest that any query with a value can have, shape (K,); 1 where none has one."""
    most: Floats = np.where(np.isnan(values), 0.0, highest).max(axis=0, initial=0.0)
    return np.where(most > 0, most, 1.0)


def _interval(values: Floats, ends: Floats) -> tuple[tuple[float, float] | None, str | None]:
    if not len(values):
        return None, UNDEFINED
    if len(values) < MINIMUM_QUERIES:
        return None, TOO_FEW
    if np.isin(values, (0.0, 1.0)).all():
        return wilson(int(values.sum()), len(values)), None
    return (float(ends[0]), float(ends[1])), None


def _figure(
    run: RunScores,
    chosen: NDArray[np.int64],
    place: int,
    ends: tuple[float, float] | None,
    no_interval: str | None,
) -> MeasureFigure:
    measure, values = run.measures[place], run.values[chosen, place]
    defined = ~np.isnan(values)
    value = summary_of(measure, values)
    low, high = (of_mean(measure, end) for end in ends) if ends else (None, None)
    if value is not None and low is not None and high is not None:
        low, high = min(low, value), max(high, value)  # a mean may be a rounding error off
    no_interval = TOTAL if measure.summary == "total" else no_interval
    return MeasureFigure(
        value=value,
        low=low,
        high=high,
        n=int(defined.sum()),
        judged=mean_of(run.judged[chosen, place][defined]),
        no_interval=no_interval,
        best=summary_of(measure, run.best[chosen, place]),
        worst=summary_of(measure, run.worst[chosen, place]),
        if_none=summary_of(measure, run.if_none[chosen, place]),
        if_all=summary_of(measure, run.if_all[chosen, place]),
        residual=mean_of(run.residual[chosen, place][defined]),
    )
