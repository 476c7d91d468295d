"""Identities: the e-mail addresses by which annotators sign in through an identity provider.

The provider verifies the address, and the project says whose it is; an address belongs to one annotator. A
sign-in depends on the sign-in state: the revision of the password, or the address. When that changes, the
sign-in ends. It also ends when its owner is deactivated, or signs out, which is an event of the project.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.errors import NotFoundError, RefusedError, refuse_problems
from curation.people.annotators import require_author
from curation.people.emails import EmailIdentity, email_problems, find_identity, folded, insert_identity
from curation.store import COMMAND_LINE, Annotator, Cursor, Store, record_event

SIGN_OUT = "sign out"
DEACTIVATE = "deactivate annotator"


class SignInState(NamedTuple):
    """What sign-ins of an annotator depend on; the password revision is -1 without a password.

    deactivations: how often they were deactivated, which ended their sign-ins for good.
    """

    annotator: Annotator
    password_revision: int
    emails: frozenset[str]
    deactivations: int


def add_identity(store: Store, name: str, email: str, author: str = COMMAND_LINE) -> EmailIdentity:
    """Let an annotator sign in as an address; adding it again changes nothing.

    Raises
    ------
    InputError: it is no address.
    NotFoundError: the project does not know the name.
    RefusedError: the address is another annotator's, the name is known only from imported judgments, or the
        author is no lead.
    """
    problems = email_problems(email)
    refuse_problems(problems)
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        row = cursor.execute("SELECT imported FROM annotators WHERE name = ?", [name]).fetchone()
        if row is None:
            raise NotFoundError(
                f"The project does not know the annotator {name}.",
                command="`goldset annotator list` names those it knows.",
            )
        if row[0]:
            raise RefusedError(
                f"{name} is known only from imported judgments. Add them to let them sign in.",
                command=f"`goldset annotator add {name} --email {email}` lets them sign in.",
            )
        added = insert_identity(cursor, name, email)
        record_event(cursor, "add identity", added._asdict(), author)
    return added


def remove_identity(store: Store, name: str, email: str, author: str = COMMAND_LINE) -> EmailIdentity:
    """Take an address away from an annotator; sign-ins by it end.

    Raises
    ------
    NotFoundError: the address is not theirs.
    RefusedError: the author is no lead.
    """
    removed = EmailIdentity(folded(email), name)
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        if find_identity(cursor, email) != removed:
            raise NotFoundError(
                f"{name} does not sign in as {email}.",
                command="`goldset annotator list` names everybody's addresses.",
            )
        cursor.execute("DELETE FROM identities WHERE email = ?", [removed.email])
        record_event(cursor, "remove identity", removed._asdict(), author)
    return removed


def sign_in_states(cursor: Cursor) -> dict[str, SignInState]:
    """The sign-in state of everybody who can sign in, by name."""
    sql = """
        SELECT name, role,
               coalesce((SELECT max(revision) FROM passwords p WHERE p.annotator = a.name), -1),
               coalesce((SELECT list(email) FROM identities i WHERE i.annotator = a.name), []),
               (SELECT count(*) FROM events e WHERE e.action = ? AND e.detail->>'name' = a.name)
        FROM annotators a WHERE NOT imported AND deactivated_at IS NULL
        """
    rows = cursor.execute(sql, [DEACTIVATE]).fetchall()
    return {
        name: SignInState(Annotator(name, role, imported=False), revision, frozenset(emails), deactivations)
        for name, role, revision, emails, deactivations in rows
    }


def end_sign_in(store: Store, name: str, key: str, expires: int) -> None:
    """Store that a sign-in has ended, so that no copy of it is valid; nothing for a sign-in without a key.

    expires: when it would have ended by itself, in seconds since 1970.
    """
    if not key:
        return
    with store.transaction() as cursor:
        record_event(cursor, SIGN_OUT, {"sign_in": key, "expires": expires}, name)


def ended_sign_ins(cursor: Cursor, now: int) -> set[str]:
    """The keys of sign-ins that ended before their time, while that time has not come.

    When somebody signed out is not asked: a clock that was wrong then would let the sign-in revive.
    """
    sql = """
        SELECT detail->>'sign_in' FROM events
        WHERE action = ? AND coalesce((detail->>'expires')::BIGINT > ?, true)
        """
    return {row[0] for row in cursor.execute(sql, [SIGN_OUT, now]).fetchall()}
