"""Sign-ins of people, and the passwords that open them.

A sign-in is open while its row in the database exists. The browser's cookie holds a key, and the row holds
only a hash of the key, with which nobody can sign in. Ending a sign-in deletes its row, so that neither a
wrong clock nor a copy of the cookie can open the sign-in again.

Passwords are stored as argon2id hashes, each new password as a new revision. Passwords are compared in
Unicode's form NFC, because keyboards write accented letters differently.
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

SIGN_IN_SECONDS = 12 * 60 * 60  # duration of a sign-in in seconds: a working day
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
    """Description of a browser: name, operating system and network."""

    device: str = ""
    network: str = ""


UNKNOWN = Visit()


class OpenSignIn(NamedTuple):
    """An open sign-in, as shown to people; `email` is None for a sign-in by password."""

    sign_in_id: str
    annotator: str
    email: str | None
    device: str
    network: str
    since: datetime
    last_used: datetime

    @property
    def place(self) -> str:
        """Return the browser of the sign-in and its network, as text."""
        return f"{self.device} at {self.network}" if self.network else self.device

    @property
    def times(self) -> str:
        """Return the times of the beginning and the last use of the sign-in, as text."""
        return f"since {self.since:%d %b %H:%M}, last used {self.last_used:%d %b %H:%M} UTC"


def id_of(key: str) -> str:
    """Return the id of a sign-in: a hash that does not reveal the key of the sign-in."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def open_sign_in(
    cursor: Cursor, name: str, visit: Visit, email: str | None = None, revision: int | None = None
) -> str | None:
    """Open a sign-in and return its key; None if the person cannot sign in, or has a newer password.

    revision: revision of the compared password; None for a sign-in without a password.
    """
    key, now = secrets.token_hex(16), utc_now()
    cursor.execute("DELETE FROM sign_ins WHERE expires < ?", [now])
    times = [now, now, now + timedelta(seconds=SIGN_IN_SECONDS)]
    opened = cursor.execute(_OPEN, [id_of(key), email, *visit, *times, name, revision, revision]).fetchall()
    return key if opened else None


def signed_in(cursor: Cursor) -> dict[str, Annotator]:
    """Return the name of the person of each open sign-in, by the sign-in's id."""
    rows = cursor.execute(_SIGNED_IN).fetchall()
    return {sign_in_id: Annotator(name, role, imported=False) for sign_in_id, name, role in rows}


def list_sign_ins(cursor: Cursor, name: str | None = None) -> list[OpenSignIn]:
    """Return the open sign-ins of one person or all people, sorted by last use."""
    return fetch(cursor, OpenSignIn, _LIST, [name, utc_now()])


def forget_sign_ins(
    cursor: Cursor, name: str, begins: str = "", email: str | None = None, but: str = ""
) -> int:
    """End a person's sign-ins and return the number of ended sign-ins.

    Parameters
    ----------
    begins: beginning of the id of one sign-in; '' for all.
    email: address of the sign-ins; None for all, including sign-ins by password.
    but: id of a sign-in that stays open.
    """
    known = {"name": name, "begins": begins, "email": email, "but": but}
    return len(cursor.execute(_FORGET, known).fetchall())


def note_use(store: Store, ids: Collection[str]) -> None:
    """Store the current time as the last use of these sign-ins."""
    with store.transaction(new_data_version=False) as cursor:
        cursor.execute(_USED, [utc_now(), list(ids)])


def authenticate(store: Store, name: str, password: str, visit: Visit = UNKNOWN) -> str | None:
    """Sign an active person in if name and password match; return the key of the sign-in, or None.

    A wrong password takes as long as a correct password. If the password is changed during the comparison,
    nobody is signed in.
    """
    with store.reading() as cursor:
        current = _current_password(cursor, name)
    if not _password_fits(current, password) or current is None:
        return None
    with store.transaction(new_data_version=False) as cursor:
        return open_sign_in(cursor, name, visit, revision=current[0])


def change_password(store: Store, name: str, old: str, new: str, visit: Visit = UNKNOWN) -> str | None:
    """Replace a password, given the old password; end all sign-ins, and return the key of a new sign-in.

    The key is None if the person was deactivated at the same time.

    Raises
    ------
    RefusedError: the old password is wrong or missing, or the password was changed at the same time.
    InputError: the new password is too short, or is the same as the old password.
    """
    with store.reading() as cursor:
        current = _current_password(cursor, name)
    if current is None or not _password_fits(current, old):
        raise RefusedError("The old password is wrong.")
    if _in_nfc(new) == _in_nfc(old):
        raise InputError("the new password is the same as the old password; expected a different password")
    new_hash = hash_password(new)
    with store.transaction() as cursor:
        if _current_password(cursor, name) != current:
            raise RefusedError("The password was changed at the same time. Sign in with the newer password.")
        record_event(cursor, "change password", {"name": name}, name)
        return open_sign_in(cursor, name, visit, revision=write_password(cursor, name, new_hash))


def hash_password(password: str) -> str:
    """Return the hash of a password. Hashing is slow: call this function while no database connection is
    held.

    Raises
    ------
    InputError: the password is too short.
    """
    refuse_problems(password_problems(password))
    return _hasher.hash(_in_nfc(password))


def write_password(cursor: Cursor, name: str, hashed: str) -> int:
    """Store a new password and return its revision; end the person's sign-ins and link."""
    current = _current_password(cursor, name)
    revision = current[0] + 1 if current else 0
    cursor.execute("INSERT INTO passwords VALUES (?, ?, ?, ?)", [name, revision, hashed, utc_now()])
    cursor.execute("DELETE FROM invitations WHERE annotator = ?", [name])
    forget_sign_ins(cursor, name)
    return revision


def password_problems(password: str) -> list[str]:
    characters = len(_in_nfc(password))
    if characters >= MIN_PASSWORD_LENGTH:
        return []
    return [f"the password has {pluralize(characters, 'character')}: expected at least {MIN_PASSWORD_LENGTH}"]


def _current_password(cursor: Cursor, name: str) -> tuple[int, str] | None:
    sql = "SELECT revision, hash FROM passwords WHERE annotator = ? ORDER BY revision DESC LIMIT 1"
    return cursor.execute(sql, [name]).fetchone()


@cache
def _hash_of_nobody() -> str:
    """Return a password hash to compare with if the annotator is unknown, so that unknown and known names
    take the same time.
    """
    return _hasher.hash("nobody")


def _password_fits(current: tuple[int, str] | None, password: str) -> bool:
    nobody = _hash_of_nobody()  # made at the first call, whether the annotator is known or not
    stored_hash = current[1] if current else nobody
    forms = dict.fromkeys((_in_nfc(password), password))  # older hashes are of the password as it was typed
    return any(_verify_hash(stored_hash, form) for form in forms) and current is not None


def _verify_hash(stored: str, password: str) -> bool:
    try:
        return bool(_hasher.verify(stored, password))
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


def _in_nfc(password: str) -> str:
    return unicodedata.normalize("NFC", password)
