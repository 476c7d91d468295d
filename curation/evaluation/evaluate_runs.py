"""The evaluation of runs on a release.

On a sealed part the evaluation has no value of a single query, and no figures of fewer than ten queries
(`protect_figures`). All computations with values of single queries happen in this module, before the values
are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np

from curation import __version__
from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats, Mask
from curation.core.statistics.intervals import RESAMPLES
from curation.evaluation import sealed_access
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation, values_by_measure
from curation.evaluation.figures.aggregations import StrataSummary, summarize_strata
from curation.evaluation.figures.candidate_lists import measure_hard_negatives
from curation.evaluation.figures.compare_scores import compare_scores
from curation.evaluation.figures.comparison import refuse_unknown_test
from curation.evaluation.figures.means import compute_facet_figures, compute_means
from curation.evaluation.figures.other_means import compute_other_means
from curation.evaluation.figures.traffic_estimates import estimate_traffic_figures
from curation.evaluation.protected_figures import protect_evaluation, protect_figures
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.rounded_figures import HeadlineEvaluation, evaluate_headline
from curation.evaluation.run_facts import describe_run
from curation.evaluation.scored_system import ScoredSystem, score_system
from curation.evaluation.scoring import measure_names, measure_summaries
from curation.evaluation.scoring.chunk_order import add_whole_documents
from curation.evaluation.scoring.facets import COVERAGE, Facet, choose_facets
from curation.evaluation.scoring.measure_names import (
    CHUNK_MEASURES,
    DEFAULT_MEASURES,
    Measure,
    choose_measures,
)
from curation.evaluation.scoring.pooled_pairs import compute_unjudged_share
from curation.evaluation.scoring.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.run_scores import RunScores, score_rows
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import ReadingOptions, SystemRun, read_run
from curation.evaluation.sealed_access import SealedRequest
from curation.releases.frozen_release import FrozenRelease
from curation.store import COMMAND_LINE, Store


def assemble(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    facets: Sequence[Facet],
    systems: Sequence[ScoredSystem],
    request: EvaluateRequest,
) -> Evaluation:
    """Compute all figures of systems; `protect_figures` chooses the figures that leads see on sealed
    parts."""
    qrels = release.qrels
    rows = {system.name: system.rows for system in systems}
    scores = {system.name: system.mean for system in systems}
    comparisons, boards = compare_scores(
        scores, facets, release.drawn, release.sealed_queries, request.seed, request.baseline, request.test
    )
    effect = None
    if request.hard_negatives:
        effect = measure_hard_negatives(rows, qrels, release.pooled, measures, request.seed)
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
        runs=_evaluated_systems(release, facets, systems, request.seed),
        comparisons=comparisons,
        leaderboards=boards,
        query_ids=qrels.query_ids,
        query_texts=tuple(release.texts[name] for name in qrels.query_ids),
        sealed_count=None,
        seed=request.seed,
        resamples=RESAMPLES,
        versions={"goldgrade": __version__, "numpy": version("numpy")},
        hard_negatives=effect,
        pool_unjudged=compute_unjudged_share(release.pooled, qrels.pair_ids),
        coverage=release.coverage,
        summaries=_summarize_facets(scores, facets, release.sealed_queries, request),
        mark=release.mark,
        context={system.name: system.context for system in systems if system.context},
        lists={system.name: system.first_places for system in systems if system.first_places},
    )


def _evaluated_systems(
    release: EvaluatedRelease, facets: Sequence[Facet], systems: Sequence[ScoredSystem], seed: int
) -> tuple[EvaluatedSystem, ...]:
    scores = [system.mean for system in systems]
    stratum, sealed = release.facets["stratum"], release.sealed_queries
    by_facet = {facet.name: compute_facet_figures(scores, facet, sealed) for facet in (stratum, *facets)}
    shown_facets = {facet.name for facet in facets}
    names = [measure.name for measure in scores[0].measures]
    return tuple(
        EvaluatedSystem(
            name=system.name,
            files=tuple(
                describe_run(run, scores, release, seed)
                for run, scores in zip(system.runs, system.scores, strict=True)
            ),
            overall=overall,
            traffic=estimate_traffic_figures(system.mean, release.drawn),
            others=compute_other_means(
                system.mean, stratum, by_facet["stratum"][index], bool(release.sealed)
            ),
            strata={facet: kinds[index] for facet, kinds in by_facet.items() if facet in shown_facets},
            seeds=_compute_run_figures(system.scores),
            per_query=values_by_measure(dict(zip(names, system.mean.values.T, strict=True))),
        )
        for index, (system, overall) in enumerate(zip(systems, compute_means(scores), strict=True))
    )


def _summarize_facets(
    systems: Mapping[str, RunScores], facets: Sequence[Facet], sealed: Mask, request: EvaluateRequest
) -> tuple[StrataSummary, ...]:
    """Summarize each facet of the coverage map, by the first measure that compares systems."""
    comparable = [measure for measure in next(iter(systems.values())).measures if measure.compares]
    if not comparable:
        return ()
    measure = comparable[0].name
    values = np.stack([scores.of(measure) for scores in systems.values()])
    return tuple(
        summarize_strata(
            list(systems), measure, values, facet, seed=request.seed, sealed=sealed, baseline=request.baseline
        )
        for facet in facets
        if facet.name in COVERAGE
    )


def _compute_run_figures(runs: Sequence[RunScores]) -> dict[str, tuple[float | None, ...]]:
    """Compute the figure of each run of one system by each measure; no figures for a single run."""
    measures = enumerate(runs[0].measures if len(runs) > 1 else ())
    return {
        measure.name: tuple(
            measure_summaries.summarize_values(measure, run.values[:, column]) for run in runs
        )
        for column, measure in measures
    }


def evaluate_runs(
    store: Store,
    release_name: str | FrozenRelease,
    runs: Sequence[SystemFile],
    request: EvaluateRequest = EvaluateRequest(),
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
    *,
    reading: ReadingOptions = ReadingOptions(),
    by_query: bool = False,
) -> Evaluation:
    """Score run files on a release.

    Parameters
    ----------
    runs: the run files; files of one name are several runs of one system.
    by_query: whether the caller needs values of single queries; sealed parts are then refused.

    Raises
    ------
    InputError: the options do not fit together, or a run file cannot be read.
    NotFoundError: no release has this name.
    RefusedError: a sealed part is evaluated without a reason, by a person who may not evaluate, or for values
        of single queries; the release cannot be used.
    """
    if not runs:
        raise InputError("No run was named: give at least one run.", command="For example: --run bm25.trec.")
    names = [source.name for source in runs]
    sealed = sealed_access.make_sealed_request(store, release_name, request, names, actor)
    with sealed_access.log_refusals(store, sealed):
        if sealed is not None:
            sealed_access.check_access(store, sealed)
        release = read_release(store, release_name, request.part, request.relevant)
        _choose_measures_and_facets(release, request, by_query)
        systems, evaluation = _evaluate_sources(release, runs, request, reading, progress)
        if sealed is None:
            return evaluation
        return _log_evaluation(store, protect_evaluation(evaluation), release, systems, sealed)


def _evaluate_sources(
    release: EvaluatedRelease,
    runs: Sequence[SystemFile],
    request: EvaluateRequest,
    reading: ReadingOptions,
    progress: Progress,
) -> tuple[list[ScoredSystem], Evaluation]:
    """Read and score the systems, and compute all figures."""
    runs_of: dict[str, list[SystemRun]] = {}
    for source in runs:
        runs_of.setdefault(source.name, []).append(read_run(source, release, reading, progress))
    has_chunks = any(run.chunks for files in runs_of.values() for run in files)
    measures, facets = _choose_measures_and_facets(release, request, False, has_chunks)
    systems = []
    for count, (name, files) in enumerate(runs_of.items(), 1):
        chunked = [replace(run, rows=add_whole_documents(run.rows, release, measures)) for run in files]
        systems.append(score_system(name, chunked, release, measures))
        progress("scoring systems", count, len(runs_of))
    return systems, assemble(release, measures, facets, systems, request)


def _log_evaluation(
    store: Store,
    evaluation: Evaluation,
    release: EvaluatedRelease,
    systems: Sequence[ScoredSystem],
    request: SealedRequest,
) -> Evaluation:
    """Log the figures of each run of each system, and add the count of sealed evaluations."""
    named_scores = [(system.name, scores) for system in systems for scores in system.scores]
    request = request._replace(systems=tuple(name for name, _ in named_scores))
    figures = [protect_figures(compute_means([scores])[0]) for _, scores in named_scores]
    values = [sealed_access.select_sealed_values(release, scores.values[:, 0]) for _, scores in named_scores]
    return replace(evaluation, sealed_count=sealed_access.log_figures(store, request, figures, values))


def _choose_measures_and_facets(
    release: EvaluatedRelease, request: EvaluateRequest, by_query: bool, has_chunks: bool = False
) -> tuple[tuple[Measure, ...], list[Facet]]:
    """Choose the measures and the kinds of queries, and refuse choices that the release does not allow.

    Parameters
    ----------
    has_chunks: whether any run is a run of chunks.
    """
    of_chunks = has_chunks and release.qrels.evidence is not None
    default = measure_names.CHUNK_MEASURES if of_chunks else measure_names.DEFAULT_MEASURES
    measures = measure_names.choose_measures(release.qrels.scale, request.measures, default)
    facets = choose_facets(release.facets, request.by)
    refuse_unknown_test(request.test)
    if by_query and release.sealed:
        raise RefusedError(
            f"{', '.join(release.sealed)} is sealed, and a sealed part has no values by query.",
            command="Leave --per-query out.",
        )
    for measure in measures:
        release.qrels.find_undefined(measure)  # raises an error if the release lacks evidence for the measure
    return measures, facets


def evaluate_headline_of_runs(
    store: Store,
    release_name: str | FrozenRelease,
    runs: Sequence[SystemFile],
    request: EvaluateRequest,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
    *,
    reading: ReadingOptions = ReadingOptions(),
) -> HeadlineEvaluation:
    """Score run files on a sealed part, for an evaluator.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as for `evaluate_headline`, or a run file cannot be used.
    """

    def score(release: EvaluatedRelease) -> tuple[str, Sequence[str], Sequence[Floats]]:
        system_runs = [read_run(source, release, reading, progress) for source in runs]
        has_chunks = any(run.chunks for run in system_runs) and release.qrels.evidence is not None
        default = CHUNK_MEASURES if has_chunks else DEFAULT_MEASURES
        measure = choose_measures(release.qrels.scale, None, default)[0]
        rows = [add_whole_documents(run.rows, release, [measure]) for run in system_runs]
        values = [score_rows(row, release.qrels, [measure]).values[:, 0] for row in rows]
        return measure.name, [run.source for run in system_runs], values

    return evaluate_headline(store, release_name, runs, request, actor, score)
