"""E-mail addresses: whose each is.

Only ASCII letters are compared without regard to case. Unicode has letters whose lower case is an ASCII
letter, such as the Kelvin sign: an address with one of them is another mailbox.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.text import alike, difference_of_form
from curation.store import Cursor, fetch, utc_now

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class EmailIdentity(NamedTuple):
    """An address, its ASCII letters in lower case, and whose it is."""

    email: str
    annotator: str


def insert_identity(cursor: Cursor, name: str, email: str) -> EmailIdentity:
    """Give an address to an annotator who is known to exist.

    Raises
    ------
    RefusedError: the address is another annotator's.
    """
    added = EmailIdentity(folded(email), name)
    known = find_identity(cursor, email)
    if known is not None and known != added:
        raise RefusedError(f"The address {added.email} is {known.annotator}'s already.")
    if known is None:
        cursor.execute("INSERT INTO identities VALUES (?, ?, ?, NULL, NULL)", [*added, utc_now()])
    return added


def find_identity(cursor: Cursor, email: str) -> EmailIdentity | None:
    """Whose an address is, or None."""
    sql = "SELECT email, annotator FROM identities WHERE email = ?"
    return next(iter(fetch(cursor, EmailIdentity, sql, [folded(email)])), None)


def looks_like_an_address(cursor: Cursor, email: str) -> str:
    """By what alone an address that nobody has differs from one that somebody has; '' where it does not."""
    address = folded(email)
    return difference_of_form(address, alike([address], known_addresses(cursor)).get(address, address))


def email_problems(email: str) -> list[str]:
    """What is wrong with an address, as sentences for an `InputError`."""
    if _EMAIL.fullmatch(email) and email.isprintable():
        return []
    return [f"the e-mail address {email!r}: expected one like ada@example.org"]


def folded(email: str) -> str:
    """An address as it is stored and compared."""
    return email.strip().translate(_LOWER)


def known_addresses(cursor: Cursor) -> dict[str, str]:
    return dict(cursor.execute("SELECT email, annotator FROM identities ORDER BY email").fetchall())
