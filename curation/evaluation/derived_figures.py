"""Figures of derived lists of a sealed part: those that would tell of a few queries are left out.

Which these are is decided by `sealed.derived`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.hard_negatives import HardNegativeEffect, candidate_lists
from curation.evaluation.figures.reranking import RerankingDepth, reranked_lists
from curation.evaluation.inputs.release import EvaluatedRelease
from curation.evaluation.metrics.measures import measures_named
from curation.evaluation.metrics.rankings import RunRows
from curation.evaluation.sealed.derived import ShownLists


def without_telling_lists(
    evaluation: Evaluation, release: EvaluatedRelease, runs: Mapping[str, Sequence[RunRows]]
) -> Evaluation:
    """The same without depths of reranking, and systems with hard negatives, that tell of a few queries."""
    lists = ShownLists(release, runs, measures_named(evaluation.measures))
    told: list[RerankingDepth] = []
    if evaluation.first_stage is not None:
        others = {name: found for name, found in runs.items() if name != evaluation.first_stage}
        [first] = runs[evaluation.first_stage]
        for one in evaluation.reranking:
            if lists.take(reranked_lists(first, others, release.qrels, one.depth)):
                told.append(one)
    return replace(
        evaluation,
        reranking=tuple(told),
        depths_left_out=tuple(one.depth for one in evaluation.reranking if one not in told),
        hard_negatives=_told(evaluation.hard_negatives, release, runs, lists),
    )


def _told(
    effect: HardNegativeEffect | None,
    release: EvaluatedRelease,
    runs: Mapping[str, Sequence[RunRows]],
    lists: ShownLists,
) -> HardNegativeEffect | None:
    if effect is None:
        return None
    systems = {}
    for name, figures in effect.systems.items():
        pairs = [candidate_lists(run, release.qrels, release.pooled) for run in runs[name]]
        if lists.take(one for pair in pairs for one in pair):
            systems[name] = figures
    return replace(effect, systems=systems)
