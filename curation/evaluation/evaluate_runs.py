"""The evaluation of runs on a release, with all results or with one rounded value per system.

On a sealed part, all results are computed before values of individual queries and results from fewer than ten
queries are dropped (`protected_figures`). No value of a single query leaves this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.evaluation import rounded_figures, sealed_access
from curation.evaluation.assemble_evaluation import assemble_evaluation
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.comparison import refuse_unknown_test
from curation.evaluation.figures.means import compute_means
from curation.evaluation.prepare_evaluation import PreparedEvaluation
from curation.evaluation.protected_figures import protect_evaluation, protect_figures
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scored_system import ScoredSystem, add_whole_documents, score_system
from curation.evaluation.scoring import measure_names
from curation.evaluation.scoring.facets import choose_facets
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.run_scores import score_rows
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import ReadingOptions, SystemRun, read_run
from curation.evaluation.sealed_access import SealedRequest
from curation.releases.frozen_release import FrozenRelease
from curation.store import COMMAND_LINE, Store


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
    """Score systems' run files on the queries of a release.

    Parameters
    ----------
    runs: the run files; files of one name are several runs of one system.
    by_query: whether the caller needs values of individual queries; sealed parts are then refused.

    Raises
    ------
    InputError: the options do not fit together, or a run file cannot be read.
    NotFoundError: no release has this name.
    RefusedError: a sealed part is evaluated without a reason, by a person who may not evaluate, or for values
        of individual queries; the release cannot be used.
    """
    if not runs:
        raise InputError("Name at least one run.", command="For example: --run bm25.trec.")
    names = [source.name for source in runs]
    sealed = sealed_access.make_sealed_request(store, release_name, request, names, actor)
    with sealed_access.log_refusals(store, sealed):
        if sealed is not None:
            sealed_access.check_access(store, sealed)
        release = read_release(store, release_name, request.part, request.relevant, request.synthetic)
        _refuse_choices(release, request, by_query)
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
    """Read and score the systems' run files, and compute all results of the evaluation."""
    runs_of: dict[str, list[SystemRun]] = {}
    for source in runs:
        runs_of.setdefault(source.name, []).append(read_run(source, release, reading, progress))
    has_chunks = any(run.chunks for files in runs_of.values() for run in files)
    measures = _choose_measures(release, request.measures, has_chunks)
    facets = choose_facets(release.facets, request.by)
    systems = []
    for count, (name, files) in enumerate(runs_of.items(), 1):
        systems.append(score_system(name, files, release, measures))
        progress("scoring systems", count, len(runs_of))
    return systems, assemble_evaluation(release, measures, facets, systems, request)


def _log_evaluation(
    store: Store,
    evaluation: Evaluation,
    release: EvaluatedRelease,
    systems: Sequence[ScoredSystem],
    request: SealedRequest,
) -> Evaluation:
    """Log the results of each run of each system, and add to the evaluation the number of sealed evaluations
    so far."""
    named_scores = [(system.name, scores) for system in systems for scores in system.scores]
    request = request._replace(systems=tuple(name for name, _ in named_scores))
    figures = [protect_figures(compute_means([scores])[0]) for _, scores in named_scores]
    values = [sealed_access.select_sealed_values(release, scores.values[:, 0]) for _, scores in named_scores]
    return replace(evaluation, sealed_count=sealed_access.log_figures(store, request, figures, values))


def _choose_measures(
    release: EvaluatedRelease, names: Sequence[str] | None, has_chunks: bool
) -> tuple[Measure, ...]:
    """Choose the requested measures, or the default measures for documents or for chunks.

    Parameters
    ----------
    has_chunks: whether any run is a run of chunks.
    """
    of_chunks = has_chunks and release.qrels.evidence is not None
    default = measure_names.CHUNK_MEASURES if of_chunks else measure_names.DEFAULT_MEASURES
    return measure_names.choose_measures(release.qrels.scale, names, default)


def _refuse_choices(release: EvaluatedRelease, request: EvaluateRequest, by_query: bool) -> None:
    """Reject a request with choices that the release does not allow, before any run is read."""
    measures = _choose_measures(release, request.measures, False)
    choose_facets(release.facets, request.by)
    refuse_unknown_test(request.test)
    if by_query and release.sealed:
        parts = ", ".join(release.sealed)
        problem = f"{parts} is sealed, and a sealed part shows no values for individual queries."
        raise RefusedError(problem, command="Leave out --per-query.")
    for measure in measures:
        release.qrels.find_undefined(measure)  # raises an error if the release lacks evidence for the measure


def evaluate_headline_of_runs(prepared: PreparedEvaluation) -> rounded_figures.HeadlineEvaluation:
    """Score run files on a sealed part, with rounded results for an evaluator.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as for `evaluate_headline`, or a run file cannot be used.
    """

    def score(release: EvaluatedRelease) -> tuple[str, list[rounded_figures.RoundedFigure]]:
        runs = [read_run(source, release, prepared.reading, prepared.progress) for source in prepared.runs]
        measures = _choose_measures(release, None, any(run.chunks for run in runs))[:1]
        figures = []
        for run in runs:
            rows = add_whole_documents(run.rows, release, measures)
            values = score_rows(rows, release.qrels, measures).values[:, 0]
            figures.append(rounded_figures.round_mean(values, run.name, run.source))
        return measures[0].name, figures

    return rounded_figures.evaluate_headline(prepared, prepared.runs, score)
