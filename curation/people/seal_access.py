"""Access to sealed grades: whether a command, page, report, export, job or route may show a pair's grades.

A release seals parts of its queries. A sealed grade is secret in the release, and in the votes, decisions,
practice pairs and written answers of the project. A function that shows grades of a pair consults a
`SealAccess`, which hides the grades of sealed queries until a person gives a reason. `unseal` records person,
time, purpose and reason before any grade is shown. Reviewers must read the pairs that they decide:
`unseal_for_reviewer` unseals these pairs, and records the access once a day.

Statistics over many pairs, and the grades that a person gave, are not sealed from that person. A seal does
not stop a person who can open the project's file, and names on the command line are not verified.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from curation.core.errors import RefusedError
from curation.core.text import pluralize
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, append, fetch, record_event, utc_now
from curation.store.release_parts import PartText, read_parts

# name of the part that is always sealed, even in releases that were frozen before seals existed
TEST = "test"
SEALED = "sealed"  # replaces the origin of a sealed grade in a list of pairs; the grade is then None
LEAVES_OUT = "a release seals its judgments"  # reason for leaving out sealed pairs
ADJUDICATION = "adjudication"
REVIEWING = "To decide disputes in the app (logged once a day)."


class Unsealing(NamedTuple):
    """A record that a seal was opened; `name` is the requested name of the release, `parts` are the opened
    parts.
    """

    release_id: str
    name: str
    parts: list[str]
    purpose: str
    reason: str
    opened_by: str
    opened_at: datetime


class ReleaseSeal(NamedTuple):
    """The seal of a release, with the sealed part of each sealed query. `name` is the first name under which
    the content of the release was frozen.
    """

    release_id: str
    name: str
    queries: Mapping[str, str]


class SealAccess(NamedTuple):
    """A person's access to a project's grades; `closed` has the queries whose grades are sealed.

    reason: reason for opening a seal; None if no seal was opened.
    """

    closed: frozenset[str]
    reason: str | None = None

    def can_show(self, query_id: str) -> bool:
        """Return whether grades of the query's pairs may be shown."""
        return query_id not in self.closed

    def require_open(self, query_id: str) -> None:
        """Refuse to show anything about a query whose grades are sealed.

        Raises
        ------
        RefusedError: the grades of the query are sealed.
        """
        if not self.can_show(query_id):
            raise RefusedError(
                f"A release seals the grades of the query {query_id}. A lead who gives a reason can see "
                "the grades. The reason is logged with name and time.",
                command='Give the reason with --reason "why".',
            )


def describe_withheld_pairs(count: int, noun: str = "pair", plural: str = "") -> str:
    """Write the sentence about pairs that a seal hides; '' if it hides none."""
    if not count:
        return ""
    verb = "is" if count == 1 else "are"
    return f"{pluralize(count, noun, plural)} {verb} sealed by a release, so the grades are hidden."


def list_sealed_parts(header: Mapping[str, Any]) -> tuple[str, ...]:
    """List the sealed parts of a release from its header, which is the row of the part 'release'."""
    return tuple(header.get("sealed", [part for part in header["queries"] if part == TEST]))


def read_release_seals(cursor: Cursor) -> list[ReleaseSeal]:
    """Read the seal of each release, in the order of freezing. A release that cannot be read seals all
    queries.
    """
    rows = cursor.execute("SELECT release_id, name FROM releases ORDER BY rowid").fetchall()
    names: dict[str, str] = {}
    for release_id, name in rows:
        names.setdefault(release_id, name)
    return [
        ReleaseSeal(release_id, name, _read_sealed(cursor, release_id)) for release_id, name in names.items()
    ]


def read_sealed_queries(cursor: Cursor) -> dict[str, str]:
    """Map each sealed query to the name of the first release that seals it."""
    releases: dict[str, str] = {}
    for seal in read_release_seals(cursor):
        for query_id in seal.queries:
            releases.setdefault(query_id, seal.name)
    return releases


def read_closed_access(cursor: Cursor) -> SealAccess:
    """Read the access of a person who has given no reason, so that all seals are closed."""
    return SealAccess(frozenset(read_sealed_queries(cursor)))


def resolve_access(cursor: Cursor, access: SealAccess | None) -> SealAccess:
    """Return the given access; for None, return an access without any opened seal (`read_closed_access`)."""
    return read_closed_access(cursor) if access is None else access


def unseal(
    store: Store,
    purpose: str,
    reason: str | None,
    actor: str = COMMAND_LINE,
    queries: Collection[str] | None = None,
) -> SealAccess:
    """Open the seals of releases for a lead who gives a reason, and return the lead's access. The log of each
    release records the opening before the seal opens.

    Call this function before any sealed grade is read.

    Parameters
    ----------
    purpose: purpose of showing the grades, such as 'list the consensus on pairs'.
    queries: queries whose grades are wanted; None stands for all queries.

    Raises
    ------
    NotFoundError: the project does not know the actor.
    RefusedError: a person who is not a lead asks for sealed grades.
    """
    with store.reading() as cursor:
        seals = [seal for seal in read_release_seals(cursor) if seal.queries]
    closed = frozenset(query_id for seal in seals for query_id in seal.queries)
    closed = closed if queries is None else closed.intersection(queries)
    if not closed or reason is None or not reason.strip():
        return SealAccess(closed)
    _log_opening(store, seals, closed, purpose, reason.strip(), actor)
    return SealAccess(frozenset(), reason.strip())


def unseal_for_reviewer(store: Store, reviewer: str, queries: Iterable[str]) -> SealAccess:
    """Open the seals of queries for a reviewer who decides their pairs, and return the reviewer's access.

    The log of each release that seals one of the queries gets one line for each day (UTC) and reviewer.

    Raises
    ------
    NotFoundError: the project does not know the reviewer.
    RefusedError: the person is neither reviewer nor lead.
    """
    with store.reading() as cursor:
        seals = [seal for seal in read_release_seals(cursor) if seal.queries]
        closed = frozenset(query_id for seal in seals for query_id in seal.queries)
        opened = closed.intersection(queries)
        new = [seal for seal in seals if not _logged_today(cursor, seal, opened, reviewer)] if opened else []
    if new:
        _log_opening(store, new, opened, ADJUDICATION, REVIEWING, reviewer, ("reviewer", "lead"))
    return SealAccess(closed - opened)


def append_opening(cursor: Cursor, opening: Unsealing) -> None:
    """Record in the release's log and the audit trail that a seal was opened."""
    append(cursor, "seal_openings", {field: [value] for field, value in opening._asdict().items()})
    detail = {"name": opening.name, "release": opening.release_id, "parts": opening.parts}
    detail |= {"purpose": opening.purpose, "reason": opening.reason}
    record_event(cursor, "open seal", detail, opening.opened_by)


def read_openings(cursor: Cursor, release_id: str) -> list[Unsealing]:
    """List when a release's seal was opened, under any of its names, in chronological order."""
    sql = """
        SELECT release_id, name, parts, purpose, reason, opened_by, opened_at FROM seal_openings
        WHERE release_id = ? ORDER BY rowid
    """
    return fetch(cursor, Unsealing, sql, [release_id])


def _log_opening(
    store: Store,
    seals: Iterable[ReleaseSeal],
    queries: Collection[str],
    purpose: str,
    reason: str,
    actor: str,
    roles: tuple[str, ...] = ("lead",),
) -> None:
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, *roles)
        for seal in seals:
            if parts := _find_parts(seal, queries):
                opening = Unsealing(seal.release_id, seal.name, parts, purpose, reason, actor, utc_now())
                append_opening(cursor, opening)


def _find_parts(seal: ReleaseSeal, queries: Iterable[str]) -> list[str]:
    return sorted({seal.queries[query_id] for query_id in queries if query_id in seal.queries})


def _logged_today(cursor: Cursor, seal: ReleaseSeal, queries: Iterable[str], reviewer: str) -> bool:
    today = utc_now().date()
    logged_parts = {
        part
        for opening in read_openings(cursor, seal.release_id)
        if (opening.opened_by, opening.purpose, opening.opened_at.date()) == (reviewer, ADJUDICATION, today)
        for part in opening.parts
    }
    return logged_parts.issuperset(_find_parts(seal, queries))


def _read_sealed(cursor: Cursor, release_id: str) -> Mapping[str, str]:
    texts = read_parts(cursor, release_id, ("queries", "release"))
    try:
        return _parse_sealed(texts["release"].packed, texts["queries"].packed)
    except (LookupError, TypeError, ValueError):  # a damaged release may have sealed any query
        rows = cursor.execute("SELECT query_id FROM queries").fetchall()
        return {query_id: TEST for (query_id,) in rows}


@lru_cache(maxsize=64)
def _parse_sealed(release: tuple[bytes, ...], queries: tuple[bytes, ...]) -> Mapping[str, str]:
    """Read the sealed part of each sealed query, by query id, from the stored parts of a release."""
    header, *_ = PartText(release)
    sealed = list_sealed_parts(header)
    return {row["query_id"]: row["part"] for row in PartText(queries) if row["part"] in sealed}
