"""`goldset annotator` and `goldset round`: who judges, and what they are given."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, left_out, print_json, say, table
from curation.errors import InputError

annotators = typer.Typer(help="Add and list annotators.", no_args_is_help=True, rich_markup_mode=None)
rounds = typer.Typer(
    help="Open rounds of labeling and see how far they are.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(annotators, name="annotator")
app.add_typer(rounds, name="round")


@annotators.command("add")
def annotator_add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name to sign in with: letters, digits and . @ + - _")],
    role: Annotated[str, typer.Option(help="annotator, reviewer or lead.")] = "annotator",
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input, its first line.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add somebody who can sign in; the password is asked for twice.

    \b
    Examples:
      goldset annotator add ada --role annotator
      printf '%s\\n' "$PASSWORD" | goldset annotator add grace --role reviewer --password-stdin
    """
    from curation.labeling.annotators import add_annotator

    added = add_annotator(project_store(context), name, role, _password(password_stdin))
    if as_json:
        print_json(added)
    else:
        say(f"Added {added.name} as {added.role}.")


@annotators.command("list")
def annotator_list(context: typer.Context, as_json: Json = False) -> None:
    """List the annotators with their roles.

    \b
    Examples:
      goldset annotator list
      goldset annotator list --json
    """
    from curation.labeling.annotators import list_annotators

    with project_store(context).reading() as cursor:
        found = list_annotators(cursor)
    if as_json:
        print_json({"annotators": found})
    else:
        rows = [(a.name, a.role, "no: known from imported judgments" if a.imported else "yes") for a in found]
        table("Annotators", ["name", "role", "can sign in"], rows)


@rounds.command("open")
def round_open(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the round, such as pilot or 2026-q4.")],
    annotators: Annotated[str, typer.Option(help="Names of the annotators, separated by commas.")],
    overlap: Annotated[int, typer.Option(help="How many different annotators judge each candidate.")] = 2,
    duplicates: Annotated[
        float, typer.Option(help="Blind duplicates as a share of each annotator's items, 0 to 0.5.")
    ] = 0.08,
    seed: Seed = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Show candidates that were in a round or are judged already, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Open a round: all presentations are computed now, each candidate goes to exactly --overlap people.

    \b
    Examples:
      goldset round open first --annotators ada,grace --overlap 2 --duplicates 0.08 --seed 7
    """
    from curation.labeling.rounds import open_round

    names = [item.strip() for item in annotators.split(",") if item.strip()]
    opened = open_round(
        project_store(context), name, names, overlap=overlap, duplicates=duplicates, seed=seed, again=again
    )
    if as_json:
        print_json(opened)
        return
    say(f"Opened {opened.round}: {opened.candidates:,} candidates, {opened.presentations:,} presentations.")
    rows = [(who, count, opened.duplicates[who]) for who, count in opened.per_annotator.items()]
    table("Work", ["annotator", "presentations", "of them blind duplicates"], rows)
    if opened.shortest_distance is not None:
        say(
            f"Blind duplicates come back after {opened.shortest_distance} presentations or more "
            f"(median {opened.median_distance:g})."
        )
    left_out(opened.left_out)
    say("Next: goldset app")


@rounds.command("status")
def round_status_command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the round.")],
    as_json: Json = False,
) -> None:
    """Show how far a round is, by annotator.

    \b
    Examples:
      goldset round status first
      goldset round status first --json
    """
    from curation.labeling.rounds import round_status

    status = round_status(project_store(context), name)
    if as_json:
        print_json(status)
        return
    say(f"{status.round}: {status.complete:,} of {status.candidates:,} candidates have all their judgments.")
    columns = [
        "annotator",
        "presentations",
        "answered",
        "cannot tell",
        "later",
        "flagged",
        "last judgment (UTC)",
    ]
    table(
        "Progress",
        columns,
        [
            (p.annotator, p.presentations, p.answered, p.cannot_tell, p.later, p.flagged, _minute(p.last_at))
            for p in status.annotators
        ],
    )


@rounds.command("list")
def round_list(context: typer.Context, as_json: Json = False) -> None:
    """List the rounds, oldest first.

    \b
    Examples:
      goldset round list
    """
    from curation.labeling.rounds import list_rounds

    with project_store(context).reading() as cursor:
        found = list_rounds(cursor)
    if as_json:
        print_json({"rounds": found})
    else:
        table(
            "Rounds",
            ["name", "kind", "opened (UTC)"],
            [(r.name, r.kind, _minute(r.opened_at)) for r in found],
        )


def _minute(moment: object) -> str | None:
    return None if moment is None else str(moment)[:16]


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InputError("no terminal to ask for a password; pass it with --password-stdin")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
