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

Label noise: which other grade another annotator may have given, learned from pairs that several judged.

    P(other | grade) = n(grade, other) / Σ n(grade, ·)

where n counts the ordered pairs of grades that two annotators gave to the same (query, document) pair, each
such pair of m grades with the weight 1 / (m − 1): Krippendorff's coincidences (K. Krippendorff (2011),
Computing Krippendorff's alpha-reliability). It is the noise of one annotator's grade. A consensus of several
has less, so an order that holds under this noise holds the more under that of a consensus.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from curation.door import sealed_parts
from curation.errors import InputError
from curation.evaluation.comparison.pairs import LEAST_QUERIES, StratumName
from curation.releases.stored import NOT_COUNTED
from curation.releases.verify import opened
from curation.scoring.inputs.release import EvaluatedRelease
from curation.scoring.metrics.measures import Measure
from curation.scoring.metrics.qrels import UNJUDGED, Qrels, Rankings, RunRows, rank
from curation.scoring.metrics.run_scores import values_of
from curation.statistics.arrays import Floats, Ints, Mask, ratio
from curation.statistics.intervals import RESAMPLES, Sums, draws, resampled_figures
from curation.statistics.rank_correlation import ap_correlations, kendall_taus
from curation.store import Store
from curation.text import amount


@dataclass(frozen=True)
class GradeNoise:
    """How another annotator grades what got a grade.

    Attributes
    ----------
    scale: G grades, ascending.
    shares: shape (G, G), rows the grade, columns the other's; each row adds up to 1.
    judged: pairs with two grades or more, and `grades` how many grades these have.
    unmeasured: grades that no such pair has; they remain as they are.
    """

    scale: tuple[int, ...]
    shares: Floats
    judged: int
    grades: int
    unmeasured: tuple[int, ...]


class NoiseFacts(NamedTuple):
    """What the noise was learned from; see `GradeNoise`."""

    judged: int
    grades: int
    unmeasured: tuple[int, ...]


def grade_noise(judged: Iterable[Sequence[int]], scale: Iterable[int]) -> GradeNoise:
    """The noise, from the grades that different annotators gave to each pair.

    Parameters
    ----------
    judged: a pair's grades, one of each annotator; pairs with one grade say nothing.
    scale: all grades that could be given.

    Raises
    ------
    InputError: no pair has two grades, or one is not of the scale.
    """
    values = tuple(sorted(set(scale)))
    place = {grade: number for number, grade in enumerate(values)}
    met, units, grades = np.zeros((len(values), len(values))), 0, 0
    for row in judged:
        unknown = sorted(set(row) - place.keys())
        if unknown:
            expected = ", ".join(map(str, values))
            raise InputError(f"The grade {unknown[0]} is not of the scale; expected one of {expected}.")
        if len(row) < 2:
            continue
        counts = np.bincount([place[grade] for grade in row], minlength=len(values)).astype(np.float64)
        met += (np.outer(counts, counts) - np.diag(counts)) / (len(row) - 1)
        units, grades = units + 1, grades + len(row)
    if not units:
        raise InputError(
            "No pair was judged by two annotators, so nothing is known about how another would grade. Open a "
            "round in which two judge each pair.",
            command="--overlap 2 asks for that.",
        )
    known = met.sum(axis=1)
    shares = np.where(known[:, None] > 0, met / np.where(known > 0, known, 1)[:, None], np.eye(len(values)))
    unmeasured = tuple(grade for grade, number in zip(values, known, strict=True) if number == 0)
    return GradeNoise(values, shares, units, grades, unmeasured)


def relabelled(grades: Ints, noise: GradeNoise, random: np.random.Generator) -> Ints:
    """Every grade of shape (J,) drawn again, independently, as another annotator may give it.

    Raises
    ------
    InputError: a grade is not of the scale.
    """
    scale = np.array(noise.scale, np.int64)
    rows = np.minimum(np.searchsorted(scale, grades), len(scale) - 1)
    if not np.array_equal(scale[rows], grades):
        raise InputError(f"There are grades outside of the scale {', '.join(map(str, noise.scale))}.")
    ends = np.cumsum(noise.shares, axis=1)[:, :-1]
    drawn: Ints = scale[(random.random(len(grades))[:, None] >= ends[rows]).sum(axis=1)]
    return drawn


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
    by_measure: the orders by the other measures; none with two systems.
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
            "How often the order of the means holds is not shown: fewer than "
            f"{LEAST_QUERIES} queries of a sealed part have a value."
        )
    if report.views:
        return None
    return (
        f"How often the order of the means holds is unknown: {amount(report.n, 'query has', 'queries have')} "
        f"a figure for every system; expected at least {LEAST_QUERIES}."
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
    practice = {row["round"] for row in found.rows("rounds") if row["kind"] in NOT_COUNTED}
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
