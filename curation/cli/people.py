"""`goldset annotator`: who judges."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, print_json, say, table
from curation.errors import InputError

if TYPE_CHECKING:
    from curation.labeling.identities import Standing

FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input, its first line.")
]
annotators = typer.Typer(help="Add and list annotators.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(annotators, name="annotator")


@annotators.command("add")
def annotator_add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name to sign in with: letters, digits and . @ + - _")],
    role: Annotated[str, typer.Option(help="annotator, reviewer or lead.")] = "annotator",
    password_stdin: FromStdin = False,
    email: Annotated[
        str | None,
        typer.Option(
            help="Address by which an identity provider signs them in; no password is asked for then."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add somebody who can sign in; the password is asked for twice.

    With --email they sign in through the identity provider that the app is configured with, and get no
    password unless --password-stdin gives one.

    \b
    Examples:
      goldset annotator add ada --role annotator
      goldset annotator add joan --email joan@example.org
      printf '%s\\n' "$PASSWORD" | goldset annotator add grace --role reviewer --password-stdin
    """
    from curation.labeling.annotators import add_annotator

    password = _password(password_stdin) if password_stdin or email is None else None
    added = add_annotator(project_store(context), name, role, password, email)
    if as_json:
        print_json(added)
    else:
        say(f"Added {added.name} as {added.role}.")


@annotators.command("identity")
def annotator_identity(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of an annotator.")],
    email: Annotated[str, typer.Argument(help="Address that the identity provider vouches for.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take the address away instead.")] = False,
    as_json: Json = False,
) -> None:
    """Let somebody sign in through the identity provider as an e-mail address.

    One may have several. Where an address is taken away, sign-ins by it end within seconds.

    \b
    Examples:
      goldset annotator identity ada ada@example.org
      goldset annotator identity ada ada@example.org --remove
    """
    from curation.labeling.identities import add_identity, remove_identity

    store = project_store(context)
    found = remove_identity(store, name, email) if remove else add_identity(store, name, email)
    if as_json:
        print_json({**found._asdict(), "removed": remove})
    else:
        can = "no longer signs in" if remove else "signs in"
        say(f"{found.annotator} {can} as {found.email}.")


@annotators.command("password")
def annotator_password(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of an annotator.")],
    password_stdin: FromStdin = False,
    as_json: Json = False,
) -> None:
    """Give somebody a new password, as for who forgot it; all their sign-ins end.

    \b
    Examples:
      goldset annotator password ada
      printf '%s\\n' "$PASSWORD" | goldset annotator password ada --password-stdin
    """
    from curation.labeling.annotators import set_password

    set_password(project_store(context), name, _password(password_stdin))
    if as_json:
        print_json({"name": name})
    else:
        say(f"{name} has a new password. Who was signed in as {name} has to sign in again.")


@annotators.command("list")
def annotator_list(context: typer.Context, as_json: Json = False) -> None:
    """List the annotators with their roles.

    \b
    Examples:
      goldset annotator list
      goldset annotator list --json
    """
    from curation.labeling.annotators import list_annotators
    from curation.labeling.identities import standings

    with project_store(context).reading() as cursor:
        found = list_annotators(cursor)
        known = standings(cursor)
    if as_json:
        print_json({"annotators": [{**a._asdict(), **_ways(known.get(a.name))} for a in found]})
    else:
        rows = [(a.name, a.role, _told(_ways(known.get(a.name)))) for a in found]
        table("Annotators", ["name", "role", "signs in"], rows)


def _ways(standing: Standing | None) -> dict[str, Any]:
    emails = sorted(standing.emails) if standing else []
    return {"password": standing is not None and standing.password_revision >= 0, "emails": emails}


def _told(ways: dict[str, Any]) -> str:
    found = ["by password"] * ways["password"] + [f"as {email}" for email in ways["emails"]]
    return ", ".join(found) or "no: known from imported judgments"


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InputError("no terminal to ask for a password; pass it with --password-stdin")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
