"""Annotators: names, roles and passwords.

Passwords are kept as argon2id hashes, a new one as a new revision. Annotators that are known only
from imported judgments have no password and cannot sign in.
"""

from __future__ import annotations

import re

import argon2

from curation.errors import InputError, NotFoundError, RefusedError
from curation.store import Cursor, Store, fetch, record_event, utc_now
from curation.store.rows import Annotator

ROLES = ("annotator", "reviewer", "lead")
SHORTEST_PASSWORD = 8

_NAME = re.compile(r"\w[\w.@+-]{0,62}")
_hasher = argon2.PasswordHasher()
_nobody = _hasher.hash("compared against when there is no such annotator, so that both take as long")


def add_annotator(store: Store, name: str, role: str, password: str) -> Annotator:
    """Add somebody who can sign in; who is known from imported judgments keeps them.

    Raises
    ------
    InputError: the name, role or password breaks a rule.
    RefusedError: the name is taken by somebody who can sign in.
    """
    _check(name, role, password)
    hashed = _hasher.hash(password)
    with store.transaction() as cursor:
        known = find_annotator(cursor, name)
        if known is None:
            _insert(cursor, name, role, imported=False)
        elif known.imported:
            cursor.execute("UPDATE annotators SET imported = false, role = ? WHERE name = ?", [role, name])
        else:
            raise RefusedError(f"An annotator {name!r} exists already. Choose another name.")
        cursor.execute("INSERT INTO passwords VALUES (?, 0, ?, ?)", [name, hashed, utc_now()])
        record_event(cursor, "add annotator", {"name": name, "role": role, "was_imported": known is not None})
    return Annotator(name, role, imported=False)


def add_imported(cursor: Cursor, name: str) -> None:
    """Add somebody known only from imported judgments."""
    _insert(cursor, name, "annotator", imported=True)


def find_annotator(cursor: Cursor, name: str) -> Annotator | None:
    """The annotator of that name, or None."""
    sql = "SELECT name, role, imported FROM annotators WHERE name = ?"
    return next(iter(fetch(cursor, Annotator, sql, [name])), None)


def list_annotators(cursor: Cursor) -> list[Annotator]:
    """All annotators by name."""
    return fetch(cursor, Annotator, "SELECT name, role, imported FROM annotators ORDER BY name")


def authenticate(store: Store, name: str, password: str) -> Annotator | None:
    """The annotator, if name and password belong together; it takes as long when they do not."""
    with store.reading() as cursor:
        annotator = find_annotator(cursor, name)
        row = cursor.execute(
            "SELECT hash FROM passwords WHERE annotator = ? ORDER BY revision DESC LIMIT 1", [name]
        ).fetchone()
    try:
        _hasher.verify(row[0] if row else _nobody, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return None
    return annotator if row else None


def require_role(annotator: Annotator, *roles: str) -> None:
    """Refuse what is not this annotator's to do.

    Raises
    ------
    RefusedError: the role is none of `roles`.
    """
    if annotator.role not in roles:
        raise RefusedError(f"This is for the {' or '.join(roles)}; {annotator.name} is {annotator.role}.")


def require_annotators(cursor: Cursor, names: list[str]) -> list[Annotator]:
    """The annotators of these names, in their order.

    Raises
    ------
    NotFoundError: names that the project does not know, all of them, with those it does.
    """
    known = {annotator.name: annotator for annotator in list_annotators(cursor)}
    unknown = [name for name in names if name not in known]
    if unknown:
        have = f"It knows {', '.join(known)}." if known else "It knows nobody yet."
        raise NotFoundError(
            f"The project does not know the annotator{'s' * (len(unknown) > 1)} {', '.join(unknown)}. {have} "
            "Add somebody with `goldset annotator add NAME --role annotator`."
        )
    return [known[name] for name in names]


def _insert(cursor: Cursor, name: str, role: str, *, imported: bool) -> None:
    cursor.execute("INSERT INTO annotators VALUES (?, ?, ?, ?)", [name, role, imported, utc_now()])


def _check(name: str, role: str, password: str) -> None:
    problems = []
    if not _NAME.fullmatch(name):
        problems.append(f"the name {name!r}: expected 1-63 letters, digits and . @ + - _, no spaces")
    if role not in ROLES:
        problems.append(f"the role {role!r}: expected one of {', '.join(ROLES)}")
    if len(password) < SHORTEST_PASSWORD:
        problems.append(f"the password has {len(password)} characters: expected at least {SHORTEST_PASSWORD}")
    if problems:
        raise InputError(problems)
