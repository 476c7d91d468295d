"""Submissions: what somebody asks about uploaded files on the page Evaluate, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from curation.errors import CurationError, InputError
from curation.evaluation.answers.answer_files import AnswerSource
from curation.evaluation.answers.evaluate_answers import (
    AnswerEvaluation,
    AnswerOptions,
    evaluate_answers,
    ladder_answers,
)
from curation.evaluation.answers.grading import CORRECTNESS, FAITHFULNESS, GradedProject, grades_of_project
from curation.evaluation.comparison.compared import ComparisonOptions
from curation.evaluation.comparison.deciding import DecidingTest
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.refusals import refuse_unfitting
from curation.evaluation.submitted import store_submitted
from curation.evaluation.to_pool import check_pooling, pool_runs
from curation.looks.ladder_looks import ladder_looks
from curation.looks.looking import by_ladder
from curation.people.annotators import EVALUATING, require_author
from curation.progress import Progress, silent
from curation.releases.verify import Opened, opened
from curation.scoring.inputs.system_runs import ReadingOptions, RunSource
from curation.store import Store
from curation.text import amount

_OPTION = re.compile(r" \(--[^)]*\)")


class RunSubmission(NamedTuple):
    """What is asked; also parameters of a job, as JSON knows them.

    Attributes
    ----------
    measures, by: names of measures and of facets; the first measure is the headline.
    relevant, baseline: as in `EvaluationOptions` and its comparison.
    test, correction: as in `DecidingTest`; sealed parts have the default ones.
    skip_repeated: as in `ReadingOptions`.
    reason: why a sealed part is scored.
    ladder: show an improvement beyond noise alone; for sealed parts, where evaluators have nothing
        but that. The Ladder has a measure of its own, and begins by the first one named.
    first_stage, hard_negatives, turning, pool_sample: as in `EvaluationOptions`.
    to_pool: down to which rank the runs' documents become candidates; for leads.
    correctness, faithfulness: where people graded the answers, next to this project; for leads.
    """

    release: str
    part: str
    measures: list[str]
    by: list[str]
    reason: str | None = None
    ladder: bool = False
    first_stage: str | None = None
    hard_negatives: bool = False
    turning: bool = False
    pool_sample: list[int] | None = None
    to_pool: int | None = None
    correctness: GradedProject | None = None
    faithfulness: GradedProject | None = None
    relevant: int | None = None
    baseline: str | None = None
    skip_repeated: bool = False
    test: str = DecidingTest().test
    correction: str | None = None

    @property
    def about_runs(self) -> list[str]:
        """What is asked about runs besides the figures of each, in words."""
        deciding = DecidingTest(self.test, self.correction)
        asked = {
            f"differences from {self.baseline}": self.baseline is not None,
            f"reranking of {self.first_stage}": self.first_stage is not None,
            deciding.words: deciding != DecidingTest(),
            "hard negatives": self.hard_negatives,
            "documents that could turn the order": self.turning,
            "estimates from a sample of the pool": self.pool_sample is not None,
            f"candidates from the first {amount(self.to_pool or 0, 'document')}": self.to_pool is not None,
        }
        return [words for words, is_asked in asked.items() if is_asked]

    @property
    def about_answers(self) -> list[str]:
        """What is asked about answers besides the figures of each, in words."""
        asked = {CORRECTNESS: self.correctness, FAITHFULNESS: self.faithfulness}
        return [words for words, graded in asked.items() if graded]


class Submitted(NamedTuple):
    """What came of it; the Ladder stores no evaluation."""

    sentences: str
    evaluation_id: str | None


class _Work(NamedTuple):
    """What is scored on which release; runs that are pooled as well are parsed once."""

    store: Store
    release: Opened
    asked: RunSubmission
    runs: Sequence[RunSource]
    answers: Sequence[AnswerSource]
    reading: ReadingOptions
    author: str
    progress: Progress


def submit(
    store: Store,
    asked: RunSubmission,
    runs: Sequence[RunSource],
    author: str,
    progress: Progress = silent,
    answers: Sequence[AnswerSource] = (),
) -> Submitted:
    """Score runs, files of answers, or both, and store the evaluation for its author.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `evaluate_runs`, `evaluate_answers` or `ladder_looks`; the
        author may not evaluate, or asks for what leads alone may.
    """
    try:
        release = _checked(store, asked, runs, answers, author)
        reading = ReadingOptions(skip_repeated=asked.skip_repeated, parsed={} if asked.to_pool else None)
        return _submitted(_Work(store, release, asked, runs, answers, reading, author, progress))
    except InputError as error:
        raise _of_upload(error) from error


def _submitted(work: _Work) -> Submitted:
    store, release, asked, runs, answers, _, author, _ = work
    if asked.ladder or by_ladder(store, release, asked.part, author):
        return Submitted("\n".join(_climbed(work)), None)
    answered = _answered(work) if answers else None
    found = _evaluated(work) if runs else None
    evaluation_id = store_submitted(store, found, answered, author)
    counts = [amount(len(runs), "run")] if runs else []
    counts += [amount(len(answers), "file of answers", "files of answers")] if answers else []
    sentences = [f"Evaluated {' and '.join(counts)} on {asked.release}, {asked.part}."]
    if asked.to_pool is not None:
        sentences.append(_pooled(work, asked.to_pool))
    return Submitted("\n".join(sentences), evaluation_id)


def _of_upload(error: InputError) -> InputError:
    """The same as its uploader can read it: the file by its name, and no option of the command line."""
    way_out = _OPTION.sub("", error.way_out)
    path = None if error.path is None else Path(error.path.name)
    return InputError(error.problems, path=path, way_out="" if "--" in way_out else way_out)


def _checked(
    store: Store,
    asked: RunSubmission,
    runs: Sequence[RunSource],
    answers: Sequence[AnswerSource],
    author: str,
) -> Opened:
    """The release; stops before a sealed part is looked at."""
    with store.reading() as cursor:
        require_author(cursor, author, *EVALUATING)
        if asked.correctness or asked.faithfulness:
            require_author(cursor, author, "lead")
    if asked.to_pool is not None:
        check_pooling(store, asked.to_pool, author)
    release = opened(store, asked.release)
    refuse_unfitting(
        runs=bool(runs),
        answers=bool(answers),
        ladder=asked.ladder or by_ladder(store, release, asked.part, author),
        about_runs=asked.about_runs,
        about_answers=asked.about_answers,
    )
    return release


def _climbed(work: _Work) -> list[str]:
    """What the Ladders of runs and of answers say."""
    store, release, asked, runs, answers, reading, author, progress = work
    sentences = []
    if runs:
        measures = (asked.measures or None, asked.relevant, reading)
        found = ladder_looks(store, release, runs, asked.part, *measures, asked.reason, author, progress)
        sentences += found.sentences
    if answers:
        options = AnswerOptions(asked.part)
        sentences += ladder_answers(
            store, release, answers, options, asked.reason, author, progress
        ).sentences
    return sentences


def _answered(work: _Work) -> AnswerEvaluation:
    store, release, asked, _, answers, _, author, progress = work
    graded = {CORRECTNESS: asked.correctness, FAITHFULNESS: asked.faithfulness}
    grades = {what: grades_of_project(store, one, what) for what, one in graded.items() if one is not None}
    options = AnswerOptions(asked.part, asked.by, grades)
    return evaluate_answers(store, release, answers, options, asked.reason, author, progress)


def _evaluated(work: _Work) -> Evaluation:
    store, release, asked, runs, _, reading, author, progress = work
    options = EvaluationOptions(
        *(asked.part, asked.measures, asked.by, asked.relevant),
        reading=reading,
        comparison=ComparisonOptions(asked.baseline, deciding=DecidingTest(asked.test, asked.correction)),
        first_stage=asked.first_stage,
        hard_negatives=asked.hard_negatives,
        turning=asked.turning,
        pool_sample=asked.pool_sample,
    )
    return evaluate_runs(store, release, runs, options, asked.reason, author, progress)


def _pooled(work: _Work, depth: int) -> str:
    """What became of the candidates; the evaluation is stored whatever it is."""
    store, release, asked, runs, _, reading, author, progress = work
    try:
        found = pool_runs(
            *(store, release, runs, depth),
            split=asked.part,
            reading=reading,
            author=author,
            progress=progress,
        )
    except CurationError as error:
        return f"No document became a candidate: {error}"
    sentence = (
        f"{found.pairs:,} of the first {depth:,} documents of all queries have no grade; "
        f"{found.pool.added:,} became candidates."
    )
    if found.sealed_left_out:
        sentence += f" {amount(found.sealed_left_out, 'query', 'queries')} of other sealed parts got none."
    return sentence
