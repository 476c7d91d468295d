"""Means over all queries and over each kind of query, with intervals.

The interval of a plain mean is the score interval of `core.statistics.intervals`, between 0 and the highest
value that a query can have on the data. The score interval needs no resampling, so the same values have the
same interval in every table. Where every value is 0 or 1, as with success@k, the interval is Wilson's.

A kind of query without sealed queries always has means, however few its queries. A kind with sealed queries
has means if at least `MIN_QUERIES` of its queries are sealed; otherwise the report gives only the number of
queries and the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from curation.core.statistics import intervals
from curation.core.statistics.arrays import Floats, Ints, Mask, average
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES, wilson_interval
from curation.evaluation.scoring.facets import Facet
from curation.evaluation.scoring.release import MIN_QUERIES
from curation.evaluation.scoring.run_scores import RunScores

TOO_FEW = f"fewer than {MINIMUM_QUERIES} queries"
UNDEFINED = "no query has a relevant document"
FEW_QUERIES = 25
FEW_QUERIES_WARNING = (
    f"Intervals of fewer than {FEW_QUERIES} queries are uncertain. With 10 topics of real collections, 97 % "
    "of the intervals contained the true mean (92 % in the worst case)."
)
"""`benchmarks.coverage_means` measured these shares."""
TOO_FEW_QUERIES = f"fewer than {MIN_QUERIES} queries"
FEW_SEALED = f"fewer than {MIN_QUERIES} sealed queries"
EMPTY = "unknown, because there is no query"
StratumFigure = TypeVar("StratumFigure", bound=tuple[object, ...])


class MeasureFigure(NamedTuple):
    """One system's value of one measure, with its interval and bounds.

    Attributes
    ----------
    value: the mean of the queries with a value; None if no query has a value.
    low, high: the 95 % interval; None without an interval, for the reason in `no_interval`.
    n: the number of queries with a value.
    judged: the mean share of judged documents among the documents that the measure looks at; for measures
        without a depth, in the whole list.
    if_none, if_all: the value if no unjudged document that was returned were relevant, or every one; None for
        judged@k and bpref.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    judged: float | None = None
    no_interval: str | None = None
    if_none: float | None = None
    if_all: float | None = None


def compute_means(scores: Sequence[RunScores], queries: Mask | None = None) -> list[dict[str, MeasureFigure]]:
    """Compute each measure for each run; return one dictionary (measure → value) per run.

    Parameters
    ----------
    queries: whether each of the Q queries counts; by default all queries count.
    """
    figures = []
    for run in scores:
        chosen = np.arange(len(run.query_ids)) if queries is None else np.flatnonzero(queries)
        estimates = enumerate(estimate_means(run.values[chosen], run.highest[chosen]))
        columns = [_measure_figure(run, chosen, column, estimate) for column, estimate in estimates]
        figures.append({measure.name: figure for measure, figure in zip(run.measures, columns, strict=True)})
    return figures


def warn_of_few_queries(sizes: Iterable[int]) -> str:
    """Warn about intervals from few queries, and say how often such intervals contain the mean; '' if there
    are none."""
    return FEW_QUERIES_WARNING if any(MINIMUM_QUERIES <= n < FEW_QUERIES for n in sizes) else ""


def estimate_means(values: Floats, highest: Floats | None = None) -> list[Estimate]:
    """Average each column, ignoring NaN; each mean has an interval, or the reason why it has none.

    Parameters
    ----------
    values: shape (Q, K), values from 0 to `highest`.
    highest: shape (Q, K), the highest value that a query can have; 1 by default.
    """
    limits = find_highest(values, np.ones(values.shape) if highest is None else highest)
    ends = intervals.mean_intervals(values, limits).T
    columns = zip(values.T, ends.tolist(), strict=True)
    return [_mean_estimate(column[~np.isnan(column)], low, high) for column, (low, high) in columns]


def find_highest(values: Floats, highest: Floats) -> Floats:
    """Find the highest value that any query can have for each of K measures, shape (K,); 1 if no query has a
    value."""
    limits: Floats = np.where(np.isnan(values), 0.0, highest).max(axis=0, initial=0.0)
    return np.where(limits > 0, limits, 1.0)


def _mean_estimate(values: Floats, low: float, high: float) -> Estimate:
    n = len(values)
    if not n:
        return Estimate(why=UNDEFINED)
    mean = float(values.mean())
    if n < MINIMUM_QUERIES:
        return Estimate(mean, n=n, why=TOO_FEW)
    if np.isin(values, (0.0, 1.0)).all():
        low, high = wilson_interval(int(values.sum()), n)
    return Estimate(mean, low, high, n)


def _measure_figure(run: RunScores, chosen: Ints, column: int, estimate: Estimate) -> MeasureFigure:
    is_defined = ~np.isnan(run.values[chosen, column])
    value, low, high = estimate[:3]
    if value is not None and low is not None and high is not None:
        low, high = min(low, value), max(high, value)  # rounding can move the mean past the limit
    return MeasureFigure(
        value=value,
        low=low,
        high=high,
        n=estimate.n,
        judged=average(run.judged[chosen, column][is_defined]),
        no_interval=estimate.why,
        if_none=average(run.if_none[chosen, column]),
        if_all=average(run.if_all[chosen, column]),
    )


@dataclass(frozen=True)
class StratumFigures(Generic[StratumFigure]):
    """A system's values of the measures for one kind of query, with the number of queries.

    Attributes
    ----------
    figures: measure → figure; empty for the reason in `left_out`.
    """

    queries: int
    figures: Mapping[str, StratumFigure]
    left_out: str | None = None


def compute_facet_figures(
    scores: Sequence[RunScores], facet: Facet, sealed: Mask
) -> list[dict[str, StratumFigures[MeasureFigure]]]:
    """Compute each run's measures for each value of a facet; return one dictionary per run.

    Parameters
    ----------
    sealed: whether each query belongs to a sealed part, shape (Q,).
    """
    suppressed = find_suppressed_strata(facet, sealed)
    by_run: list[dict[str, StratumFigures[MeasureFigure]]] = [{} for _ in scores]
    for value, mask in facet.values.items():
        no_figures: list[dict[str, MeasureFigure]] = [{} for _ in scores]
        why = suppressed.get(value)
        for run, row in zip(by_run, no_figures if why else compute_means(scores, mask), strict=True):
            run[value] = StratumFigures(int(mask.sum()), row, why)
    return by_run


def find_suppressed_strata(facet: Facet, sealed: Mask) -> dict[str, str]:
    """Map each facet value without results to the reason: no queries, or too few sealed queries."""
    reasons = {}
    for value, mask in facet.values.items():
        if not mask.any():
            reasons[value] = EMPTY
        elif 0 < (mask & sealed).sum() < MIN_QUERIES:
            reasons[value] = TOO_FEW_QUERIES if mask.sum() < MIN_QUERIES else FEW_SEALED
    return reasons
