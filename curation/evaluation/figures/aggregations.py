"""Aggregations over the strata of the corpus: the same scores, averaged so that other things count.

    overall  the mean over queries
    macro    the mean over strata of their means
    median   the median over strata of their means
    worst    the lowest mean of a stratum with at least ten queries

Strata are the regions of the coverage map, or the cells of its grid (Klearman et al. 2026, arXiv 2604.20763).
A query in several regions counts in the mean of each, once. A stratum without a query is unknown: it is
counted and is in none of these. Queries in no stratum count in overall alone.

Queries are drawn again, all systems sharing the draws. A draw leaves a stratum out that it has no query of. A
win rate is the share of draws in which one system is above the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from curation.core.statistics.arrays import Floats, Mask, ratio
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import RESAMPLES, Sums, percentile_interval, resampled_figures
from curation.core.text import pluralize
from curation.evaluation.figures.comparison import system_pairs
from curation.evaluation.figures.means import TOO_FEW_QUERIES, suppressed_strata
from curation.evaluation.scoring.facets import Facet
from curation.evaluation.scoring.release import MIN_QUERIES

WinRates = Mapping[str, Mapping[str, Mapping[str, tuple[float | None, ...]]]]
"""System → other system → aggregation → the shares of draws in which the first one is above, level and below.

The shares add up to 1, and are None if no draw has a figure for both."""
AGGREGATIONS = ("overall", "macro", "median", "worst")
TOO_FEW_COMMON = f"fewer than {MIN_QUERIES} queries have a value for every system"


@dataclass(frozen=True)
class StrataSummary:
    """What the strata of one facet say together, by one measure.

    Attributes
    ----------
    queries: with a value for every system.
    outside: queries of these that are in no stratum that counts.
    places: in how many strata the others are, added up; more than their number where strata overlap.
    strata: those that count: with such a query. large: those with ten or more.
    empty: strata without any query, which are unknown.
    hidden: strata of a sealed part that have no figures and count in nothing.
    figures: system → aggregation → figure.
    win_rates: of every pair, or of each system against the baseline, under every aggregation.
    why_none: why there are no figures.
    """

    facet: str
    measure: str
    queries: int
    outside: int
    places: int
    strata: int
    large: int
    empty: int
    hidden: int
    resamples: int
    figures: Mapping[str, Mapping[str, Estimate]]
    win_rates: WinRates
    why_none: str | None = None


def summarise(
    systems: Sequence[str],
    measure: str,
    values: Floats,
    facet: Facet,
    *,
    seed: int,
    sealed: Mask | None = None,
    baseline: str | None = None,
    resamples: int = RESAMPLES,
) -> StrataSummary:
    """Every system under every aggregation, and the win rates of pairs.

    Parameters
    ----------
    values: shape (S, Q), NaN where a query has no figure.
    facet: whose values are the strata, those next to it excepted.
    sealed: which queries are of sealed parts, shape (Q,); None if no query is.

    Raises
    ------
    InputError: no system has the name of the baseline.
    """
    kept: Mask = np.logical_not(np.isnan(values).any(axis=0))
    suppressed = suppressed_strata(facet, sealed) if sealed is not None and sealed.any() else {}
    every = {value: mask[kept] for value, mask in facet.values.items() if value not in facet.outside}
    asked = {value: mask for value, mask in every.items() if mask.any()}
    counted = [mask for value, mask in asked.items() if value not in suppressed]
    member = np.array(counted, np.float64).reshape(len(counted), int(kept.sum())).T
    times = member.sum(axis=1)
    enough = len(member) >= MIN_QUERIES
    figures = _figures(values[:, kept].T, member, seed, resamples) if enough else None
    return StrataSummary(
        facet=facet.name,
        measure=measure,
        queries=len(member),
        outside=int((times == 0).sum()),
        places=int(times.sum()),
        strata=len(counted),
        large=int((member.sum(axis=0) >= MIN_QUERIES).sum()),
        empty=len(every) - len(asked),
        hidden=len(asked) - len(counted),
        resamples=resamples,
        figures={} if figures is None else _by_system(systems, *figures, member),
        win_rates={} if figures is None else _win_rates(systems, figures[1], baseline),
        why_none=None if enough else TOO_FEW_COMMON,
    )


def about(summary: StrataSummary) -> str:
    """What counts in a summary, in sentences."""
    sentences = [
        f"{pluralize(summary.strata, 'stratum has', 'strata have')} one of the "
        f"{pluralize(summary.queries, 'query', 'queries')} or more, {summary.large:,} "
        f"of them ten or more. {summary.empty:,} have none and are unknown."
    ]
    inside = summary.queries - summary.outside
    if summary.places > inside:
        sentences.append(
            f"Strata overlap: {pluralize(inside, 'query counts', 'queries count')} in "
            f"{pluralize(summary.places, 'place')}, each once in every stratum that it is in."
        )
    if summary.outside:
        singular = "query is in no stratum and counts"
        many = "queries are in no stratum and count"
        sentences.append(f"{pluralize(summary.outside, singular, many)} in overall alone.")
    if summary.hidden:
        singular = "stratum of a sealed part counts"
        many = "strata of a sealed part count"
        sentences.append(f"{pluralize(summary.hidden, singular, many)} in nothing: {TOO_FEW_QUERIES}.")
    if summary.why_none:
        sentences.append(f"There are no figures: {summary.why_none}.")
    return " ".join(sentences)


def _figures(values: Floats, member: Floats, seed: int, resamples: int) -> tuple[Floats, Floats]:
    """The figures of values of shape (Q, S) in strata of shape (Q, K): now, shape (4, S), and in the draws,
    shape (R, 4, S); NaN where undefined."""
    from scipy.sparse import csr_array

    queries, systems = values.shape
    large = member.sum(axis=0) >= MIN_QUERIES
    by_stratum = (member[:, :, None] * values[:, None, :]).reshape(queries, -1)
    sums = np.hstack([values, member, by_stratum])
    aggregated = _aggregator(systems, member.shape[1], large)
    part = Sums(np.arange(queries), csr_array(sums), lambda drawn: aggregated(drawn, queries))
    [drawn] = resampled_figures([part], queries, seed, resamples)
    now = aggregated(sums.sum(axis=0, keepdims=True), queries)
    shape = (-1, len(AGGREGATIONS), systems)
    return now.reshape(shape)[0], drawn.reshape(shape)


def _aggregator(systems: int, strata: int, large: Mask) -> Callable[[Floats, int], Floats]:
    """Sums of a draw, shape (r, S + K + K·S), and its queries → all aggregations, shape (r, 4·S)."""

    def aggregated(sums: Floats, queries: int) -> Floats:
        overall, times, rest = np.split(sums, [systems, systems + strata], axis=1)
        totals = rest.reshape(len(sums), strata, systems)
        means = ratio(totals, times[:, :, None])
        every: Floats = np.hstack([overall / queries, _mean(means), _median(means), _lowest(means[:, large])])
        return every

    return aggregated


def _mean(means: Floats) -> Floats:
    """Over axis 1, NaN left out; NaN where all are."""
    known = (~np.isnan(means)).sum(axis=1)
    total: Floats = np.nansum(means, axis=1)
    return ratio(total, known)


def _median(means: Floats) -> Floats:
    """The same for the median; NaN are sorted to the end."""
    if not means.shape[1]:
        return np.full((means.shape[0], means.shape[2]), np.nan)
    known = (~np.isnan(means)).sum(axis=1)
    ordered = np.sort(means, axis=1)
    lower, upper = (np.maximum(index, 0)[:, None, :] for index in ((known - 1) // 2, known // 2))
    ends = [np.take_along_axis(ordered, np.minimum(p, means.shape[1] - 1), axis=1) for p in (lower, upper)]
    middle: Floats = ((ends[0] + ends[1]) / 2)[:, 0, :]
    return middle


def _lowest(means: Floats) -> Floats:
    if not means.shape[1]:
        return np.full((means.shape[0], means.shape[2]), np.nan)
    lowest: Floats = np.where(np.isnan(means), np.inf, means).min(axis=1)
    return np.where(np.isinf(lowest), np.nan, lowest)


def _by_system(
    systems: Sequence[str], now: Floats, drawn: Floats, member: Floats
) -> dict[str, dict[str, Estimate]]:
    queries, strata = member.shape
    large = int((member.sum(axis=0) >= MIN_QUERIES).sum())
    counted = (queries, strata, strata, large)
    figures: dict[str, dict[str, Estimate]] = {}
    for column, system in enumerate(systems):
        figures[system] = {}
        for number, (name, of) in enumerate(zip(AGGREGATIONS, counted, strict=True)):
            value = float(now[number, column])
            low, high = percentile_interval(drawn[:, number, column], queries) or (None, None)
            figures[system][name] = Estimate(None if np.isnan(value) else value, low, high, of)
    return figures


def _win_rates(systems: Sequence[str], drawn: Floats, baseline: str | None) -> WinRates:
    rates: dict[str, dict[str, dict[str, tuple[float | None, ...]]]] = {}
    for system, other in system_pairs(systems, baseline):
        of_pair = rates.setdefault(systems[system], {}).setdefault(systems[other], {})
        for number, name in enumerate(AGGREGATIONS):
            difference = drawn[:, number, system] - drawn[:, number, other]
            known = difference[~np.isnan(difference)]
            outcomes = (known > 0, known == 0, known < 0)
            of_pair[name] = tuple(float(share.mean()) if len(known) else None for share in outcomes)
    return rates
