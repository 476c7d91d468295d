"""How firm the order of systems is: with other queries, with other labels, and averaged in other ways.

The order is that of the means over all queries. A view says how often it holds when

    mean     the queries are drawn again
    macro    the queries are drawn again, and each stratum counts the same
    median   the queries are drawn again, and the median counts
    worst    the queries are drawn again, and each system counts as in its worst stratum
    labels   the grades are drawn again, as another annotator may have given them

For two systems that is the share of draws in which the one ahead remains ahead, and for all Kendall's tau of
the two rankings. All systems share the draws. It is a description, not a test: a share of 97 % is about a
p of 0.06 for two systems alone, and says nothing about the best of many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from curation.door import sealed_parts
from curation.evaluation.comparison.label_noise import GradeNoise, NoiseFacts, grade_noise, relabelled
from curation.evaluation.comparison.pairs import LEAST_QUERIES, StratumName
from curation.releases.stored import BESIDE
from curation.releases.verify import opened
from curation.scoring.inputs.release import EvaluatedRelease
from curation.scoring.metrics.measures import Measure
from curation.scoring.metrics.qrels import Qrels
from curation.scoring.metrics.rankings import UNJUDGED, Rankings, RunRows, rank
from curation.scoring.metrics.scores import values_of
from curation.statistics.arrays import Floats, Ints, Mask
from curation.statistics.intervals import RESAMPLES, Sums, draws, resampled_figures
from curation.statistics.means import ratio
from curation.statistics.rank_correlation import ap_correlations, kendall_taus
from curation.store import Store
from curation.text import amount


class PairOrder(NamedTuple):
    """Two systems, the one that is ahead by the mean over all queries first.

    Attributes
    ----------
    tied: both have the same mean, so that there is no order to hold.
    holds: whether it is ahead in this view of the queries and labels as they are; None where both are level.
    kept: share of draws in which it is ahead; None where tied or undefined.
    """

    ahead: str
    behind: str
    tied: bool
    holds: bool | None
    kept: float | None


class OrderView(NamedTuple):
    """One way to look at the order.

    Attributes
    ----------
    values: system → its figure in this view, None where undefined.
    tau: Kendall's tau of this view's ranking with that of the means, None without variation.
    mean_tau: the mean of tau over the draws.
    draws: how many there were.
    """

    name: str
    values: Mapping[str, float | None]
    tau: float | None
    mean_tau: float | None
    pairs: tuple[PairOrder, ...]
    draws: int


class MeasureOrder(NamedTuple):
    """The order by another measure against that of the report's.

    Attributes
    ----------
    tau: Kendall's, None without variation.
    tau_ap: AP correlation, where the first systems weigh most; equal means are in the order of names.
    """

    measure: str
    tau: float | None
    tau_ap: float


@dataclass(frozen=True)
class OrderReport:
    """How firm the order of systems is by one measure.

    Attributes
    ----------
    systems: by falling mean, equal ones by name.
    n: queries with a figure for every system. left_out: the others.
    strata: those that macro and worst are about, with at least ten such queries.
    small_strata: stratum → its queries, where these are fewer.
    views: none with fewer than ten queries in all.
    noise: what the view labels rests on; None without it.
    by_measure: the orders by the other measures; none with two systems, or of a sealed part.
    """

    measure: str
    systems: tuple[str, ...]
    n: int
    left_out: int
    strata: tuple[StratumName, ...]
    small_strata: Mapping[StratumName, int]
    views: tuple[OrderView, ...]
    noise: NoiseFacts | None = None
    by_measure: tuple[MeasureOrder, ...] = ()


def why_no_order(report: OrderReport | None) -> str | None:
    """Why the report of two systems or more says nothing of the order, in a sentence; None where it does.

    Parameters
    ----------
    report: None where a sealed part does not allow it.
    """
    if report is None:
        return (
            "How often the order of the means holds is not shown: in fewer than "
            f"{LEAST_QUERIES} queries of a sealed part two systems differ."
        )
    if report.views:
        return None
    return (
        "How often the order of the means holds is unknown: "
        f"{amount(report.n, 'query has', 'queries have')} a figure for every "
        f"system; expected at least {LEAST_QUERIES}."
    )


class _Ranked(NamedTuple):
    """Systems by falling mean, and their values of shape (Q, S) on the queries that all have."""

    systems: tuple[str, ...]
    values: Floats
    kept: Mask


def order_over_queries(
    systems: Sequence[str],
    measure: str,
    values: Floats,
    strata: Mapping[StratumName, Mask],
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> OrderReport:
    """The views mean and median, and with two strata or more macro and worst.

    Parameters
    ----------
    values: shape (S, Q), NaN where a query has no figure.
    strata: which of the Q queries each holds; those of one facet.
    """
    ranked = _ranked(systems, values)
    sizes = {name: int(mask[ranked.kept].sum()) for name, mask in strata.items()}
    used = [name for name in strata if sizes[name] >= LEAST_QUERIES]
    views = []
    if len(ranked.values) >= LEAST_QUERIES:
        masks = [strata[name][ranked.kept] for name in used]
        views = _views(ranked, masks, seed, resamples)
    return OrderReport(
        measure,
        ranked.systems,
        len(ranked.values),
        int((~ranked.kept).sum()),
        tuple(used),
        {name: size for name, size in sizes.items() if size < LEAST_QUERIES},
        tuple(views),
    )


def order_over_labels(
    systems: Sequence[str],
    values: Floats,
    grades: Ints,
    noise: GradeNoise,
    score: Callable[[Ints], Floats],
    *,
    seed: int,
    relabellings: int,
) -> OrderView:
    """The view labels.

    Parameters
    ----------
    values: shape (S, Q), of the grades as they are.
    grades: shape (J,), in an order of content, such as that of `Qrels`.
    score: grades → values of shape (Q, S), NaN where a query has no figure.
    """
    ranked = _ranked(systems, values)
    random = np.random.Generator(np.random.PCG64(seed))
    means = np.full((relabellings, len(systems)), np.nan)
    order = [list(systems).index(system) for system in ranked.systems]
    for draw in range(relabellings):
        scored = score(relabelled(grades, noise, random))[:, order]
        common = scored[~np.isnan(scored).any(axis=1)]
        if len(common):
            means[draw] = common.mean(axis=0)
    return _view("labels", ranked, ranked.values.mean(axis=0), means)


def orders_by_measure(
    systems: Sequence[str], measures: Sequence[str], values: Floats
) -> tuple[MeasureOrder, ...]:
    """The orders of three systems or more by all measures but the first, against that by the first.

    Parameters
    ----------
    values: shape (S, Q, M), NaN where a query has no figure. A measure counts the queries that all have.
    """
    if len(systems) < 3:
        return ()
    ranked = [_ranked(systems, values[:, :, number]) for number in range(len(measures))]
    first = ranked[0]
    found = []
    for measure, other in zip(measures[1:], ranked[1:], strict=True):
        if not len(first.values) or not len(other.values):
            continue
        theirs = dict(zip(other.systems, other.values.mean(axis=0).tolist(), strict=True))
        tau = kendall_taus(first.values.mean(axis=0), np.array([[theirs[one] for one in first.systems]]))[0]
        places = np.array([[first.systems.index(one) for one in other.systems]])
        tau_ap = ap_correlations(places, np.array([len(systems)]))[0]
        found.append(MeasureOrder(measure, None if np.isnan(tau) else float(tau), float(tau_ap)))
    return tuple(found)


def _ranked(systems: Sequence[str], values: Floats) -> _Ranked:
    kept: Mask = ~np.any(np.isnan(values), axis=0)
    common = values[:, kept]
    means = common.mean(axis=1) if common.size else np.zeros(len(systems))
    order = sorted(range(len(systems)), key=lambda place: (-means[place], systems[place]))
    return _Ranked(tuple(systems[place] for place in order), common[order].T, kept)


def _views(ranked: _Ranked, masks: Sequence[Mask], seed: int, resamples: int) -> list[OrderView]:
    queries, systems = ranked.values.shape
    counted = np.hstack([ranked.values, np.ones((queries, 1))])
    parts = [
        Sums(
            rows,
            counted[rows],
            lambda sums: ratio(sums[:, :systems], np.repeat(sums[:, systems:], systems, 1)),
        )
        for rows in (np.arange(queries), *(np.flatnonzero(mask) for mask in masks))
    ]
    drawn, *strata = resampled_figures(parts, queries, seed, resamples)
    now, *strata_now = (part.figures(counted[part.queries].sum(axis=0, keepdims=True))[0] for part in parts)
    medians = [drawn_medians(times, ranked.values) for times in draws(queries, seed, resamples)]
    views = [_view("mean", ranked, now, drawn)]
    if len(masks) > 1:
        views.append(_view("macro", ranked, _macro(np.array(strata_now)), _macro(np.array(strata))))
    views.append(_view("median", ranked, np.median(ranked.values, axis=0), np.concatenate(medians)))
    if len(masks) > 1:
        views.append(_view("worst", ranked, _worst(np.array(strata_now)), _worst(np.array(strata))))
    return views


def drawn_medians(times: Floats, values: Floats) -> Floats:
    """Medians of the values of shape (Q, S), each counted so often: times of shape (r, Q) → shape (r, S).

    Every row of `times` adds up to Q.
    """
    queries = len(values)
    found = np.empty((len(times), values.shape[1]))
    for system, column in enumerate(values.T):
        order = np.argsort(column, kind="stable")
        reached = np.cumsum(times[:, order], axis=1)
        middle = [(reached > place).argmax(axis=1) for place in ((queries - 1) // 2, queries // 2)]
        found[:, system] = (column[order[middle[0]]] + column[order[middle[1]]]) / 2
    return found


def _macro(by_stratum: Floats) -> Floats:
    """The mean over the strata, axis 0, that have a query in the draw."""
    known = ~np.isnan(by_stratum)
    return ratio(np.where(known, by_stratum, 0.0).sum(axis=0), known.sum(axis=0))


def _worst(by_stratum: Floats) -> Floats:
    lowest: Floats = np.where(np.isnan(by_stratum), np.inf, by_stratum).min(axis=0)
    return np.where(np.isinf(lowest), np.nan, lowest)


def _view(name: str, ranked: _Ranked, now: Floats, drawn: Floats) -> OrderView:
    """A view from its figures now, shape (S,), and in the draws, shape (R, S)."""
    means = ranked.values.mean(axis=0)
    tau, taus = kendall_taus(means, now[None])[0], kendall_taus(means, drawn)
    pairs = tuple(
        _pair(ranked.systems, means, now, drawn, first, second)
        for first, second in combinations(range(len(means)), 2)
    )
    known = taus[~np.isnan(taus)]
    values = {
        system: None if np.isnan(value) else value
        for system, value in zip(ranked.systems, now.tolist(), strict=True)
    }
    mean_tau = float(known.mean()) if len(known) else None
    return OrderView(name, values, None if np.isnan(tau) else float(tau), mean_tau, pairs, len(drawn))


def _pair(
    systems: Sequence[str], means: Floats, now: Floats, drawn: Floats, first: int, second: int
) -> PairOrder:
    difference = drawn[:, first] - drawn[:, second]
    known = difference[~np.isnan(difference)]
    tied = bool(means[first] == means[second])
    level = bool(np.isnan(now[first] - now[second]) or now[first] == now[second])
    return PairOrder(
        systems[first],
        systems[second],
        tied,
        None if tied or level else bool(now[first] > now[second]),
        None if tied or not len(known) else float((known > 0).mean()),
    )


def released_noise(store: Store, release: EvaluatedRelease) -> GradeNoise:
    """The noise of the release's own annotators, from pairs that two or more judged.

    Blind duplicates, pilots, practice, other versions of documents and sealed parts do not count.

    Raises
    ------
    InputError: no pair has two annotators.
    """
    found = opened(store, release.frozen or release.name)
    sealed = sealed_parts(found.header)
    hidden = {row["query_id"] for row in found.rows("queries") if row["part"] in sealed}
    practice = {row["round"] for row in found.rows("rounds") if row["kind"] in BESIDE}
    judged: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for row in found.rows("judgments"):
        counts = not row["duplicate"] and row["round"] not in practice and "version" not in row
        if counts and row["grade"] is not None and row["query_id"] not in hidden:
            judged[row["query_id"], row["document_id"]][row["annotator"]] = row["grade"]
    return grade_noise((list(grades.values()) for grades in judged.values()), release.qrels.scale)


def order_with_other_labels(
    systems: Mapping[str, Sequence[RunRows]],
    qrels: Qrels,
    measure: Measure,
    noise: GradeNoise,
    *,
    seed: int,
    draws: int,
) -> OrderView:
    """The view labels of the systems' order by one measure.

    Parameters
    ----------
    systems: name → rows of its runs, whose values are averaged query by query.
    """
    rankings = {name: [rank(rows, qrels) for rows in runs] for name, runs in systems.items()}

    def score(grades: Ints) -> Floats:
        drawn = replace(qrels, grade=grades)
        means = [
            np.mean([values_of(_regraded(one, grades), drawn, [measure])[:, 0] for one in runs], axis=0)
            for runs in rankings.values()
        ]
        return np.stack(means, axis=1)

    values = score(qrels.grade).T
    return order_over_labels(list(systems), values, qrels.grade, noise, score, seed=seed, relabellings=draws)


def with_other_labels(
    store: Store,
    release: EvaluatedRelease,
    order: OrderReport,
    systems: Mapping[str, Sequence[RunRows]],
    measure: Measure,
    *,
    seed: int,
    draws: int,
) -> OrderReport:
    """The report with the view labels, as the release's annotators differ.

    Raises
    ------
    InputError: no pair has two annotators.
    """
    noise = released_noise(store, release)
    view = order_with_other_labels(systems, release.qrels, measure, noise, seed=seed, draws=draws)
    facts = NoiseFacts(noise.judged, noise.grades, noise.unmeasured)
    return replace(order, views=(*order.views, view), noise=facts)


def _regraded(ranking: Rankings, grades: Ints) -> Rankings:
    known = ranking.judged != UNJUDGED
    return replace(ranking, grade=np.where(known, grades[ranking.judged], UNJUDGED))
