"""Records with the results of an evaluation of runs or of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan

from curation.core.digests import NOT_IN_JSON
from curation.core.statistics.arrays import Floats
from curation.core.statistics.estimate import Estimate
from curation.evaluation.figures.aggregations import StrataSummary
from curation.evaluation.figures.candidate_lists import HardNegativeEffect
from curation.evaluation.figures.comparison import Comparison
from curation.evaluation.figures.means import MeasureFigure, StratumFigures
from curation.evaluation.figures.ranks import LeaderboardRow
from curation.evaluation.llm_judges.estimates import JudgedEvaluation
from curation.evaluation.run_facts import RunFacts
from curation.evaluation.scoring.facets import SOURCE, SYNTHETIC
from curation.evaluation.scoring.release import ALL
from curation.releases.coverage import ReleasedCoverage
from curation.releases.sealed_log import SealedCount

ContextCurve = tuple[tuple[int, float | None, Estimate], ...]
"""Points of a curve: number of chunks, mean number of their words, and their recall of evidence."""
StoredLists = Mapping[str, Mapping[str, object]]
"""Map from the store's table of lists or of chunks to columns with the first ranks of one system's lists."""


@dataclass(frozen=True)
class EvaluatedSystem:
    """One system's results in an evaluation, by measure.

    Attributes
    ----------
    files: the facts on each run's file.
    traffic: the estimates for all searches; empty where no evaluated query was drawn from the traffic.
    strata: facet → value → figures.
    seeds: the figure of each run; empty for a system with one run.
    per_query: measure → value of each of `Evaluation.query_ids`; None if a sealed part was evaluated.
    """

    name: str
    files: tuple[RunFacts, ...]
    overall: Mapping[str, MeasureFigure]
    traffic: Mapping[str, Estimate]
    strata: Mapping[str, Mapping[str, StratumFigures[MeasureFigure]]]
    seeds: Mapping[str, tuple[float | None, ...]]
    per_query: Mapping[str, tuple[float | None, ...]] | None


@dataclass(frozen=True)
class Evaluation:
    """The results of evaluating systems' runs on parts of a release.

    Attributes
    ----------
    sealed: the sealed parts among the evaluated parts; with a sealed part there are no values by query.
    relevant_grade: the lowest grade of a relevant document, for binary measures.
    without_relevant: the number of queries that measures leave out because no document is relevant.
    about: measure → definition in a few words.
    query_ids, query_texts: the evaluated queries; None if a sealed part was evaluated.
    comparisons: of systems by every measure, overall and by stratum; see `figures.compare_scores`.
    leaderboards: measure → systems by rank, with groups of systems that cannot be distinguished.
    sealed_count: the count of sealed evaluations of these parts; None if no part is sealed.
    hard_negatives: the effect of hard negatives; None if it was not asked for.
    pool_unjudged: the unjudged share of the pairs that pools proposed for the queries; None without a pool.
    coverage: the release's coverage; None without a coverage map.
    summaries: figures over the strata of each facet of the coverage map that was asked for.
    mark: the mark of a release that was frozen despite the gate; None for other releases.
    apart: the number of queries that are evaluated apart: synthetic queries, or all queries but these.
    context: system → recall of evidence against words of context, for the system's first run; empty without
        evidence, and if a sealed part was evaluated.
    lists: system → first ranks of its first run, by query; empty if a sealed part was evaluated. Ranks are no
        measures, so they are not in the JSON of an evaluation.
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
    apart: int = 0
    context: Mapping[str, ContextCurve] = field(default_factory=dict)
    lists: Mapping[str, StoredLists] = field(default_factory=dict, compare=False, metadata=NOT_IN_JSON)

    @property
    def has_only_qrels(self) -> bool:
        """Return whether systems were evaluated on a qrels file rather than on a release."""
        return self.parts == (ALL,)

    @property
    def synthetic(self) -> int:
        """Count the evaluated queries that were written by a language model."""
        of_source = self.runs[0].strata.get(SOURCE, {}).get(SYNTHETIC)
        return of_source.queries if of_source else 0


@dataclass(frozen=True)
class AnsweringSystem:
    """The results of one system's answers.

    Attributes
    ----------
    overall: measure → figure: exact_match, f1, scores of citations, and properties that people graded.
    strata: facet → value → figures.
    answered: the number of queries with references that the system answered.
    missing: the number of queries with references that the system did not answer; they count 0.
    empty: the number of empty answers among these.
    refused: the share of unanswerable queries with an empty answer; a query without a row in the file, which
        may not have been sent to the system, counts 0.
    unsent: the number of unanswerable queries without a row in the file; None if fewer than ten are sealed.
    ungraded: graded property → number of answers that nobody graded.
    left_out: reason → number of rows of the file.
    per_query: measure → value of each of `AnswerEvaluation.query_ids`; None if a sealed part was evaluated.
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
    """The results of evaluating systems' answers on parts of a release.

    Attributes
    ----------
    queries: the number of evaluated queries.
    with_references: the number of queries with reference answers, or with nuggets where support was graded,
        or with evidence where answers cite.
    unanswerable: the number of other queries with the tag `unanswerable`.
    query_ids: the evaluated queries; None if a sealed part was evaluated.
    sealed_count: the count of sealed evaluations of these parts; None if no part is sealed.
    mark: the mark of a release that was frozen despite the gate; None for other releases.
    judged: scores of nuggets by a judge, corrected by people's grades.
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


def convert_to_values(columns: Mapping[str, Floats]) -> dict[str, tuple[float | None, ...]]:
    """Convert each measure's array of values, shape (Q,), to a tuple in which None replaces NaN."""
    rows = {name: column.tolist() for name, column in columns.items()}
    return {name: tuple(None if isnan(value) else value for value in row) for name, row in rows.items()}
