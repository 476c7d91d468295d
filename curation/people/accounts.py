"""Accounts of people, which leads make, invite, change and deactivate.

A deactivated person cannot sign in, and open pages of that person are refused. The judgments of a deactivated
person remain and count. At least one lead stays active, and nobody can change the account with which they are
signed in, because a mistake would lock them out.

An invitation lets a person choose a password, for a new account or after a forgotten password. A lead makes a
link and sends the link to the person; the project stores a hash of the link's token. An invitation link works
once, for a week, while its author is a lead and the account is active. A newer link replaces the older link.
The app prints a link for the first lead, whom nobody can invite.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError, RefusedError, refuse_problems
from curation.people import annotators, sign_ins
from curation.people.annotators import ROLES, able_to_judge, folded, require_annotators, require_author
from curation.people.sign_ins import UNKNOWN, Visit, forget_sign_ins, hash_password
from curation.store import COMMAND_LINE, Annotator, Cursor, Store, fetch, record_event, utc_now

_ACCOUNTS = """
SELECT name, role, imported, added_at, deactivated_at,
       EXISTS (FROM passwords p WHERE p.annotator = a.name),
       coalesce((SELECT list(email ORDER BY email) FROM identities i WHERE i.annotator = a.name), []),
       coalesce((SELECT list(email || coalesce(' of ' || issuer, '') ORDER BY email)
                 FROM identities i WHERE i.annotator = a.name), []),
       (SELECT expires FROM invitations i WHERE i.annotator = a.name AND expires > ?)
FROM annotators a ORDER BY name
"""
_BRING = """
UPDATE identities SET issuer = $issuer, subject = $subject WHERE email = $email AND issuer IS NULL
"""
_OTHERS = "FROM identities WHERE email = $email AND (issuer, subject) <> ($issuer, $subject)"

LINK_DAYS = 7
# Greatest step back of the clock since a link was made; after a larger step, the link does not work
MAX_CLOCK_STEP = timedelta(days=1)

OVER = "This link does not work: it was used or withdrawn, or has expired. Ask your lead for a new link."


class Account(NamedTuple):
    """An account of a project, with its ways to sign in; `deactivated_at` is None for an active account.

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
        """Return the person's ways to sign in, as text."""
        if self.imported:
            return "no (imported judgments)"
        if self.deactivated_at is not None:
            return f"no: deactivated on {self.deactivated_at:%d %b %Y}"
        ways = [*(["by password"] if self.password else []), *(f"as {address}" for address in self.addresses)]
        if self.link_until is not None:
            ways.append(f"link until {self.link_until:%d %b}")
        return ", ".join(ways) or "not yet"

    @property
    def signs_in(self) -> bool:
        """Return whether the person can sign in now."""
        return self.active and not self.imported and (self.password or bool(self.emails))


def who_signs_in(cursor: Cursor) -> list[Account]:
    """Return the accounts with which people can sign in now, by name."""
    return [account for account in list_accounts(cursor) if account.signs_in]


def list_accounts(cursor: Cursor) -> list[Account]:
    """Return all accounts by name, including people known only from imported judgments."""
    return fetch(cursor, Account, _ACCOUNTS, [utc_now()])


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
    """End one or all sign-ins of a person and return the number of ended sign-ins; the author is this person
    or a lead.

    begins: beginning of the id of one sign-in; '' for all. but: id of a sign-in that stays open. Raises
    ------
    NotFoundError: the project does not know the name, or the person does not have this sign-in.
    RefusedError: the author is a different person and not a lead.
    """
    with store.transaction(new_data_version=False) as cursor:
        require_annotators(cursor, [name])
        if author != name:
            require_author(cursor, author, "lead")
        ended = forget_sign_ins(cursor, name, begins, but=but)
        if begins and not ended:
            raise NotFoundError(f"{name} has no open sign-in {begins}: the sign-in may have ended already.")
        record_event(cursor, "end sign-ins", {"name": name, "number": ended}, author)
    return ended


def activate(store: Store, name: str, author: str = COMMAND_LINE) -> Annotator:
    """Activate a deactivated person, who signs in with the same password and addresses as before.

    Raises
    ------
    NotFoundError, RefusedError: see `deactivate`; RefusedError is also raised for an active person.
    """
    with store.transaction() as cursor:
        annotator = account_to_change(cursor, name, author)
        if annotator.active:
            raise RefusedError(f"{name} is active already.")
        cursor.execute("UPDATE annotators SET deactivated_at = NULL WHERE name = ?", [name])
        record_event(cursor, "activate annotator", {"name": name, "role": annotator.role}, author)
    return annotator._replace(active=True)


def set_role(store: Store, name: str, role: str, author: str = COMMAND_LINE) -> Annotator:
    """Change a person's role, which open pages follow at once; return the annotator with the new role.

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
    """Return the person whose account a lead wants to change; refuse the account of this lead."""
    require_author(cursor, author, "lead")
    annotator = require_annotators(cursor, [name])[0]
    if annotator.imported:
        raise RefusedError(f"{name} is known only from imported judgments and cannot sign in.")
    if name == author:
        raise RefusedError("You cannot change your own account. Ask another lead.")
    return annotator


def add_identity(store: Store, name: str, email: str, author: str = COMMAND_LINE) -> dict[str, str]:
    """Add an e-mail address with which an annotator can sign in; a known address of the annotator changes
    nothing.

    Raises
    ------
    InputError: the text is not an e-mail address.
    NotFoundError: the project does not know the name.
    RefusedError: the address belongs to a different annotator, the name is known only from imported
        judgments, or the author is not a lead.
    """
    refuse_problems(annotators.email_problems(email))
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        if require_annotators(cursor, [name])[0].imported:
            raise RefusedError(
                f"{name} is known only from imported judgments. Add the person to let the person sign in.",
                command=f"`goldgrade people add {name} --email {email}` lets the person sign in.",
            )
        added = annotators.insert_identity(cursor, name, email)
        record_event(cursor, "add identity", added, author)
    return added


def remove_identity(store: Store, name: str, email: str, author: str = COMMAND_LINE) -> dict[str, str]:
    """Remove an annotator's address; sign-ins with the address end.

    Raises
    ------
    NotFoundError: the annotator does not have the address.
    RefusedError: the author is not a lead.
    """
    removed = {"email": folded(email), "annotator": name}
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        if annotators.owner_of_address(cursor, email) != name:
            raise NotFoundError(
                f"{name} does not sign in as {email}.",
                command="`goldgrade people list` names everybody's addresses.",
            )
        cursor.execute("DELETE FROM identities WHERE email = ?", [removed["email"]])
        forget_sign_ins(cursor, name, email=removed["email"])
        record_event(cursor, "remove identity", removed, author)
    return removed


def sign_in_as(store: Store, email: str, issuer: str, subject: str, visit: Visit) -> str | None:
    """Sign in the owner of an e-mail address that an identity provider confirmed. Return the key of the
    sign-in, or None if nobody has the address.

    An address belongs to the first account at an identity provider (`iss` and `sub` of the token) that signs
    in with the address, because a different provider may give the same address to a different person.

    Raises
    ------
    RefusedError: a different account signed in with the address first, or the address only looks the same as
    a known address.
    """
    with store.transaction(new_data_version=False) as cursor:
        annotator, address = annotators.owner_of_address(cursor, email), folded(email)
        if annotator is None:
            if differs := annotators.looks_like_an_address(cursor, email):
                raise RefusedError(
                    f"{email} differs from an address that the project knows by {differs}, so nobody here "
                    "has it. Ask the lead of the project to add the address exactly as above."
                )
            return None
        known = {"issuer": issuer, "subject": subject, "email": address}
        cursor.execute(_BRING, known)
        if cursor.execute(_OTHERS, known).fetchall():
            raise RefusedError(
                f"{address} belongs to a different account, which used it first. "
                "Ask the lead of the project to remove the address and add it again: the address then "
                "belongs to the next account that uses it."
            )
        return sign_ins.open_sign_in(cursor, annotator, visit, address)


class Invitation(NamedTuple):
    """A new link for choosing a password. The project does not store the link's token."""

    name: str
    role: str
    expires: datetime
    token: str


def link_of(address: str, token: str) -> str:
    """Return the link with a token, at the app's address. The token is behind #, because browsers do not send
    this part of a link to servers.
    """
    return f"{address.rstrip('/')}/join#{token}"


def invite(store: Store, name: str, role: str | None, author: str = COMMAND_LINE) -> Invitation:
    """Make an invitation link for a new person, or for a person who lost a link or forgot a password.

    Parameters
    ----------
    role: role of a new account, which takes over imported judgments under the same name; None for an existing
    account.

    Raises
    ------
    InputError: the name or the role breaks a rule.
    NotFoundError: no account has this name.
    RefusedError: the name is taken, the account is deactivated, known only from imports or is the author's
    account, or the author is not a lead.
    """
    if role is not None:
        refuse_problems(annotators.name_problems(name, role))
    with store.transaction() as cursor:
        if role is not None:
            require_author(cursor, author, "lead")
            annotator = annotators.insert_annotator(cursor, name, role, author)
        else:
            annotator = account_to_change(cursor, name, author)
        if not annotator.active:
            raise RefusedError(f"{name} is deactivated. Activate this person first.")
        token, now = secrets.token_urlsafe(16), utc_now()
        invitation = Invitation(name, annotator.role, now + timedelta(days=LINK_DAYS), token)
        row = [name, _hash_of(token), author, now, invitation.expires]
        cursor.execute("INSERT OR REPLACE INTO invitations VALUES (?, ?, ?, ?, ?)", row)
        detail = {"name": name, "role": annotator.role, "expires": invitation.expires}
        record_event(cursor, "invite annotator", detail, author)
    return invitation


def withdraw(store: Store, name: str, author: str = COMMAND_LINE) -> None:
    """Withdraw a person's invitation link.

    Raises
    ------
    NotFoundError: the person has no link that works.
    RefusedError: the author is not a lead.
    """
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        if not cursor.execute("DELETE FROM invitations WHERE annotator = ? RETURNING 1", [name]).fetchall():
            raise NotFoundError(f"{name} has no link that works: it was used or withdrawn, or has expired.")
        record_event(cursor, "withdraw invitation", {"name": name}, author)


_FIND = """
SELECT name, role, imported FROM invitations JOIN annotators a ON a.name = annotator
WHERE token_hash = ? AND expires > ? AND made_at < ? AND NOT imported AND deactivated_at IS NULL
"""


def find_invited(cursor: Cursor, token: str) -> Annotator | None:
    """Return the person whom an invitation link invites; None if the link does not work."""
    now = utc_now()
    return next(iter(fetch(cursor, Annotator, _FIND, [_hash_of(token), now, now + MAX_CLOCK_STEP])), None)


def accept(store: Store, token: str, password: str, visit: Visit = UNKNOWN) -> str:
    """Use an invitation link: set the invited person's password, sign the person in, and return the key of
    the sign-in.

    Raises
    ------
    InputError: the password is too short.
    RefusedError: the link does not work.
    """
    with store.reading() as cursor:  # before the hash, which takes long
        invited = find_invited(cursor, token)
    hashed, key = hash_password(password) if invited else "", None
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM invitations WHERE expires <= ?", [utc_now()])
        invited = invited and find_invited(cursor, token)
        if invited:
            revision = sign_ins.write_password(cursor, invited.name, hashed)
            record_event(cursor, "accept invitation", {"name": invited.name}, invited.name)
            key = sign_ins.open_sign_in(cursor, invited.name, visit, revision=revision)
    if key is None:
        raise RefusedError(OVER)
    return key


def make_first_lead(store: Store, name: str, password: str, visit: Visit = UNKNOWN) -> str:
    """Create the account of a project's first lead, and sign the lead in; return the key of the sign-in.

    Raises
    ------
    InputError: the name or the password breaks a rule.
    RefusedError: a lead can already sign in, or the name is taken.
    """
    refuse_problems(annotators.name_problems(name, "lead"))
    hashed = hash_password(password)
    with store.transaction() as cursor:
        if any(account.role == "lead" for account in who_signs_in(cursor)):
            raise RefusedError("This project has a lead already. Sign in, or ask the lead for an invitation.")
        annotators.insert_annotator(cursor, name, "lead", name)
        revision = sign_ins.write_password(cursor, name, hashed)
        return str(sign_ins.open_sign_in(cursor, name, visit, revision=revision))


def _refuse_last_lead(cursor: Cursor, annotator: Annotator) -> None:
    if annotator.role != "lead" or not annotator.active:
        return
    if sum(person.role == "lead" for person in able_to_judge(cursor)) == 1:
        raise RefusedError(f"{annotator.name} is the last lead. First give a different person the role lead.")


def _hash_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
