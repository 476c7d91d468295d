"""E-mail addresses with which people sign in through an identity provider.

An address belongs to one person. A person who signs in by address does not need a password.
"""

from __future__ import annotations

import re
import string

from curation.core.characters import describe_lookalike, find_lookalikes
from curation.core.errors import NotFoundError, RefusedError, refuse_problems
from curation.people.annotators import require_annotators, require_author
from curation.people.sign_ins import ClientInfo, delete_sign_ins, open_sign_in
from curation.store import COMMAND_LINE, Cursor, Store, record_event, utc_now

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_CLAIM_ADDRESS = """
UPDATE identities SET issuer = $issuer, subject = $subject WHERE email = $email AND issuer IS NULL
"""
_OTHER_CLAIMS = "FROM identities WHERE email = $email AND (issuer, subject) <> ($issuer, $subject)"


def add_address(store: Store, name: str, email: str, author: str = COMMAND_LINE) -> dict[str, str]:
    """Add an e-mail address with which an annotator can sign in; adding it again changes nothing.

    Raises
    ------
    InputError: the text is not an e-mail address.
    NotFoundError: the project does not know the name.
    RefusedError: the address belongs to a different annotator, the name is known only from imported
        judgments, or the author is not a lead.
    """
    refuse_problems(find_address_problems(email))
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        if require_annotators(cursor, [name])[0].imported:
            raise RefusedError(
                f"{name} is known only from imported judgments. Add the person before the first sign-in.",
                command=f"`goldgrade people add {name} --email {email}` lets the person sign in.",
            )
        added = insert_address(cursor, name, email)
        record_event(cursor, "add identity", added, author)
    return added


def remove_address(store: Store, name: str, email: str, author: str = COMMAND_LINE) -> dict[str, str]:
    """Remove an annotator's e-mail address, and end the sign-ins with it.

    Raises
    ------
    NotFoundError: the annotator does not have the address.
    RefusedError: the author is not a lead.
    """
    removed = {"email": normalise_address(email), "annotator": name}
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        if find_address_owner(cursor, email) != name:
            raise NotFoundError(
                f"{name} does not sign in as {email}.",
                command="`goldgrade people list` lists everybody's addresses.",
            )
        cursor.execute("DELETE FROM identities WHERE email = ?", [removed["email"]])
        delete_sign_ins(cursor, name, email=removed["email"])
        record_event(cursor, "remove identity", removed, author)
    return removed


def sign_in_by_address(store: Store, email: str, issuer: str, subject: str, client: ClientInfo) -> str | None:
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
        address = normalise_address(email)
        owner = find_address_owner(cursor, email)
        if owner is None:
            difference = describe_similar_address(cursor, email)
            if difference:
                raise RefusedError(
                    f"No account has the address {email}; a known address differs from it by {difference}. "
                    "Ask the lead of the project to add exactly this address."
                )
            return None
        claim = {"issuer": issuer, "subject": subject, "email": address}
        cursor.execute(_CLAIM_ADDRESS, claim)
        if cursor.execute(_OTHER_CLAIMS, claim).fetchall():
            raise RefusedError(
                f"{address} belongs to a different account, which used it first. "
                "Ask the lead of the project to remove the address and add it again: the address then "
                "belongs to the next account that uses it."
            )
        return open_sign_in(cursor, owner, client, address)


def insert_address(cursor: Cursor, name: str, email: str) -> dict[str, str]:
    """Store an annotator's e-mail address; return the stored address and the annotator's name.

    Raises
    ------
    RefusedError: the address belongs to a different annotator.
    """
    address = normalise_address(email)
    owner = find_address_owner(cursor, email)
    if owner not in (None, name):
        raise RefusedError(f"The address {address} already belongs to {owner}.")
    if owner is None:
        cursor.execute("INSERT INTO identities VALUES (?, ?, ?, NULL, NULL)", [address, name, utc_now()])
    return {"email": address, "annotator": name}


def read_address_owners(cursor: Cursor) -> dict[str, str]:
    """Map each e-mail address to its person's name."""
    return dict(cursor.execute("SELECT email, annotator FROM identities ORDER BY email").fetchall())


def find_address_owner(cursor: Cursor, email: str) -> str | None:
    """Find the annotator with an e-mail address; None if nobody does."""
    return read_address_owners(cursor).get(normalise_address(email))


def describe_similar_address(cursor: Cursor, email: str) -> str:
    """Describe how an unknown e-mail address differs from a known address that looks the same; '' if none
    does.
    """
    address = normalise_address(email)
    lookalikes = find_lookalikes([address], read_address_owners(cursor))
    return describe_lookalike(address, lookalikes.get(address, address))


def find_address_problems(email: str) -> list[str]:
    """List the problems with an e-mail address."""
    if _EMAIL.fullmatch(email) and email.isprintable():
        return []
    return [f"the e-mail address {email!r}: expected an address such as ada@example.org"]


def normalise_address(email: str) -> str:
    """Convert an e-mail address to the form in which addresses are stored and compared."""
    return email.strip().translate(_LOWER)
