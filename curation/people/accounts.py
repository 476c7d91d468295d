"""People's accounts, which leads add, change and deactivate.

A deactivated person cannot sign in, and open pages of the person are refused, but the person's judgments
remain and count. At least one lead stays active, and nobody can change the account with which they are signed
in, because a mistake would lock them out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from curation.core.characters import describe_lookalike, find_lookalikes
from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.people.addresses import (
    find_address_problems,
    insert_address,
    normalise_address,
    read_address_owners,
)
from curation.people.annotators import (
    ROLES,
    find_annotator,
    insert_annotator,
    list_annotators,
    list_eligible_annotators,
    require_annotators,
    require_author,
)
from curation.people.passwords import find_password_problems, hash_password, write_password
from curation.people.sign_ins import UNKNOWN_CLIENT, ClientInfo, delete_sign_ins, open_sign_in
from curation.store import COMMAND_LINE, Annotator, Cursor, Store, fetch, record_event, utc_now

_NAME = re.compile(r"\w[\w.@+-]{0,62}")
_ACCOUNTS = """
SELECT name, role, imported, added_at, deactivated_at,
       EXISTS (FROM passwords p WHERE p.annotator = a.name),
       coalesce((SELECT list(email ORDER BY email) FROM identities i WHERE i.annotator = a.name), []),
       coalesce((SELECT list(email || coalesce(' of ' || issuer, '') ORDER BY email)
                 FROM identities i WHERE i.annotator = a.name), []),
       (SELECT expires FROM invitations i WHERE i.annotator = a.name AND expires > ?)
FROM annotators a ORDER BY name
"""


class Account(NamedTuple):
    """An account of a project with its ways to sign in; `deactivated_at` is None for an active account.

    password: whether the account has a password.
    addresses: e-mail addresses and their identity providers, as texts to show.
    link_until: expiry of the link for choosing a password; None without a link.
    """

    name: str
    role: str
    imported: bool
    added_at: datetime
    deactivated_at: datetime | None
    password: bool
    emails: list[str]
    addresses: list[str]
    link_until: datetime | None

    @property
    def active(self) -> bool:
        return self.deactivated_at is None

    @property
    def ways(self) -> str:
        """Return the person's ways to sign in as text."""
        if self.imported:
            return "no (imported judgments)"
        if self.deactivated_at is not None:
            return f"no: deactivated on {self.deactivated_at:%d %b %Y}"
        ways = ["by password"] if self.password else []
        ways += [f"as {address}" for address in self.addresses]
        if self.link_until is not None:
            ways.append(f"link until {self.link_until:%d %b}")
        return ", ".join(ways) or "not yet"

    @property
    def can_sign_in(self) -> bool:
        """Return whether the person can sign in now."""
        return self.active and not self.imported and (self.password or bool(self.emails))


def list_usable_accounts(cursor: Cursor) -> list[Account]:
    """List the accounts with which people can sign in now, by name."""
    return [account for account in list_accounts(cursor) if account.can_sign_in]


def list_accounts(cursor: Cursor) -> list[Account]:
    """List all accounts by name, including those of people known only from imported judgments."""
    return fetch(cursor, Account, _ACCOUNTS, [utc_now()])


def add_annotator(
    store: Store, name: str, role: str, password: str | None, email: str | None = None, by: str = COMMAND_LINE
) -> Annotator:
    """Add a person who signs in by password or by e-mail address.

    Judgments that were imported under this name then belong to the person.

    Raises
    ------
    InputError: the name, role, password or address breaks a rule, or neither a password nor an address is
    given.
    RefusedError: the name or the address belongs to a different person, or the author is not a lead.
    """
    problems = find_account_problems(name, role)
    if password is None and email is None:
        problems.append("neither a password nor an e-mail address: expected one of them to sign in with")
    problems += [] if password is None else find_password_problems(password)
    problems += [] if email is None else find_address_problems(email)
    refuse_problems(problems)
    with store.reading() as cursor:  # before hashing, which takes long
        require_author(cursor, by, "lead")
    password_hash = None if password is None else hash_password(password)
    with store.transaction() as cursor:
        require_author(cursor, by, "lead")
        added = insert_account(cursor, name, role, by)
        if password_hash is not None:
            write_password(cursor, name, password_hash)
        if email is not None:
            names = {person.name: person.name for person in list_annotators(cursor)}
            _refuse_lookalike("address", normalise_address(email), names, name)
            insert_address(cursor, name, email)
    return added


def make_first_lead(store: Store, name: str, password: str, client: ClientInfo = UNKNOWN_CLIENT) -> str:
    """Create the account of a project's first lead, and sign the lead in; return the sign-in's key.

    Raises
    ------
    InputError: the name or the password breaks a rule.
    RefusedError: a lead can already sign in, or the name is taken.
    """
    refuse_problems(find_account_problems(name, "lead"))
    password_hash = hash_password(password)
    with store.transaction() as cursor:
        if any(account.role == "lead" for account in list_usable_accounts(cursor)):
            raise RefusedError("This project already has a lead. Sign in, or ask the lead for an invitation.")
        insert_account(cursor, name, "lead", name)
        revision = write_password(cursor, name, password_hash)
        return str(open_sign_in(cursor, name, client, revision=revision))


def insert_account(cursor: Cursor, name: str, role: str, author: str) -> Annotator:
    """Add a person without a way to sign in, who takes over imported judgments under the same name.

    Raises
    ------
    RefusedError: the name is taken, or looks the same as a different person's name.
    """
    known = find_annotator(cursor, name)
    if known is None:
        _refuse_lookalike("name", name, read_names_in_use(cursor), name)
        insert_annotator(cursor, name, role, imported=False)
    elif known.imported:
        cursor.execute("UPDATE annotators SET imported = false, role = ? WHERE name = ?", [role, name])
    elif not known.active:
        raise RefusedError(
            f"The annotator {name!r} already exists and is deactivated. Activate this person, or choose a "
            "different name.",
            command=f"`goldgrade people set {name} --activate` lets this person sign in again.",
        )
    else:
        raise RefusedError(f"The annotator {name!r} already exists. Choose another name.")
    detail = {"name": name, "role": role, "was_imported": known is not None}
    record_event(cursor, "add annotator", detail, author)
    return Annotator(name, role, imported=False)


def read_names_in_use(cursor: Cursor) -> dict[str, str]:
    """Read the person's name for each known name and e-mail address."""
    return read_address_owners(cursor) | {person.name: person.name for person in list_annotators(cursor)}


def find_account_problems(name: str, role: str) -> list[str]:
    """List the problems with a new person's name and role."""
    problems = []
    if not _NAME.fullmatch(name):
        problems.append(f"the name {name!r}: expected 1-63 letters, digits and . @ + - _, no spaces")
    if role not in ROLES:
        problems.append(f"the role {role!r}: expected one of {', '.join(ROLES)}")
    return problems


def _refuse_lookalike(what: str, text: str, person_of: Mapping[str, str], name: str) -> None:
    """Reject a name or address of `name` if a different person's name or address looks the same.

    Raises
    ------
    RefusedError: the name or address looks the same.
    """
    known_texts = {known: person for known, person in person_of.items() if person != name}
    lookalike = text if text in known_texts else find_lookalikes([text], known_texts).get(text)
    if lookalike is None:
        return
    person, differs = known_texts[lookalike], describe_lookalike(text, lookalike)
    problem = f"differs from {lookalike!r} by {differs}" if differs else "is already in use as a name"
    owner = f"; that is the address of {person!r}" if person != lookalike else ""
    raise RefusedError(
        f"The {what} {text!r} {problem}{owner}. A person's judgments belong to one name: use {person!r} if "
        f"this is the same person. Give a different person a clearly different {what}.",
        command="`goldgrade people list` lists the people whom the project knows.",
    )


def deactivate(store: Store, name: str, author: str = COMMAND_LINE) -> bool:
    """Deactivate a person: end all sign-ins and refuse open pages. Return whether the person was active.

    Assigned items stay with the person; to also return the items to their rounds, use
    `labeling.rounds.leaving.deactivate_annotator`.

    Raises
    ------
    NotFoundError: the project does not know the name.
    RefusedError: the person is the last active lead or cannot sign in, or the author is not a lead or is the
        same person.
    """
    with store.transaction() as cursor:
        annotator = require_changeable_account(cursor, name, author)
        if not annotator.active:
            return False
        _refuse_last_lead(cursor, annotator)
        cursor.execute("UPDATE annotators SET deactivated_at = ? WHERE name = ?", [utc_now(), name])
        delete_sign_ins(cursor, name)
        cursor.execute("DELETE FROM invitations WHERE ? IN (annotator, author)", [name])
        record_event(cursor, "deactivate annotator", {"name": name, "role": annotator.role}, author)
    return True


def activate(store: Store, name: str, author: str = COMMAND_LINE) -> Annotator:
    """Activate a deactivated person, who signs in with the same password and addresses as before.

    Raises
    ------
    NotFoundError, RefusedError: see `deactivate`; RefusedError is also raised for an active person.
    """
    with store.transaction() as cursor:
        annotator = require_changeable_account(cursor, name, author)
        if annotator.active:
            raise RefusedError(f"{name} is already active.")
        cursor.execute("UPDATE annotators SET deactivated_at = NULL WHERE name = ?", [name])
        record_event(cursor, "activate annotator", {"name": name, "role": annotator.role}, author)
    return annotator._replace(active=True)


def set_role(store: Store, name: str, role: str, author: str = COMMAND_LINE) -> Annotator:
    """Change a person's role, which takes effect on open pages at once; return the annotator with the new
    role.

    To return items that an evaluator may not see to their rounds, use `labeling.rounds.leaving.change_role`.

    Raises
    ------
    InputError: the role is unknown.
    NotFoundError: the project does not know the name.
    RefusedError: the person already has the role, is the last active lead or cannot sign in, or the author is
        not a lead or is the same person.
    """
    if role not in ROLES:
        raise InputError(f"the role {role!r}: expected one of {', '.join(ROLES)}")
    with store.transaction() as cursor:
        annotator = require_changeable_account(cursor, name, author)
        if annotator.role == role:
            raise RefusedError(f"{name} already has the role {role}.")
        _refuse_last_lead(cursor, annotator)
        cursor.execute("UPDATE annotators SET role = ? WHERE name = ?", [role, name])
        cursor.execute("DELETE FROM invitations WHERE author = ?", [name])
        detail = {"name": name, "from": annotator.role, "to": role}
        record_event(cursor, "change role", detail, author)
    return annotator._replace(role=role)


def require_changeable_account(cursor: Cursor, name: str, author: str) -> Annotator:
    """Find the person whose account a lead wants to change; reject a lead who wants to change their own
    account."""
    require_author(cursor, author, "lead")
    annotator = require_annotators(cursor, [name])[0]
    if annotator.imported:
        raise RefusedError(f"{name} is known only from imported judgments and cannot sign in.")
    if name == author:
        raise RefusedError("You cannot change your own account. Ask another lead.")
    return annotator


def _refuse_last_lead(cursor: Cursor, annotator: Annotator) -> None:
    if annotator.role != "lead" or not annotator.active:
        return
    if sum(person.role == "lead" for person in list_eligible_annotators(cursor)) == 1:
        raise RefusedError(f"{annotator.name} is the last lead. First make another person lead.")
