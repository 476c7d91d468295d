"""What leads see of an evaluation on sealed parts: no value of a single query, no figure of fewer than ten.

Values and lists by query go, and so do medians and the curve and threshold of a confidence, which are of
single queries. Kinds of queries are suppressed before (`figures.means`), by how many of them are sealed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from curation.evaluation.comparison.leaderboard import LeaderboardRow, leaderboard
from curation.evaluation.comparison.pairs import Comparison
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.figures.hard_negative_effect import HardNegativeEffect
from curation.evaluation.figures.means import Figure, MeasureFigure
from curation.evaluation.figures.refusal import AbstentionFigures
from curation.evaluation.figures.reranking import RerankingDepth
from curation.evaluation.figures.strata import SMALL, OtherMeans, StrataMean
from curation.evaluation.scoring.inputs.facets import LEAST

FEW_ANSWERABLE = f"fewer than {LEAST} answerable or unanswerable queries of a sealed part"


def protected_evaluation(evaluation: Evaluation) -> Evaluation:
    """What leads see of it."""
    few = {name for run in evaluation.runs for name, figure in run.overall.items() if figure.n < LEAST}
    tested, boards = protected_comparison(evaluation.comparisons, evaluation.leaderboards, few)
    effect = evaluation.hard_negatives
    return replace(
        evaluation,
        comparisons=tested,
        leaderboards=boards,
        runs=tuple(map(_protected_system, evaluation.runs)),
        query_ids=None,
        query_texts=None,
        lists={},
        reranking=tuple(map(_protected_depth, evaluation.reranking)),
        hard_negatives=effect and protected_effect(effect),
    )


def protected_comparison(
    comparisons: Iterable[Comparison],
    leaderboards: Mapping[str, Sequence[LeaderboardRow]],
    few: Collection[str],
) -> tuple[tuple[Comparison, ...], dict[str, tuple[LeaderboardRow, ...]]]:
    """Comparisons of ten queries or more, and the leaderboard that follows from them.

    Parameters
    ----------
    few: measures of which fewer than ten queries have a value.
    """
    tested = tuple(comparison for comparison in comparisons if comparison.n >= LEAST)
    boards = {
        measure: leaderboard(
            {row.system: row.value for row in rows},
            [one for one in tested if one.measure == measure and one.stratum is None],
        )
        for measure, rows in leaderboards.items()
        if measure not in few
    }
    return tested, boards


def protected_refusal(refusal_figures: AbstentionFigures) -> AbstentionFigures:
    """No curve and no threshold, which are about single queries; nothing of fewer than `LEAST`."""
    if min(refusal_figures.answerable, refusal_figures.unanswerable) >= LEAST:
        return replace(refusal_figures, curve=(), threshold=None)
    return replace(
        refusal_figures,
        area=None,
        error=None,
        low=None,
        high=None,
        threshold=None,
        kept=None,
        refused=Figure(),
        empty_unanswerable=Figure(),
        empty_answerable=Figure(),
        undefined=FEW_ANSWERABLE,
        curve=(),
    )


def protected_effect(effect: HardNegativeEffect) -> HardNegativeEffect:
    """The effect of hard negatives, where ten queries can have one."""
    return effect if effect.queries >= LEAST else replace(effect, systems={})


def protected_figures(figures: Mapping[str, MeasureFigure]) -> dict[str, MeasureFigure]:
    """Measure → figure; those of fewer than ten queries say so instead of a value."""
    return {name: figure if figure.n >= LEAST else _suppressed(figure) for name, figure in figures.items()}


def _suppressed(figure: MeasureFigure) -> MeasureFigure:
    empty = MeasureFigure(*[None] * len(MeasureFigure._fields))  # type: ignore[arg-type]
    return empty._replace(n=figure.n, no_interval=SMALL)


def _protected_system(system: EvaluatedSystem) -> EvaluatedSystem:
    overall = protected_figures(system.overall)
    few = {name for name, figure in system.overall.items() if figure.n < LEAST}
    return replace(
        system,
        files=tuple(file._replace(refusal=protected_refusal(file.refusal)) for file in system.files),
        overall=overall,
        traffic={
            name: figure._replace(value=None, low=None, high=None) if name in few else figure
            for name, figure in system.traffic.items()
        },
        others={name: _protected_means(means, name in few) for name, means in system.others.items()},
        strata={
            facet: {kind: replace(one, figures=protected_figures(one.figures)) for kind, one in kinds.items()}
            for facet, kinds in system.strata.items()
        },
        seeds={name: spread for name, spread in system.seeds.items() if name not in few},
        per_query=None,
    )


def _protected_means(means: OtherMeans, few: bool) -> OtherMeans:
    """Without the median, which is the value of a query, and without what rests on few queries."""
    worst = None if means.worst is None or means.worst.n < LEAST else means.worst
    return OtherMeans(StrataMean(None, None, None, 0) if few else means.macro, Figure(), worst)


def _protected_depth(depth: RerankingDepth) -> RerankingDepth:
    return replace(
        depth,
        recall=protected_figures({"": depth.recall})[""],
        first_stage=protected_figures(depth.first_stage),
        oracle=protected_figures(depth.oracle),
        rerankers={
            name: replace(reranker, figures=protected_figures(reranker.figures))
            for name, reranker in depth.rerankers.items()
        },
    )
