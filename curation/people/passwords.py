"""People's passwords, stored as argon2id hashes.

Each new password is a new revision. Passwords are compared in Unicode's form NFC, because keyboards write
accented letters differently.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

import argon2

from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.text import pluralize
from curation.people.sign_ins import UNKNOWN_CLIENT, ClientInfo, delete_sign_ins, open_sign_in
from curation.store import Cursor, Store, fetch, record_event, utc_now

MIN_PASSWORD_LENGTH = 8
_hasher = argon2.PasswordHasher()


class StoredPassword(NamedTuple):
    """A person's newest password, stored as a hash with its revision number."""

    revision: int
    hash: str


def authenticate(store: Store, name: str, password: str, client: ClientInfo = UNKNOWN_CLIENT) -> str | None:
    """Sign in an active person whose name and password match; return the key of the sign-in, or None.

    A wrong password takes as long as a correct password. If the password is changed during the comparison,
    nobody is signed in.
    """
    with store.reading() as cursor:
        current = _read_password(cursor, name)
    if not _is_password(current, password) or current is None:
        return None
    with store.transaction(new_data_version=False) as cursor:
        return open_sign_in(cursor, name, client, revision=current.revision)


def change_password(
    store: Store, name: str, old: str, new: str, client: ClientInfo = UNKNOWN_CLIENT
) -> str | None:
    """Replace a password, given the old one; end all sign-ins, and return the key of a new sign-in.

    The key is None if the person was deactivated at the same time.

    Raises
    ------
    RefusedError: the old password is wrong or missing, or the password was changed at the same time.
    InputError: the new password is too short, or is the same as the old password.
    """
    with store.reading() as cursor:
        current = _read_password(cursor, name)
    if current is None or not _is_password(current, old):
        raise RefusedError("The old password is wrong.")
    if _normalise_password(new) == _normalise_password(old):
        raise InputError("the new password is the same as the old password; expected a different password")
    new_hash = hash_password(new)
    with store.transaction() as cursor:
        if _read_password(cursor, name) != current:
            raise RefusedError("The password was changed in another window. Sign in with the newer password.")
        record_event(cursor, "change password", {"name": name}, name)
        return open_sign_in(cursor, name, client, revision=write_password(cursor, name, new_hash))


def hash_password(password: str) -> str:
    """Hash a password. Hashing is slow: call this function while no database connection is held.

    Raises
    ------
    InputError: the password is too short.
    """
    refuse_problems(find_password_problems(password))
    return _hasher.hash(_normalise_password(password))


def write_password(cursor: Cursor, name: str, password_hash: str) -> int:
    """Store a new password and return its revision; end the person's sign-ins and invitation link."""
    current = _read_password(cursor, name)
    revision = current.revision + 1 if current else 0
    cursor.execute("INSERT INTO passwords VALUES (?, ?, ?, ?)", [name, revision, password_hash, utc_now()])
    cursor.execute("DELETE FROM invitations WHERE annotator = ?", [name])
    delete_sign_ins(cursor, name)
    return revision


def find_password_problems(password: str) -> list[str]:
    """List the problems with a new password."""
    characters = len(_normalise_password(password))
    if characters >= MIN_PASSWORD_LENGTH:
        return []
    return [f"the password has {pluralize(characters, 'character')}: expected at least {MIN_PASSWORD_LENGTH}"]


def _read_password(cursor: Cursor, name: str) -> StoredPassword | None:
    sql = "SELECT revision, hash FROM passwords WHERE annotator = ? ORDER BY revision DESC LIMIT 1"
    return next(iter(fetch(cursor, StoredPassword, sql, [name])), None)


@cache
def _make_dummy_hash() -> str:
    """Make a password hash to compare with for unknown names, so that known names take the same time."""
    return _hasher.hash("nobody")


def _is_password(current: StoredPassword | None, password: str) -> bool:
    """Return whether a text is the person's password; if the person has none, take the same time."""
    dummy_hash = _make_dummy_hash()  # made at the first call, even if the annotator is known
    stored_hash = current.hash if current else dummy_hash
    # older hashes are of the password as it was typed, without normalization
    spellings = dict.fromkeys((_normalise_password(password), password))
    return any(_verify_hash(stored_hash, spelling) for spelling in spellings) and current is not None


def _verify_hash(stored: str, password: str) -> bool:
    try:
        return bool(_hasher.verify(stored, password))
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


def _normalise_password(password: str) -> str:
    return unicodedata.normalize("NFC", password)
