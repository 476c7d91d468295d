"""Aggregations of scores over strata of the corpus, such as the macro mean and the worst stratum, with
intervals.

    overall  the mean over queries
    macro    the mean over strata of their means
    median   the median over strata of their means
    worst    the lowest mean of a stratum with at least ten queries

Strata are the regions of the coverage map, or the cells of its grid (Klearman et al. 2026, arXiv 2604.20763).
A query in several regions counts once in the mean of each region. The figures of a stratum without a query
are unknown: the stratum is counted and left out of the aggregations. Queries outside all strata count only in
`overall`.

The intervals are bootstrapped over queries, and all systems share the same resamples. A resample leaves out a
stratum without a drawn query. A win rate is the share of resamples in which one system is above another
system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, Mask, ratio
from curation.core.statistics.bootstrap import RESAMPLES, Sums, percentile_interval, resample_figures
from curation.core.statistics.estimate import Estimate
from curation.core.text import pluralize
from curation.evaluation.figures.means import TOO_FEW_QUERIES, find_suppressed_strata
from curation.evaluation.figures.paired_comparisons import pair_systems
from curation.evaluation.scoring.facets import Facet
from curation.evaluation.scoring.release import MIN_QUERIES

WinRates = Mapping[str, Mapping[str, Mapping[str, tuple[float | None, ...]]]]
"""Map from system, other system and aggregation to the shares of resamples in which the first system
is above, level with and below the other system.

The shares add up to 1; they are None if no resample has a value for both systems.
"""
AGGREGATIONS = ("overall", "macro", "median", "worst")
TOO_FEW_COMMON = f"fewer than {MIN_QUERIES} queries have a value for every system"


@dataclass(frozen=True)
class StrataSummary:
    """Statistics of one measure over the strata of one facet.

    Attributes
    ----------
    queries: the number of queries with a value for every system.
    outside: the number of these queries that are in no stratum that counts.
    places: the number of strata of each other query, added up; larger than their number where strata overlap.
    strata: the number of strata that count: those with such a query.
    large: the number of strata with ten such queries or more.
    empty: the number of strata without any query, which are unknown.
    hidden: the number of strata of a sealed part that have no figures and do not count.
    figures: system → aggregation → figure.
    win_rates: rates of every pair, or of each system against the baseline.
    why_none: the reason for missing figures; None if the figures are known.
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


def summarize_strata(
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
    """Compute every aggregation over strata for every system, and win rates for pairs of systems.

    Parameters
    ----------
    values: shape (S, Q), NaN where a query has no figure.
    facet: the facet whose values are the strata; its values `outside` are not strata.
    sealed: whether each query belongs to a sealed part, shape (Q,); None if no part is sealed.

    Raises
    ------
    InputError: no system has the name of the baseline.
    """
    is_known: Mask = np.logical_not(np.isnan(values).any(axis=0))
    suppressed = find_suppressed_strata(facet, sealed) if sealed is not None and sealed.any() else {}
    strata = {value: mask[is_known] for value, mask in facet.values.items() if value not in facet.outside}
    nonempty = {value: mask for value, mask in strata.items() if mask.any()}
    masks = [mask for value, mask in nonempty.items() if value not in suppressed]
    member = np.array(masks, np.float64).reshape(len(masks), int(is_known.sum())).T
    stratum_counts = member.sum(axis=1)
    has_enough = len(member) >= MIN_QUERIES
    figures = _aggregate(values[:, is_known].T, member, seed, resamples) if has_enough else None
    return StrataSummary(
        facet=facet.name,
        measure=measure,
        queries=len(member),
        outside=int((stratum_counts == 0).sum()),
        places=int(stratum_counts.sum()),
        strata=len(masks),
        large=int((member.sum(axis=0) >= MIN_QUERIES).sum()),
        empty=len(strata) - len(nonempty),
        hidden=len(nonempty) - len(masks),
        resamples=resamples,
        figures={} if figures is None else _estimate_by_system(systems, *figures, member),
        win_rates={} if figures is None else _compute_win_rates(systems, figures[1], baseline),
        why_none=None if has_enough else TOO_FEW_COMMON,
    )


def describe_summary(summary: StrataSummary) -> str:
    """Explain in sentences which strata and queries the summary counts."""
    sentences = [
        f"{pluralize(summary.strata, 'stratum has', 'strata have')} at least one of the "
        f"{pluralize(summary.queries, 'query', 'queries')}, and {summary.large:,} of the strata have at "
        f"least ten. {summary.empty:,} strata have no query, so their means are unknown."
    ]
    in_strata = summary.queries - summary.outside
    if summary.places > in_strata:
        sentences.append(
            f"Strata overlap: {pluralize(in_strata, 'query counts', 'queries count')} in "
            f"{pluralize(summary.places, 'place')}, once in each stratum that contains the query."
        )
    if summary.outside:
        singular = "query is in no stratum and counts"
        plural = "queries are in no stratum and count"
        sentences.append(f"{pluralize(summary.outside, singular, plural)} only in the overall figures.")
    if summary.hidden:
        singular = "stratum of a sealed part counts"
        plural = "strata of a sealed part count"
        sentences.append(f"{pluralize(summary.hidden, singular, plural)} in no figure: {TOO_FEW_QUERIES}.")
    if summary.why_none:
        sentences.append(f"There are no figures: {summary.why_none}.")
    return " ".join(sentences)


def _aggregate(values: Floats, member: Floats, seed: int, resamples: int) -> tuple[Floats, Floats]:
    """Aggregate values of shape (Q, S) over strata of shape (Q, K); NaN if undefined.

    Returns the figures, shape (4, S), and the figures of the draws, shape (R, 4, S).
    """
    from scipy.sparse import csr_array

    queries, systems = values.shape
    large = member.sum(axis=0) >= MIN_QUERIES
    by_stratum = (member[:, :, None] * values[:, None, :]).reshape(queries, -1)
    sums = np.hstack([values, member, by_stratum])

    def aggregate(sums: Floats) -> Floats:
        """Compute all aggregations for r bootstrap resamples, shape (r, 4·S), from the resamples' sums, shape
        (r, S + K + K·S)."""
        overall, sizes, stratum_sums = np.split(sums, [systems, systems + len(large)], axis=1)
        means = ratio(stratum_sums.reshape(len(sums), len(large), systems), sizes[:, :, None])
        counts = (~np.isnan(means)).sum(axis=1)
        macro = ratio(np.nansum(means, axis=1), counts)
        worst = np.fmin.reduce(means[:, large], 1, initial=np.nan)
        return np.hstack([overall / queries, macro, _median_of_known(means, counts), worst])

    drawn_sums = Sums(np.arange(queries), csr_array(sums), aggregate)
    [drawn] = resample_figures([drawn_sums], queries, seed, resamples)
    figures = aggregate(sums.sum(axis=0, keepdims=True))
    shape = (-1, len(AGGREGATIONS), systems)
    return figures.reshape(shape)[0], drawn.reshape(shape)


def _median_of_known(means: Floats, known: Ints) -> Floats:
    """Compute the median over axis 1, ignoring NaN."""
    if not means.shape[1]:
        return np.full(known.shape, np.nan)
    ascending = np.sort(means, axis=1)
    lower, upper = (
        np.take_along_axis(ascending, np.maximum(index, 0)[:, None, :] % means.shape[1], axis=1)[:, 0, :]
        for index in ((known - 1) // 2, known // 2)
    )
    return np.asarray((lower + upper) / 2)


def _estimate_by_system(
    systems: Sequence[str], values: Floats, drawn: Floats, member: Floats
) -> dict[str, dict[str, Estimate]]:
    queries, strata = member.shape
    large = int((member.sum(axis=0) >= MIN_QUERIES).sum())
    sizes = (queries, strata, strata, large)
    figures: dict[str, dict[str, Estimate]] = {}
    for column, system in enumerate(systems):
        figures[system] = {}
        for row, (name, n) in enumerate(zip(AGGREGATIONS, sizes, strict=True)):
            value = float(values[row, column])
            low, high = percentile_interval(drawn[:, row, column], queries) or (None, None)
            figures[system][name] = Estimate(None if np.isnan(value) else value, low, high, n)
    return figures


def _compute_win_rates(systems: Sequence[str], drawn: Floats, baseline: str | None) -> WinRates:
    rates: dict[str, dict[str, dict[str, tuple[float | None, ...]]]] = {}
    for system, other in pair_systems(systems, baseline):
        pair_rates = rates.setdefault(systems[system], {}).setdefault(systems[other], {})
        for row, name in enumerate(AGGREGATIONS):
            difference = drawn[:, row, system] - drawn[:, row, other]
            differences = difference[~np.isnan(difference)]
            outcomes = (differences > 0, differences == 0, differences < 0)
            pair_rates[name] = tuple(float(share.mean()) if len(differences) else None for share in outcomes)
    return rates
