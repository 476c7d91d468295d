"""Passwords: how they are stored, compared and changed.

Passwords are stored as argon2id hashes, a new one as a new revision. They are compared in Unicode's form NFC:
keyboards differ in how they write an accented letter.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import argon2

from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.text import amount
from curation.people.sign_ins import UNKNOWN, Visit, forget_sign_ins, open_sign_in
from curation.store import Cursor, Store, record_event, utc_now

SHORTEST_PASSWORD = 8
_hasher = argon2.PasswordHasher()


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

    The key is None where they were deactivated at once.

    Raises
    ------
    RefusedError: the old password is wrong, there is none, or another change came first.
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
    """The hash to compare with if there is no such annotator, so that both cases take as long."""
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
    if characters >= SHORTEST_PASSWORD:
        return []
    return [f"the password has {amount(characters, 'character')}: expected at least {SHORTEST_PASSWORD}"]
