"""An evaluation: what is asked for, and the tables that it gives.

The seal over a finished evaluation: here figures of a sealed part are taken out or made coarse.

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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from curation.evaluation.comparison.aggregations import StrataSummary
from curation.evaluation.comparison.compared import ComparedSystems, ComparisonOptions
from curation.evaluation.comparison.leaderboard import LeaderboardRow, leaderboard
from curation.evaluation.comparison.order import OrderReport
from curation.evaluation.comparison.pairs import LEAST_QUERIES, Comparison
from curation.evaluation.comparison.similar_lists import FirstPlaces, SimilarLists, Turning
from curation.evaluation.figures.hard_negatives import HardNegativeEffect, candidate_lists
from curation.evaluation.figures.inferred import InferredFigures
from curation.evaluation.figures.means import (
    Figure,
    MeasureFigure,
    OtherMeans,
    StratumFigures,
)
from curation.evaluation.figures.refusal import RefusalFigures
from curation.evaluation.figures.reranking import DEPTHS, RerankingDepth, reranked_lists
from curation.evaluation.figures.traffic import TrafficFigure
from curation.looks.limits import SeenLists, rounded_figures, seen_lists
from curation.looks.looking import TakenLook
from curation.releases.coverage import ReleasedCoverage
from curation.scoring.inputs.release import LEAST, SOURCE, SYNTHETIC, EvaluatedRelease
from curation.scoring.inputs.run_chunks import ChunkCounts
from curation.scoring.inputs.subtopic_file import SubtopicFacts
from curation.scoring.inputs.system_runs import ReadingOptions, RunSeconds
from curation.scoring.metrics.measures import Measure, measures_named
from curation.scoring.metrics.qrels import RunRows, TieCounts
from curation.text import APART

DEFAULT_FACETS = ("stratum",)


class EvaluationOptions(NamedTuple):
    """What is asked for besides release and runs.

    Attributes
    ----------
    split: a part or 'all'; None is all parts that are not sealed.
    measures: by name; None are the default ones.
    by: facets whose values get figures of their own.
    relevant: least grade of a relevant document; None is every grade above the lowest.
    first_stage: the system whose candidates the others rerank; None is no such figures.
    depths: to which its candidates are reranked.
    hard_negatives: whether the effect of hard negatives is shown.
    pool_sample: last ranks of the bands of the pool within which a random sample was judged, where the
        release does not record it; see `figures.inferred`. None: nobody says so.
    label_draws: how often all labels are drawn again, to see whether the order of systems holds; 0 is never.
    subtopics: a file that says which documents are relevant to each subtopic of a query, for alpha_ndcg@k.
    by_query: values of single queries are wanted, so sealed parts are refused.
    turning: also look for unjudged documents that could turn the order of two systems, by the first measure.
    """

    split: str | None = None
    measures: Sequence[str] | None = None
    by: Sequence[str] = DEFAULT_FACETS
    relevant: int | None = None
    seed: int = 0
    reading: ReadingOptions = ReadingOptions()
    first_stage: str | None = None
    depths: Sequence[int] = DEPTHS
    comparison: ComparisonOptions = ComparisonOptions()
    label_draws: int = 0
    hard_negatives: bool = False
    pool_sample: Sequence[int] | None = None
    turning: bool = False
    subtopics: Path | None = None
    by_query: bool = False


class SeedSpread(NamedTuple):
    """How one measure differs between several runs of one system.

    Attributes
    ----------
    mean, sd: over the runs' means; the standard deviation of a sample.
    """

    runs: int
    mean: float | None
    sd: float | None
    values: tuple[float | None, ...]


class SealedTies(NamedTuple):
    """Equal scores, without how many queries another order would change: of few, that tells of grades."""

    groups: int
    documents: int
    queries: int


class RunFacts(NamedTuple):
    """What a run's file held for the evaluated queries; see `SystemRun` and `TieCounts`.

    Attributes
    ----------
    missing: evaluated queries without a document; they have 0.
    refusal: what this run does with unanswerable queries.
    chunks: of a run of chunks, how many there are and what was found of their texts.
    remarks: what has to be known of columns and chunks, in sentences.
    """

    source: str
    places: int
    missing: int
    unknown_documents: int
    against_scores: int
    ties: TieCounts | SealedTies
    left_out: dict[str, int]
    seconds: RunSeconds | None
    refusal: RefusalFigures
    chunks: ChunkCounts | None = None
    remarks: tuple[str, ...] = ()


class ContextPoint(NamedTuple):
    """What a system reaches with its first k chunks: words of context and recall of evidence, both means."""

    k: int
    words: float | None
    recall: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class EvaluatedSystem:
    """The figures of one system, by measure.

    Attributes
    ----------
    files: one for each run.
    traffic: estimates for all searches; empty where no evaluated query was drawn from the traffic.
    strata: facet → value → figures.
    seeds: empty for a system with one run.
    per_query: measure → value of each of `Evaluation.query_ids`; None where a sealed part was evaluated.
    """

    name: str
    files: tuple[RunFacts, ...]
    overall: Mapping[str, MeasureFigure]
    traffic: Mapping[str, TrafficFigure]
    others: Mapping[str, OtherMeans]
    strata: Mapping[str, Mapping[str, StratumFigures[MeasureFigure]]]
    seeds: Mapping[str, SeedSpread]
    per_query: Mapping[str, tuple[float | None, ...]] | None


@dataclass(frozen=True)
class Evaluation:
    """What systems reach on parts of a release.

    Attributes
    ----------
    sealed: the parts that are sealed; with any there is nothing by query.
    relevant_grade: least grade of a relevant document, for binary measures.
    without_relevant: queries without a relevant document, in no figure of a measure that needs one.
    about: measure → what it computes.
    query_ids, query_texts: None where a sealed part was evaluated.
    comparisons: of the systems by every measure, overall and by stratum; see `comparison.compared`.
    leaderboards: measure → systems by rank, with those that cannot be distinguished as groups.
    order: how often the order by the first measure holds; None with one system.
    looks: which look at sealed parts each run was; empty where none is sealed.
    first_stage, reranking: whose candidates the other systems rerank, and the figures at each depth; None
        and empty where none was named.
    depths_left_out: depths whose figures would tell of a few queries of a sealed part.
    hard_negatives: None where it was not asked for.
    inferred: estimates from a random sample of the pool; None where `not_inferred` says why.
    pool_unjudged: share of the pairs that the release's pools proposed for the evaluated queries and nobody
        judged; None without a pool.
    turning: each system against the next one by the first measure, where that was asked for; of a system with
        several runs the first.
    coverage: of the release's coverage map; None where it has none.
    similar_lists: how alike the lists of each two systems are; of a system with several runs the first. Empty
        with one system, and with more pairs than `pairs.MOST_PAIRS`.
    subtopics: what the file of subtopics held; None where none was given.
    summaries: what clusters and cells of the grid say together, of those facets that were asked for.
    mark: that the release was frozen against the gate, where it was.
    context: system → recall of evidence against words of context, from few chunks to many; of several runs
        the first. Empty without evidence, and where a sealed part was evaluated.
    lists: the first documents of each system, by query; of several runs the first. They are no figure, so no
        JSON of an evaluation has them. Empty where a sealed part was evaluated.
    """

    release: str
    release_id: str
    parts: tuple[str, ...]
    sealed: tuple[str, ...]
    queries: int
    scale: tuple[int, ...]
    relevant_grade: int
    without_relevant: int
    measures: tuple[str, ...]
    about: Mapping[str, str]
    runs: tuple[EvaluatedSystem, ...]
    comparisons: tuple[Comparison, ...]
    leaderboards: Mapping[str, tuple[LeaderboardRow, ...]]
    order: OrderReport | None
    query_ids: tuple[str, ...] | None
    query_texts: tuple[str, ...] | None
    looks: tuple[TakenLook, ...]
    seed: int
    resamples: int
    versions: Mapping[str, str]
    first_stage: str | None
    reranking: tuple[RerankingDepth, ...]
    hard_negatives: HardNegativeEffect | None
    inferred: InferredFigures | None
    not_inferred: str | None
    pool_unjudged: float | None
    turning: tuple[Turning, ...]
    coverage: ReleasedCoverage | None
    summaries: tuple[StrataSummary, ...]
    depths_left_out: tuple[int, ...] = ()
    similar_lists: tuple[SimilarLists, ...] = ()
    subtopics: SubtopicFacts | None = None
    mark: str | None = None
    context: Mapping[str, tuple[ContextPoint, ...]] = field(default_factory=dict)
    lists: Mapping[str, FirstPlaces] = field(default_factory=dict, compare=False, metadata=APART)

    @property
    def synthetic(self) -> int:
        """The evaluated queries that a language model wrote; by source their figures are apart."""
        of_source = self.runs[0].strata.get(SOURCE, {}).get(SYNTHETIC)
        return of_source.queries if of_source else 0


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
        lists={},
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
