"""Figures of each kind of query, which kinds are suppressed, and what the kinds say together.

A kind without sealed queries has figures, however few its queries are. A kind with a sealed query has figures
where at least `LEAST` of its queries are sealed; else it is counted, and says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import bdtr, stdtrit

from curation.core.statistics.arrays import Floats, Mask
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.evaluation.figures.means import Figure, MeasureFigure, highest_of, mean_figures, mean_intervals
from curation.evaluation.scoring.inputs.facets import LEAST, Facet
from curation.evaluation.scoring.metrics.measures import averaged, of_mean
from curation.evaluation.scoring.metrics.run_scores import RunScores

SMALL = f"fewer than {LEAST} queries"
FEW_SEALED = f"fewer than {LEAST} sealed queries"
EMPTY = "no query, so unknown"
MOST_LISTED = 50
"""Values of a facet that tables list."""
OfStratum = TypeVar("OfStratum", bound=tuple[object, ...])


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


class StrataMean(NamedTuple):
    """A figure over means of strata with its 95 % interval; `strata` counts them, None is over queries."""

    value: float | None
    low: float | None
    high: float | None
    strata: int | None


class WorstStratum(NamedTuple):
    """The stratum with the lowest mean, among those with figures."""

    stratum: str
    value: float
    low: float | None
    high: float | None
    n: int


class OtherMeans(NamedTuple):
    """What one measure says besides the plain mean.

    Attributes
    ----------
    macro: the mean over the means of strata, each counting the same; the interval is Student's t.
    median: over queries; the interval is of order statistics, and so holds for any distribution.
    worst: the stratum with the lowest mean; None where no stratum has figures.
    """

    macro: StrataMean
    median: Figure
    worst: WorstStratum | None


def facet_figures(
    scores: Sequence[RunScores], facet: Facet, sealed: Mask
) -> list[dict[str, StratumFigures[MeasureFigure]]]:
    """For each run, value of the facet → figures.

    Parameters
    ----------
    sealed: which queries are of sealed parts, shape (Q,).
    """
    suppressed = suppressed_strata(facet, sealed)
    found: list[dict[str, StratumFigures[MeasureFigure]]] = [{} for _ in scores]
    for value, mask in facet.values.items():
        none: list[dict[str, MeasureFigure]] = [{} for _ in scores]
        why = suppressed.get(value)
        for run, row in zip(found, none if why else mean_figures(scores, mask), strict=True):
            run[value] = StratumFigures(int(mask.sum()), row, why)
    return found


def suppressed_strata(facet: Facet, sealed: Mask) -> dict[str, str]:
    """Value → why it has no figures: it has no query, or few of its queries are sealed."""
    found = {}
    for value, mask in facet.values.items():
        if not mask.any():
            found[value] = EMPTY
        elif 0 < (mask & sealed).sum() < LEAST:
            found[value] = SMALL if mask.sum() < LEAST else FEW_SEALED
    return found


def listed_values(kinds: Sequence[Mapping[str, StratumFigures[MeasureFigure]]]) -> tuple[list[str], str]:
    """The values to list of all runs, and what is not listed in a sentence, empty where they all are.

    Of more than `MOST_LISTED` those with figures of some run are, the largest ones.
    """
    first = kinds[0]
    if len(first) <= MOST_LISTED:
        return list(first), ""
    shown = [value for value in first if any(kind[value].figures for kind in kinds)]
    largest = set(sorted(shown, key=lambda value: -first[value].queries)[:MOST_LISTED])
    smaller = len(shown) - len(largest)
    shown = [value for value in shown if value in largest]
    reasons = Counter(first[value].left_out for value in first if not first[value].figures)
    if smaller:
        reasons[f"fewer queries than the {MOST_LISTED} largest"] = smaller
    listed = "; ".join(f"{count:,} ({reason})" for reason, count in sorted(reasons.items()) if reason)
    return shown, f"Not listed: {listed}." if listed else ""


def other_means(
    scores: RunScores,
    strata: Facet,
    figures: Mapping[str, StratumFigures[MeasureFigure]],
    sealed: bool = False,
) -> dict[str, OtherMeans]:
    """Measure → macro mean, median and worst stratum; of a total only the median says something.

    Of a sealed part the macro mean is of the strata that have figures: with the others it would tell of them.

    Parameters
    ----------
    figures: of the strata, as `facet_figures` has them.
    """
    counted = [mask for name, mask in strata.values.items() if not sealed or figures[name].figures]
    return {
        measure.name: OtherMeans(
            _macro(scores, place, counted),
            median(scores.values[:, place]),
            None if measure.summary == "total" else worst_stratum(measure.name, figures),
        )
        for place, measure in enumerate(scores.measures)
    }


def _macro(scores: RunScores, place: int, strata: Sequence[Mask]) -> StrataMean:
    measure = scores.measures[place]
    values, highest = (averaged(measure, of[:, place : place + 1]) for of in (scores.values, scores.highest))
    most = float(highest_of(values, highest)[0])
    found = macro_mean([values[mask, 0] for mask in strata], most)
    value, low, high = (None if end is None else of_mean(measure, end) for end in found[:3])
    return StrataMean(value, low, high, found.strata)


def macro_mean(strata: Sequence[Floats], highest: float = 1.0) -> StrataMean:
    """The mean of the strata's means; strata without a value are left out and not counted.

    Of one stratum it is the mean, and has the mean's interval.

    Parameters
    ----------
    highest: what a query can have at most.
    """
    values = [one[~np.isnan(one)] for one in strata]
    values = [value for value in values if len(value)]
    if not values:
        return StrataMean(None, None, None, 0)
    mean = float(np.mean([value.mean() for value in values]))
    if len(values) == 1:
        ((ends, _),) = mean_intervals(values[0][:, None], np.full((len(values[0]), 1), highest))
        low, high = ends or (None, None)
        return StrataMean(mean, low, high, 1)
    if sum(map(len, values)) < MINIMUM_QUERIES or any(len(value) < 2 for value in values):
        return StrataMean(mean, None, None, len(values))
    errors = np.array([value.var(ddof=1) / len(value) for value in values])
    if not errors.any():
        return StrataMean(mean, None, None, len(values))
    # Satterthwaite's degrees of freedom of a sum of independent variances
    free = errors.sum() ** 2 / (errors**2 / np.array([len(value) - 1 for value in values])).sum()
    half = float(stdtrit(free, 0.975)) * sqrt(float(errors.sum())) / len(values)
    return StrataMean(mean, max(0.0, mean - half), min(highest, mean + half), len(values))


def median(values: Floats) -> Figure:
    """The median, with the closest order statistics that hold it with 95 % (Conover 1999, section 3.2)."""
    defined = np.sort(values[~np.isnan(values)])
    n = len(defined)
    if not n:
        return Figure()
    below = int(np.searchsorted(bdtr(np.arange(n), n, 0.5), 0.025, side="right"))
    if not below:
        return Figure(float(np.median(defined)), n=n)
    return Figure(float(np.median(defined)), float(defined[below - 1]), float(defined[n - below]), n)


def worst_stratum(measure: str, figures: Mapping[str, StratumFigures[MeasureFigure]]) -> WorstStratum | None:
    """The stratum of at least `LEAST` queries with the lowest mean of a measure; of equal ones the first."""
    known = []
    for name, one in sorted(figures.items()):
        figure = one.figures.get(measure)
        if figure is not None and figure.value is not None and figure.n >= LEAST:
            known.append(WorstStratum(name, figure.value, figure.low, figure.high, figure.n))
    return min(known, key=lambda row: row.value) if known else None
