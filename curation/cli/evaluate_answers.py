"""What `goldset evaluate --answers` reads: files of answers, and the projects in which people graded them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from curation.cli.output import progress_bar
from curation.errors import refuse_problems
from curation.store import Store

if TYPE_CHECKING:
    from curation.evaluation.answers.evaluate_answers import AnswerEvaluation, AnswerOptions
    from curation.releases.verify import Opened


class GradedIn(NamedTuple):
    """PROJECT=RELEASE in which people graded the answers, for each thing that they grade; None: not asked."""

    correctness: str | None
    faithfulness: str | None


def evaluated_answers(
    store: Store,
    release: Opened,
    files: Sequence[str] | None,
    graded: GradedIn,
    options: AnswerOptions,
    reason: str | None,
    actor: str,
) -> AnswerEvaluation | None:
    """The evaluation of the files of answers; None where none was named.

    Raises
    ------
    InputError: grades of answers without answers, or as `evaluate_answers`.
    """
    from curation.evaluation.answers.answer_files import named_answers
    from curation.evaluation.answers.evaluate_answers import evaluate_answers
    from curation.evaluation.answers.graded import read_grades_of_answers

    asked = {name: text for name, text in graded._asdict().items() if text is not None}
    if not files:
        problems = [f"--{name} has grades of answers: name these with --answers" for name in asked]
        of_files = {"--answer-field": options.fields.answer, "--context-field": options.fields.contexts}
        problems += [
            f"{one} is about answers: name these with --answers" for one, on in of_files.items() if on
        ]
        refuse_problems(problems)
        return None
    grades = {name: read_grades_of_answers(f"--{name}", text) for name, text in asked.items()}
    options = options._replace(grades=grades)
    with progress_bar() as progress:
        return evaluate_answers(store, release, named_answers(files), options, reason, actor, progress)


def refuse_two_layouts(options: Mapping[str, str | None], no_header: bool) -> None:
    """Stop where an option says how a file is to be read, and there are runs and answers to read.

    Raises
    ------
    InputError: with all such options.
    """
    named = [name for name, value in options.items() if value is not None]
    named += ["--no-header"] if no_header else []
    refuse_problems(
        [f"{option} could be about the runs or about the answers, and both are named" for option in named],
        way_out="Evaluate --run and --answers in two calls.",
    )


def refuse_without_run(options: Iterable[str]) -> None:
    """Stop where something is asked about runs and none was named.

    Raises
    ------
    InputError: with all such options.
    """
    refuse_problems([f"{option} is about runs: name one with --run" for option in options])
