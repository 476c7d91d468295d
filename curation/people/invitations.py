"""Invitations: links with which people choose a password for a new account or after forgetting theirs.

A lead makes a link and sends the link to the person; the project stores a hash of the link's token. An
invitation link works once, for a week, while its author is a lead and the account is active. A newer link
replaces the older link. The app prints a link for the first lead, whom nobody can invite.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.core.errors import NotFoundError, RefusedError, refuse_problems
from curation.people.accounts import find_account_problems, insert_account, require_changeable_account
from curation.people.annotators import require_author
from curation.people.passwords import hash_password, write_password
from curation.people.sign_ins import UNKNOWN_CLIENT, ClientInfo, open_sign_in
from curation.store import COMMAND_LINE, Annotator, Cursor, Store, fetch, record_event, utc_now

LINK_DAYS = 7
# a link does not work if the clock was set back by more than this since the link was made
MAX_CLOCK_STEP = timedelta(days=1)
INVALID_LINK = (
    "This link does not work: it was used or withdrawn, or has expired. Ask your lead for a new link."
)
_INVITED = """
SELECT name, role, imported FROM invitations JOIN annotators a ON a.name = annotator
WHERE token_hash = ? AND expires > ? AND made_at < ? AND NOT imported AND deactivated_at IS NULL
"""


class Invitation(NamedTuple):
    """A new link for choosing a password. The project does not store the link's token."""

    name: str
    role: str
    expires: datetime
    token: str


def make_invitation_link(address: str, token: str) -> str:
    """Make the link for a token, at the app's address. The token is behind #, because browsers do not send
    this part of a link to servers.
    """
    return f"{address.rstrip('/')}/join#{token}"


def invite(store: Store, name: str, role: str | None, author: str = COMMAND_LINE) -> Invitation:
    """Make an invitation link for a new person, or for a person who lost a link or forgot the password."""
    return invite_all(store, [name], role, author)[0]


def invite_all(
    store: Store, names: Sequence[str], role: str | None, author: str = COMMAND_LINE
) -> list[Invitation]:
    """Make an invitation link for each of several people, or for nobody.

    Parameters
    ----------
    role: role of new accounts, which take over imported judgments under the same names; None for existing
    accounts.

    Raises
    ------
    InputError: the name or the role breaks a rule.
    NotFoundError: no account has this name.
    RefusedError: the name is taken, the account is deactivated, known only from imports or is the author's
    account, or the author is not a lead.
    """
    if role is not None:
        refuse_problems([problem for name in names for problem in find_account_problems(name, role)])
    with store.transaction() as cursor:
        return [_invite(cursor, name, role, author) for name in names]


def _invite(cursor: Cursor, name: str, role: str | None, author: str) -> Invitation:
    if role is not None:
        require_author(cursor, author, "lead")
        annotator = insert_account(cursor, name, role, author)
    else:
        annotator = require_changeable_account(cursor, name, author)
    if not annotator.active:
        raise RefusedError(f"{name} is deactivated. Activate this person first.")
    token, now = secrets.token_urlsafe(16), utc_now()
    invitation = Invitation(name, annotator.role, now + timedelta(days=LINK_DAYS), token)
    row = [name, _hash_token(token), author, now, invitation.expires]
    cursor.execute("INSERT OR REPLACE INTO invitations VALUES (?, ?, ?, ?, ?)", row)
    detail = {"name": name, "role": annotator.role, "expires": invitation.expires}
    record_event(cursor, "invite annotator", detail, author)
    return invitation


def withdraw_invitation(store: Store, name: str, author: str = COMMAND_LINE) -> None:
    """Withdraw a person's invitation link, so that it no longer works.

    Raises
    ------
    NotFoundError: the person has no link that works.
    RefusedError: the author is not a lead.
    """
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        if not cursor.execute("DELETE FROM invitations WHERE annotator = ? RETURNING 1", [name]).fetchall():
            raise NotFoundError(f"{name} has no valid link: the link was used or withdrawn, or has expired.")
        record_event(cursor, "withdraw invitation", {"name": name}, author)


def find_invited_annotator(cursor: Cursor, token: str) -> Annotator | None:
    """Find the person whom an invitation link invites; None if the link does not work."""
    now = utc_now()
    return next(
        iter(fetch(cursor, Annotator, _INVITED, [_hash_token(token), now, now + MAX_CLOCK_STEP])), None
    )


def accept_invitation(store: Store, token: str, password: str, client: ClientInfo = UNKNOWN_CLIENT) -> str:
    """Use an invitation link: set the person's password, sign the person in, and return the sign-in's key.

    Raises
    ------
    InputError: the password is too short.
    RefusedError: the link does not work.
    """
    with store.reading() as cursor:
        invited = find_invited_annotator(cursor, token)
    password_hash = hash_password(password) if invited else ""  # without a cursor, because hashing takes long
    key = None
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM invitations WHERE expires <= ?", [utc_now()])
        invited = invited and find_invited_annotator(cursor, token)
        if invited:
            revision = write_password(cursor, invited.name, password_hash)
            record_event(cursor, "accept invitation", {"name": invited.name}, invited.name)
            key = open_sign_in(cursor, invited.name, client, revision=revision)
    if key is None:
        raise RefusedError(INVALID_LINK)
    return key


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
