"""`goldset practice`: known queries, with explanations, before the real ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, left_out, print_json, say, table

if TYPE_CHECKING:
    from curation.labeling.practice import Standing

practice = typer.Typer(
    help="Let annotators practise on known queries before the real ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(practice, name="practice")

Name = Annotated[str, typer.Argument(help="Name of the practice round.")]
Who = Annotated[str, typer.Option("--annotator", help="Name of the annotator.")]


@practice.command("open")
def practice_open(
    context: typer.Context,
    name: Name,
    annotators: Annotated[str, typer.Option(help="Names of the annotators, separated by commas.")],
    queries: Annotated[int, typer.Option(help="Known queries for each, with at most 5 documents.")] = 10,
    pass_mark: Annotated[float, typer.Option(help="Share of right answers needed to go on.")] = 0.8,
    within: Annotated[
        int, typer.Option(help="Answers so many steps beside the expected grade are right, too.")
    ] = 0,
    file: Annotated[
        Path | None,
        typer.Option(help="Known pairs with their explanations; what the reviewer decided, by default."),
    ] = None,
    query_field: Annotated[str | None, typer.Option(help="Column with the query's id or text.")] = None,
    document_field: Annotated[str | None, typer.Option(help="Column with the document's id.")] = None,
    grade_field: Annotated[str | None, typer.Option(help="Column with the expected grade.")] = None,
    explanation_field: Annotated[str | None, typer.Option(help="Column with the explanation.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Give annotators known queries to practise on; who passes goes on to the real queue.

    \b
    Examples:
      goldset practice open welcome --annotators ada,grace --queries 10 --pass-mark 0.8
      goldset practice open welcome --annotators ada --file known.csv --within 1
    """
    from curation.labeling.practice_rounds import open_practice

    opened = open_practice(
        project_store(context),
        name,
        [item.strip() for item in annotators.split(",") if item.strip()],
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
    )
    if as_json:
        print_json(opened)
        return
    say(
        f"Opened practice {opened.round}: {opened.known:,} known pairs in stock, pass mark "
        f"{opened.pass_mark:.0%}."
    )
    rows = [(who, opened.queries[who], count) for who, count in opened.per_annotator.items()]
    table("Practice", ["annotator", "queries", "items"], rows)
    left_out(opened.left_out)
    say("Next: goldset app")


@practice.command("status")
def practice_status(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show how everyone does in a practice round.

    \b
    Examples:
      goldset practice status welcome
    """
    from curation.labeling.lifecycle import round_state
    from curation.labeling.practice import standings

    with project_store(context).reading() as cursor:
        found = standings(cursor, round_id=round_state(cursor, name).round_id)
    if as_json:
        print_json({"standings": found})
        return
    rows = [
        (s.annotator, s.state.answered, s.state.total, s.state.right, f"{s.state.pass_mark:.0%}", _words(s))
        for s in found
    ]
    table(f"Practice {name}", ["annotator", "answered", "items", "right", "pass mark", "state"], rows)


@practice.command("again")
def practice_again(context: typer.Context, name: Name, annotator: Who, as_json: Json = False) -> None:
    """Let somebody who did not pass practise once more, on other queries as far as there are any.

    \b
    Examples:
      goldset practice again welcome --annotator ada
    """
    from curation.labeling.practice_rounds import practise_again

    standing = practise_again(project_store(context), name, annotator)
    if as_json:
        print_json(standing)
    else:
        say(f"{annotator} has {standing.state.total:,} new items to practise on.")


@practice.command("pass")
def practice_pass(
    context: typer.Context,
    name: Name,
    annotator: Who,
    reason: Annotated[str, typer.Option(help="Why; kept in the audit trail.")],
    as_json: Json = False,
) -> None:
    """Let somebody go on to the real queue whatever their practice says.

    \b
    Examples:
      goldset practice pass welcome --annotator ada --reason "we talked it through"
    """
    from curation.labeling.practice_rounds import let_pass

    standing = let_pass(project_store(context), name, annotator, reason)
    if as_json:
        print_json(standing)
    else:
        say(f"{annotator} goes on to the real queue.")


def _words(standing: Standing) -> str:
    if standing.waived:
        return "let pass"
    passed = standing.state.passed
    return "under way" if passed is None else "passed" if passed else "not passed"
