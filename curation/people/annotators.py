"""Annotators of a project with their roles, and the actions that each role allows.

Annotators who are known only from imported judgments cannot sign in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from curation.core.characters import describe_lookalike, find_lookalikes
from curation.core.errors import NotFoundError, RefusedError
from curation.store import COMMAND_LINE, Annotator, Cursor, fetch, utc_now

ROLES = ("annotator", "reviewer", "lead", "evaluator")
# roles that may see documents to grade; evaluators score systems and do not see these documents
JUDGING_ROLES = ("annotator", "reviewer", "lead")
REVIEWERS = ("reviewer", "lead")  # roles that decide disputed pairs
EVALUATING_ROLES = (
    "evaluator",
    "lead",
)  # roles that may score systems, including on sealed parts of a release
_ANNOTATORS = "SELECT name, role, imported, deactivated_at IS NULL FROM annotators"


def find_annotator(cursor: Cursor, name: str) -> Annotator | None:
    """Find the annotator with this name; None if nobody has the name."""
    return next(iter(fetch(cursor, Annotator, f"{_ANNOTATORS} WHERE name = ?", [name])), None)


def list_annotators(cursor: Cursor) -> list[Annotator]:
    """List all annotators by name."""
    return fetch(cursor, Annotator, f"{_ANNOTATORS} ORDER BY name")


def list_eligible_annotators(cursor: Cursor) -> list[Annotator]:
    """List the people who can be given documents to grade, by name: active people with a role that may
    judge."""
    return [
        annotator
        for annotator in list_annotators(cursor)
        if annotator.role in JUDGING_ROLES and annotator.active and not annotator.imported
    ]


def select_default_names(people: Iterable[Annotator]) -> list[str]:
    """List the people whom a form proposes for grading: everybody with the role annotator."""
    return [person.name for person in people if person.role == "annotator"]


def require_role(annotator: Annotator, *roles: str) -> None:
    """Reject an action that the annotator's role does not allow, or that a deactivated person asks for.

    Raises
    ------
    RefusedError: the role is not among `roles`, or the annotator is deactivated.
    """
    if not annotator.active:
        raise RefusedError(f"{annotator.name} is deactivated. A lead can activate this person again.")
    if annotator.role not in roles:
        raise RefusedError(
            f"This action needs the role {' or '.join(roles)}; {annotator.name} is {annotator.role}."
        )


def require_author(cursor: Cursor, author: str, *roles: str) -> None:
    """Reject an action that its author's role does not allow; the command line has the rights of a lead.

    Raises
    ------
    NotFoundError: the project does not know the author.
    RefusedError: the author's role is not among `roles`, or the author is deactivated.
    """
    if author != COMMAND_LINE:  # no annotator can have this name, because it contains a space
        require_role(require_annotators(cursor, [author])[0], *roles)


def require_annotators(cursor: Cursor, names: Sequence[str]) -> list[Annotator]:
    """Find the annotators with these names, in the order of the names.

    Raises
    ------
    NotFoundError: names are unknown; the error lists the unknown and the known names.
    """
    known = {annotator.name: annotator for annotator in list_annotators(cursor)}
    unknown = [name for name in names if name not in known]
    if unknown:
        plural = "s" if len(unknown) > 1 else ""
        have = f"Known annotators: {', '.join(known)}." if known else "The project has no annotators yet."
        for name, other in find_lookalikes(unknown, known).items():
            have += f" {name!r} differs from {other!r} by {describe_lookalike(name, other)}."
        raise NotFoundError(
            f"The project does not know the annotator{plural} {', '.join(unknown)}. {have}",
            command="Add an annotator with `goldgrade people add NAME --role annotator`.",
        )
    return [known[name] for name in names]


def add_imported_annotator(cursor: Cursor, name: str) -> None:
    """Add an annotator who is known only from imported judgments."""
    insert_annotator(cursor, name, "annotator", imported=True)


def insert_annotator(cursor: Cursor, name: str, role: str, *, imported: bool) -> None:
    """Store a new annotator; `imported` says whether the annotator is known only from imported judgments."""
    cursor.execute("INSERT INTO annotators VALUES (?, ?, ?, ?, NULL)", [name, role, imported, utc_now()])
