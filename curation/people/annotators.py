"""Annotators of a project: their names, roles and addresses.

Annotators known only from imported judgments have no password and cannot sign in. A person who signs in
through an identity provider needs no password.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence

from curation.core.characters import describe_lookalike, find_lookalikes
from curation.core.errors import NotFoundError, RefusedError, refuse_problems
from curation.people.sign_ins import hash_password, password_problems, write_password
from curation.store import COMMAND_LINE, Annotator, Cursor, Store, fetch, record_event, utc_now

ROLES = ("annotator", "reviewer", "lead", "evaluator")
# Roles that may see documents to grade; an evaluator scores systems and does not see documents to grade
JUDGING = ("annotator", "reviewer", "lead")
EVALUATING = ("evaluator", "lead")  # roles that may score systems, including on sealed parts of a release
_NAME = re.compile(r"\w[\w.@+-]{0,62}")
_ANNOTATORS = "SELECT name, role, imported, deactivated_at IS NULL FROM annotators"
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def add_annotator(
    store: Store, name: str, role: str, password: str | None, email: str | None = None, by: str = COMMAND_LINE
) -> Annotator:
    """Add a person who signs in by password or by e-mail address.

    Judgments that were imported under this name then belong to the person.

    Raises
    ------
    InputError: the name, role, password or address breaks a rule, or neither a password nor an address is
    given.
    RefusedError: the name or the address belongs to a different person, or the author is not a lead.
    """
    problems = name_problems(name, role)
    if password is None and email is None:
        problems.append("neither a password nor an e-mail address: expected one of them to sign in with")
    problems += [] if password is None else password_problems(password)
    problems += [] if email is None else email_problems(email)
    refuse_problems(problems)
    with store.reading() as cursor:  # before the hash, which takes long
        require_author(cursor, by, "lead")
    hashed = None if password is None else hash_password(password)
    with store.transaction() as cursor:
        require_author(cursor, by, "lead")
        added = insert_annotator(cursor, name, role, by)
        if hashed is not None:
            write_password(cursor, name, hashed)
        if email is not None:
            names = {person.name: person.name for person in list_annotators(cursor)}
            _refuse_alike("address", folded(email), names, name)
            insert_identity(cursor, name, email)
    return added


def names_in_use(cursor: Cursor) -> dict[str, str]:
    """Return the person's name for each known name and e-mail address."""
    return known_addresses(cursor) | {person.name: person.name for person in list_annotators(cursor)}


def insert_annotator(cursor: Cursor, name: str, role: str, author: str) -> Annotator:
    """Add a person without a way to sign in; imported judgments under this name become the person's.

    Raises
    ------
    RefusedError: the name is taken, or looks the same as a different person's name.
    """
    known = find_annotator(cursor, name)
    if known is None:
        _refuse_alike("name", name, names_in_use(cursor), name)
        _insert_row(cursor, name, role, imported=False)
    elif known.imported:
        cursor.execute("UPDATE annotators SET imported = false, role = ? WHERE name = ?", [role, name])
    elif not known.active:
        raise RefusedError(
            f"An annotator {name!r} exists already and is deactivated. "
            "Activate this person, or choose a different name.",
            command=f"`goldgrade people set {name} --activate` lets this person sign in again.",
        )
    else:
        raise RefusedError(f"An annotator {name!r} exists already. Choose another name.")
    detail = {"name": name, "role": role, "was_imported": known is not None}
    record_event(cursor, "add annotator", detail, author)
    return Annotator(name, role, imported=False)


def add_imported(cursor: Cursor, name: str) -> None:
    """Add a person who is known only from imported judgments."""
    _insert_row(cursor, name, "annotator", imported=True)


def find_annotator(cursor: Cursor, name: str) -> Annotator | None:
    """Return the annotator with this name, or None."""
    return next(iter(fetch(cursor, Annotator, f"{_ANNOTATORS} WHERE name = ?", [name])), None)


def list_annotators(cursor: Cursor) -> list[Annotator]:
    """Return all annotators by name."""
    return fetch(cursor, Annotator, f"{_ANNOTATORS} ORDER BY name")


def able_to_judge(cursor: Cursor) -> list[Annotator]:
    """Return the people who can get documents to grade, by name: active people with a role that may judge."""
    return [
        annotator
        for annotator in list_annotators(cursor)
        if annotator.role in JUDGING and annotator.active and not annotator.imported
    ]


def usual_names(people: Iterable[Annotator]) -> list[str]:
    """Return the names that a form proposes as graders: people with the role annotator."""
    return [person.name for person in people if person.role == "annotator"]


def require_role(annotator: Annotator, *roles: str) -> None:
    """Refuse an action that the annotator's role does not allow, or that a deactivated person asks for.

    Raises
    ------
    RefusedError: the role is not among `roles`, or the annotator is deactivated.
    """
    if not annotator.active:
        raise RefusedError(f"{annotator.name} is deactivated. A lead can activate this person again.")
    if annotator.role not in roles:
        raise RefusedError(f"This is for the {' or '.join(roles)}; {annotator.name} is {annotator.role}.")


def require_author(cursor: Cursor, author: str, *roles: str) -> None:
    """Refuse an action that the author's role does not allow; the command line has the rights of a lead.

    Raises
    ------
    NotFoundError: the project does not know the author.
    RefusedError: the author's role is not among `roles`, or the author is deactivated.
    """
    if author != COMMAND_LINE:  # no annotator can have this name: it holds a space
        require_role(require_annotators(cursor, [author])[0], *roles)


def require_annotators(cursor: Cursor, names: Sequence[str]) -> list[Annotator]:
    """Return the annotators with these names, in the order of the names.

    Raises
    ------
    NotFoundError: names are unknown; the error lists the unknown and the known names.
    """
    known = {annotator.name: annotator for annotator in list_annotators(cursor)}
    unknown = [name for name in names if name not in known]
    if unknown:
        plural = "s" if len(unknown) > 1 else ""
        have = f"It knows {', '.join(known)}." if known else "No annotators are known yet."
        for name, other in find_lookalikes(unknown, known).items():
            have += f" {name!r} differs from {other!r} by {describe_lookalike(name, other)}."
        raise NotFoundError(
            f"The project does not know the annotator{plural} {', '.join(unknown)}. {have}",
            command="Add an annotator with `goldgrade people add NAME --role annotator`.",
        )
    return [known[name] for name in names]


def name_problems(name: str, role: str) -> list[str]:
    """Return the problems of a new person's name and role."""
    problems = []
    if not _NAME.fullmatch(name):
        problems.append(f"the name {name!r}: expected 1-63 letters, digits and . @ + - _, no spaces")
    if role not in ROLES:
        problems.append(f"the role {role!r}: expected one of {', '.join(ROLES)}")
    return problems


def insert_identity(cursor: Cursor, name: str, email: str) -> dict[str, str]:
    """Store an annotator's address; return the stored address and the name.

    Raises
    ------
    RefusedError: the address belongs to a different annotator.
    """
    address, owner = folded(email), owner_of_address(cursor, email)
    if owner not in (None, name):
        raise RefusedError(f"The address {address} is {owner}'s already.")
    if owner is None:
        cursor.execute("INSERT INTO identities VALUES (?, ?, ?, NULL, NULL)", [address, name, utc_now()])
    return {"email": address, "annotator": name}


def owner_of_address(cursor: Cursor, email: str) -> str | None:
    """Return the name of the annotator with this e-mail address, or None."""
    row = cursor.execute("SELECT annotator FROM identities WHERE email = ?", [folded(email)]).fetchone()
    return row[0] if row else None


def looks_like_an_address(cursor: Cursor, email: str) -> str:
    """Return the difference between an unknown address and a known address that looks the same; '' without
    such an address.
    """
    address = folded(email)
    lookalikes = find_lookalikes([address], known_addresses(cursor))
    return describe_lookalike(address, lookalikes.get(address, address))


def email_problems(email: str) -> list[str]:
    """Return the problems of an e-mail address."""
    if _EMAIL.fullmatch(email) and email.isprintable():
        return []
    return [f"the e-mail address {email!r}: expected an address such as ada@example.org"]


def folded(email: str) -> str:
    """Return an e-mail address in the form in which addresses are stored and compared."""
    return email.strip().translate(_LOWER)


def known_addresses(cursor: Cursor) -> dict[str, str]:
    return dict(cursor.execute("SELECT email, annotator FROM identities ORDER BY email").fetchall())


def _refuse_alike(what: str, text: str, person_of: Mapping[str, str], name: str) -> None:
    """Refuse a name or address of the person `name` if a different person's name or address looks the same.

    Raises
    ------
    RefusedError: the name or address looks the same.
    """
    known_texts = {known: person for known, person in person_of.items() if person != name}
    lookalike = text if text in known_texts else find_lookalikes([text], known_texts).get(text)
    if lookalike is None:
        return
    person, differs = known_texts[lookalike], describe_lookalike(text, lookalike)
    problem = f"differs from {lookalike!r} by {differs}" if differs else "is already in use as a name"
    owner = f"; that is the address of {person!r}" if person != lookalike else ""
    raise RefusedError(
        f"The {what} {text!r} {problem}{owner}. One person has one name, to which judgments belong: use "
        f"{person!r} for the same person. A different person needs a {what} that looks different.",
        command="`goldgrade people list` shows who is known.",
    )


def _insert_row(cursor: Cursor, name: str, role: str, *, imported: bool) -> None:
    cursor.execute("INSERT INTO annotators VALUES (?, ?, ?, ?, NULL)", [name, role, imported, utc_now()])
