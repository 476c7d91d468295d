"""The operation that evaluates the files of a request on a release."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from curation.core.errors import CurationError, InputError, RefusedError, refuse_problems
from curation.core.operation import Operation
from curation.core.progress import Progress, silent
from curation.core.request import Option, list_options
from curation.core.text import pluralize
from curation.evaluation.answers.answer_files import AnswerFields
from curation.evaluation.answers.evaluate_answers import evaluate_answers, evaluate_headline_of_answers
from curation.evaluation.answers.graded_answers import AnswerGrades, read_answer_grades
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
from curation.evaluation.llm_judges.estimates import JudgedEvaluation, estimate_with_judge
from curation.evaluation.pool_runs import check_pooling, pool_runs
from curation.evaluation.request import ABOUT_ANSWERS, ABOUT_RUNS, EvaluateRequest
from curation.evaluation.rounded_figures import HeadlineEvaluation, evaluate_headline_of_runs
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import ReadingOptions
from curation.evaluation.sealed_access import SealedRequest, check_access, log_refusals, make_sealed_request
from curation.evaluation.stored_evaluations import store_evaluation
from curation.people.annotators import EVALUATING, require_author
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.store import Cursor, Store

_OPTION_TEXT = re.compile(r"[^,]*\(-{2}map query=COLUMN\),| \(-{2}[^)]*\)")
"""Command-line parts of error messages, which the page leaves out: the field with the queries, and option
names.
"""
EvaluationOutcome = tuple[
    Sequence[HeadlineEvaluation], AnswerEvaluation | None, JudgedEvaluation | None, Evaluation | None
]
"""Rounded figures, the evaluation of answers, the estimates with a judge, and the evaluation of runs."""
FILE_OPTIONS = ("part", "reason", "skip_repeated", "topics", "chunk_map")
"""Options of a request that choose no figures: the part, the reason, and the reading of files."""
get_label: Callable[[Option], str] = attrgetter("label")
"""A function that names an option as on a page."""


class PreparedEvaluation(NamedTuple):
    """A checked request with its release.

    Attributes
    ----------
    rounded: whether an evaluator evaluates a sealed part, and gets one rounded figure of each system.
    reading: options for reading runs; runs that several steps need are parsed once.
    by_query: whether the caller needs values of single queries.
    same_folder: whether people's grades may come only from projects in the project's folder.
    """

    store: Store
    request: EvaluateRequest
    author: str
    release: FrozenRelease
    rounded: bool
    reading: ReadingOptions
    answer_fields: AnswerFields = AnswerFields()
    by_query: bool = False
    same_folder: bool = False
    progress: Progress = silent

    @property
    def runs(self) -> list[SystemFile]:
        """The sources of runs."""
        return [SystemFile(name, Path(path)) for name, path in self.request.runs]

    @property
    def answers(self) -> list[SystemFile]:
        """The sources of answers."""
        return [SystemFile(name, Path(path)) for name, path in self.request.answers]


class RunSubmission(NamedTuple):
    """The outcome of a submitted evaluation; rounded figures are not stored and have no id."""

    sentences: tuple[str, ...]
    evaluation_id: str | None


def list_chosen_options(
    request: EvaluateRequest,
    name_option: Callable[[Option], str] = get_label,
    fields: Sequence[str] | None = None,
) -> list[str]:
    """Name the options of a request that differ from their defaults; `fields` limits the options."""
    return [
        name_option(option)
        for option in list_options(EvaluateRequest)
        if (fields is None or option.name in fields) and getattr(request, option.name) != option.default
    ]


def prepare(
    store: Store,
    request: EvaluateRequest,
    author: str,
    reading: ReadingOptions = ReadingOptions(),
    name_option: Callable[[Option], str] = get_label,
    about_runs: Sequence[str] = (),
    about_answers: Sequence[str] = (),
    about_both: Sequence[str] = (),
    facets: Sequence[str] = (),
    **fields: Any,
) -> PreparedEvaluation:
    """Check a request before any sealed grade is read, and open its release.

    Parameters
    ----------
    name_option: a function that names an option for the person who makes the request.
    about_runs, about_answers, about_both: names of choices outside the request.
    facets: facets that conditions need, besides the facets of the request.
    fields: the other fields of the prepared evaluation.

    Raises
    ------
    InputError, NotFoundError, RefusedError: options do not fit together; the release cannot be used; the
        author may not make candidates.
    """
    release = load_release(store, request.release)
    names = [name for name, _ in (*request.runs, *request.answers)]

    sealed = make_sealed_request(store, release, request, names, author, of_answers=not request.runs)
    with log_refusals(store, sealed):
        rounded = sealed is not None and sealed.rounded
        if sealed is not None:
            check_access(store, sealed, all_figures=False)
        if rounded:
            _refuse_all_figures(sealed, request, name_option, [*about_runs, *about_answers, *about_both])
        _refuse_misfits(store, request, author, release, name_option, about_runs, about_answers)
    request = replace(request, by=[*request.by, *facets])
    reads_twice = request.judge is not None or request.to_pool is not None
    reading = reading._replace(
        skip_repeated=request.skip_repeated,
        parsed_files={} if reads_twice else None,
        topics=request.topics,
        chunk_map=request.chunk_map,
    )
    return PreparedEvaluation(store, request, author, release, rounded, reading, **fields)


def _refuse_all_figures(
    sealed: SealedRequest | None,
    request: EvaluateRequest,
    name_option: Callable[[Option], str],
    other_choices: Sequence[str],
) -> None:
    """Refuse an evaluator's request for more than rounded figures of a sealed part."""
    about_figures = replace(request, **{name: getattr(EvaluateRequest(), name) for name in FILE_OPTIONS})
    choices = [*list_chosen_options(about_figures, name_option), *other_choices]
    if choices and sealed is not None:
        raise RefusedError(
            f"{sealed.parts} is sealed, and evaluators get one rounded figure of each system there: "
            f"{', '.join(choices)} cannot go with it. Leave that out. Only leads see full results."
        )


def _refuse_misfits(
    store: Store,
    request: EvaluateRequest,
    author: str,
    release: FrozenRelease,
    name_option: Callable[[Option], str],
    about_runs: Sequence[str],
    about_answers: Sequence[str],
) -> None:
    """Refuse options that do not fit together, or that a packed release cannot fulfil."""
    if request.to_pool is not None:
        check_pooling(store, request.to_pool, author)
    if release.file is not None and (request.judge is not None or request.to_pool is not None):
        raise RefusedError(
            f"{release.file.path} is a packed release: judges' grades and candidates are only in the "
            "release's project. Evaluate the project's own release."
        )
    judges_answers = request.answers and request.support  # people's grades correct a judge of answers
    run_fields = [name for name in ABOUT_RUNS if name != "judge" or not judges_answers]
    run_choices = [*list_chosen_options(request, name_option, run_fields), *about_runs]
    answer_choices = [*list_chosen_options(request, name_option, ABOUT_ANSWERS), *about_answers]
    if not request.runs and not request.answers:
        raise InputError("There is no file to evaluate: name at least one run, or one file of answers.")
    problems = []
    if not request.runs:
        problems += [f"{choice} applies to runs, but no run is named" for choice in run_choices]
    if not request.answers:
        problems += [f"{name} applies to answers, but no file of answers is named" for name in answer_choices]
    refuse_problems(problems, way_out="Name the missing files, or leave this option out.")
    check_request(request)


def check_request(request: EvaluateRequest) -> None:
    """Raise an InputError for a request that fails before any file is read."""
    counts = Counter(name for name, _ in request.answers)
    refuse_problems([f"Two files of answers have the name {name}." for name, n in counts.items() if n > 1])


def evaluate(work: PreparedEvaluation) -> EvaluationOutcome:
    """Score the files of a request: rounded figures for an evaluator, or all figures.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as for `evaluate_runs` or `evaluate_answers`.
    """
    if work.rounded:
        return _evaluate_headlines(work), None, None, None
    store, release, request, reading = work.store, work.release, work.request, work.reading
    author, progress = work.author, work.progress
    answers = judged = runs = None
    if request.answers:
        files, grades, fields = work.answers, _read_grades(work), work.answer_fields
        answers = evaluate_answers(
            store, release, files, request, author, progress, grades=grades, reading=reading, fields=fields
        )
    if request.runs and request.judge is not None:
        judged = estimate_with_judge(store, release, work.runs, request, reading, progress)
    if request.runs:
        runs = evaluate_runs(
            store, release, work.runs, request, author, progress, reading=reading, by_query=work.by_query
        )
    return (), answers, judged, runs


def _evaluate_headlines(work: PreparedEvaluation) -> list[HeadlineEvaluation]:
    """Compute one rounded figure of each run, and of each file of answers."""
    store, release, request, reading = work.store, work.release, work.request, work.reading
    author, progress, fields = work.author, work.progress, work.answer_fields
    headlines = []
    if runs := work.runs:
        headline = evaluate_headline_of_runs(store, release, runs, request, author, progress, reading=reading)
        headlines.append(headline)
    if work.answers:
        headline = evaluate_headline_of_answers(
            store, release, work.answers, request, author, progress, reading=reading, fields=fields
        )
        headlines.append(headline)
    return headlines


def _read_grades(work: PreparedEvaluation) -> dict[str, AnswerGrades]:
    """Read people's grades of answers, by graded property."""
    project = work.store if work.same_folder else None
    texts = {name: getattr(work.request, name) for name in ABOUT_ANSWERS}
    return {name: read_answer_grades(name, text, project) for name, text in texts.items() if text}


def submit(store: Store, request: EvaluateRequest, author: str, progress: Progress = silent) -> RunSubmission:
    """Score uploaded runs, files of answers, or both, and store the evaluation for its author.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as for `prepare` and `evaluate`; the author may not evaluate,
    or uses options that only leads may use.
    """
    try:
        work = prepare(store, request, author, same_folder=True, progress=progress)
        roles = ("lead",) if list_chosen_options(request, fields=ABOUT_ANSWERS) else EVALUATING
        with store.reading() as cursor:
            require_author(cursor, author, *roles)
        return _store_evaluation(work)
    except InputError as error:
        raise _rewrite_for_upload(error) from error


def _store_evaluation(work: PreparedEvaluation) -> RunSubmission:
    request, (headlines, answers, _, runs) = work.request, evaluate(work)
    if headlines:
        return RunSubmission(tuple(line for headline in headlines for line in headline.sentences), None)
    evaluation_id = store_evaluation(work.store, runs, answers, work.author)
    counts = [pluralize(len(request.runs), "run")] if request.runs else []
    if request.answers:
        counts.append(pluralize(len(request.answers), "file of answers", "files of answers"))
    sentence = f"Evaluated {' and '.join(counts)} on {request.release}, {request.part}."
    return RunSubmission((sentence, *_make_candidates(work)), evaluation_id)


def _rewrite_for_upload(error: InputError) -> InputError:
    """Rewrite an error for the page, with the file's name and without options of the command line."""
    way_out = _OPTION_TEXT.sub("", error.way_out)
    path = None if error.path is None else Path(error.path).name
    return InputError(error.problems, path=path, way_out="" if "--" in way_out else way_out)


def _make_candidates(work: PreparedEvaluation) -> list[str]:
    """Make candidates, and report on them in sentences; an error does not undo the stored evaluation."""
    depth = work.request.to_pool
    if depth is None:
        return []
    try:
        pool, unjudged, left_out = pool_runs(
            work.store, work.release, work.runs, work.request, work.author, work.progress, work.reading
        )
    except CurationError as error:
        return [f"No document became a candidate: {error}"]
    ungraded = f"{unjudged:,} of the first {depth:,} documents of all queries have no grade"
    sentence = f"{ungraded}; {pool.added:,} became candidates."
    if left_out:
        sentence += f" {pluralize(left_out, 'query', 'queries')} of other sealed parts got no candidates."
    return [sentence]


def _check(_cursor: Cursor, request: EvaluateRequest | None) -> None:
    if request is not None:
        check_request(request)


def _evaluate(store: Store, request: EvaluateRequest, progress: Progress, author: str) -> RunSubmission:
    """Evaluate uploaded files, and remove their folder even after an error."""
    try:
        return submit(store, request, author, progress)
    finally:
        rmtree(request.folder, ignore_errors=True)


OPERATIONS = {
    "evaluate": Operation(
        EvaluateRequest,
        _evaluate,
        in_progress="runs are being evaluated",
        on_interrupt="No evaluation was stored: upload the runs again.",
        check=_check,
        roles=EVALUATING,
        stage="evaluate",
    )
}
