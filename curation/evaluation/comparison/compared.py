"""The comparison of all systems of an evaluation: pairs and leaderboards.

Strata that are suppressed, because few of their queries are sealed, have no comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Mask
from curation.evaluation.comparison.leaderboard import LeaderboardRow, leaderboard
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
from curation.evaluation.figures.strata import suppressed_strata
from curation.evaluation.figures.traffic import traffic_differences
from curation.evaluation.scoring.inputs.facets import COVERAGE, Facet
from curation.evaluation.scoring.inputs.release import DrawnQueries
from curation.evaluation.scoring.metrics.run_scores import RunScores
from curation.evaluation.significance import RANDOMISATION


class ComparisonOptions(NamedTuple):
    """How systems are compared.

    Attributes
    ----------
    baseline: the system that each other is compared with; None compares all pairs.
    wanted: the difference whose number of queries is asked for.
    test: the one that decides.
    """

    baseline: str | None = None
    wanted: float = WANTED_DIFFERENCE
    test: str = RANDOMISATION


def compare_scores(
    systems: Mapping[str, RunScores],
    facets: Sequence[Facet],
    drawn: DrawnQueries,
    sealed: Mask,
    options: ComparisonOptions,
    seed: int,
) -> tuple[tuple[Comparison, ...], dict[str, tuple[LeaderboardRow, ...]]]:
    """The comparisons of all pairs of systems, and measure → leaderboard.

    Both are empty with one system. With a baseline not all pairs are compared, so there is no leaderboard.

    Parameters
    ----------
    systems: name → scores on the same queries by the same measures.
    facets: whose values are the strata.
    sealed: which queries are of sealed parts, shape (Q,).

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
        return (), {}
    measures = tuple(scores[0].measures[place].name for place in places)
    of = SystemValues(names, measures, np.stack([score.values[:, places] for score in scores]))
    shown = [_shown(facet, sealed) for facet in facets]
    strata = {name: mask for values in shown for name, mask in values.items() if not mask.all()}
    compared = compare_systems(
        of,
        strata,
        seed=seed,
        baseline=options.baseline,
        wanted=options.wanted,
        deciding=options.test,
        by_stratum=len(measures) if len(pairs) <= MOST_PAIRS else 1,
    )
    boards = {} if options.baseline else {name: _leaderboard(of, name, compared) for name in measures}
    return _with_traffic(compared, of, pairs, drawn), boards


def _shown(facet: Facet, sealed: Mask) -> dict[StratumName, Mask]:
    """The strata of a facet; without those of which few queries are sealed, and without regions of the corpus
    that have few queries: there are many."""
    suppressed = suppressed_strata(facet, sealed) if sealed.any() else {}
    least = LEAST_QUERIES if facet.name in COVERAGE else 0
    return {
        StratumName(facet.name, value): mask
        for value, mask in facet.values.items()
        if value not in suppressed and mask.sum() >= least
    }


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
        replace(one, traffic=traffic[one.measure, one.system, one.other]) if one.stratum is None else one
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
