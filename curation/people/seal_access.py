"""The seal: whether a grade of a pair may be shown, by any command, page, report, export, job or route.

A release seals parts, and a sealed grade is the same secret wherever it is kept: in the release, or in the
votes, decisions, practice pairs and written answers of the project that goes on. A function that shows what
people said of a pair asks a `SealAccess`. It hides sealed queries until somebody says why they want them:
`unseal` writes down who, when, for what and why before anything is shown. Reviewers decide disputes, and must
read them: `reviewer_access` unseals the pairs before them, and writes it down once a day.

No seal is on figures over many pairs, nor on what people read of their own work. Nor does a seal stop
somebody who can open the project's file, and a name on the command line is a claim.
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

TEST = "test"
"""The part that is always sealed, also in releases that were frozen before seals."""
SEALED = "sealed"
"""What a list of pairs says instead of how a sealed grade came about; the grade itself is None."""
LEAVES_OUT = "a release seals what people said of it"
"""Why a step leaves pairs out that it may not show."""
ADJUDICATION = "adjudication"
REVIEWING = "To decide disputes on screen; this line is written once a day."


class Unsealing(NamedTuple):
    """One opening; `name` is the release's name that was asked for, `parts` are those that were opened."""

    release_id: str
    name: str
    parts: list[str]
    purpose: str
    reason: str
    opened_by: str
    opened_at: datetime


class ReleaseSeal(NamedTuple):
    """What a release seals: query id → part. `name` is the first name of the release's content."""

    release_id: str
    name: str
    queries: Mapping[str, str]


class SealAccess(NamedTuple):
    """Which queries have sealed grades; the grades of all other queries may be shown.

    reason: why it was opened; None if nobody opened anything.
    """

    closed: frozenset[str]
    reason: str | None = None

    def shows(self, query_id: str) -> bool:
        """Return whether grades of the query's pairs may be shown."""
        return query_id not in self.closed

    def need(self, query_id: str) -> None:
        """Stop where nothing can be shown without them.

        Raises
        ------
        RefusedError: the grades of the query are sealed.
        """
        if not self.shows(query_id):
            raise RefusedError(
                f"A release seals what people said of the query {query_id}. Who reads it says why, which is "
                "logged with name and time.",
                command='--reason "why" says it.',
            )


def withheld(count: int, what: str = "pair", plural: str = "") -> str:
    """Return the sentence for what a seal keeps back; '' where that is nothing."""
    if not count:
        return ""
    verb = "is" if count == 1 else "are"
    return (
        f"{pluralize(count, what, plural)} {verb} of parts that a release seals: their grades are not named."
    )


def sealed_parts(header: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sealed parts of a release by its header, the row of the part 'release'."""
    return tuple(header.get("sealed", [part for part in header["queries"] if part == TEST]))


def release_seals(cursor: Cursor) -> list[ReleaseSeal]:
    """What each release seals, in the order of freezing; one that cannot be read seals all queries."""
    rows = cursor.execute("SELECT release_id, name FROM releases ORDER BY rowid").fetchall()
    names: dict[str, str] = {}
    for release_id, name in rows:
        names.setdefault(release_id, name)
    return [
        ReleaseSeal(release_id, name, _queries_of(cursor, release_id)) for release_id, name in names.items()
    ]


def sealed_queries(cursor: Cursor) -> dict[str, str]:
    """Return the queries whose grades a release seals → the first such release, in the order of freezing."""
    releases: dict[str, str] = {}
    for seal in release_seals(cursor):
        for query_id in seal.queries:
            releases.setdefault(query_id, seal.name)
    return releases


def closed_access(cursor: Cursor) -> SealAccess:
    """Return the access of somebody who has not said why they want sealed grades."""
    return SealAccess(frozenset(sealed_queries(cursor)))


def access_or_closed(cursor: Cursor, access: SealAccess | None) -> SealAccess:
    """Return the access that was given; without one all seals hold."""
    return closed_access(cursor) if access is None else access


def unseal(
    store: Store,
    purpose: str,
    reason: str | None,
    actor: str = COMMAND_LINE,
    queries: Collection[str] | None = None,
) -> SealAccess:
    """Return the access of a lead: to sealed grades with a reason only, once each release's log has it.

    Call it before the first sealed grade is read for anybody.

    Parameters
    ----------
    purpose: what is done with the grades, such as 'list the consensus on pairs'.
    queries: whose grades are wanted; None is all.

    Raises
    ------
    NotFoundError: the project does not know the actor.
    RefusedError: somebody who is no lead wants sealed grades.
    """
    with store.reading() as cursor:
        seals = [seal for seal in release_seals(cursor) if seal.queries]
    closed = frozenset(query_id for seal in seals for query_id in seal.queries)
    closed = closed if queries is None else closed.intersection(queries)
    if not closed or reason is None or not reason.strip():
        return SealAccess(closed)
    _write_down(store, seals, closed, purpose, reason.strip(), actor)
    return SealAccess(frozenset(), reason.strip())


def reviewer_access(store: Store, reviewer: str, queries: Iterable[str]) -> SealAccess:
    """Return the access of a reviewer who has pairs of these queries before them: to these queries, too.

    The log of each release that seals one of them gets a line, once a day (UTC) and reviewer.

    Raises
    ------
    NotFoundError: the project does not know the reviewer.
    RefusedError: they are neither reviewer nor lead.
    """
    with store.reading() as cursor:
        seals = [seal for seal in release_seals(cursor) if seal.queries]
        closed = frozenset(query_id for seal in seals for query_id in seal.queries)
        asked = closed.intersection(queries)
        fresh = [seal for seal in seals if not _logged_today(cursor, seal, asked, reviewer)] if asked else []
    if fresh:
        _write_down(store, fresh, asked, ADJUDICATION, REVIEWING, reviewer, ("reviewer", "lead"))
    return SealAccess(closed - asked)


def write_opening(cursor: Cursor, opening: Unsealing) -> None:
    """Append an opening to the log, and to the audit trail."""
    append(cursor, "seal_openings", {field: [value] for field, value in opening._asdict().items()})
    what = {"parts": opening.parts, "purpose": opening.purpose, "reason": opening.reason}
    detail = {"name": opening.name, "release": opening.release_id, **what}
    record_event(cursor, "open seal", detail, opening.opened_by)


def openings(cursor: Cursor, release_id: str) -> list[Unsealing]:
    """Who opened the seal of a release's content, under whatever name, in the order of opening."""
    sql = """
        SELECT release_id, name, parts, purpose, reason, opened_by, opened_at FROM seal_openings
        WHERE release_id = ? ORDER BY rowid
    """
    return fetch(cursor, Unsealing, sql, [release_id])


def _write_down(
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
            if parts := _parts(seal, queries):
                now = utc_now()
                write_opening(
                    cursor, Unsealing(seal.release_id, seal.name, parts, purpose, reason, actor, now)
                )


def _parts(seal: ReleaseSeal, queries: Iterable[str]) -> list[str]:
    return sorted({seal.queries[query_id] for query_id in queries if query_id in seal.queries})


def _logged_today(cursor: Cursor, seal: ReleaseSeal, queries: Iterable[str], reviewer: str) -> bool:
    today = utc_now().date()
    logged = {
        part
        for opening in openings(cursor, seal.release_id)
        if (opening.opened_by, opening.purpose, opening.opened_at.date()) == (reviewer, ADJUDICATION, today)
        for part in opening.parts
    }
    return logged.issuperset(_parts(seal, queries))


def _queries_of(cursor: Cursor, release_id: str) -> Mapping[str, str]:
    texts = read_parts(cursor, release_id, ("queries", "release"))
    try:
        return _sealed_of(texts["release"].packed, texts["queries"].packed)
    except (LookupError, TypeError, ValueError):  # damaged: what it sealed is not known
        rows = cursor.execute("SELECT query_id FROM queries").fetchall()
        return {query_id: TEST for (query_id,) in rows}


@lru_cache(maxsize=64)
def _sealed_of(release: tuple[bytes, ...], queries: tuple[bytes, ...]) -> Mapping[str, str]:
    """Query id → sealed part of a release, from its parts as they are stored."""
    header, *_ = PartText(release)
    sealed = sealed_parts(header)
    return {row["query_id"]: row["part"] for row in PartText(queries) if row["part"] in sealed}
