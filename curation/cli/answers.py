"""`goldgrade answers`: people write reference answers, or grade the answers of systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.import_.options import Encoding, Format, layout_of
from curation.cli.output import emit, left_out, say, say_withheld, show_tables, table
from curation.cli.program import (
    By,
    Json,
    QueryName,
    ReleaseName,
    SealReason,
    Seed,
    command_group,
    listed,
    project_store,
    query_named,
)
from curation.core.text import amount
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.labeling.written_answers.create_task import AnswerTaskOpened
    from curation.labeling.written_answers.disputed_answers import AnswerDisputes
from curation.cli.nuggets import nuggets

answers = command_group("answers", "Let people write reference answers, or grade answers.")
answers.add_typer(nuggets, name="nuggets")
TaskName = Annotated[str, typer.Argument(metavar="TASK", help="Name of the answer task, such as faq.")]


@answers.command("open")
def answers_open(
    name: TaskName,
    annotators: Annotated[str, typer.Option(help="Annotators who write, separated by commas.")],
    overlap: Annotated[int, typer.Option(help="How many different annotators answer each query.")] = 2,
    query: Annotated[
        list[str] | None,
        typer.Option(
            help="A query, by id or text. Repeatable.", show_default="every query without reference answers"
        ),
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Only queries with this tag, such as question.")] = None,
    queries: Annotated[
        int | None, typer.Option(help="Draw so many of the queries.", show_default="all")
    ] = None,
    show: Annotated[
        str,
        typer.Option(
            help="Documents that writers see: relevant or pool. Where none is judged relevant they see "
            "the pool's."
        ),
    ] = "relevant",
    documents: Annotated[int, typer.Option(help="Documents shown with a query, at most.")] = 10,
    min_f1: Annotated[
        float, typer.Option(help="Token F1 from which two answers agree. Above 0, at most 1.")
    ] = 0.8,
    again: Annotated[
        bool,
        typer.Option("--again", help="Also queries with reference answers or of a closed task."),
    ] = False,
    seed: Seed = 0,
    reason: SealReason = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Open an answer task.

    Each query goes to exactly --overlap annotators, who do not see each other's answers.

    Answers that agree become reference answers. The others wait for a reviewer. Queries that a release seals
    are shown with the pool's documents, and with those judged relevant only where --reason says why.

    \b
    Examples:
      goldgrade answers open faq --annotators ada,ben --tag question
      goldgrade answers open more --annotators ada,ben,cy --overlap 2 --queries 40 --seed 7 --min-f1 0.9
    """
    from curation.labeling.written_answers.create_task import AnswerTaskPlan, open_answer_task

    plan = AnswerTaskPlan(
        name, listed(annotators), overlap, query or (), tag, queries, show, documents, min_f1, again, seed
    )
    opened = open_answer_task(project_store(), plan, by, reason)
    emit(as_json, opened, lambda: _show_opened(opened))


@answers.command("status")
def answers_status(name: TaskName, as_json: Json = False) -> None:
    """Show an answer task's progress.

    It has each writer's answers, what became of the queries, and how far answers agree.

    \b
    Examples:
      goldgrade answers status faq
      goldgrade answers status faq --json
    """
    from curation.labeling.written_answers.task_status import answer_task_status

    status = answer_task_status(project_store(), name)

    def show() -> None:
        from curation.labeling.written_answers.task_status import agreement_sentence, status_tables

        say(
            f"{status.task} is {'closed' if status.closed else 'open'}; "
            f"opened {str(status.opened_at)[:16]} UTC."
        )
        show_tables(*status_tables(status))
        say(agreement_sentence(status.agreement))

    emit(as_json, status, show)


@answers.command("list")
def answers_list(as_json: Json = False) -> None:
    """List the answer tasks with their state, oldest first.

    \b
    Examples:
      goldgrade answers list
    """
    from curation.labeling.written_answers.tasks import list_answer_tasks

    with project_store().reading() as cursor:
        answer_tasks = list_answer_tasks(cursor)
    columns = ["name", "opened (UTC)", "writers", "writers of a query", "state"]
    rows = [
        (
            task.name,
            str(task.opened_at)[:16],
            ", ".join(task.parameters["writers"]),
            task.parameters["overlap"],
            "closed" if task.closed else "open",
        )
        for task in answer_tasks
    ]
    emit(as_json, {"tasks": answer_tasks}, lambda: table("Answer tasks", columns, rows))


@answers.command("close")
def answers_close(name: TaskName, as_json: Json = False) -> None:
    """Close an answer task. Queries of which answers are missing go to a reviewer.

    \b
    Examples:
      goldgrade answers close faq
    """
    from curation.labeling.written_answers.tasks import close_answer_task

    emit(as_json, close_answer_task(project_store(), name), f"{name} is closed.")


@answers.command("reopen")
def answers_reopen(name: TaskName, as_json: Json = False) -> None:
    """Reopen a closed answer task.

    \b
    Examples:
      goldgrade answers reopen faq
    """
    from curation.labeling.written_answers.tasks import reopen_answer_task

    emit(as_json, reopen_answer_task(project_store(), name), f"{name} is open again.")


@answers.command("disputes")
def answers_disputes(
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """List the queries whose answers wait for a decision.

    \b
    Examples:
      goldgrade answers disputes
      goldgrade answers disputes --by rosa --json
    """
    from curation.labeling.written_answers.disputed_answers import answer_disputes

    found = answer_disputes(project_store(), by)
    emit(as_json, found, lambda: _show_disputes(found))


@answers.command("show")
def answers_show(
    name: TaskName,
    query: QueryName,
    reason: SealReason = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Show what was written for a query.

    Nobody is named. Documents that writers ticked are shown.

    A query that a release seals takes a --reason.

    \b
    Examples:
      goldgrade answers show faq "who repairs kettles"
    """
    from curation.labeling.written_answers.disputed_answers import answer_case
    from curation.people.seal_access import unseal

    store = project_store()
    door = unseal(store, f"show the answers of {name}", reason, by)
    case = answer_case(store, name, query_named(store, query), by, door=door)

    def show() -> None:
        columns = ["answer", "writers", "documents"]
        titles = [one.title for one in case.evidence]
        rows = [
            (voice.text or "the corpus does not answer it", voice.times, _titles(titles, voice.documents))
            for voice in case.voices
        ]
        table(case.query, columns, rows)
        say(f"State: {case.outcome.how}{f', {case.outcome.why}' if case.outcome.why else ''}.")
        if case.references.answers:
            say(f"Reference answers: {' / '.join(case.references.answers)} (from {case.references.source}).")

    emit(as_json, case, show)


@answers.command("decide")
def answers_decide(
    name: TaskName,
    query: QueryName,
    pick: Annotated[
        list[str] | None, typer.Option(help="A written answer that becomes a reference. Repeatable.")
    ] = None,
    merged: Annotated[str, typer.Option(help="One more reference, in the reviewer's own words.")] = "",
    unanswerable: Annotated[
        bool, typer.Option("--unanswerable", help="The corpus does not answer the query.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why: one sentence, stored with the decision.")] = "",
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Decide which answers are references. Decisions are appended; the last one counts.

    \b
    Examples:
      goldgrade answers decide faq q42 --pick 1912 --reason "The date on the plate" --by rosa
      goldgrade answers decide faq q43 --merged "May 1912" --reason "Each has a half"
      goldgrade answers decide faq q44 --unanswerable --reason "Only the successor is described"
    """
    from curation.labeling.written_answers.decisions import AnswerRuling, decide_answers

    ruling = AnswerRuling(pick or (), merged, unanswerable, reason)
    store = project_store()
    decision = decide_answers(store, name, query_named(store, query), ruling, by)
    what = " / ".join(decision.answers) or "the corpus does not answer it"
    emit(as_json, decision, f"Decided: {what} (decision {decision.revision + 1} on this query).")


@answers.command("to-grade")
def answers_to_grade(
    name: ReleaseName,
    answers: Annotated[list[str], typer.Option(help="A file of answers, or NAME=FILE. Repeatable.")],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    what: Annotated[
        str, typer.Option("--for", help="What people grade: correctness, faithfulness or support.")
    ],
    part: Annotated[
        str | None, typer.Option(help="A part of the release.", show_default="all parts that are not sealed")
    ] = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    as_json: Json = False,
) -> None:
    """Write answers of systems as documents for people to grade.

    Nobody sees whose an answer is, and equal answers are graded once. Below it are the reference answers
    (correctness) or the contexts that the system was given (faithfulness). For support each nugget of a
    query is a query, and people grade whether an answer says it.

    \b
    Examples:
      goldgrade answers to-grade v1 --answers new=new.jsonl --answers old=old.jsonl \\
        --for correctness --out to-grade
      goldgrade answers to-grade v1 --answers new.jsonl --for faithfulness --out to-grade --part dev
    """
    from curation.evaluation.answers.answer_files import named_answers
    from curation.evaluation.answers.to_grade import write_answers_to_grade

    layout = layout_of(format, encoding, None, False)
    sources = named_answers(answers)
    written = write_answers_to_grade(project_store(), name, sources, what, out, part, layout)

    def show() -> None:
        say(
            f"Wrote {amount(written.answers, 'answer')} to {amount(written.queries, 'query', 'queries')} "
            f"into {out}."
        )
        left_out(written.left_out, "answers")
        say(
            f"Next: export GOLDGRADE_PROJECT={what}.duckdb; goldgrade init --guide {written.guide}; "
            "goldgrade "
            f"import corpus {out}/corpus.jsonl; goldgrade import queries {out}/queries.jsonl; goldgrade "
            "import "
            f"run {out}/answers.trec --name answers; goldgrade pool --systems run:answers "
            "--random-negatives 0"
        )

    emit(as_json, written, show)


def _titles(titles: list[str], places: tuple[int, ...]) -> str:
    return " · ".join(titles[place] for place in places)


def _show_opened(opened: AnswerTaskOpened) -> None:
    say(
        f"Opened the answer task {opened.task}: {amount(opened.queries, 'query', 'queries')}, "
        f"{amount(opened.assignments, 'answer')} "
        f"to write; {amount(opened.judged, 'query is', 'queries are')} shown with documents judged relevant."
    )
    say_withheld(opened.sealed, "query", "queries")
    table("Queries by writer", ["writer", "queries"], list(opened.per_writer.items()))
    left_out(opened.left_out, "queries")


def _show_disputes(answer_disputes: AnswerDisputes) -> None:
    columns = ["task", "query", "query id", "answers", "why"]
    table(
        "Disputed answers",
        columns,
        [(one.task, one.query, one.query_id, one.answers, one.why) for one in answer_disputes.waiting],
    )
    if answer_disputes.own:
        say(f"{answer_disputes.own:,} more wait for another reviewer, who was not asked to write there.")
    if answer_disputes.waiting:
        say(
            "Next: goldgrade answers show TASK QUERY_ID, goldgrade answers decide TASK QUERY_ID --reason "
            '"..."'
        )
