"""Comparisons of all pairs of systems by their scores, overall and in the strata whose results may be
shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from curation.core.statistics.arrays import Mask, average
from curation.evaluation.figures import comparison, paired_comparisons
from curation.evaluation.figures.comparison import Comparison, StratumName
from curation.evaluation.figures.means import find_suppressed_strata
from curation.evaluation.figures.ranks import LeaderboardRow, rank_systems
from curation.evaluation.scoring.facets import COVERAGE, Facet
from curation.evaluation.scoring.release import MIN_QUERIES
from curation.evaluation.scoring.run_scores import RunScores

MAX_PAIRS = 45
"""Maximum number of pairs (of ten systems) for which strata are compared by more than the first measure."""


def compare_scores(
    systems: Mapping[str, RunScores],
    facets: Sequence[Facet],
    sealed: Mask,
    seed: int,
    baseline: str | None = None,
    test: str = comparison.RANDOMISATION,
) -> tuple[tuple[Comparison, ...], dict[str, tuple[LeaderboardRow, ...]]]:
    """Compare all pairs of systems, and make a leaderboard for each measure.

    Comparisons and leaderboards are empty with one system. With a baseline not all pairs are compared, so
    there is no leaderboard.

    Parameters
    ----------
    systems: name → scores on the same queries by the same measures.
    facets: the facets whose values are the strata.
    sealed: whether each query belongs to a sealed part, shape (Q,).

    Raises
    ------
    InputError: no system has the name of the baseline.
    """
    names = tuple(systems)
    pairs = paired_comparisons.pair_systems(names, baseline)
    scores = list(systems.values())
    columns = [column for column, measure in enumerate(scores[0].measures) if measure.compares]
    if not pairs or not columns:
        return (), {}
    measures = tuple(scores[0].measures[column].name for column in columns)
    values = np.stack([score.values[:, columns] for score in scores])
    facet_strata = [_choose_strata(facet, sealed) for facet in facets]
    strata = {name: mask for masks in facet_strata for name, mask in masks.items() if not mask.all()}
    comparisons = paired_comparisons.compare_systems(
        *(names, measures, values, strata),
        seed=seed,
        baseline=baseline,
        test=test,
        by_stratum=len(measures) if len(pairs) <= MAX_PAIRS else 1,
    )
    boards = {}
    for measure, measure_values in zip(measures, np.moveaxis(values, 2, 0), strict=True):
        if not baseline:
            averages = zip(names, map(average, measure_values), strict=True)
            means = {name: mean for name, mean in averages if mean is not None}
            boards[measure] = rank_systems(means, comparison.select_overall(comparisons, measure))
    return comparisons, boards


def _choose_strata(facet: Facet, sealed: Mask) -> dict[StratumName, Mask]:
    """Choose the strata of a facet whose scores may be compared and shown.

    Strata with few sealed queries are left out, and also regions of the corpus with few queries.
    """
    suppressed = find_suppressed_strata(facet, sealed) if sealed.any() else {}
    minimum = MIN_QUERIES if facet.name in COVERAGE else 0
    masks = {value: mask for value, mask in facet.values.items() if mask.sum() >= minimum}
    return {StratumName(facet.name, value): mask for value, mask in masks.items() if value not in suppressed}
