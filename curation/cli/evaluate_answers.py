"""What `goldset evaluate --answers` shows: exact match, F1 and people's grades of each system's answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from curation.cli.output import emit, left_out, progress_bar, say, table, write_page
from curation.errors import refuse_problems
from curation.store import Store
from curation.text import amount, percent

if TYPE_CHECKING:
    from curation.evaluation.answers.evaluate_answers import (
        AnswerEvaluation,
        AnswerFigure,
        AnsweringSystem,
        AnswerOptions,
    )


class GradedIn(NamedTuple):
    """PROJECT=RELEASE in which people graded the answers, for each thing that they grade; None: not asked."""

    correctness: str | None
    faithfulness: str | None


def evaluated_answers(
    store: Store,
    release: str,
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


def emit_answers(found: AnswerEvaluation, report: Path | None, as_json: bool) -> None:
    """Print an evaluation of answers alone, and write its page where one was asked for."""
    if report is not None:
        from curation.evaluation.report.page import answers_report

        write_page(report, answers_report(found).html, option="--report")
    emit(as_json, {"answers": found}, lambda: show_answers(found))


def show_answers(found: AnswerEvaluation) -> None:
    """Each system's figures, then those of kinds of queries."""
    say(
        f"Answers on {found.release}, {', '.join(found.parts)}: {found.with_references:,} of "
        f"{amount(found.queries, 'query', 'queries')} have reference answers."
    )
    for system in found.systems:
        _show_system(system, found)
    from curation.evaluation.figures.means import rate_of_few

    few = rate_of_few(figure.n for system in found.systems for figure in system.overall.values())
    say(*([few] if few else []))
    if found.sealed:
        say(f"{', '.join(found.sealed)} is sealed: there is nothing by query, and looks are logged.")
    for look in found.looks:
        say(look.sentence)
    say(f"release id: {found.release_id}; seed {found.seed}")


def _show_system(system: AnsweringSystem, found: AnswerEvaluation) -> None:
    _figures(f"{system.name}: answers", system.overall)
    notes = [
        f"{system.answered:,} of {amount(found.with_references, 'query', 'queries')} with references answered"
    ]
    notes += [f"{system.missing:,} missing, counted 0"] if system.missing else []
    notes += [f"{system.empty:,} with nothing"] if system.empty else []
    notes += [f"{count:,} not graded for {name}" for name, count in system.ungraded.items() if count]
    say(f"{system.source}: {'; '.join(notes)}.")
    refused = system.refused
    if refused.value is not None:
        unsent = f"; {system.unsent:,} of them have no row in the file" if system.unsent else ""
        say(f"Of {refused.n:,} unanswerable queries it kept silent on {percent(refused.value, 1)}{unsent}.")
    left_out(system.left_out, "rows")
    for facet, values in system.strata.items():
        rows = []
        for value, one in values.items():
            means = [one.figures[name].value if one.figures else None for name in system.overall]
            rows.append((value, one.queries, *means, one.left_out or ""))
        table(f"{system.name}: answers by {facet}", [facet, "queries", *system.overall, "note"], rows)


def _figures(title: str, figures: Mapping[str, AnswerFigure]) -> None:
    rows = [(name, *one[:-1], one.no_interval or "") for name, one in figures.items()]
    table(title, ["measure", "mean", "low", "high", "n", "note"], rows)
