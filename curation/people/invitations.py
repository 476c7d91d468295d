"""Invitations: links by which people choose their own password, for a new account or a forgotten password.

A lead makes one and sends it. The project stores the hash of its token. It works once, for a week, and no
longer than its author is a lead and the account is active. A newer one takes its place.

The first lead, whom nobody can invite: the app prints a link in the terminal where it is started.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.core.errors import NotFoundError, RefusedError, refuse_problems
from curation.people.accounts import account_to_change, who_signs_in
from curation.people.annotators import insert_annotator, name_problems, require_author
from curation.people.passwords import hash_password, write_password
from curation.people.sign_ins import UNKNOWN, Visit, open_sign_in
from curation.store import COMMAND_LINE, Annotator, Cursor, Store, fetch, record_event, utc_now

DAYS = 7
AHEAD = timedelta(days=1)
"""By how much a clock may have stepped back since a link was made; else it would work for too long."""

OVER = "This link does not work: it was used or withdrawn, or has expired. Ask your lead for a new one."


class Invitation(NamedTuple):
    """A link just made. Its token is stored nowhere."""

    name: str
    role: str
    expires: datetime
    token: str


def link_of(address: str, token: str) -> str:
    """The link with a token, at the app's address. Browsers send the part after # to nobody."""
    return f"{address.rstrip('/')}/join#{token}"


def invite(store: Store, name: str, role: str | None, author: str = COMMAND_LINE) -> Invitation:
    """Make a link for somebody new, or for somebody who lost theirs or forgot their password.

    Parameters
    ----------
    role: of a new account; judgments imported by that name are theirs. None for an account that exists.

    Raises
    ------
    InputError: the name or the role breaks a rule.
    NotFoundError: the project does not know the name of an account that should exist.
    RefusedError: the name is taken, or the account is deactivated, known only from imports, or the author's
        own, or the author is no lead.
    """
    if role is not None:
        refuse_problems(name_problems(name, role))
    with store.transaction() as cursor:
        if role is not None:
            require_author(cursor, author, "lead")
            found = insert_annotator(cursor, name, role, author)
        else:
            found = account_to_change(cursor, name, author)
        if not found.active:
            raise RefusedError(f"{name} is deactivated. Activate them first.")
        return _make(cursor, found, author)


def withdraw(store: Store, name: str, author: str = COMMAND_LINE) -> None:
    """End somebody's link.

    Raises
    ------
    NotFoundError: they have none: it was used, withdrawn or has expired.
    RefusedError: the author is no lead.
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
    """Whose a link is, if it works."""
    now = utc_now()
    return next(iter(fetch(cursor, Annotator, _FIND, [_hash_of(token), now, now + AHEAD])), None)


def accept(store: Store, token: str, password: str, visit: Visit = UNKNOWN) -> str:
    """Use a link: its owner has this password from now on. Returns the key of their sign-in.

    Raises
    ------
    InputError: the password is too short.
    RefusedError: the link does not work.
    """
    with store.reading() as cursor:  # before the hash, which takes long
        found = find_invited(cursor, token)
    hashed, key = hash_password(password) if found else "", None
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM invitations WHERE expires <= ?", [utc_now()])
        found = found and find_invited(cursor, token)
        if found:
            revision = write_password(cursor, found.name, hashed)
            record_event(cursor, "accept invitation", {"name": found.name}, found.name)
            key = open_sign_in(cursor, found.name, visit, revision=revision)
    if key is None:
        raise RefusedError(OVER)
    return key


def make_first_lead(store: Store, name: str, password: str, visit: Visit = UNKNOWN) -> str:
    """Make the lead of a project that has none who can sign in. Returns the key of their sign-in.

    Raises
    ------
    InputError: the name or the password breaks a rule.
    RefusedError: there is a lead, or the name is taken.
    """
    refuse_problems(name_problems(name, "lead"))
    hashed = hash_password(password)
    with store.transaction() as cursor:
        if any(one.role == "lead" for one in who_signs_in(cursor)):
            raise RefusedError("This project has a lead already. Sign in, or ask them for an invitation.")
        insert_annotator(cursor, name, "lead", name)
        revision = write_password(cursor, name, hashed)
        return str(open_sign_in(cursor, name, visit, revision=revision))


def _make(cursor: Cursor, of: Annotator, author: str) -> Invitation:
    token, now = secrets.token_urlsafe(16), utc_now()
    made = Invitation(of.name, of.role, now + timedelta(days=DAYS), token)
    row = [of.name, _hash_of(token), author, now, made.expires]
    cursor.execute("INSERT OR REPLACE INTO invitations VALUES (?, ?, ?, ?, ?)", row)
    detail = {"name": of.name, "role": of.role, "expires": made.expires}
    record_event(cursor, "invite annotator", detail, author)
    return made


def _hash_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
