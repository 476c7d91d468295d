"""The seal over a finished evaluation: here figures of a sealed part are taken out or made coarse.

What could be of a single query goes: values by query, medians, counts of wins and losses and the tests that
follow from them, other orders of equal scores, curves and thresholds. Where fewer than ten queries of two
systems differ, only the difference stays, which the means tell as well: interval, effect and p of few values
together would tell what these are. Which kinds of queries and which strata have figures at all is decided
before, by the lists alone (`looks.disclosure`), because tests are corrected for those that are shown.

Derived lists: a first stage cut to its first documents, a list in a reranker's order, and the judged
documents alone are lists with figures of their own, shown next to those of the runs. Two of them that differ
in a few queries would tell of these as two runs do: a reranker that shares one query with its first stage
changes that query alone. So each must differ in `LEAST` sealed queries that can have a value, or in none,
from all lists whose figures are shown in the same evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from curation.evaluation.comparison.compared import ComparedSystems
from curation.evaluation.comparison.leaderboard import leaderboard
from curation.evaluation.comparison.pairs import LEAST_QUERIES, Comparison
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation, SealedTies
from curation.evaluation.figures.hard_negatives import HardNegativeEffect, candidate_lists
from curation.evaluation.figures.means import Figure, MeasureFigure
from curation.evaluation.figures.refusal import RefusalFigures
from curation.evaluation.figures.reranking import RerankingDepth, reranked_lists
from curation.looks.disclosure import SeenLists, seen_lists
from curation.looks.limits import rounded_figures
from curation.scoring.inputs.facets import LEAST
from curation.scoring.inputs.release import EvaluatedRelease
from curation.scoring.metrics.measures import Measure, measures_named
from curation.scoring.metrics.rankings import RunRows

FEW_DIFFER = f"fewer than {LEAST_QUERIES} queries of a sealed part differ: no more than the difference"
FEW_ANSWERABLE = f"fewer than {LEAST} answerable or unanswerable queries of a sealed part"


def sealed_evaluation(
    evaluation: Evaluation, release: EvaluatedRelease, runs: Mapping[str, Sequence[RunRows]]
) -> Evaluation:
    """What may be shown of an evaluation of a sealed part.

    Parameters
    ----------
    runs: system → the places of its runs.
    """
    compared = sealed_comparison(
        ComparedSystems(evaluation.comparisons, evaluation.leaderboards, evaluation.order)
    )
    summaries = evaluation.summaries
    if compared.order is None:  # few queries differ: who is above whom would tell of them
        summaries = tuple(replace(summary, win_rates=()) for summary in summaries)
    lists, effect = ShownLists(release, runs, measures_named(evaluation.measures)), evaluation.hard_negatives
    depths = [
        depth
        for depth in evaluation.reranking
        if lists.take(_reranked(depth.depth, evaluation.first_stage, release, runs))
    ]
    sealed = replace(
        evaluation,
        **compared._asdict(),
        runs=tuple(map(_sealed_system, evaluation.runs)),
        query_ids=None,
        query_texts=None,
        summaries=summaries,
        reranking=tuple(map(_sealed_depth, depths)),
        depths_left_out=tuple(one.depth for one in evaluation.reranking if one not in depths),
        hard_negatives=effect
        and sealed_effect(effect, lambda name: lists.take(_candidates(runs[name], release))),
    )
    return rounded_figures(sealed)


def sealed_comparison(compared: ComparedSystems) -> ComparedSystems:
    """Comparisons with a verdict, and what follows from them; no order where few queries of a pair differ."""
    tested = [one for one in compared.comparisons if one.no_verdict is None]
    comparisons = tuple(map(_sealed_pair, tested))
    order = compared.order
    if order is not None:
        views = tuple(view for view in order.views if view.name != "median")
        order = replace(order, views=views, by_measure=())
    boards = {
        measure: leaderboard(
            {row.system: row.value for row in rows},
            [one for one in comparisons if one.measure == measure and one.stratum is None],
        )
        for measure, rows in compared.leaderboards.items()
    }
    few = any(_differing(one) < LEAST_QUERIES for one in tested)
    return ComparedSystems(comparisons, boards, None if few else order)


def sealed_refusal(found: RefusalFigures) -> RefusalFigures:
    """No curve and no threshold, which are about single queries; nothing of fewer than `LEAST`."""
    if min(found.answerable, found.unanswerable) >= LEAST:
        return replace(found, curve=(), threshold=None)
    return replace(
        found,
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


def _sealed_system(system: EvaluatedSystem) -> EvaluatedSystem:
    return replace(
        system,
        files=tuple(
            file._replace(ties=SealedTies(*file.ties[:3]), refusal=sealed_refusal(file.refusal))
            for file in system.files
        ),
        overall=_without_ties(system.overall),
        others={measure: means._replace(median=Figure()) for measure, means in system.others.items()},
        strata={
            facet: {kind: replace(one, figures=_without_ties(one.figures)) for kind, one in kinds.items()}
            for facet, kinds in system.strata.items()
        },
        per_query=None,
    )


def _without_ties(figures: Mapping[str, MeasureFigure]) -> dict[str, MeasureFigure]:
    """Figures without what other orders of equal scores would give, which may be of a single query."""
    return {name: figure._replace(best=None, worst=None) for name, figure in figures.items()}


def _sealed_depth(depth: RerankingDepth) -> RerankingDepth:
    return replace(
        depth,
        recall=depth.recall._replace(best=None, worst=None),
        first_stage=_without_ties(depth.first_stage),
        oracle=_without_ties(depth.oracle),
        rerankers={
            name: replace(one, figures=_without_ties(one.figures)) for name, one in depth.rerankers.items()
        },
    )


def _sealed_pair(pair: Comparison) -> Comparison:
    if _differing(pair) >= LEAST_QUERIES:
        return replace(pair, wins=None, ties=None, losses=None, p_wilcoxon=None, p_sign=None, p_tukey=None)
    return Comparison(
        *(pair.system, pair.other, pair.measure, pair.stratum, pair.n, pair.left_out),
        wins=None,
        ties=None,
        losses=None,
        no_verdict=FEW_DIFFER,
        difference=pair.difference,
    )


def _differing(pair: Comparison) -> int:
    return (pair.wins or 0) + (pair.losses or 0)


def sealed_effect(effect: HardNegativeEffect, is_shown: Callable[[str], bool]) -> HardNegativeEffect:
    """The effect of hard negatives on the systems that are shown; on none where few queries can differ."""
    enough = effect.queries >= LEAST
    systems = {name: own for name, own in effect.systems.items() if enough and is_shown(name)}
    return replace(effect, systems=systems)


def _reranked(
    depth: int, first_stage: str | None, release: EvaluatedRelease, runs: Mapping[str, Sequence[RunRows]]
) -> list[RunRows]:
    """The lists with figures at a depth of reranking."""
    [first] = runs[first_stage or ""]
    others = {name: rows for name, rows in runs.items() if name != first_stage}
    return reranked_lists(first, others, release.qrels, depth)


def _candidates(runs: Sequence[RunRows], release: EvaluatedRelease) -> Iterator[RunRows]:
    """The lists of a system with figures of hard negatives."""
    for run in runs:
        yield from candidate_lists(run, release.qrels, release.pooled)


class ShownLists:
    """The lists of an evaluation whose figures are shown so far: at first those of its runs."""

    def __init__(
        self, release: EvaluatedRelease, runs: Mapping[str, Sequence[RunRows]], measures: Sequence[Measure]
    ) -> None:
        self._release = release
        self._measures = measures
        valued = (release.qrels.relevant_documents > 0) | (release.qrels.gaining_documents > 0)
        counted = np.flatnonzero(release.sealed_queries & valued).tolist()
        self._counted = [release.qrels.query_ids[place] for place in counted]
        self._shown = [self._seen(rows) for found in runs.values() for rows in found]

    def take(self, lists: Iterable[RunRows]) -> bool:
        """Whether figures of these may be shown with the others; then they are shown, else none of them."""
        found = [self._seen(rows) for rows in lists]
        together = [*self._shown, *found]
        for place, own in enumerate(found, len(self._shown)):
            if any(
                0 < number < LEAST for other in together[:place] for number in self._different(own, other)
            ):
                return False
        self._shown = together
        return True

    def _different(self, own: SeenLists, other: SeenLists) -> list[int]:
        """In how many queries they differ, to the depth of each measure."""
        return [sum(own[seen].get(name) != other[seen].get(name) for name in self._counted) for seen in own]

    def _seen(self, rows: RunRows) -> SeenLists:
        """The order of each list alone: scores of derived lists mean nothing."""
        return seen_lists(rows, self._release, self._measures, everything=False)
