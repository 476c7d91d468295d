"""Protected results: what leads see in an evaluation on sealed parts.

Values and lists by query, medians, and the threshold of a confidence are removed, because they
reveal individual queries. So are all results from fewer than ten queries. `figures.means` has already
suppressed kinds of queries by their number of sealed queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from curation.core.statistics.estimate import Estimate
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.figures.abstention import AbstentionFigures
from curation.evaluation.figures.candidate_lists import HardNegativeEffect
from curation.evaluation.figures.comparison import Comparison, select_overall
from curation.evaluation.figures.means import TOO_FEW_QUERIES, MeasureFigure
from curation.evaluation.figures.ranks import LeaderboardRow, rank_systems
from curation.evaluation.scoring.release import MIN_QUERIES

FEW_ANSWERABLE = f"fewer than {MIN_QUERIES} answerable or unanswerable queries of a sealed part"


def protect_evaluation(evaluation: Evaluation) -> Evaluation:
    """Remove from an evaluation everything that leads may not see on sealed parts."""
    few = {name for run in evaluation.runs for name, figure in run.overall.items() if figure.n < MIN_QUERIES}
    comparisons, boards = protect_comparisons(evaluation.comparisons, evaluation.leaderboards, few)
    effect = evaluation.hard_negatives
    return replace(
        evaluation,
        comparisons=comparisons,
        leaderboards=boards,
        runs=tuple(map(_protect_system, evaluation.runs)),
        query_ids=None,
        query_texts=None,
        lists={},
        hard_negatives=effect and protect_effect(effect),
    )


def protect_comparisons(
    comparisons: Iterable[Comparison], leaderboards: Mapping[str, Sequence[LeaderboardRow]], few: set[str]
) -> tuple[tuple[Comparison, ...], dict[str, tuple[LeaderboardRow, ...]]]:
    """Keep comparisons on at least ten queries, and rebuild the leaderboards from them.

    Parameters
    ----------
    few: the measures with a value for fewer than ten queries.
    """
    allowed = tuple(comparison for comparison in comparisons if comparison.n >= MIN_QUERIES)
    boards = {}
    for measure, rows in leaderboards.items():
        if measure not in few:
            means = {row.system: row.value for row in rows}
            boards[measure] = rank_systems(means, select_overall(allowed, measure))
    return allowed, boards


def protect_abstention(refusal: AbstentionFigures) -> AbstentionFigures:
    """Remove the threshold of abstention, which reveals a single query, and rates from few queries."""
    refusal = replace(refusal, threshold=None)
    if min(refusal.answerable, refusal.unanswerable) >= MIN_QUERIES:
        return refusal
    unknown = Estimate()
    refusal = replace(refusal, area=Estimate(why=FEW_ANSWERABLE), refused=unknown)
    return replace(refusal, empty_unanswerable=unknown, empty_answerable=unknown)


def protect_effect(effect: HardNegativeEffect) -> HardNegativeEffect:
    """Remove the effect of hard negatives if it comes from fewer than ten queries."""
    return effect if effect.queries >= MIN_QUERIES else replace(effect, systems={})


def protect_figures(figures: Mapping[str, MeasureFigure]) -> dict[str, MeasureFigure]:
    """Remove the measures' values that come from fewer than ten queries."""
    return {
        name: figure if figure.n >= MIN_QUERIES else MeasureFigure(n=figure.n, no_interval=TOO_FEW_QUERIES)
        for name, figure in figures.items()
    }


def _protect_system(system: EvaluatedSystem) -> EvaluatedSystem:
    few = {name for name, figure in system.overall.items() if figure.n < MIN_QUERIES}
    return replace(
        system,
        files=tuple(file._replace(refusal=protect_abstention(file.refusal)) for file in system.files),
        overall=protect_figures(system.overall),
        traffic={
            name: figure._replace(value=None, low=None, high=None) if name in few else figure
            for name, figure in system.traffic.items()
        },
        strata={
            facet: {
                kind: replace(stratum, figures=protect_figures(stratum.figures))
                for kind, stratum in kinds.items()
            }
            for facet, kinds in system.strata.items()
        },
        seeds={name: figures for name, figures in system.seeds.items() if name not in few},
        per_query=None,
    )
