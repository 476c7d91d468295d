"""Protected figures: what leads see of an evaluation on sealed parts.

Values and lists by query go, and so do medians and the curve and threshold of a confidence, which show single
queries, and all figures of fewer than ten queries. Kinds of queries are suppressed before (`figures.means`),
by how many of them are sealed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from curation.core.statistics.estimate import Estimate
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.figures.candidate_lists import HardNegativeEffect
from curation.evaluation.figures.comparison import Comparison
from curation.evaluation.figures.means import TOO_FEW_QUERIES, MeasureFigure, OtherMeans
from curation.evaluation.figures.ranks import LeaderboardRow, leaderboard
from curation.evaluation.figures.refusal import AbstentionFigures
from curation.evaluation.scoring.release import MIN_QUERIES

FEW_ANSWERABLE = f"fewer than {MIN_QUERIES} answerable or unanswerable queries of a sealed part"


def protected_evaluation(evaluation: Evaluation) -> Evaluation:
    """What leads see of it."""
    few = {name for run in evaluation.runs for name, figure in run.overall.items() if figure.n < MIN_QUERIES}
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
    few: measures that have a value for fewer than ten queries.
    """
    tested = tuple(comparison for comparison in comparisons if comparison.n >= MIN_QUERIES)
    boards = {
        measure: leaderboard(
            {row.system: row.value for row in rows},
            [
                comparison
                for comparison in tested
                if comparison.measure == measure and comparison.stratum is None
            ],
        )
        for measure, rows in leaderboards.items()
        if measure not in few
    }
    return tested, boards


def protected_refusal(refusal: AbstentionFigures) -> AbstentionFigures:
    """No curve and no threshold, which are about single queries; nothing of fewer than ten queries."""
    refusal = replace(refusal, curve=(), threshold=None)
    if min(refusal.answerable, refusal.unanswerable) >= MIN_QUERIES:
        return refusal
    return replace(
        refusal,
        area=Estimate(why=FEW_ANSWERABLE),
        kept=None,
        refused=Estimate(),
        empty_unanswerable=Estimate(),
        empty_answerable=Estimate(),
    )


def protected_effect(effect: HardNegativeEffect) -> HardNegativeEffect:
    """The effect of hard negatives, where ten queries can have one."""
    return effect if effect.queries >= MIN_QUERIES else replace(effect, systems={})


def protected_figures(figures: Mapping[str, MeasureFigure]) -> dict[str, MeasureFigure]:
    """Measure → figure; a figure of fewer than ten queries says so instead of a value."""
    return {
        name: figure if figure.n >= MIN_QUERIES else _suppressed(figure) for name, figure in figures.items()
    }


def _suppressed(figure: MeasureFigure) -> MeasureFigure:
    empty = MeasureFigure(*[None] * len(MeasureFigure._fields))  # type: ignore[arg-type]
    return empty._replace(n=figure.n, no_interval=TOO_FEW_QUERIES)


def _protected_system(system: EvaluatedSystem) -> EvaluatedSystem:
    overall = protected_figures(system.overall)
    few = {name for name, figure in system.overall.items() if figure.n < MIN_QUERIES}
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
            facet: {
                kind: replace(stratum, figures=protected_figures(stratum.figures))
                for kind, stratum in kinds.items()
            }
            for facet, kinds in system.strata.items()
        },
        seeds={name: figures for name, figures in system.seeds.items() if name not in few},
        per_query=None,
    )


def _protected_means(means: OtherMeans, few: bool) -> OtherMeans:
    """Without the median, which is the value of a query, and without what rests on few queries."""
    worst = (None, None) if means.worst is None or means.worst.n < MIN_QUERIES else means[2:]
    return OtherMeans(Estimate() if few else means.macro, Estimate(), *worst)
