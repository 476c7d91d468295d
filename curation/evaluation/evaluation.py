"""An evaluation of runs, and one of answers: the figures of their systems, and the first places of lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any, NamedTuple

from curation.core.digests import APART
from curation.core.statistics.arrays import Floats
from curation.core.statistics.estimate import Estimate
from curation.evaluation.figures.aggregations import StrataSummary
from curation.evaluation.figures.candidate_lists import HardNegativeEffect
from curation.evaluation.figures.comparison import Comparison
from curation.evaluation.figures.means import MeasureFigure, OtherMeans, StratumFigures
from curation.evaluation.figures.ranks import LeaderboardRow
from curation.evaluation.figures.refusal import AbstentionFigures
from curation.evaluation.llm_judges.estimates import JudgedEvaluation
from curation.evaluation.scoring.facets import SOURCE, SYNTHETIC
from curation.evaluation.scoring.rankings import TieCounts
from curation.evaluation.scoring.run_chunks import ChunkCounts
from curation.releases.coverage import ReleasedCoverage
from curation.releases.sealed_log import SealedCount

ContextCurve = tuple[tuple[int, float | None, Estimate], ...]
"""For each number of chunks: the words of context that a system has with them, and its recall of evidence."""
FirstPlaces = Mapping[str, Mapping[str, Any]]
"""The store's tables of lists and of chunks → columns of the first places of one system, by query."""


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
    ties: TieCounts
    left_out: dict[str, int]
    refusal: AbstentionFigures
    chunks: ChunkCounts | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class EvaluatedSystem:
    """The figures of one system, by measure.

    Attributes
    ----------
    files: one for each run.
    traffic: estimates for all searches; empty where no evaluated query was drawn from the traffic.
    strata: facet → value → figures.
    seeds: the figure of each run; empty for a system with one run.
    per_query: measure → value of each of `Evaluation.query_ids`; None if a sealed part was evaluated.
    """

    name: str
    files: tuple[RunFacts, ...]
    overall: Mapping[str, MeasureFigure]
    traffic: Mapping[str, Estimate]
    others: Mapping[str, OtherMeans]
    strata: Mapping[str, Mapping[str, StratumFigures[MeasureFigure]]]
    seeds: Mapping[str, tuple[float | None, ...]]
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
    query_ids, query_texts: None if a sealed part was evaluated.
    comparisons: of the systems by every measure, overall and by stratum; see `figures.compare_scores`.
    leaderboards: measure → systems by rank, with those that cannot be distinguished as groups.
    sealed_count: how often its sealed parts were evaluated; None if none is sealed.
    hard_negatives: None if it was not asked for.
    pool_unjudged: share of the pairs that the release's pools proposed for the evaluated queries and nobody
        judged; None without a pool.
    coverage: of the release's coverage map; None if it has no such value.
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
    query_ids: tuple[str, ...] | None
    query_texts: tuple[str, ...] | None
    sealed_count: SealedCount | None
    seed: int
    resamples: int
    versions: Mapping[str, str]
    hard_negatives: HardNegativeEffect | None
    pool_unjudged: float | None
    coverage: ReleasedCoverage | None
    summaries: tuple[StrataSummary, ...]
    mark: str | None = None
    context: Mapping[str, ContextCurve] = field(default_factory=dict)
    lists: Mapping[str, FirstPlaces] = field(default_factory=dict, compare=False, metadata=APART)

    @property
    def synthetic(self) -> int:
        """The evaluated queries that a language model wrote; by source their figures are apart."""
        of_source = self.runs[0].strata.get(SOURCE, {}).get(SYNTHETIC)
        return of_source.queries if of_source else 0


@dataclass(frozen=True)
class AnsweringSystem:
    """A system's answers.

    Attributes
    ----------
    overall: exact_match, f1, of citations, and what people graded → figure.
    strata: facet → value → figures.
    answered, missing: queries with something to compare with that the system answered, and did not: these
        count 0.
    empty: of those answered, with nothing.
    refused: unanswerable queries (tagged so, without references): the share of all of them with an empty
        answer. One without a row is not known to be silence, so it counts 0.
    unsent: how many of these have no row in the file; None if fewer than ten are sealed.
    ungraded: what people grade → answers that nobody graded.
    left_out: reason → rows of the file.
    per_query: measure → value of each of `AnswerEvaluation.query_ids`; None of a sealed part.
    """

    name: str
    source: str
    overall: Mapping[str, Estimate]
    strata: Mapping[str, Mapping[str, StratumFigures[Estimate]]]
    answered: int
    missing: int
    empty: int
    refused: Estimate
    unsent: int | None
    ungraded: Mapping[str, int]
    left_out: Mapping[str, int]
    per_query: Mapping[str, tuple[float | None, ...]] | None


@dataclass(frozen=True)
class AnswerEvaluation:
    """What systems answer on parts of a release.

    Attributes
    ----------
    queries: evaluated; `with_references` have reference answers, or nuggets where support was graded, or
        evidence where answers cite; `unanswerable` are tagged so and have nothing to compare with.
    query_ids: None if a sealed part was evaluated.
    sealed_count: how often its sealed parts were evaluated; None if none is sealed.
    mark: that the release was frozen against the gate, where it was.
    judged: scores of nuggets by a judge that people's grades correct.
    """

    release: str
    release_id: str
    parts: tuple[str, ...]
    sealed: tuple[str, ...]
    queries: int
    with_references: int
    unanswerable: int
    systems: tuple[AnsweringSystem, ...]
    query_ids: tuple[str, ...] | None
    sealed_count: SealedCount | None
    seed: int
    mark: str | None = None
    judged: JudgedEvaluation | None = None


def values_by_measure(values: Mapping[str, Floats]) -> dict[str, tuple[float | None, ...]]:
    """Measure → the value of each query, None without one; of columns of shape (Q,)."""
    return {
        name: tuple(None if isnan(value) else value for value in column.tolist())
        for name, column in values.items()
    }
