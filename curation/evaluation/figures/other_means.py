"""Averages besides the plain mean: the macro mean over strata, the median over queries, and the worst
stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, stdtrit

from curation.core.statistics.arrays import Floats, Mask
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.evaluation.figures.means import MeasureFigure, StratumFigures, estimate_means, find_highest
from curation.evaluation.scoring import measure_summaries
from curation.evaluation.scoring.facets import Facet
from curation.evaluation.scoring.release import MIN_QUERIES
from curation.evaluation.scoring.run_scores import RunScores


class OtherMeans(NamedTuple):
    """Averages of one measure other than the plain mean.

    Attributes
    ----------
    macro: the mean over the means of n strata, each counting the same; the interval is Student's t.
    median: the median over queries, with an interval of order statistics that holds for any distribution.
    worst, worst_stratum: the lowest mean of a stratum, and the stratum's name; None if no stratum has
        figures.
    """

    macro: Estimate
    median: Estimate
    worst: Estimate | None = None
    worst_stratum: str | None = None


def compute_other_means(
    scores: RunScores, strata: Facet, figures: Mapping[str, StratumFigures[MeasureFigure]], sealed: bool
) -> dict[str, OtherMeans]:
    """Compute the macro mean, median and worst stratum for each measure; a measure that is a total gets only
    the median.

    The macro mean of a sealed part averages only strata with figures, because including other strata would
    reveal the hidden means.

    Parameters
    ----------
    figures: the figures of the strata, from `compute_facet_figures`.
    """
    masks = [mask for name, mask in strata.values.items() if not sealed or figures[name].figures]
    means = {}
    for column, measure in enumerate(scores.measures):
        macro, median = _average_strata(scores, column, masks), estimate_median(scores.values[:, column])
        worst = (None, None) if measure.summary == "total" else find_worst_stratum(measure.name, figures)
        means[measure.name] = OtherMeans(macro, median, *worst)
    return means


def _average_strata(scores: RunScores, column: int, strata: Sequence[Mask]) -> Estimate:
    measure = scores.measures[column]
    columns = (scores.values[:, [column]], scores.highest[:, [column]])
    values, highest = (measure_summaries.to_mean_scale(measure, of) for of in columns)
    limit = float(find_highest(values, highest)[0])
    estimate = estimate_macro_mean([values[mask, 0] for mask in strata], limit)
    value, low, high = (measure_summaries.from_mean_scale(measure, end) for end in estimate[:3])
    return Estimate(value, low, high, estimate.n)


def estimate_macro_mean(strata: Sequence[Floats], highest: float = 1.0) -> Estimate:
    """Average the means of the strata with equal weights, ignoring strata without a value.

    The macro mean of one stratum is its mean, with the interval of that mean.

    Parameters
    ----------
    highest: the highest value that a query can have.
    """
    values = [stratum[~np.isnan(stratum)] for stratum in strata]
    values = [value for value in values if len(value)]
    if not values:
        return Estimate()
    mean = float(np.mean([value.mean() for value in values]))
    if len(values) == 1:
        [estimate] = estimate_means(values[0][:, None], np.full((len(values[0]), 1), highest))
        return estimate._replace(n=1, why=None)
    if sum(map(len, values)) < MINIMUM_QUERIES or any(len(value) < 2 for value in values):
        return Estimate(mean, None, None, len(values))
    errors = np.array([value.var(ddof=1) / len(value) for value in values])
    if not errors.any():
        return Estimate(mean, None, None, len(values))
    # degrees of freedom of a sum of independent variances (Satterthwaite)
    freedom = errors.sum() ** 2 / (errors**2 / np.array([len(value) - 1 for value in values])).sum()
    margin = float(stdtrit(freedom, 0.975)) * sqrt(float(errors.sum())) / len(values)
    return Estimate(mean, max(0.0, mean - margin), min(highest, mean + margin), len(values))


def estimate_median(values: Floats) -> Estimate:
    """Compute the median with a 95 % interval from the closest order statistics (Conover 1999, section
    3.2)."""
    defined = np.sort(values[~np.isnan(values)])
    n = len(defined)
    if not n:
        return Estimate()
    rank = int(np.searchsorted(bdtr(np.arange(n), n, 0.5), 0.025, side="right"))
    if not rank:
        return Estimate(float(np.median(defined)), n=n)
    return Estimate(float(np.median(defined)), float(defined[rank - 1]), float(defined[n - rank]), n)


def find_worst_stratum(
    measure: str, figures: Mapping[str, StratumFigures[MeasureFigure]]
) -> tuple[Estimate | None, str | None]:
    """Find the stratum with the lowest mean among those with at least `MIN_QUERIES` queries."""
    means = []
    for name, stratum in sorted(figures.items()):
        figure = stratum.figures.get(measure)
        if figure is not None and figure.value is not None and figure.n >= MIN_QUERIES:
            means.append((figure.value, name, Estimate(figure.value, figure.low, figure.high, figure.n)))
    _, stratum_name, worst = min(means, default=(0, None, None))
    return worst, stratum_name
