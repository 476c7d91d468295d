"""Accounts: what each of the project's people may do, and how that changes while they are signed in.

Who is deactivated cannot sign in, and what they do from an open page is refused. Their judgments remain and
count. At least one lead stays active, and nobody changes their own account: a slip would lock its author out.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.people.annotators import ROLES, list_annotators, require_annotators, require_author
from curation.people.sign_ins import forget_sign_ins
from curation.store import COMMAND_LINE, Annotator, Cursor, Store, fetch, record_event, utc_now


class Account(NamedTuple):
    """One of the project's people and how they sign in; `deactivated_at` is None for who is active.

    addresses: the e-mail addresses, each with the identity provider that brought it, as people read them.
    link_until: until when a link to choose a password works; None without one.
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
        """How they sign in, in words."""
        if self.imported:
            return "no: from imported judgments only"
        if self.deactivated_at is not None:
            return f"no: deactivated on {self.deactivated_at:%d %b %Y}"
        ways = [*(["by password"] if self.password else []), *(f"as {address}" for address in self.addresses)]
        if self.link_until is not None:
            ways.append(f"link until {self.link_until:%d %b}")
        return ", ".join(ways) or "not yet"

    @property
    def signs_in(self) -> bool:
        """Whether they can sign in now."""
        return self.active and not self.imported and (self.password or bool(self.emails))


def who_signs_in(cursor: Cursor) -> list[Account]:
    """The accounts that can sign in now, by name."""
    return [account for account in list_accounts(cursor) if account.signs_in]


_ACCOUNTS = """
SELECT name, role, imported, added_at, deactivated_at,
       EXISTS (FROM passwords p WHERE p.annotator = a.name),
       coalesce((SELECT list(email ORDER BY email) FROM identities i WHERE i.annotator = a.name), []),
       coalesce((SELECT list(email || coalesce(' of ' || issuer, '') ORDER BY email)
                 FROM identities i WHERE i.annotator = a.name), []),
       (SELECT expires FROM invitations i WHERE i.annotator = a.name AND expires > ?)
FROM annotators a ORDER BY name
"""


def list_accounts(cursor: Cursor) -> list[Account]:
    """All accounts by name, those known only from imported judgments, too."""
    return fetch(cursor, Account, _ACCOUNTS, [utc_now()])


def deactivate(store: Store, name: str, author: str = COMMAND_LINE) -> bool:
    """End what somebody may do here: their sign-ins, and all that an open page of theirs asks for.

    Returns whether they were active. What is assigned to them stays theirs; to return it to its rounds as
    well, use `labeling.transfers.leaving.deactivate_annotator`.

    Raises
    ------
    NotFoundError: the project does not know the name.
    RefusedError: they are the last active lead, they cannot sign in anyway, or the author is no lead or is
        they themselves.
    """
    with store.transaction() as cursor:
        annotator = account_to_change(cursor, name, author)
        if not annotator.active:
            return False
        _refuse_last_lead(cursor, annotator)
        cursor.execute("UPDATE annotators SET deactivated_at = ? WHERE name = ?", [utc_now(), name])
        forget_sign_ins(cursor, name)
        cursor.execute("DELETE FROM invitations WHERE ? IN (annotator, author)", [name])
        record_event(cursor, "deactivate annotator", {"name": name, "role": annotator.role}, author)
    return True


def end_sign_ins(store: Store, name: str, begins: str = "", author: str = COMMAND_LINE, but: str = "") -> int:
    """End one or all of somebody's sign-ins, as themselves or as a lead; returns how many.

    begins: how the id of one begins; '' for all. but: the id of one that goes on.

    Raises
    ------
    NotFoundError: the project does not know the name, or they have no such sign-in.
    RefusedError: the author is another, and no lead.
    """
    with store.transaction(new_data_version=False) as cursor:
        require_annotators(cursor, [name])
        if author != name:
            require_author(cursor, author, "lead")
        ended = forget_sign_ins(cursor, name, begins, but=but)
        if begins and not ended:
            raise NotFoundError(f"{name} has no open sign-in {begins}: it may have ended already.")
        record_event(cursor, "end sign-ins", {"name": name, "number": ended}, author)
    return ended


def activate(store: Store, name: str, author: str = COMMAND_LINE) -> Annotator:
    """Let somebody who was deactivated sign in again, with the password and the addresses they had.

    Raises
    ------
    NotFoundError, RefusedError: as for `deactivate`; also if they are active.
    """
    with store.transaction() as cursor:
        annotator = account_to_change(cursor, name, author)
        if annotator.active:
            raise RefusedError(f"{name} is active already.")
        cursor.execute("UPDATE annotators SET deactivated_at = NULL WHERE name = ?", [name])
        record_event(cursor, "activate annotator", {"name": name, "role": annotator.role}, author)
    return annotator._replace(active=True)


def set_role(store: Store, name: str, role: str, author: str = COMMAND_LINE) -> Annotator:
    """Give somebody another role, at once and for their open pages, too; returns them with it.

    To return to its rounds what an evaluator may not see, use `labeling.transfers.leaving.change_role`.

    Raises
    ------
    InputError: there is no such role.
    NotFoundError: the project does not know the name.
    RefusedError: they have the role, they are the last active lead, they cannot sign in anyway, or the author
        is no lead or is they themselves.
    """
    if role not in ROLES:
        raise InputError(f"the role {role!r}: expected one of {', '.join(ROLES)}")
    with store.transaction() as cursor:
        annotator = account_to_change(cursor, name, author)
        if annotator.role == role:
            raise RefusedError(f"{name} has the role {role} already.")
        _refuse_last_lead(cursor, annotator)
        cursor.execute("UPDATE annotators SET role = ? WHERE name = ?", [role, name])
        cursor.execute("DELETE FROM invitations WHERE author = ?", [name])
        detail = {"name": name, "from": annotator.role, "to": role}
        record_event(cursor, "change role", detail, author)
    return annotator._replace(role=role)


def account_to_change(cursor: Cursor, name: str, author: str) -> Annotator:
    """Whose account a lead may change: anybody's who can sign in, but their own."""
    require_author(cursor, author, "lead")
    annotator = require_annotators(cursor, [name])[0]
    if annotator.imported:
        raise RefusedError(f"{name} is known only from imported judgments and cannot sign in.")
    if name == author:
        raise RefusedError("You cannot change your own account: another lead can.")
    return annotator


def _refuse_last_lead(cursor: Cursor, annotator: Annotator) -> None:
    if annotator.role != "lead" or not annotator.active:
        return
    leads = [
        annotator
        for annotator in list_annotators(cursor)
        if annotator.role == "lead" and annotator.active and not annotator.imported
    ]
    if len(leads) == 1:
        raise RefusedError(f"{annotator.name} is the last lead. Make somebody else lead first.")
