"""The comparison of all systems of an evaluation: pairs, leaderboards, and how firm the order is.

Of a sealed part there is no comparison of fewer than ten queries, and none of a stratum that is hidden of one
of the systems. There are no counts of wins and losses, which may be of a single query, nor tests that follow
from them, and no median, the value of one. Where fewer than ten queries differ, there is only the difference,
which the means tell as well: interval, effect and p of few values together would tell what these are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from curation.evaluation.comparison.deciding import DecidingTest
from curation.evaluation.comparison.leaderboard import LeaderboardRow, leaderboard
from curation.evaluation.comparison.order import OrderReport, order_over_queries, orders_by_measure
from curation.evaluation.comparison.pairs import (
    LEAST_QUERIES,
    MOST_PAIRS,
    WANTED_DIFFERENCE,
    Comparison,
    StratumName,
    SystemPair,
    SystemValues,
    check_wanted,
    compare_systems,
    pair_differences,
    system_pairs,
)
from curation.evaluation.figures.strata import hidden_values
from curation.evaluation.figures.traffic import traffic_differences
from curation.evaluation.inputs.facets import COVERAGE, Facet
from curation.evaluation.inputs.release import DrawnQueries
from curation.evaluation.metrics.scores import RunScores
from curation.statistics.arrays import Mask

FEW_DIFFER = f"fewer than {LEAST_QUERIES} queries of a sealed part differ: no more than the difference"


class ComparisonOptions(NamedTuple):
    """How systems are compared.

    Attributes
    ----------
    baseline: the system that each other is compared with; None compares all pairs.
    wanted: the difference whose number of queries is asked for.
    deciding: the test that decides, and its correction.
    """

    baseline: str | None = None
    wanted: float = WANTED_DIFFERENCE
    deciding: DecidingTest = DecidingTest()


class ComparedSystems(NamedTuple):
    """How the systems of an evaluation compare; all empty with one system.

    Attributes
    ----------
    leaderboards: measure → systems; empty with a baseline, where not all pairs are compared.
    order: by the first measure; None for a sealed part where fewer than ten queries of a pair differ.
    """

    comparisons: tuple[Comparison, ...] = ()
    leaderboards: Mapping[str, tuple[LeaderboardRow, ...]] = {}
    order: OrderReport | None = None


def compare_scores(
    systems: Mapping[str, RunScores],
    facets: Sequence[Facet],
    drawn: DrawnQueries,
    secrets: Sequence[Sequence[Mask]],
    options: ComparisonOptions,
    seed: int,
) -> ComparedSystems:
    """Compare the systems.

    Parameters
    ----------
    systems: name → scores on the same queries by the same measures.
    facets: whose values are the strata. The order's views macro and worst are about the first.
    secrets: for each system, sets of sealed queries of which no figure may tell fewer than ten, as in
        `facet_figures`; empty where no part is sealed.

    Raises
    ------
    InputError: the baseline is none of the systems, or the wanted difference is not above 0.
    """
    check_wanted(options.wanted)
    names = tuple(systems)
    pairs = system_pairs(names, options.baseline)
    scores = list(systems.values())
    places = [place for place, measure in enumerate(scores[0].measures) if measure.compares]
    if not pairs or not places:
        return ComparedSystems()
    measures = tuple(scores[0].measures[place].name for place in places)
    of = SystemValues(names, measures, np.stack([one.values[:, places] for one in scores]))
    strata = [_shown(facet, secrets) for facet in facets]
    every = {name: mask for values in strata for name, mask in values.items() if not mask.all()}
    compared = compare_systems(
        of,
        every,
        seed=seed,
        baseline=options.baseline,
        wanted=options.wanted,
        deciding=options.deciding,
        by_stratum=len(measures) if len(pairs) <= MOST_PAIRS else 1,
    )
    few = False
    if secrets:
        enough = [one for one in compared if one.no_verdict is None]
        few = any(_differing(one) < LEAST_QUERIES for one in enough)
        compared = tuple(map(_as_of_a_sealed_part, enough))
    ordered = {}
    if strata:
        ordered = {name: mask for name, mask in strata[0].items() if name.value not in facets[0].beside}
    return ComparedSystems(
        _with_traffic(compared, of, pairs, drawn),
        {} if options.baseline else {measure: _leaderboard(of, measure, compared) for measure in measures},
        None if few else _order(of, ordered, seed, bool(secrets)),
    )


def _shown(facet: Facet, secrets: Sequence[Sequence[Mask]]) -> dict[StratumName, Mask]:
    """The strata of a facet; without those that are hidden of any of the systems, and without regions of the
    corpus that have few queries: there are many."""
    hidden = {value for masks in secrets for value in hidden_values(facet, masks)}
    least = LEAST_QUERIES if facet.name in COVERAGE else 0
    return {
        StratumName(facet.name, value): mask
        for value, mask in facet.values.items()
        if value not in hidden and mask.sum() >= least
    }


def _as_of_a_sealed_part(one: Comparison) -> Comparison:
    if _differing(one) >= LEAST_QUERIES:
        return replace(one, wins=None, ties=None, losses=None, p_wilcoxon=None, p_sign=None, p_tukey=None)
    return Comparison(
        one.system,
        one.other,
        one.measure,
        one.stratum,
        one.n,
        one.left_out,
        wins=None,
        ties=None,
        losses=None,
        no_verdict=FEW_DIFFER,
        difference=one.difference,
    )


def _differing(one: Comparison) -> int:
    return (one.wins or 0) + (one.losses or 0)


def _order(of: SystemValues, strata: Mapping[StratumName, Mask], seed: int, sealed: bool) -> OrderReport:
    report = order_over_queries(of.systems, of.measures[0], of.values[:, :, 0], strata, seed=seed)
    if sealed:
        return replace(report, views=tuple(view for view in report.views if view.name != "median"))
    return replace(report, by_measure=orders_by_measure(of.systems, of.measures, of.values))


def _with_traffic(
    compared: Sequence[Comparison], of: SystemValues, pairs: Sequence[SystemPair], drawn: DrawnQueries
) -> tuple[Comparison, ...]:
    """The comparisons; those of all queries with the difference for all searches, if any query was drawn."""
    if np.isnan(drawn.probability).all():
        return tuple(compared)
    traffic = {}
    for place, measure in enumerate(of.measures):
        estimates = traffic_differences(pair_differences(of.values[:, :, place], pairs), drawn)
        for pair, estimate in zip(pairs, estimates, strict=True):
            traffic[measure, of.systems[pair.system], of.systems[pair.other]] = estimate
    return tuple(
        replace(one, traffic=traffic[one.measure, one.system, one.other])
        if one.stratum is None and one.no_verdict != FEW_DIFFER
        else one
        for one in compared
    )


def _leaderboard(
    of: SystemValues, measure: str, compared: Sequence[Comparison]
) -> tuple[LeaderboardRow, ...]:
    """Systems by their mean over the queries that they have."""
    values = of.values[:, :, of.measures.index(measure)]
    known = {
        system: float(row[~np.isnan(row)].mean())
        for system, row in zip(of.systems, values, strict=True)
        if not np.isnan(row).all()
    }
    own = [one for one in compared if one.measure == measure and one.stratum is None]
    return leaderboard(known, own)
