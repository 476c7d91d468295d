"""An evaluation as it was asked for: from a request to its figures, for the command and the page alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.errors import CurationError, InputError, RefusedError, refuse_problems
from curation.core.operation import OptionField, options_of
from curation.core.progress import Progress, silent
from curation.core.text import amount
from curation.evaluation.answers.answer_evaluation import AnswerEvaluation, AnswerOptions
from curation.evaluation.answers.answer_files import AnswerFields, AnswerSource
from curation.evaluation.answers.evaluate_answers import evaluate_answers, headline_of_answers
from curation.evaluation.answers.grades import read_grades_of_answers
from curation.evaluation.answers.to_grade import SUPPORT
from curation.evaluation.comparison.compared import ComparisonOptions
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.llm_judges.estimates import JudgedEvaluation, judged_estimates
from curation.evaluation.request import EvaluateRequest, refuse_unfitting, run_problems
from curation.evaluation.scoring.inputs.chunk_map import read_chunk_map
from curation.evaluation.scoring.inputs.run_sources import RunSource
from curation.evaluation.scoring.inputs.system_runs import ReadingOptions
from curation.evaluation.sealed.access import SealedRequest, check_access, refusals_logged, sealed_request
from curation.evaluation.sealed.headline import HeadlineEvaluation, headline_of_runs
from curation.evaluation.submitted import store_submitted
from curation.evaluation.to_pool import PooledRuns, check_pooling, pool_runs
from curation.people.annotators import EVALUATING, require_author
from curation.releases.verify import FrozenRelease, load_release
from curation.store import Store

_OPTION = re.compile(r"[^,]*\(-{2}query-field\),| \(-{2}[^)]*\)")
"""What an uploader has not: the field with the queries, and names of options."""


ABOUT_FILES = ("part", "reason", "skip_repeated", "topics", "chunk_map")
"""Options of a request that say which part, why, and how files are read; not which figures are wanted."""


class EvaluationWork(NamedTuple):
    """What is scored on which release.

    Attributes
    ----------
    rounded: whether an evaluator asks about a sealed part, who gets one rounded figure of each system.
    reading: runs that are needed again are parsed once.
    facets: which conditions need besides those of the request. by_query: values of single queries are wanted.
    near: whether people's grades are in projects next to this one alone.
    """

    store: Store
    request: EvaluateRequest
    author: str
    release: FrozenRelease
    rounded: bool
    reading: ReadingOptions
    answer_fields: AnswerFields = AnswerFields()
    facets: Sequence[str] = ()
    by_query: bool = False
    near: bool = False
    progress: Progress = silent

    @property
    def runs(self) -> list[RunSource]:
        """The run files."""
        return [RunSource(name, Path(path)) for name, path in self.request.runs]

    @property
    def answers(self) -> list[AnswerSource]:
        """The files of answers."""
        return [AnswerSource(name, Path(path)) for name, path in self.request.answers]


class Evaluated(NamedTuple):
    """What came of it: rounded figures for an evaluator, or all figures of what was named."""

    headlines: Sequence[HeadlineEvaluation] = ()
    answers: AnswerEvaluation | None = None
    judged: JudgedEvaluation | None = None
    runs: Evaluation | None = None


class Submitted(NamedTuple):
    """What came of it; of rounded figures no evaluation is stored."""

    sentences: str
    evaluation_id: str | None


def label_of(option_field: OptionField) -> str:
    """What a page calls an option."""
    return option_field.option.label


def chosen_options(questions: Any, named: Callable[[OptionField], str] = label_of) -> list[str]:
    """The options of a request, or of its part, that are not as usual."""
    return [
        named(found)
        for found in options_of(type(questions))
        if found.name in {part.name for part in fields(questions)}
        if getattr(questions, found.name) != found.default
    ]


def prepared(
    store: Store,
    request: EvaluateRequest,
    author: str,
    reading: ReadingOptions = ReadingOptions(),
    named: Callable[[OptionField], str] = label_of,
    about_runs: Sequence[str] = (),
    about_answers: Sequence[str] = (),
    further: Sequence[str] = (),
    **more: Any,
) -> EvaluationWork:
    """The work of a request; stops before a sealed grade is read.

    Parameters
    ----------
    named: how the person who asks calls an option.
    about_runs, about_answers, further: what is asked besides the request about runs, answers and either, as
        the person who asks calls it.
    more: fields of the work.

    Raises
    ------
    InputError, NotFoundError, RefusedError: what does not fit together; the release cannot be used; the
        author may not make candidates.
    """
    release = load_release(store, request.release)
    names = [name for name, _ in (*request.runs, *request.answers)]
    by_answers = not request.runs
    sealed = sealed_request(store, release, request.part, names, request.reason, author, by_answers)
    with refusals_logged(store, sealed):
        rounded = sealed is not None and sealed.rounded
        if sealed is not None:
            check_access(store, sealed, all_figures=False)
        if rounded:
            _refuse_all_figures(sealed, request, named, [*about_runs, *about_answers, *further])
        _check_fit(store, request, author, release, named, about_runs, about_answers)
    questions = request.of_runs
    again = questions.judge is not None or questions.to_pool is not None
    reading = reading._replace(
        skip_repeated=request.skip_repeated,
        parsed={} if again else None,
        topics=request.topics,
        chunks=request.chunk_map,
    )
    return EvaluationWork(store, request, author, release, rounded, reading, **more)


def _refuse_all_figures(
    sealed: SealedRequest | None,
    request: EvaluateRequest,
    named: Callable[[OptionField], str],
    besides: Sequence[str],
) -> None:
    """Stop where an evaluator asks for more than rounded figures of a sealed part."""
    rest = replace(request, **{name: getattr(EvaluateRequest(), name) for name in ABOUT_FILES})
    asked = [*chosen_options(rest, named), *chosen_options(request.of_runs, named)]
    asked += [*chosen_options(request.of_answers, named), *besides]
    if asked and sealed is not None:
        raise RefusedError(
            f"{sealed.parts} is sealed, and evaluators get one rounded figure of each system there: "
            f"{', '.join(asked)} cannot go with it. Leave that out. Only leads see full results."
        )


def _check_fit(
    store: Store,
    request: EvaluateRequest,
    author: str,
    release: FrozenRelease,
    named: Callable[[OptionField], str],
    about_runs: Sequence[str],
    about_answers: Sequence[str],
) -> None:
    """Stop where what is asked does not fit together, or needs what a packed release has not."""
    questions = request.of_runs
    if questions.to_pool is not None:
        check_pooling(store, questions.to_pool, author)
    if release.file is not None and (questions.judge is not None or questions.to_pool is not None):
        raise RefusedError(
            f"{release.file.path} is a packed release: judges' grades and candidates are in its project "
            "alone. Evaluate the project's own release."
        )
    supported = request.answers and request.of_answers.support  # by a judge whom people correct
    of_runs = replace(questions, judge=None) if supported else questions
    refuse_unfitting(
        runs=bool(request.runs),
        answers=bool(request.answers),
        about_runs=[*chosen_options(of_runs, named), *about_runs],
        about_answers=[*chosen_options(request.of_answers, named), *about_answers],
    )
    check_request(request)


def check_request(request: EvaluateRequest) -> None:
    """Raise an InputError with what is known to fail before a file is read."""
    questions = request.of_runs
    problems = run_problems([name for name, _ in request.runs], questions.first_stage)
    times = Counter(name for name, _ in request.answers)
    problems += [f"Two files of answers are of {name}." for name, count in times.items() if count > 1]
    refuse_problems(problems)


def evaluated(work: EvaluationWork) -> Evaluated:
    """Score what was named.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `evaluate_runs`, `evaluate_answers` or `headline_of_runs`.
    """
    if work.rounded:
        return Evaluated(_headlines(work))
    request, questions = work.request, work.request.of_runs
    by = (request.reason, work.author, work.progress)
    answers = judged = runs = None
    if request.answers:
        answers = evaluate_answers(work.store, work.release, work.answers, _answer_options(work), *by)
    if request.runs and questions.judge is not None:
        judged = judged_estimates(
            *(work.store, work.release, work.runs, questions.judge, request.part),
            *(request.measures, request.relevant, work.reading, work.progress),
        )
    if request.runs:
        runs = evaluate_runs(work.store, work.release, work.runs, _run_options(work), *by)
    return Evaluated((), answers, judged, runs)


def pooled(work: EvaluationWork) -> PooledRuns | None:
    """Make the runs' first documents candidates, where that was asked for.

    Raises
    ------
    InputError, RefusedError: as `pool_runs`.
    """
    request, depth = work.request, work.request.of_runs.to_pool
    if depth is None:
        return None
    return pool_runs(
        *(work.store, work.release, work.runs, depth),
        split=request.part,
        reading=work.reading,
        seed=request.seed,
        author=work.author,
        progress=work.progress,
    )


def _headlines(work: EvaluationWork) -> list[HeadlineEvaluation]:
    """One rounded figure of each run, and of each file of answers."""
    part, by = work.request.part or "", (work.request.reason, work.author, work.progress)
    headlines = []
    if work.runs:
        headlines.append(headline_of_runs(work.store, work.release, work.runs, part, work.reading, *by))
    if work.answers:
        options = _answer_options(work)
        headlines.append(headline_of_answers(work.store, work.release, work.answers, options, *by))
    return headlines


def _answer_options(work: EvaluationWork) -> AnswerOptions:
    request = work.request
    texts = {name: text for name, text in vars(request.of_answers).items() if text}
    near = work.store if work.near else None
    grades = {name: read_grades_of_answers(name, text, near) for name, text in texts.items()}
    layout, fields = work.reading.layout, work.answer_fields
    mapped = read_chunk_map(work.reading.chunks)
    asked = (request.part, request.by, grades, layout, request.seed, fields, request.relevant, mapped)
    return AnswerOptions(*asked, request.of_runs.judge if SUPPORT in grades else None)


def _run_options(work: EvaluationWork) -> EvaluationOptions:
    request, questions = work.request, work.request.of_runs
    return EvaluationOptions(
        *(request.part, request.measures, [*request.by, *work.facets], request.relevant),
        seed=request.seed,
        reading=work.reading,
        first_stage=questions.first_stage,
        comparison=ComparisonOptions(questions.baseline, questions.wanted, questions.test),
        hard_negatives=questions.hard_negatives,
        subtopics=questions.subtopics,
        by_query=work.by_query,
    )


def submit(store: Store, request: EvaluateRequest, author: str, progress: Progress = silent) -> Submitted:
    """Score uploaded runs, files of answers, or both, and store the evaluation for its author.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `prepared` and `evaluated`; the author may not evaluate, or
        asks for what leads alone may.
    """
    try:
        work = prepared(store, request, author, near=True, progress=progress)
        with store.reading() as cursor:
            require_author(cursor, author, *(("lead",) if chosen_options(request.of_answers) else EVALUATING))
        return _submitted(work, evaluated(work))
    except InputError as error:
        raise _of_upload(error) from error


def _submitted(work: EvaluationWork, found: Evaluated) -> Submitted:
    request = work.request
    if found.headlines:
        return Submitted("\n".join(line for one in found.headlines for line in one.sentences), None)
    evaluation_id = store_submitted(work.store, found.runs, found.answers, work.author)
    counts = [amount(len(request.runs), "run")] if request.runs else []
    if request.answers:
        counts.append(amount(len(request.answers), "file of answers", "files of answers"))
    sentences = [f"Evaluated {' and '.join(counts)} on {request.release}, {request.part}.", *_pooled(work)]
    return Submitted("\n".join(sentences), evaluation_id)


def _of_upload(error: InputError) -> InputError:
    """The same as its uploader can read it: the file by its name, and no option of the command line."""
    way_out = _OPTION.sub("", error.way_out)
    path = None if error.path is None else Path(error.path).name
    return InputError(error.problems, path=path, way_out="" if "--" in way_out else way_out)


def _pooled(work: EvaluationWork) -> list[str]:
    """What became of the candidates; the evaluation is stored whatever it is."""
    try:
        found = pooled(work)
    except CurationError as error:
        return [f"No document became a candidate: {error}"]
    if found is None:
        return []
    sentence = (
        f"{found.pairs:,} of the first {found.depth:,} documents of all queries have no grade; "
        f"{found.pool.added:,} became candidates."
    )
    if found.sealed_left_out:
        sentence += f" {amount(found.sealed_left_out, 'query', 'queries')} of other sealed parts got none."
    return [sentence]
