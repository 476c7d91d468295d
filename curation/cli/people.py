"""`goldgrade people`: the people of a project, with their roles and their ways to sign in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Context, Option

from curation.cli.invocation import find_given_flags, project_store, refuse_unused
from curation.cli.options import switch
from curation.cli.output import emit, print_table, say
from curation.cli.program import command_group
from curation.core.errors import InputError
from curation.core.text import pluralize

if TYPE_CHECKING:
    from curation.store import Store

NewName = Annotated[str, Argument(help="Name to sign in with: letters, digits and . @ + - _")]
Link = Annotated[bool, switch("--link", "Make a link that lets the person choose a password.")]
Address = Annotated[str, Option(help="Address of the app for people who open it.")]
LOCAL_ADDRESS = "http://localhost:8501"
people = command_group("people", "List, add and change the people of the project.")


PersonName = Annotated[str, Argument(help="Person whose account to change.")]
NewRole = Annotated[
    str | None, Option(help="New role of the person. It also applies to pages that are already open.")
]
Deactivate = Annotated[
    bool, switch("--deactivate", "Block the account at once. The person's judgments stay.")
]
Activate = Annotated[bool, switch("--activate", "Allow the person to sign in again.")]
NewAddress = Annotated[
    str | None,
    Option(help="Let the person sign in with this e-mail address. The identity provider confirms it."),
]
RemovedAddress = Annotated[
    str | None, Option(help="Remove this e-mail address. Its sign-ins end within seconds.")
]
WithdrawLink = Annotated[bool, switch("--no-link", "Withdraw the person's invitation link.")]
EndedSignIns = Annotated[
    str | None, Option("--end-sign-ins", help="End the sign-in with this id, or 'all' sign-ins.")
]


@people.command("list")
def people_list(
    sign_ins: Annotated[bool, switch("--sign-ins", "List the open sign-ins, the last used first.")] = False,
) -> None:
    """List all people with their role and their ways to sign in.

    \b
    Examples:
      goldgrade people list
      goldgrade people list --sign-ins
    """
    from curation.people.accounts import list_accounts
    from curation.people.sign_ins import list_sign_ins

    with project_store().reading() as cursor:
        accounts, open_sign_ins = list_accounts(cursor), list_sign_ins(cursor)
    if sign_ins:
        columns = ["id", "name", "browser", "network", "since", "last used"]
        format_time = "{:%d %b %H:%M}".format
        rows = []
        for row in open_sign_ins:
            times = format_time(row.since), format_time(row.last_used)
            rows.append((row.sign_in_id[:8], row.annotator, row.device, row.network, *times))
        result = {"sign_ins": [row._asdict() for row in open_sign_ins]}
        emit(result, lambda: print_table("Open sign-ins (UTC)", columns, rows))
        return
    account_rows = [(account.name, account.role, account.ways) for account in accounts]
    people = [{**account._asdict(), "active": account.active} for account in accounts]
    emit({"people": people}, lambda: print_table("People", ["name", "role", "signs in"], account_rows))


@people.command("add")
def people_add(
    context: Context,
    name: NewName,
    role: Annotated[
        str, Option(help="Role of the person: annotator, reviewer, lead or evaluator.")
    ] = "annotator",
    email: Annotated[
        str | None,
        Option(help="E-mail address for sign-in without a password. The identity provider confirms it."),
    ] = None,
    password_stdin: Annotated[
        bool, switch("--password-stdin", "Read the password from the first line of standard input.")
    ] = False,
    link: Link = False,
    address: Address = LOCAL_ADDRESS,
) -> None:
    """Add a person who can sign in. The command asks for the password twice.

    With --link people choose their own password with a link that works once, within 7 days. With --email
    people sign in through the app's identity provider, and have no password unless --password-stdin gives
    one.

    \b
    Examples:
      goldgrade people add ada --role reviewer --link --address https://labels.example.org
      goldgrade people add grace
      goldgrade people add joan --email joan@example.org
      goldgrade people add vera --role evaluator
      printf '%s\\n' "$PASSWORD" | goldgrade people add grace --role reviewer --password-stdin
    """
    from curation.people.accounts import add_annotator

    if link:
        refuse_unused(context, "the link lets people choose their own password", "email", "password_stdin")
        _make_link(project_store(), name, role, address)
        return
    refuse_unused(context, "no link is made; add --link", "address")
    password = _read_password(password_stdin) if password_stdin or email is None else None
    added = add_annotator(project_store(), name, role, password, email)
    emit(added, f"Added {added.name} as {added.role}.")


@people.command("set")
def people_set(
    context: Context,
    name: PersonName,
    role: NewRole = None,
    deactivate: Deactivate = False,
    activate: Activate = False,
    email: NewAddress = None,
    no_email: RemovedAddress = None,
    link: Link = False,
    no_link: WithdrawLink = False,
    address: Address = LOCAL_ADDRESS,
    ended_sign_ins: EndedSignIns = None,
) -> None:
    """Make one change to a person's account. The command changes the role, access, an address, the link or
    sign-ins.

    Anyone who is deactivated or becomes an evaluator no longer judges: open items go to the other annotators
    of the round. The last lead cannot lose the role of lead. A new link replaces the previous link; a person
    may have several addresses.

    \b
    Examples:
      goldgrade people set ada --role reviewer
      goldgrade people set ada --deactivate
      goldgrade people set ada --link
      goldgrade people set ada --email ada@example.org
      goldgrade people set ada --end-sign-ins all
    """
    _require_one_change(context)
    if not link:
        refuse_unused(context, "no link is made; add --link", "address")
    store = project_store()
    if link:
        _make_link(store, name, None, address)
    elif role or deactivate:
        _change_role(store, name, role)
    elif email or no_email:
        _change_address(store, name, email, no_email)
    else:
        _change_access(store, name, activate, ended_sign_ins)


def _require_one_change(context: Context) -> None:
    changes = [flag for name, flag in find_given_flags(context).items() if name not in ("name", "address")]
    if not changes:
        raise InputError("Nothing to change. Give an option, such as --role or --link.")
    if len(changes) > 1:
        raise InputError(f"{' and '.join(changes)}: make one change at a time.")


def _change_address(store: Store, name: str, new: str | None, removed: str | None) -> None:
    """Add an address with which the person signs in, or remove one."""
    from curation.people.addresses import add_address, remove_address

    if new:
        identity, verb = add_address(store, name, new), "can now sign in"
    else:
        identity, verb = remove_address(store, name, removed or ""), "can no longer sign in"
    emit({**identity, "removed": not new}, f"{name} {verb} with {identity['email']}.")


def _change_access(store: Store, name: str, activate: bool, ended_sign_ins: str | None) -> None:
    """Activate the account, end sign-ins (all of them for 'all'), or withdraw the link."""
    from curation.people.accounts import activate as activate_account
    from curation.people.invitations import withdraw_invitation
    from curation.people.sign_ins import end_sign_ins

    if activate:
        emit(activate_account(store, name), f"{name} can sign in again.")
    elif ended_sign_ins is not None:
        count = end_sign_ins(store, name, "" if ended_sign_ins == "all" else ended_sign_ins)
        emit({"name": name, "ended": count}, f"Ended {pluralize(count, 'sign-in')} of {name}.")
    else:
        withdraw_invitation(store, name)
        emit({"name": name, "removed": True}, f"The link of {name} no longer works.")


def _make_link(store: Store, name: str, role: str | None, address: str) -> None:
    from curation.people.invitations import invite, make_invitation_link

    invitation = invite(store, name, role)
    link = make_invitation_link(address, invitation.token)
    result = {"name": name, "role": invitation.role, "expires": invitation.expires, "link": link}
    until = f"{invitation.expires:%d %b %Y %H:%M} UTC"
    sentence = f"{name} is {invitation.role}. This link works once, until {until}:"
    emit(result, lambda: say(sentence, link))


def _change_role(store: Store, name: str, role: str | None) -> None:
    """Change an annotator's role, or deactivate the annotator; open items go to other members."""
    from curation.labeling.rounds.leaving import change_role, deactivate_annotator

    annotator, returned = change_role(store, name, role) if role else deactivate_annotator(store, name)
    sentence = f"{name} is {role} now." if role else f"{name} is deactivated. Their judgments stay."
    result = {"name": name, "role": annotator.role, "active": annotator.active, "returned": returned}
    emit(result, lambda: say(sentence, *(work.sentence for work in returned)))


def _read_password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InputError("there is no terminal to type a password; pass the password with --password-stdin")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
