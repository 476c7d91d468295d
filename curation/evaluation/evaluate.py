"""Evaluating runs on a release: from a release's name and run files to tables of figures.

Of a sealed part the tables have no value of a single query, and no figures of fewer than ten. What computes
with values of single queries does it in here, before they are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from curation import __version__
from curation.errors import InputError, RefusedError
from curation.evaluation.comparison.compared import ComparisonOptions, compare_scores
from curation.evaluation.comparison.leaderboard import LeaderboardRow
from curation.evaluation.comparison.order import OrderReport
from curation.evaluation.comparison.pairs import Comparison
from curation.evaluation.figures.hard_negatives import (
    HardNegativeEffect,
    hard_negative_effect,
    of_sealed_part,
)
from curation.evaluation.figures.inferred import InferredFigures, inferred_figures
from curation.evaluation.figures.means import MeasureFigure, mean_figures, mean_of
from curation.evaluation.figures.refusal import RefusalFigures, run_refusal
from curation.evaluation.figures.reranking import DEPTHS, RerankingDepth, check_depths, reranking
from curation.evaluation.figures.strata import (
    Mask,
    OtherMeans,
    StratumFigures,
    facet_figures,
    other_means,
)
from curation.evaluation.figures.traffic import TrafficFigure, traffic_figures
from curation.evaluation.inputs.facets import Facet, chosen_facets
from curation.evaluation.inputs.pooled import sample_sentence
from curation.evaluation.inputs.release import EvaluatedRelease, read_release
from curation.evaluation.inputs.run_seconds import RunSeconds
from curation.evaluation.inputs.system_runs import ReadingOptions, RunSource, SystemRun, read_run
from curation.evaluation.metrics.measures import Measure, measures_for
from curation.evaluation.metrics.rankings import RunRows, TieCounts
from curation.evaluation.metrics.scores import RunScores, mean_scores, score_rows
from curation.evaluation.metrics.turning import Turning, shortlist, turning
from curation.evaluation.sealed.disclosure import (
    ListSums,
    SealedTies,
    list_sums,
    refuse_what_tells_of_single_queries,
    secrets,
    without_ties,
    without_ties_at_depth,
    without_ties_by_kind,
)
from curation.evaluation.sealed.looking import ScoredRun, TakenLook, earlier_runs, reason_for, take_looks
from curation.progress import Progress, silent
from curation.statistics.intervals import RESAMPLES
from curation.store import COMMAND_LINE, Store

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
    pool_sample: last ranks of the bands of the pool within which a random sample was judged; see
        `figures.inferred`. None: no sample of the pool was drawn.
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
    hard_negatives: bool = False
    pool_sample: Sequence[int] | None = None
    turning: bool = False


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
    strata: Mapping[str, Mapping[str, StratumFigures]]
    seeds: Mapping[str, SeedSpread]
    per_query: Mapping[str, tuple[float | None, ...]] | None


@dataclass(frozen=True)
class Evaluation:
    """What systems reach on parts of a release.

    Attributes
    ----------
    sealed: the parts that are sealed; with any there is nothing by query.
    relevant_grade: least grade of a relevant document, for binary measures.
    without_relevant: queries left out of binary measures because they have no relevant document.
    about: measure → what it computes.
    query_ids, query_texts: None where a sealed part was evaluated.
    comparisons: of the systems by every measure, overall and by stratum; see `comparison.compared`.
    leaderboards: measure → systems by rank, with those that cannot be distinguished as groups.
    order: how often the order by the first measure holds; None with one system.
    looks: which look at sealed parts each run was; empty where none is sealed.
    first_stage, reranking: whose candidates the other systems rerank, and the figures at each depth; None
        and empty where none was named.
    hard_negatives: None where it was not asked for.
    inferred: estimates from a random sample of the pool; None where `not_inferred` says why.
    turning: each system against the next one by the first measure, where that was asked for; of a system with
        several runs the first.
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
    turning: tuple[Turning, ...]


def evaluate(
    store: Store,
    release_name: str,
    runs: Sequence[RunSource],
    options: EvaluationOptions = EvaluationOptions(),
    reason: str | None = None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> Evaluation:
    """Score run files on a release.

    Parameters
    ----------
    runs: files of one name are several runs of one system.
    reason: why a sealed part is scored; the look is stored before its figures are returned.

    Raises
    ------
    InputError: options that mean nothing here, or run files that cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: a sealed part is scored without a reason, by somebody who may not, or so that figures would
        tell of single queries; the release cannot be used.
    """
    if not runs:
        raise InputError("No run was named: give at least one, as in --run bm25.trec.")
    _check_first_stage(options, [source.name for source in runs])
    release = read_release(store, release_name, options.split, options.relevant)
    measures = measures_for(release.qrels.scale, options.measures)
    facets = chosen_facets(release.facets, options.by)
    if release.sealed and options.pool_sample is not None:
        raise RefusedError(
            f"--pool-sample: nothing is inferred for {', '.join(release.sealed)}, which is sealed. Bands of "
            "ranks can be chosen so that the estimates are of a few queries."
        )
    _check_turning(options, release, measures)
    why = reason_for(store, release, reason, actor) if release.sealed else ""
    read: dict[str, list[SystemRun]] = {}
    for source in runs:
        read.setdefault(source.name, []).append(read_run(source, release, options.reading, progress))
    sealed = _sealed_runs(store, release, read) if release.sealed else None
    scored = _scores(release, measures, read, progress)
    evaluation = _evaluation(release, measures, facets, read, scored, options, sealed)
    if sealed is None:
        return evaluation
    asked = _asked(evaluation, facets, options)
    looking = _scored_runs(evaluation, read, scored, sealed)
    return replace(evaluation, looks=take_looks(store, release, looking, asked, why, actor))


def evaluate_read(
    release: EvaluatedRelease,
    read: Mapping[str, Sequence[SystemRun]],
    options: EvaluationOptions = EvaluationOptions(),
    progress: Progress = silent,
) -> Evaluation:
    """Score runs that were read, on parts that are not sealed; no project is needed for it.

    Parameters
    ----------
    read: system → its runs.
    options: `split`, `relevant` and `reading` are the release's and the runs' already.

    Raises
    ------
    InputError: options that mean nothing here.
    RefusedError: a part is sealed.
    """
    if release.sealed:
        raise RefusedError(f"{', '.join(release.sealed)} is sealed: score it by the release's name.")
    _check_first_stage(options, [name for name, runs in read.items() for _ in runs])
    measures = measures_for(release.qrels.scale, options.measures)
    facets = chosen_facets(release.facets, options.by)
    _check_turning(options, release, measures)
    scored = _scores(release, measures, read, progress)
    return _evaluation(release, measures, facets, read, scored, options, None)


def _scores(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    progress: Progress,
) -> dict[str, list[RunScores]]:
    scored = {}
    for number, (name, found) in enumerate(read.items(), 1):
        scored[name] = [score_rows(run.rows, release.qrels, measures) for run in found]
        progress("scoring systems", number, len(read))
    return scored


class _SealedRuns(NamedTuple):
    """System → for each of its runs the hashes of its lists, and what its figures may not tell."""

    sums: dict[str, list[ListSums]]
    secrets: dict[str, list[Mask]]


def _sealed_runs(
    store: Store, release: EvaluatedRelease, read: Mapping[str, Sequence[SystemRun]]
) -> _SealedRuns:
    """Refuse runs whose figures would tell of single queries, and find what others may not tell."""
    flat = [(name, run) for name, runs in read.items() for run in runs]
    names = [name if len(read[name]) == 1 else f"{name} ({run.source})" for name, run in flat]
    sums = [list_sums(run.rows, release) for _, run in flat]
    earlier = earlier_runs(store, release)
    refuse_what_tells_of_single_queries(release, names, sums, earlier)
    found = _SealedRuns({name: [] for name in read}, {name: [] for name in read})
    for (name, _), own, masks in zip(flat, sums, secrets(release, names, sums, earlier), strict=True):
        found.sums[name].append(own)
        found.secrets[name] += masks
    return found


def _asked(evaluation: Evaluation, facets: Sequence[Facet], options: EvaluationOptions) -> dict[str, Any]:
    """What a look at a run is told apart by from another one at the same run."""
    return {
        "parts": evaluation.parts,
        "measures": evaluation.measures,
        "relevant": evaluation.relevant_grade,
        "by": sorted(facet.name for facet in facets),
        "seed": options.seed,
        "first_stage": options.first_stage,
        "depths": options.first_stage and options.depths,
        "hard_negatives": options.hard_negatives,
    }


def _scored_runs(
    evaluation: Evaluation,
    read: Mapping[str, Sequence[SystemRun]],
    scored: Mapping[str, Sequence[RunScores]],
    sealed: _SealedRuns,
) -> list[ScoredRun]:
    """Each run with what its look stores; of several runs of one system each has figures of its own."""
    found = []
    for system in evaluation.runs:
        name, scores = system.name, scored[system.name]
        figures = [system.overall] if len(scores) == 1 else mean_figures(scores, evaluation.seed)
        for run, own, figure, sums in zip(read[name], scores, figures, sealed.sums[name], strict=True):
            found.append(ScoredRun(name, run.source, sums, own, figure))
    return found


def _evaluation(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    facets: Sequence[Facet],
    read: Mapping[str, Sequence[SystemRun]],
    scored: Mapping[str, Sequence[RunScores]],
    options: EvaluationOptions,
    sealed: _SealedRuns | None,
) -> Evaluation:
    seed = options.seed
    systems = {name: mean_scores(found) for name, found in scored.items()}
    scores = list(systems.values())
    hidden = [sealed.secrets[name] if sealed else [release.sealed_queries] for name in systems]
    stratum = release.facets["stratum"]
    every = {facet.name: facet for facet in (stratum, *facets)}
    by_facet = {name: facet_figures(scores, facet, seed, hidden) for name, facet in every.items()}
    overall = mean_figures(scores, seed)
    shown = {facet.name for facet in facets}
    evaluated = [
        EvaluatedSystem(
            name=name,
            files=tuple(
                _facts(run, one, release, seed) for run, one in zip(read[name], scored[name], strict=True)
            ),
            overall=without_ties(overall[place]) if sealed else overall[place],
            traffic=traffic_figures(systems[name], release.drawn),
            others=other_means(systems[name], stratum, by_facet["stratum"][place], sealed is not None),
            strata={
                facet: without_ties_by_kind(rows[place]) if sealed else rows[place]
                for facet, rows in by_facet.items()
                if facet in shown
            },
            seeds=_seeds(scored[name]),
            per_query=None if release.sealed else _per_query(systems[name]),
        )
        for place, name in enumerate(systems)
    ]
    secrets = hidden if sealed else []
    compared = compare_scores(systems, facets, release.drawn, secrets, options.comparison, seed)
    qrels = release.qrels
    return Evaluation(
        release=release.name,
        release_id=release.release_id,
        parts=release.parts,
        sealed=release.sealed,
        queries=len(qrels.query_ids),
        scale=qrels.scale,
        relevant_grade=qrels.relevant,
        without_relevant=int((qrels.relevant_documents == 0).sum()),
        measures=tuple(measure.name for measure in measures),
        about={measure.name: measure.about for measure in measures},
        runs=tuple(evaluated),
        **compared._asdict(),
        query_ids=None if release.sealed else qrels.query_ids,
        query_texts=None if release.sealed else tuple(release.texts[name] for name in qrels.query_ids),
        looks=(),
        seed=seed,
        resamples=RESAMPLES,
        versions=_versions(),
        first_stage=options.first_stage,
        reranking=_reranking(release, measures, read, options),
        hard_negatives=_hard_negatives(release, measures, read, options),
        inferred=_inferred(release, read, options),
        not_inferred=_why_not_inferred(release) if options.pool_sample is None else None,
        turning=_turning(release, measures[0], read, scored) if options.turning else (),
    )


def _check_first_stage(options: EvaluationOptions, names: Sequence[str]) -> None:
    """Stop where the first stage is no run, or several."""
    if options.first_stage is None:
        return
    check_depths(options.depths)
    known, times = sorted(set(names)), names.count(options.first_stage)
    if times != 1:
        what = "several runs have that name" if times else "no run has that name"
        raise InputError(
            f"--first-stage {options.first_stage}: {what}; expected one of {', '.join(known)}, with one run."
        )
    if len(known) < 2:
        raise InputError(
            f"--first-stage {options.first_stage}: there is no other run that reranks its candidates."
        )


def _check_turning(
    options: EvaluationOptions, release: EvaluatedRelease, measures: Sequence[Measure]
) -> None:
    """Stop where documents that could turn an order are asked for and cannot be named."""
    if options.turning and release.sealed:
        raise InputError(
            f"--turning names documents by query, and {', '.join(release.sealed)} is sealed: choose a part "
            "that is not."
        )
    if options.turning and measures[0].kind in ("rbp", "judged"):
        raise InputError(
            f"--turning goes by the first measure, and {measures[0].name} is none that can be computed again "
            "for each document: name another one first, such as ndcg_exp@10."
        )


def _turning(
    release: EvaluatedRelease,
    measure: Measure,
    read: Mapping[str, Sequence[SystemRun]],
    scored: Mapping[str, Sequence[RunScores]],
) -> tuple[Turning, ...]:
    """Each system against the next one, from the best down."""
    means = {name: mean_of(runs[0].values[:, 0]) or 0.0 for name, runs in scored.items()}
    ordered = sorted(read, key=lambda name: (-means[name], name))
    lists = {name: shortlist(read[name][0].rows, release.qrels, measure) for name in ordered}
    return tuple(
        turning((first, second), (lists[first], lists[second]), measure, release.qrels)
        for first, second in pairwise(ordered)
    )


def _reranking(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    options: EvaluationOptions,
) -> tuple[RerankingDepth, ...]:
    if options.first_stage is None:
        return ()
    rows = _rows(read)
    [first] = rows.pop(options.first_stage)
    found = tuple(reranking(first, rows, release.qrels, measures, options.seed, options.depths))
    return tuple(map(without_ties_at_depth, found)) if release.sealed else found


def _rows(read: Mapping[str, Sequence[SystemRun]]) -> dict[str, list[RunRows]]:
    return {name: [run.rows for run in runs] for name, runs in read.items()}


def _hard_negatives(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    options: EvaluationOptions,
) -> HardNegativeEffect | None:
    if not options.hard_negatives:
        return None
    effect = hard_negative_effect(_rows(read), release.qrels, release.pooled, measures, options.seed)
    return of_sealed_part(effect) if release.sealed else effect


def _inferred(
    release: EvaluatedRelease, read: Mapping[str, Sequence[SystemRun]], options: EvaluationOptions
) -> InferredFigures | None:
    if options.pool_sample is None:
        return None
    return inferred_figures(_rows(read), release.qrels, release.pooled, options.pool_sample, options.seed)


def _why_not_inferred(release: EvaluatedRelease) -> str:
    documents, queries = release.qrels.documents.to_pylist(), release.qrels.query_ids
    places = zip(release.qrels.query.tolist(), release.qrels.document.tolist(), strict=True)
    return sample_sentence(release.pooled, {(queries[q], documents[d]) for q, d in places})


def _facts(run: SystemRun, scores: RunScores, release: EvaluatedRelease, seed: int) -> RunFacts:
    return RunFacts(
        source=run.source,
        places=run.places,
        missing=int((scores.returned == 0).sum()),
        unknown_documents=run.unknown_documents,
        against_scores=run.against_scores,
        ties=SealedTies(*scores.ties[:3]) if release.sealed else scores.ties,
        left_out=run.left_out,
        seconds=run.seconds,
        refusal=run_refusal(run.rows, release.qrels, release.facets, seed, bool(release.sealed)),
    )


def _seeds(runs: Sequence[RunScores]) -> dict[str, SeedSpread]:
    """How the runs of one system differ, by measure."""
    if len(runs) < 2:
        return {}
    found = {}
    for place, measure in enumerate(runs[0].measures):
        values = [mean_of(run.values[:, place]) for run in runs]
        known = [value for value in values if value is not None]
        sd = float(np.std(known, ddof=1)) if len(known) > 1 else None
        mean = float(np.mean(known)) if known else None
        found[measure.name] = SeedSpread(len(runs), mean, sd, tuple(values))
    return found


def _per_query(scores: RunScores) -> dict[str, tuple[float | None, ...]]:
    return {
        measure.name: tuple(None if np.isnan(value) else value for value in scores.values[:, place].tolist())
        for place, measure in enumerate(scores.measures)
    }


def _versions() -> dict[str, str]:
    packages = ("ir-measures", "pytrec-eval-terrier", "numpy")
    return {"goldset": __version__} | {package: version(package) for package in packages}
