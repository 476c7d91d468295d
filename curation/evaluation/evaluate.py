"""The operation that evaluates a request's files on a release.

What only some requests need (answers, judges, pools, a project's systems) is imported when it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from curation.core.errors import CurationError, InputError
from curation.core.operation import Operation
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.evaluation.evaluate_runs import evaluate_headline_of_runs, evaluate_runs
from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
from curation.evaluation.llm_judges.estimates import JudgedEvaluation
from curation.evaluation.prepare_evaluation import PreparedEvaluation, list_chosen_options, prepare_evaluation
from curation.evaluation.request import ABOUT_ANSWERS, EvaluateRequest, check_request
from curation.evaluation.rounded_figures import HeadlineEvaluation
from curation.evaluation.stored_evaluations import store_evaluation
from curation.people.annotators import EVALUATING_ROLES, require_author
from curation.store import Cursor, Store

if TYPE_CHECKING:
    from curation.evaluation.answers.graded_answers import AnswerGrades

_OPTION_TEXT = re.compile(r"[^,]*\(-{2}map query=COLUMN\),| \(-{2}[^)]*\)")
"""Parts of error messages that name command-line options, which the page leaves out."""


class EvaluationOutcome(NamedTuple):
    """The outcome of evaluating files: rounded results for an evaluator, otherwise all results.

    Attributes
    ----------
    headlines: the rounded figures of runs and of answers; empty where all figures were computed.
    answers, runs: the evaluation of answers, and of runs; None without such files.
    judged: the estimates of runs with a judge; None if no judge was asked for.
    """

    headlines: Sequence[HeadlineEvaluation] = ()
    answers: AnswerEvaluation | None = None
    judged: JudgedEvaluation | None = None
    runs: Evaluation | None = None


class RunSubmission(NamedTuple):
    """The outcome of a submitted evaluation; rounded results are not stored and have no id."""

    sentences: tuple[str, ...]
    evaluation_id: str | None


def evaluate_files(prepared: PreparedEvaluation) -> EvaluationOutcome:
    """Score a request's files; return rounded results for an evaluator, otherwise all results.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as for `evaluate_runs` or `evaluate_answers`.
    """
    if prepared.answers:
        from curation.evaluation.answers.evaluate_answers import (
            evaluate_answers,
            evaluate_headline_of_answers,
        )
    if prepared.rounded:
        headlines = [evaluate_headline_of_runs(prepared)] if prepared.runs else []
        headlines += [evaluate_headline_of_answers(prepared)] if prepared.answers else []
        return EvaluationOutcome(headlines)
    store, release, request = prepared.store, prepared.release, prepared.request
    author, reading, progress = prepared.author, prepared.reading, prepared.progress
    answers = judged = runs = None
    if request.answers:
        grades, fields = _read_grades(prepared), prepared.answer_fields
        arguments = (store, release, prepared.answers, request, author, progress)
        answers = evaluate_answers(*arguments, grades=grades, reading=reading, fields=fields)
    if request.runs and request.judge is not None:
        from curation.evaluation.llm_judges.estimates import estimate_with_judge

        judged = estimate_with_judge(store, release, prepared.runs, request, reading, progress)
    if request.runs:
        arguments = (store, release, prepared.runs, request, author, progress)
        runs = evaluate_runs(*arguments, reading=reading, by_query=prepared.by_query)
    return EvaluationOutcome(answers=answers, judged=judged, runs=runs)


def _read_grades(prepared: PreparedEvaluation) -> dict[str, AnswerGrades]:
    """Read people's grades of answers, by the property that they graded, such as correctness."""
    from curation.evaluation.answers.graded_answers import read_answer_grades

    project = prepared.store if prepared.same_folder else None
    texts = {name: getattr(prepared.request, name) for name in ABOUT_ANSWERS}
    return {name: read_answer_grades(name, text, project) for name, text in texts.items() if text}


def submit(store: Store, request: EvaluateRequest, author: str, progress: Progress = silent) -> RunSubmission:
    """Score uploaded runs, answer files or both, and store the evaluation for its author.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as for `prepare_evaluation` and `evaluate_files`; the author may
        not evaluate, or uses options that only leads may use.
    """
    try:
        with TemporaryDirectory(dir=request.folder or None) as folder:
            if request.systems:
                from curation.evaluation.project_systems import write_project_runs

                runs = write_project_runs(store, request, Path(folder), author, progress)
                request = replace(request, runs=(*request.runs, *runs))
            return _evaluate_and_store(store, request, author, progress)
    except InputError as error:
        raise _rewrite_for_upload(error) from error


def _evaluate_and_store(
    store: Store, request: EvaluateRequest, author: str, progress: Progress
) -> RunSubmission:
    prepared = prepare_evaluation(store, request, author)._replace(same_folder=True, progress=progress)
    roles = ("lead",) if list_chosen_options(request, fields=ABOUT_ANSWERS) else EVALUATING_ROLES
    with store.reading() as cursor:
        require_author(cursor, author, *roles)
    return _store_outcome(prepared, evaluate_files(prepared))


def _store_outcome(prepared: PreparedEvaluation, outcome: EvaluationOutcome) -> RunSubmission:
    """Store all results for their author; turn rounded results into sentences without storing them."""
    request = prepared.request
    if outcome.headlines:
        sentences = [sentence for headline in outcome.headlines for sentence in headline.sentences]
        return RunSubmission(tuple(sentences), None)
    evaluation_id = store_evaluation(prepared.store, outcome.runs, outcome.answers, prepared.author)
    counts = [pluralize(len(request.runs), "run")] if request.runs else []
    if request.answers:
        counts.append(pluralize(len(request.answers), "answer file", "answer files"))
    sentence = f"Evaluated {' and '.join(counts)} on {request.release}, {request.part}."
    return RunSubmission((sentence, *_make_candidates(prepared)), evaluation_id)


def _rewrite_for_upload(error: InputError) -> InputError:
    """Rewrite an error for the page Evaluate: name the uploaded file and drop command-line options."""
    way_out = _OPTION_TEXT.sub("", error.way_out)
    path = None if error.path is None else Path(error.path).name
    return InputError(error.problems, path=path, way_out="" if "--" in way_out else way_out)


def _make_candidates(prepared: PreparedEvaluation) -> list[str]:
    """Make the runs' first documents candidates for judging, and report the outcome in sentences; an error
    does not undo the stored evaluation."""
    depth = prepared.request.to_pool
    if depth is None:
        return []
    from curation.evaluation.pool_runs import pool_runs
    from curation.evaluation.project_systems import get_system_name

    systems = set(map(get_system_name, prepared.request.systems))
    uploaded_runs = [run for run in prepared.runs if run.name not in systems]
    try:
        pooled = pool_runs(prepared, uploaded_runs)
    except CurationError as error:
        return [f"No documents were added as candidates: {error}"]
    sentence = (
        f"{pooled.unjudged:,} of the first {depth:,} documents of all queries have no grade; "
        f"{pooled.pool.added:,} were added as candidates."
    )
    if pooled.left_out:
        queries = pluralize(pooled.left_out, "query", "queries")
        sentence += f" {queries} of other sealed parts got no new candidates."
    return [sentence]


def _check_operation(_cursor: Cursor, request: EvaluateRequest | None) -> None:
    if request is not None:
        check_request(request)


def _submit_upload(store: Store, request: EvaluateRequest, progress: Progress, author: str) -> RunSubmission:
    """Evaluate uploaded files, and remove their folder even if an error occurs."""
    try:
        return submit(store, request, author, progress)
    finally:
        rmtree(request.folder, ignore_errors=True)


OPERATIONS = {
    "evaluate": Operation(
        EvaluateRequest,
        _submit_upload,
        in_progress="evaluating runs",
        on_interrupt="No evaluation was stored: upload the runs again.",
        check=_check_operation,
        roles=EVALUATING_ROLES,
        stage="evaluate",
    )
}
