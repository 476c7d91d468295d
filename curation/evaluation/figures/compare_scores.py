"""All pairs of systems compared by their scores, overall and in the strata that may be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from curation.core.statistics.arrays import Mask
from curation.core.statistics.estimate import Estimate
from curation.evaluation.figures.comparison import (
    RANDOMISATION,
    Comparison,
    StratumName,
    compare_systems,
    pair_differences,
    system_pairs,
)
from curation.evaluation.figures.means import suppressed_strata
from curation.evaluation.figures.ranks import LeaderboardRow, leaderboard
from curation.evaluation.figures.traffic_estimates import traffic_differences
from curation.evaluation.scoring.drawn_queries import DrawnQueries
from curation.evaluation.scoring.facets import COVERAGE, Facet
from curation.evaluation.scoring.measure_names import mean_of
from curation.evaluation.scoring.release import MIN_QUERIES
from curation.evaluation.scoring.run_scores import RunScores

MAX_PAIRS = 45
"""With more pairs lists are not compared, and strata by the first measure alone; ten systems have so many."""


def compare_scores(
    systems: Mapping[str, RunScores],
    facets: Sequence[Facet],
    drawn: DrawnQueries,
    sealed: Mask,
    seed: int,
    baseline: str | None = None,
    test: str = RANDOMISATION,
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
    InputError: no system has the name of the baseline.
    """
    names = tuple(systems)
    pairs = system_pairs(names, baseline)
    scores = list(systems.values())
    columns = [column for column, measure in enumerate(scores[0].measures) if measure.compares]
    if not pairs or not columns:
        return (), {}
    measures = tuple(scores[0].measures[column].name for column in columns)
    values = np.stack([score.values[:, columns] for score in scores])
    shown = [_shown(facet, sealed) for facet in facets]
    strata = {name: mask for masks in shown for name, mask in masks.items() if not mask.all()}
    compared = compare_systems(
        *(names, measures, values, strata),
        seed=seed,
        baseline=baseline,
        deciding=test,
        by_stratum=len(measures) if len(pairs) <= MAX_PAIRS else 1,
    )
    boards, traffic = {}, dict[tuple[str, str, str], Estimate]()
    for measure, of_measure in zip(measures, np.moveaxis(values, 2, 0), strict=True):
        if not baseline:
            means = {
                name: mean
                for name, row in zip(names, of_measure, strict=True)
                if (mean := mean_of(row)) is not None
            }
            boards[measure] = leaderboard(means, _overall(compared, measure))
        if len(drawn.queries):
            estimates = traffic_differences(pair_differences(of_measure, pairs), drawn)
            for (system, other), estimate in zip(pairs, estimates, strict=True):
                traffic[measure, names[system], names[other]] = estimate
    of_traffic = [traffic.get((row.measure, row.system, row.other)) for row in compared]
    return tuple(
        replace(row, traffic=estimate) if row.stratum is None else row
        for row, estimate in zip(compared, of_traffic, strict=True)
    ), boards


def _overall(compared: Iterable[Comparison], measure: str) -> list[Comparison]:
    return [row for row in compared if row.measure == measure and row.stratum is None]


def _shown(facet: Facet, sealed: Mask) -> dict[StratumName, Mask]:
    """The strata of a facet; without strata with few sealed queries, and without regions of the corpus
    that have few queries: there are many."""
    suppressed = suppressed_strata(facet, sealed) if sealed.any() else {}
    least = MIN_QUERIES if facet.name in COVERAGE else 0
    return {
        StratumName(facet.name, value): mask
        for value, mask in facet.values.items()
        if value not in suppressed and mask.sum() >= least
    }
