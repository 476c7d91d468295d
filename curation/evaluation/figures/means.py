"""Means over queries: of all queries and of each kind, with intervals and sizes.

The interval of a plain mean is the score interval of `core.statistics.intervals`, between 0 and the highest
value that a query can have on the data. It needs no draws, so the same values have the same interval in every
table. Where every value is 0 or 1, as with success@k, it is Wilson's. The interval of a geometric mean is the
interval of the mean logarithm. A total has none.

A kind without sealed queries has figures, however few its queries are. A kind with a sealed query has figures
where at least `MIN_QUERIES` of its queries are sealed; else it is counted, and says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtrit

from curation.core.statistics import intervals
from curation.core.statistics.arrays import Floats, Mask
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES, wilson
from curation.evaluation.scoring.facets import Facet
from curation.evaluation.scoring.measure_names import averaged, mean_of, of_mean, summary_of
from curation.evaluation.scoring.release import MIN_QUERIES
from curation.evaluation.scoring.run_scores import RunScores

TOO_FEW = f"fewer than {MINIMUM_QUERIES} queries"
UNDEFINED = "no query has a relevant document"
TOTAL = "a total, no mean"
FEW_QUERIES = 25
OF_FEW = (
    f"Intervals of fewer than {FEW_QUERIES} queries: with 10 topics of real collections, 97 % of them held "
    "the mean, and 92 % where they did worst."
)
"""Measured by `benchmarks.coverage_means`."""
TOO_FEW_QUERIES = f"fewer than {MIN_QUERIES} queries"
FEW_SEALED = f"fewer than {MIN_QUERIES} sealed queries"
EMPTY = "no query, so unknown"
MAX_LISTED = 50
"""Values of a facet that tables list."""
OfStratum = TypeVar("OfStratum", bound=tuple[object, ...])


class MeasureFigure(NamedTuple):
    """One measure of one system.

    Attributes
    ----------
    value: mean over the queries that have one (of gmap the geometric mean, of totals their sum); None if
        none has.
    low, high: 95 % interval; None without one, and `no_interval` says why.
    n: queries with a value.
    judged: mean share of judged documents among those that the measure looks at, over queries with any; of
        measures without a depth it is of the whole list.
    best, worst: the value with equal scores in the best and the worst order.
    if_none, if_all: the value if no unjudged document that was returned were relevant, or every one; None for
        judged@k and num_ret, and for bpref, which passes them over.
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
        np.stack(
            [averaged(measure, of[chosen, column]) for column, measure in enumerate(run.measures)], axis=1
        )
        for of in (run.values, run.highest)
    )
    estimates = mean_estimates(values, highest)
    return {
        measure.name: _figure(run, chosen, column, estimates[column])
        for column, measure in enumerate(run.measures)
    }


def rate_of_few(sizes: Iterable[int]) -> str:
    """How often intervals of so few queries hold the mean, in a sentence; empty where none has so few."""
    return OF_FEW if any(MINIMUM_QUERIES <= n < FEW_QUERIES for n in sizes) else ""


def mean_estimates(values: Floats, highest: Floats | None = None) -> list[Estimate]:
    """The mean of each column, NaN left out, with its interval or why it is missing.

    Parameters
    ----------
    values, highest: shape (Q, K), each value at least 0, and at most what is highest, 1 by default.
    """
    most = highest_of(values, np.ones(values.shape) if highest is None else highest)
    ends = intervals.mean_intervals(values, most).T
    return [
        _mean_estimate(column[~np.isnan(column)], *column_ends.tolist())
        for column, column_ends in zip(values.T, ends, strict=True)
    ]


def highest_of(values: Floats, highest: Floats) -> Floats:
    """The highest that any query with a value can have, shape (K,); 1 where none has one."""
    most: Floats = np.where(np.isnan(values), 0.0, highest).max(axis=0, initial=0.0)
    return np.where(most > 0, most, 1.0)


def _mean_estimate(values: Floats, low: float, high: float) -> Estimate:
    n = len(values)
    if not n:
        return Estimate(why=UNDEFINED)
    mean = float(values.mean())
    if n < MINIMUM_QUERIES:
        return Estimate(mean, n=n, why=TOO_FEW)
    if np.isin(values, (0.0, 1.0)).all():
        low, high = wilson(int(values.sum()), n)
    return Estimate(mean, low, high, n)


def _figure(run: RunScores, chosen: NDArray[np.int64], column: int, estimate: Estimate) -> MeasureFigure:
    measure, values = run.measures[column], run.values[chosen, column]
    defined = ~np.isnan(values)
    value = summary_of(measure, values)
    low, high = (None if end is None else of_mean(measure, end) for end in estimate[1:3])
    if value is not None and low is not None and high is not None:
        low, high = min(low, value), max(high, value)  # a mean may be a rounding error off
    return MeasureFigure(
        value=value,
        low=low,
        high=high,
        n=int(defined.sum()),
        judged=mean_of(run.judged[chosen, column][defined]),
        no_interval=TOTAL if measure.summary == "total" else estimate.why,
        best=summary_of(measure, run.best[chosen, column]),
        worst=summary_of(measure, run.worst[chosen, column]),
        if_none=summary_of(measure, run.if_none[chosen, column]),
        if_all=summary_of(measure, run.if_all[chosen, column]),
        residual=mean_of(run.residual[chosen, column][defined]),
    )


@dataclass(frozen=True)
class StratumFigures(Generic[OfStratum]):
    """One kind of query.

    Attributes
    ----------
    figures: measure → figure; none where `left_out` says why.
    """

    queries: int
    figures: Mapping[str, OfStratum]
    left_out: str | None = None


class OtherMeans(NamedTuple):
    """What one measure says besides the plain mean.

    Attributes
    ----------
    macro: the mean over the means of n strata, each counting the same; the interval is Student's t.
    median: over queries; the interval is of order statistics, and so holds for any distribution.
    worst, worst_stratum: the lowest mean of a stratum, and its name; None if no stratum has figures.
    """

    macro: Estimate
    median: Estimate
    worst: Estimate | None = None
    worst_stratum: str | None = None


def facet_figures(
    scores: Sequence[RunScores], facet: Facet, sealed: Mask
) -> list[dict[str, StratumFigures[MeasureFigure]]]:
    """For each run, value of the facet → figures.

    Parameters
    ----------
    sealed: which queries are of sealed parts, shape (Q,).
    """
    suppressed = suppressed_strata(facet, sealed)
    by_run: list[dict[str, StratumFigures[MeasureFigure]]] = [{} for _ in scores]
    for value, mask in facet.values.items():
        none: list[dict[str, MeasureFigure]] = [{} for _ in scores]
        why = suppressed.get(value)
        for run, row in zip(by_run, none if why else mean_figures(scores, mask), strict=True):
            run[value] = StratumFigures(int(mask.sum()), row, why)
    return by_run


def suppressed_strata(facet: Facet, sealed: Mask) -> dict[str, str]:
    """Value → why it has no figures: it has no query, or few of its queries are sealed."""
    reasons = {}
    for value, mask in facet.values.items():
        if not mask.any():
            reasons[value] = EMPTY
        elif 0 < (mask & sealed).sum() < MIN_QUERIES:
            reasons[value] = TOO_FEW_QUERIES if mask.sum() < MIN_QUERIES else FEW_SEALED
    return reasons


def listed_values(kinds: Sequence[Mapping[str, StratumFigures[MeasureFigure]]]) -> tuple[list[str], str]:
    """The values to list of all runs, and what is not listed in a sentence, empty where they all are.

    Of more than `MAX_LISTED` those with figures of some run are, the largest ones.
    """
    first = kinds[0]
    if len(first) <= MAX_LISTED:
        return list(first), ""
    shown = [value for value in first if any(kind[value].figures for kind in kinds)]
    largest = set(sorted(shown, key=lambda value: -first[value].queries)[:MAX_LISTED])
    smaller = len(shown) - len(largest)
    shown = [value for value in shown if value in largest]
    reasons = Counter(first[value].left_out for value in first if not first[value].figures)
    if smaller:
        reasons[f"fewer queries than the {MAX_LISTED} largest"] = smaller
    listed = "; ".join(f"{count:,} ({reason})" for reason, count in sorted(reasons.items()) if reason)
    return shown, f"Not listed: {listed}." if listed else ""


def other_means(
    scores: RunScores,
    strata: Facet,
    figures: Mapping[str, StratumFigures[MeasureFigure]],
    sealed: bool = False,
) -> dict[str, OtherMeans]:
    """Measure → macro mean, median and worst stratum; of a total only the median says something.

    Of a sealed part the macro mean is of the strata that have figures: with the others it would reveal them.

    Parameters
    ----------
    figures: of the strata, as `facet_figures` has them.
    """
    counted = [mask for name, mask in strata.values.items() if not sealed or figures[name].figures]
    return {
        measure.name: OtherMeans(
            _macro(scores, column, counted),
            median(scores.values[:, column]),
            *((None, None) if measure.summary == "total" else worst_stratum(measure.name, figures)),
        )
        for column, measure in enumerate(scores.measures)
    }


def _macro(scores: RunScores, column: int, strata: Sequence[Mask]) -> Estimate:
    measure = scores.measures[column]
    values, highest = (
        averaged(measure, of[:, column : column + 1]) for of in (scores.values, scores.highest)
    )
    most = float(highest_of(values, highest)[0])
    estimate = macro_mean([values[mask, 0] for mask in strata], most)
    value, low, high = (None if end is None else of_mean(measure, end) for end in estimate[:3])
    return Estimate(value, low, high, estimate.n)


def macro_mean(strata: Sequence[Floats], highest: float = 1.0) -> Estimate:
    """The mean of the strata's means; strata without a value are left out and not counted.

    Of one stratum it is the mean, and has the mean's interval.

    Parameters
    ----------
    highest: what a query can have at most.
    """
    values = [stratum[~np.isnan(stratum)] for stratum in strata]
    values = [value for value in values if len(value)]
    if not values:
        return Estimate()
    mean = float(np.mean([value.mean() for value in values]))
    if len(values) == 1:
        [estimate] = mean_estimates(values[0][:, None], np.full((len(values[0]), 1), highest))
        return estimate._replace(n=1, why=None)
    if sum(map(len, values)) < MINIMUM_QUERIES or any(len(value) < 2 for value in values):
        return Estimate(mean, None, None, len(values))
    errors = np.array([value.var(ddof=1) / len(value) for value in values])
    if not errors.any():
        return Estimate(mean, None, None, len(values))
    # Satterthwaite's degrees of freedom of a sum of independent variances
    free = errors.sum() ** 2 / (errors**2 / np.array([len(value) - 1 for value in values])).sum()
    half = float(stdtrit(free, 0.975)) * sqrt(float(errors.sum())) / len(values)
    return Estimate(mean, max(0.0, mean - half), min(highest, mean + half), len(values))


def median(values: Floats) -> Estimate:
    """The median, with the closest order statistics that hold it with 95 % (Conover 1999, section 3.2)."""
    defined = np.sort(values[~np.isnan(values)])
    n = len(defined)
    if not n:
        return Estimate()
    below = int(np.searchsorted(bdtr(np.arange(n), n, 0.5), 0.025, side="right"))
    if not below:
        return Estimate(float(np.median(defined)), n=n)
    return Estimate(float(np.median(defined)), float(defined[below - 1]), float(defined[n - below]), n)


def worst_stratum(
    measure: str, figures: Mapping[str, StratumFigures[MeasureFigure]]
) -> tuple[Estimate | None, str | None]:
    """The lowest mean of a stratum of at least `MIN_QUERIES` queries, and its name."""
    known = []
    for name, stratum in sorted(figures.items()):
        figure = stratum.figures.get(measure)
        if figure is not None and figure.value is not None and figure.n >= MIN_QUERIES:
            known.append((figure.value, name, Estimate(figure.value, figure.low, figure.high, figure.n)))
    _, stratum_name, worst = min(known, default=(0, None, None))
    return worst, stratum_name
