"""Identities: the e-mail addresses by which annotators sign in through an identity provider.

The provider verifies the address, and the project says whose it is; an address belongs to one annotator. When
it is taken away, sign-ins by it end.
"""

from __future__ import annotations

from curation.core.errors import NotFoundError, RefusedError, refuse_problems
from curation.people.annotators import require_annotators, require_author
from curation.people.email_addresses import (
    EmailIdentity,
    email_problems,
    find_identity,
    folded,
    insert_identity,
    looks_like_an_address,
)
from curation.people.sign_ins import Visit, forget_sign_ins, open_sign_in
from curation.store import COMMAND_LINE, Store, record_event


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
        if require_annotators(cursor, [name])[0].imported:
            raise RefusedError(
                f"{name} is known only from imported judgments. Add them to let them sign in.",
                command=f"`goldgrade annotator add {name} --email {email}` lets them sign in.",
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
                command="`goldgrade annotator list` names everybody's addresses.",
            )
        cursor.execute("DELETE FROM identities WHERE email = ?", [removed.email])
        forget_sign_ins(cursor, name, email=removed.email)
        record_event(cursor, "remove identity", removed._asdict(), author)
    return removed


_BRING = """
UPDATE identities SET issuer = $issuer, subject = $subject WHERE email = $email AND issuer IS NULL
"""


_OTHERS = "FROM identities WHERE email = $email AND (issuer, subject) <> ($issuer, $subject)"


def sign_in_as(store: Store, email: str, issuer: str, subject: str, visit: Visit) -> str | None:
    """Sign in whose address it is that a provider confirmed; returns the key, None where it is nobody's.

    The first account of a provider (`iss` and `sub` of its token) that brings an address keeps it: another
    provider may give the same address to somebody else.

    Raises
    ------
    RefusedError: another account brought the address first; or the address differs from a known one by its
        form alone.
    """
    with store.transaction(new_data_version=False) as cursor:
        identity = find_identity(cursor, email)
        if identity is None:
            if differs := looks_like_an_address(cursor, email):
                raise RefusedError(
                    f"{email} differs from an address that the project knows by {differs}, so it is nobody's "
                    "here. Ask the lead of the project to add it as it is."
                )
            return None
        known = {"issuer": issuer, "subject": subject, "email": identity.email}
        cursor.execute(_BRING, known)
        if cursor.execute(_OTHERS, known).fetchall():
            raise RefusedError(
                f"{identity.email} belongs to another account, of this provider or another, that came first. "
                "Ask the lead of the project: removed and added again, the address goes to who comes next."
            )
        return open_sign_in(cursor, identity.annotator, visit, identity.email)
