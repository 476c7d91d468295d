"""Evaluating runs on a release: from a release's name and run files to tables of figures.

Of a sealed part the tables have no value of a single query, and no figures of fewer than ten (`sealed`). What
computes with values of single queries does it in here, before they are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.evaluation.assembly import ScoredSystem, assembled, score_system
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.figures.means import mean_figures
from curation.evaluation.figures.release_age import release_age
from curation.evaluation.figures.reranking import check_depths
from curation.evaluation.request import run_problems
from curation.evaluation.scoring.inputs.facets import Facet, chosen_facets
from curation.evaluation.scoring.inputs.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.inputs.run_sources import RunSource
from curation.evaluation.scoring.inputs.subtopic_file import SubtopicFacts, read_subtopics
from curation.evaluation.scoring.inputs.system_runs import SystemRun, read_run, with_whole_documents
from curation.evaluation.scoring.metrics.measures import (
    CHUNK_MEASURES,
    DEFAULT_MEASURES,
    Measure,
    measures_for,
)
from curation.evaluation.sealed.access import (
    SealedRequest,
    check_access,
    log_figures,
    refusals_logged,
    sealed_request,
    sealed_values,
)
from curation.evaluation.sealed.protected import protected_evaluation, protected_figures
from curation.evaluation.significance import check_test
from curation.releases.verify import FrozenRelease
from curation.store import COMMAND_LINE, Store


def evaluate_runs(
    store: Store,
    release_name: str | FrozenRelease,
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
    reason: why a sealed part is evaluated; the evaluation is logged before its figures are returned.

    Raises
    ------
    InputError: options that mean nothing here, or run files that cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: a sealed part is evaluated without a reason, by somebody who may not, or for values of
        single queries; the release cannot be used.
    """
    if not runs:
        raise InputError("No run was named: give at least one.", command="For example: --run bm25.trec.")
    names = [source.name for source in runs]
    request = sealed_request(store, release_name, options.split, names, reason, actor)
    with refusals_logged(store, request):
        if request is not None:
            check_access(store, request)
        return _evaluation(store, release_name, runs, options, request, progress)


def _evaluation(
    store: Store,
    release_name: str | FrozenRelease,
    runs: Sequence[RunSource],
    options: EvaluationOptions,
    request: SealedRequest | None,
    progress: Progress,
) -> Evaluation:
    """The evaluation; on sealed parts it is logged, and is what leads see."""
    _check_runs(options, [source.name for source in runs])
    release = read_release(store, release_name, options.split, options.relevant)
    release, subtopics = _with_subtopics(release, options, progress)
    _measures_and_facets(release, options)
    read: dict[str, list[SystemRun]] = {}
    for source in runs:
        read.setdefault(source.name, []).append(read_run(source, release, options.reading, progress))
    of_chunks = any(run.chunks for found in read.values() for run in found)
    measures, facets = _measures_and_facets(release, options, of_chunks)
    for found in read.values():
        found[:] = [replace(run, rows=with_whole_documents(run.rows, release, measures)) for run in found]
    systems = _scored(release, measures, read, progress)
    figures = assembled(release, measures, facets, systems, options)
    evaluation = replace(figures, subtopics=subtopics, age=release_age(store, release))
    if request is None:
        return evaluation
    return _logged(store, protected_evaluation(evaluation), release, systems, request)


def _logged(
    store: Store,
    evaluation: Evaluation,
    release: EvaluatedRelease,
    systems: Sequence[ScoredSystem],
    request: SealedRequest,
) -> Evaluation:
    """The evaluation once the log has it; of several runs of one system each run has figures of its own."""
    every = [(system.name, scores) for system in systems for scores in system.scores]
    request = request._replace(systems=tuple(name for name, _ in every))
    figures = [protected_figures(mean_figures([scores])[0]) for _, scores in every]
    values = [sealed_values(release, scores.values[:, 0]) for _, scores in every]
    return replace(evaluation, sealed_count=log_figures(store, request, figures, values))


def _measures_and_facets(
    release: EvaluatedRelease, options: EvaluationOptions, of_chunks: bool = False
) -> tuple[tuple[Measure, ...], list[Facet]]:
    """What is computed, and for which kinds of queries; stops where the release does not allow it.

    Parameters
    ----------
    of_chunks: whether any run is one of chunks.
    """
    default = CHUNK_MEASURES if of_chunks and release.qrels.evidence is not None else DEFAULT_MEASURES
    measures = measures_for(release.qrels.scale, options.measures, default)
    facets = chosen_facets(release.facets, options.by)
    check_test(options.comparison.test)
    if options.by_query and release.sealed:
        raise RefusedError(
            f"{', '.join(release.sealed)} is sealed, and there is nothing by query of a sealed part.",
            command="Leave --per-query out.",
        )
    for measure in measures:
        release.qrels.lacking(measure)  # stops where it needs subtopics and there are none
    return measures, facets


def _with_subtopics(
    release: EvaluatedRelease, options: EvaluationOptions, progress: Progress
) -> tuple[EvaluatedRelease, SubtopicFacts | None]:
    """The release with the subtopics of the file that was named, and what that held."""
    if options.subtopics is None:
        return release, None
    asked = measures_for(release.qrels.scale, options.measures)
    if all(one.alpha is None for one in asked):
        raise InputError(
            f"{options.subtopics} has subtopics, and no measure that was asked for uses them.",
            command="Ask for one with --measures, such as ndcg_exp@10,alpha_ndcg@10.",
        )
    return read_subtopics(options.subtopics, release, progress)


def _scored(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    progress: Progress,
) -> list[ScoredSystem]:
    systems = []
    for number, (name, runs) in enumerate(read.items(), 1):
        systems.append(score_system(name, runs, release, measures))
        progress("scoring systems", number, len(read))
    return systems


def _check_runs(options: EvaluationOptions, systems: Sequence[str]) -> None:
    """Stop where runs are missing for what is asked, or candidates are reranked to no depth."""
    refuse_problems(run_problems(systems, options.first_stage))
    if options.first_stage is not None:
        check_depths(options.depths)
