"""An evaluation: what is asked for, and the tables that it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from curation.core.text import APART
from curation.evaluation.comparison.aggregations import StrataSummary
from curation.evaluation.comparison.compared import ComparisonOptions
from curation.evaluation.comparison.leaderboard import LeaderboardRow
from curation.evaluation.comparison.pairs import Comparison
from curation.evaluation.figures.copies import SharedCopies
from curation.evaluation.figures.hard_negative_effect import HardNegativeEffect
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.figures.outdated import OutdatedFigures
from curation.evaluation.figures.refusal import AbstentionFigures
from curation.evaluation.figures.release_age import ReleaseAge
from curation.evaluation.figures.reranking import DEPTHS, RerankingDepth
from curation.evaluation.figures.strata import OtherMeans, StratumFigures
from curation.evaluation.figures.traffic import TrafficFigure
from curation.evaluation.first_places import FirstPlaces
from curation.evaluation.scoring.inputs.facets import SOURCE, SYNTHETIC
from curation.evaluation.scoring.inputs.run_chunks import ChunkCounts
from curation.evaluation.scoring.inputs.run_seconds import RunSeconds
from curation.evaluation.scoring.inputs.subtopic_file import SubtopicFacts
from curation.evaluation.scoring.inputs.system_runs import ReadingOptions
from curation.evaluation.scoring.metrics.qrels import TieCounts
from curation.releases.coverage import ReleasedCoverage
from curation.releases.sealed_evaluations import SealedCount

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
    subtopics: a file that says which documents are relevant to each subtopic of a query, for alpha_ndcg@k.
    by_query: values of single queries are wanted, so sealed parts are refused.
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
    hard_negatives: bool = False
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
    seconds: RunSeconds | None
    refusal: AbstentionFigures
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
    copies: what copies of judged texts without a grade cost it; None where it returned none.
    outdated: outdated documents in its lists; None where the release has none.
    """

    name: str
    files: tuple[RunFacts, ...]
    overall: Mapping[str, MeasureFigure]
    traffic: Mapping[str, TrafficFigure]
    others: Mapping[str, OtherMeans]
    strata: Mapping[str, Mapping[str, StratumFigures[MeasureFigure]]]
    seeds: Mapping[str, SeedSpread]
    per_query: Mapping[str, tuple[float | None, ...]] | None
    copies: SharedCopies | None = None
    outdated: OutdatedFigures | None = None


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
    sealed_count: how often its sealed parts were evaluated; None where none is sealed.
    first_stage, reranking: whose candidates the other systems rerank, and the figures at each depth; None
        and empty where none was named.
    hard_negatives: None where it was not asked for.
    pool_unjudged: share of the pairs that the release's pools proposed for the evaluated queries and nobody
        judged; None without a pool.
    coverage: of the release's coverage map; None where it has none.
    age: of the release, and what a newer one says otherwise.
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
    query_ids: tuple[str, ...] | None
    query_texts: tuple[str, ...] | None
    sealed_count: SealedCount | None
    seed: int
    resamples: int
    versions: Mapping[str, str]
    first_stage: str | None
    reranking: tuple[RerankingDepth, ...]
    hard_negatives: HardNegativeEffect | None
    pool_unjudged: float | None
    coverage: ReleasedCoverage | None
    summaries: tuple[StrataSummary, ...]
    subtopics: SubtopicFacts | None = None
    age: ReleaseAge | None = None
    mark: str | None = None
    context: Mapping[str, tuple[ContextPoint, ...]] = field(default_factory=dict)
    lists: Mapping[str, FirstPlaces] = field(default_factory=dict, compare=False, metadata=APART)

    @property
    def synthetic(self) -> int:
        """The evaluated queries that a language model wrote; by source their figures are apart."""
        of_source = self.runs[0].strata.get(SOURCE, {}).get(SYNTHETIC)
        return of_source.queries if of_source else 0
