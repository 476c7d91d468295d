"""`goldgrade practice`: known pairs with explanations, before the real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli.options import refuse_unused
from curation.cli.output import emit, left_out, say, show_tables, table
from curation.cli.program import Annotators, By, Json, RoundName, Seed, command_group, listed, project_store
from curation.core.text import percent
from curation.store import COMMAND_LINE

practice = command_group("practice", "Let annotators practise on known pairs.")

Who = Annotated[str, typer.Option("--annotator", help="Name of the annotator.")]


@practice.command("open")
def practice_open(
    context: typer.Context,
    name: RoundName,
    annotators: Annotators,
    queries: Annotated[
        int, typer.Option(help="Known queries for each annotator, with at most 5 documents.")
    ] = 10,
    pass_mark: Annotated[float, typer.Option(help="Share of correct answers needed to pass.")] = 0.8,
    within: Annotated[
        int, typer.Option(help="How many grades an answer may be off and still be correct.")
    ] = 0,
    file: Annotated[
        Path | None,
        typer.Option(help="File of known pairs with explanations. Default: what the reviewer decided."),
    ] = None,
    query_field: Annotated[str | None, typer.Option(help="Field with the query's id or text.")] = None,
    document_field: Annotated[str | None, typer.Option(help="Field with the document's id.")] = None,
    grade_field: Annotated[str | None, typer.Option(help="Field with the expected grade.")] = None,
    explanation_field: Annotated[str | None, typer.Option(help="Field with the explanation.")] = None,
    seed: Seed = 0,
    reason: Annotated[
        str | None,
        typer.Option(
            help="Why annotators are shown sealed grades, too. Logged with name and time.",
            show_default="they are left out",
        ),
    ] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Give annotators explained known pairs to practise on. Those who pass get real items.

    Annotators see the expected grade after their answer. So pairs that a release seals are left out, and a
    file that has some is refused, unless --reason says why they are shown.

    \b
    Examples:
      goldgrade practice open welcome --annotators ada,grace --queries 10 --pass-mark 0.8
      goldgrade practice open welcome --annotators ada --file known.csv --within 1
    """
    from curation.labeling.practice.create_practice import open_practice

    if file is None:
        fields = ("query_field", "document_field", "grade_field", "explanation_field")
        refuse_unused(context, "no file is read; name one with --file", *fields)
    opened = open_practice(
        project_store(),
        name,
        listed(annotators),
        queries=queries,
        pass_mark=pass_mark,
        within=within,
        seed=seed,
        path=file,
        fields={
            "--query-field": query_field,
            "--document-field": document_field,
            "--grade-field": grade_field,
            "--explanation-field": explanation_field,
        },
        reason=reason,
        author=by,
    )

    def show() -> None:
        say(
            f"Opened practice {opened.round}: {opened.known:,} known pairs available, pass mark "
            f"{percent(opened.pass_mark)}."
        )
        rows = [(who, opened.queries[who], count) for who, count in opened.per_annotator.items()]
        table("Practice", ["annotator", "queries", "items"], rows)
        left_out(opened.left_out)
        say("Next: goldgrade app")

    emit(as_json, opened, show)


@practice.command("status")
def practice_status(name: RoundName, as_json: Json = False) -> None:
    """Show everyone's practice status.

    \b
    Examples:
      goldgrade practice status welcome
    """
    from curation.labeling.practice.status import practice_statuses, practice_table
    from curation.labeling.rounds.lifecycle import round_state

    with project_store().reading() as cursor:
        found = practice_statuses(cursor, round_id=round_state(cursor, name).round_id)
    emit(as_json, {"standings": found}, lambda: show_tables(practice_table(found)))


@practice.command("again")
def practice_again(name: RoundName, annotator: Who, as_json: Json = False) -> None:
    """Let somebody who failed practise again.

    They get other queries where there are any.

    \b
    Examples:
      goldgrade practice again welcome --annotator ada
    """
    from curation.labeling.practice.lead_decisions import practise_again

    status = practise_again(project_store(), name, annotator)
    emit(as_json, status, f"{annotator} has {status.state.total:,} new items to practise on.")


@practice.command("pass")
def practice_pass(
    name: RoundName,
    annotator: Who,
    reason: Annotated[str, typer.Option(help="Why; stored in the audit trail.")],
    as_json: Json = False,
) -> None:
    """Let somebody get real items without having passed practice.

    \b
    Examples:
      goldgrade practice pass welcome --annotator ada --reason "we talked it through"
    """
    from curation.labeling.practice.lead_decisions import let_pass

    status = let_pass(project_store(), name, annotator, reason)
    emit(as_json, status, f"{annotator} gets real items now.")
