"""`goldgrade annotator`: add and list who judges, and change what they may do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, say, table
from curation.cli.program import Json, command_group, project_store
from curation.core.errors import InputError
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.labeling.transfers.leaving import AccountChange

FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input, its first line.")
]
AnnotatorName = Annotated[str, typer.Argument(metavar="ANNOTATOR", help="Name of an annotator.")]
annotators = command_group("annotator", "Add and list annotators, and change what they may do.")


@annotators.command("add")
def annotator_add(
    name: Annotated[str, typer.Argument(help="Name to sign in with: letters, digits and . @ + - _")],
    role: Annotated[
        str, typer.Option(help="What they may do: annotator, reviewer, lead or evaluator.")
    ] = "annotator",
    password_stdin: FromStdin = False,
    email: Annotated[
        str | None,
        typer.Option(help="Address for sign-in through an identity provider. No password is asked for."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add somebody who can sign in. The password is asked for twice.

    With --email they sign in through the app's identity provider, and have no password unless
    --password-stdin gives one.

    \b
    Examples:
      goldgrade annotator add ada --role annotator
      goldgrade annotator add joan --email joan@example.org
      goldgrade annotator add vera --role evaluator
      printf '%s\\n' "$PASSWORD" | goldgrade annotator add grace --role reviewer --password-stdin
    """
    from curation.people.annotators import add_annotator

    password = _password(password_stdin) if password_stdin or email is None else None
    added = add_annotator(project_store(), name, role, password, email)
    emit(as_json, added, f"Added {added.name} as {added.role}.")


@annotators.command("invite")
def annotator_invite(
    name: Annotated[str, typer.Argument(help="Name to sign in with: letters, digits and . @ + - _")],
    role: Annotated[
        str | None, typer.Option(help="What they may do. Default: annotator.", show_default=False)
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="New link for an account that exists, also with a password.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the link instead.")] = False,
    address: Annotated[
        str, typer.Option(help="Address of the app, as people open it.")
    ] = "http://localhost:8501",
    as_json: Json = False,
) -> None:
    """Make a link by which somebody chooses a password.

    It works once, for 7 days. A new link ends the one before. A link also ends when its owner is deactivated.

    \b
    Examples:
      goldgrade annotator invite ada --role reviewer --address https://labels.example.org
      goldgrade annotator invite ada --again
      goldgrade annotator invite ada --remove
    """
    from curation.people.invitations import invite, link_of, withdraw

    if role and (again or remove):
        raise InputError("--role is for a new account: `goldgrade annotator role` changes one")
    store = project_store()
    if remove:
        withdraw(store, name)
        emit(as_json, {"name": name, "removed": True}, f"The link of {name} does not work any more.")
        return
    made = invite(store, name, None if again else role or "annotator")
    link = link_of(address, made.token)
    result = {"name": name, "role": made.role, "expires": made.expires, "link": link}
    sentence = f"{name} is {made.role}. This link works once, until {made.expires:%d %b %Y %H:%M} UTC:"
    emit(as_json, result, lambda: say(sentence, link))


@annotators.command("identity")
def annotator_identity(
    name: AnnotatorName,
    email: Annotated[str, typer.Argument(help="Address that the identity provider confirms.")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove the address instead.")] = False,
    as_json: Json = False,
) -> None:
    """Let somebody sign in with an e-mail address.

    The app's identity provider confirms it.

    An annotator may have several addresses. When an address is removed, its sessions end within seconds.

    \b
    Examples:
      goldgrade annotator identity ada ada@example.org
      goldgrade annotator identity ada ada@example.org --remove
    """
    from curation.people.identities import add_identity, remove_identity

    store = project_store()
    found = remove_identity(store, name, email) if remove else add_identity(store, name, email)
    can = "no longer signs in" if remove else "signs in"
    result = {**found._asdict(), "removed": remove}
    emit(as_json, result, f"{found.annotator} {can} as {found.email}.")


@annotators.command("role")
def annotator_role(
    name: AnnotatorName,
    role: Annotated[str, typer.Argument(help="annotator, reviewer, lead or evaluator.")],
    as_json: Json = False,
) -> None:
    """Give somebody another role, at once and for open sessions. The last lead stays lead.

    An evaluator judges nothing: what they have not answered goes to the other members of its rounds.

    \b
    Examples:
      goldgrade annotator role ada reviewer
      goldgrade annotator role vera evaluator
    """
    from curation.labeling.transfers.leaving import change_role

    changed = change_role(project_store(), name, role)
    emit(as_json, changed, lambda: _show_change(changed, f"{name} is {role} now."))


@annotators.command("deactivate")
def annotator_deactivate(name: AnnotatorName, as_json: Json = False) -> None:
    """End somebody's access at once, open sessions too. Their judgments remain and count.

    What they have not answered goes to the other members of its rounds. The last lead cannot be deactivated.

    \b
    Examples:
      goldgrade annotator deactivate ada
    """
    from curation.labeling.transfers.leaving import deactivate_annotator

    changed = deactivate_annotator(project_store(), name)
    emit(as_json, changed, lambda: _show_change(changed, f"{name} is deactivated. Their judgments remain."))


@annotators.command("activate")
def annotator_activate(name: AnnotatorName, as_json: Json = False) -> None:
    """Let somebody who was deactivated sign in again, as before.

    \b
    Examples:
      goldgrade annotator activate ada
    """
    from curation.people.accounts import activate

    emit(as_json, activate(project_store(), name), f"{name} can sign in again.")


@annotators.command("sign-ins")
def annotator_sign_ins(
    name: Annotated[
        str | None, typer.Argument(metavar="ANNOTATOR", help="Name of an annotator; without it all.")
    ] = None,
    end: Annotated[str | None, typer.Option(help="Id of the sign-in to end, or 'all' of NAME.")] = None,
    as_json: Json = False,
) -> None:
    """List the open sign-ins, or end one or all of somebody's.

    Who is signed in by an ended one has to sign in again, also in pages that are open.

    \b
    Examples:
      goldgrade annotator sign-ins
      goldgrade annotator sign-ins ada
      goldgrade annotator sign-ins ada --end all
    """
    from curation.people.accounts import end_sign_ins
    from curation.people.annotators import require_annotators
    from curation.people.sign_ins import list_sign_ins

    store = project_store()
    if end is not None:
        if not (name and end):
            raise InputError("--end needs the name of who is signed in, and an id or 'all'")
        ended = end_sign_ins(store, name, "" if end == "all" else end)
        emit(as_json, {"name": name, "ended": ended}, f"Ended {amount(ended, 'sign-in')} of {name}.")
        return
    with store.reading() as cursor:
        require_annotators(cursor, [name] if name else [])
        sign_ins = list_sign_ins(cursor, name)
    columns = ["id", "name", "browser", "network", "since", "last used"]
    at = "{:%d %b %H:%M}".format
    rows = [(one[0][:8], one[1], *one[3:5], at(one.since), at(one.last_used)) for one in sign_ins]
    listed = {"sign_ins": [one._asdict() for one in sign_ins]}
    emit(as_json, listed, lambda: table("Open sign-ins (UTC)", columns, rows))


@annotators.command("list")
def annotator_list(as_json: Json = False) -> None:
    """List the annotators with their roles.

    \b
    Examples:
      goldgrade annotator list
      goldgrade annotator list --json
    """
    from curation.people.accounts import list_accounts

    with project_store().reading() as cursor:
        accounts = list_accounts(cursor)
    listed = [{**account._asdict(), "active": account.active} for account in accounts]
    rows = [(account.name, account.role, account.ways) for account in accounts]
    emit(as_json, {"annotators": listed}, lambda: table("Annotators", ["name", "role", "signs in"], rows))


def _show_change(changed: AccountChange, sentence: str) -> None:
    say(sentence)
    for one in changed.returned:
        say(one.sentence)


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InputError("no terminal to ask for a password; pass it with --password-stdin")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
