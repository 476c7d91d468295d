"""Signing in: passwords as they are stored and compared, and who is signed in, where and since when.

A sign-in is open while its row is there. The cookie of the browser has a key, and the row the key's hash: who
reads the project can sign in nowhere with it. Ending one deletes its row, so that neither a clock that was
wrong nor a copy of the cookie brings it back.

Passwords are stored as argon2id hashes, a new one as a new revision. They are compared in Unicode's form NFC:
keyboards differ in how they write an accented letter.
"""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

import argon2

from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.text import pluralize
from curation.store import Annotator, Cursor, Store, fetch, record_event, utc_now

SIGN_IN_SECONDS = 12 * 60 * 60
"""Seconds for which a sign-in lasts: a working day."""
_OPEN = """
INSERT INTO sign_ins
SELECT ?, name, ?, ?, ?, ?, ?, ? FROM annotators a
WHERE name = ? AND NOT imported AND deactivated_at IS NULL
  AND (?::INTEGER IS NULL OR ? = (SELECT max(revision) FROM passwords p WHERE p.annotator = a.name))
RETURNING 1
"""
_SIGNED_IN = """
SELECT sign_in_id, name, role FROM sign_ins JOIN annotators ON annotator = name
WHERE NOT imported AND deactivated_at IS NULL
"""
_LIST = """
SELECT sign_in_id, annotator, email, device, network, since, last_used FROM sign_ins
WHERE annotator = coalesce(?, annotator) AND expires > ? ORDER BY last_used DESC, since DESC, sign_in_id
"""
_FORGET = """
DELETE FROM sign_ins WHERE annotator = $name AND starts_with(sign_in_id, $begins) AND sign_in_id <> $but
  AND ($email::TEXT IS NULL OR email = $email) RETURNING 1
"""
_USED = "UPDATE sign_ins SET last_used = ? WHERE sign_in_id = ANY(?::TEXT[])"
MIN_PASSWORD_LENGTH = 8
_hasher = argon2.PasswordHasher()


class Visit(NamedTuple):
    """What is known of a browser: its name and system, and the network that it is in."""

    device: str = ""
    network: str = ""


UNKNOWN = Visit()


class OpenSignIn(NamedTuple):
    """A sign-in as people see it; `email` is None for one by password."""

    sign_in_id: str
    annotator: str
    email: str | None
    device: str
    network: str
    since: datetime
    last_used: datetime

    @property
    def place(self) -> str:
        """Return the browser, and the network it is in."""
        return f"{self.device} at {self.network}" if self.network else self.device

    @property
    def times(self) -> str:
        """Since when, and when last, in words."""
        return f"since {self.since:%d %b %H:%M}, last used {self.last_used:%d %b %H:%M} UTC"


def id_of(key: str) -> str:
    """What a sign-in is known by, which tells nothing of its key."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def open_sign_in(
    cursor: Cursor, name: str, visit: Visit, email: str | None = None, revision: int | None = None
) -> str | None:
    """Open a sign-in and return its key; None if they cannot sign in, or have a newer password.

    revision: of the password that was right; None for who needed none.
    """
    key, now = secrets.token_hex(16), utc_now()
    cursor.execute("DELETE FROM sign_ins WHERE expires < ?", [now])
    times = [now, now, now + timedelta(seconds=SIGN_IN_SECONDS)]
    opened = cursor.execute(_OPEN, [id_of(key), email, *visit, *times, name, revision, revision]).fetchall()
    return key if opened else None


def signed_in(cursor: Cursor) -> dict[str, Annotator]:
    """Return the person of each open sign-in, by its id."""
    rows = cursor.execute(_SIGNED_IN).fetchall()
    return {sign_in_id: Annotator(name, role, imported=False) for sign_in_id, name, role in rows}


def list_sign_ins(cursor: Cursor, name: str | None = None) -> list[OpenSignIn]:
    """Open sign-ins, of one person or of all, the one used last first."""
    return fetch(cursor, OpenSignIn, _LIST, [name, utc_now()])


def forget_sign_ins(
    cursor: Cursor, name: str, begins: str = "", email: str | None = None, but: str = ""
) -> int:
    """End somebody's sign-ins and return how many.

    Parameters
    ----------
    begins: how the id begins of the one to end; '' for all.
    email: an address; None for all, those by password, too.
    but: the id of one that goes on.
    """
    known = {"name": name, "begins": begins, "email": email, "but": but}
    return len(cursor.execute(_FORGET, known).fetchall())


def note_use(store: Store, ids: Collection[str]) -> None:
    """Store that these sign-ins have been used by now."""
    with store.transaction(new_data_version=False) as cursor:
        cursor.execute(_USED, [utc_now(), list(ids)])


def authenticate(store: Store, name: str, password: str, visit: Visit = UNKNOWN) -> str | None:
    """Sign somebody in, if name and password match and they are active; returns the key of the sign-in.

    A mismatch takes as long as a match. A password that changes meanwhile is a mismatch.
    """
    with store.reading() as cursor:
        current = _current_password(cursor, name)
    if not _fits(current, password) or current is None:
        return None
    with store.transaction(new_data_version=False) as cursor:
        return open_sign_in(cursor, name, visit, revision=current[0])


def change_password(store: Store, name: str, old: str, new: str, visit: Visit = UNKNOWN) -> str | None:
    """Replace a password, given the old one. All their sign-ins end; returns the key of a new one.

    The key is None if they were deactivated at once.

    Raises
    ------
    RefusedError: the old password is wrong or missing, or another change came first.
    InputError: the new password is too short, or is the old one.
    """
    with store.reading() as cursor:
        current = _current_password(cursor, name)
    if current is None or not _fits(current, old):
        raise RefusedError("The old password is not right.")
    if _nfc(new) == _nfc(old):
        raise InputError("the new password is the old one: expected another")
    hashed = hash_password(new)
    with store.transaction() as cursor:
        if _current_password(cursor, name) != current:
            raise RefusedError("The password was changed meanwhile. Sign in with the newer one.")
        record_event(cursor, "change password", {"name": name}, name)
        return open_sign_in(cursor, name, visit, revision=write_password(cursor, name, hashed))


def _current_password(cursor: Cursor, name: str) -> tuple[int, str] | None:
    sql = "SELECT revision, hash FROM passwords WHERE annotator = ? ORDER BY revision DESC LIMIT 1"
    return cursor.execute(sql, [name]).fetchone()


@cache
def _nobody() -> str:
    """Return the hash to compare with if there is no such annotator, so that both cases take as long."""
    return _hasher.hash("nobody")


def _fits(current: tuple[int, str] | None, password: str) -> bool:
    nobody = _nobody()  # made at the first call, whether the annotator is known or not
    stored = current[1] if current else nobody
    forms = dict.fromkeys((_nfc(password), password))  # older hashes are of the password as it was typed
    return any(_verify(stored, form) for form in forms) and current is not None


def _verify(stored: str, password: str) -> bool:
    try:
        return bool(_hasher.verify(stored, password))
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


def hash_password(password: str) -> str:
    """What is stored of a password. It takes long: call it outside of leases.

    Raises
    ------
    InputError: the password is too short.
    """
    refuse_problems(password_problems(password))
    return _hasher.hash(_nfc(password))


def write_password(cursor: Cursor, name: str, hashed: str) -> int:
    """Store a new password and return its revision. Their sign-ins end, and a link to choose one is over."""
    current = _current_password(cursor, name)
    revision = current[0] + 1 if current else 0
    cursor.execute("INSERT INTO passwords VALUES (?, ?, ?, ?)", [name, revision, hashed, utc_now()])
    cursor.execute("DELETE FROM invitations WHERE annotator = ?", [name])
    forget_sign_ins(cursor, name)
    return revision


def _nfc(password: str) -> str:
    return unicodedata.normalize("NFC", password)


def password_problems(password: str) -> list[str]:
    characters = len(_nfc(password))
    if characters >= MIN_PASSWORD_LENGTH:
        return []
    return [f"the password has {pluralize(characters, 'character')}: expected at least {MIN_PASSWORD_LENGTH}"]
