"""What releases there are, what is in one, who exported it, had its sealed grades, and scored runs on them.

An override is what a release tells of having been frozen against the gate.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from curation.core.reports.page import Table
from curation.core.text import amount
from curation.people.seal_access import Unsealing, openings, sealed_parts
from curation.releases.release_rows import (
    NO_NUMBER,
    graded_pairs,
    half_judged,
    list_releases,
    marked,
    release_marks,
)
from curation.releases.sealed_evaluations import SealedEvaluation, sealed_evaluations
from curation.store import Cursor, Store

if TYPE_CHECKING:
    from curation.releases.freeze.freeze import Frozen


_EXPORTS = """
SELECT happened_at, actor, detail::TEXT FROM events
WHERE action = 'export' AND detail->>'release' = ? ORDER BY rowid
"""


class ListedRelease(NamedTuple):
    """A release in the list.

    Attributes
    ----------
    grades: None where the manifest was altered.
    openings: how often its seal was opened. sealed_evaluations: of systems on its sealed parts, with refused
        requests; both under whatever name.
    mark: that it was frozen against the gate, where it was.
    """

    name: str
    frozen_at: datetime
    frozen_by: str
    grades: int | None
    openings: int
    sealed_evaluations: int
    release_id: str
    mark: str | None = None


@dataclass(frozen=True)
class ShownRelease:
    """A release and the log of its seal.

    Attributes
    ----------
    also_named: other names of the same content.
    queries, grades: part of the split → number.
    sealed: parts whose grades are handed out for a reason only.
    changed: grades given on another version of their document, kept and marked.
    half_judged: grades that rested on fewer opinions than were planned.
    override: who froze against the gate, by number, and why; None where nobody did. mark: so in short.
    openings: how often the seal was opened; `log` has each, oldest first.
    sealed_evaluations: of systems on sealed parts, with refused requests, oldest first.
    """

    name: str
    release_id: str
    frozen_at: datetime
    frozen_by: str
    also_named: tuple[str, ...]
    documents: int
    queries: dict[str, int]
    grades: dict[str, int]
    sealed: tuple[str, ...]
    changed: int
    left_out: dict[str, int]
    override: dict[str, Any] | None
    openings: int
    log: tuple[Unsealing, ...]
    sealed_evaluations: tuple[SealedEvaluation, ...]
    mark: str | None = None
    half_judged: int = 0


def releases(store: Store) -> list[ListedRelease]:
    """All releases, oldest first."""
    with store.reading() as cursor:
        rows, marks = list_releases(cursor), release_marks(cursor)
        openings_of, evaluations_of = (
            dict(cursor.execute(sql).fetchall())
            for sql in (
                "SELECT release_id, count(*) FROM seal_openings GROUP BY release_id",
                "SELECT release_id, count(*) FROM sealed_evaluations GROUP BY release_id",
            )
        )
    return [
        ListedRelease(
            name=row.name,
            frozen_at=row.frozen_at,
            frozen_by=row.frozen_by,
            grades=graded_pairs(row),
            openings=openings_of.get(row.release_id, 0),
            sealed_evaluations=evaluations_of.get(row.release_id, 0),
            release_id=row.release_id,
            mark=marks.get(row.name),
        )
        for row in rows
    ]


def show(store: Store, name: str) -> ShownRelease:
    """One release.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: it is not as it was frozen, or a newer goldgrade froze it.
    """
    from curation.releases.verify import load_release  # a list of releases need not wait for Arrow

    release = load_release(store, name)
    row, header = release.row, release.header
    with store.reading() as cursor:
        log = openings(cursor, row.release_id)
        evaluations = sealed_evaluations(cursor, row.release_id)
        same = [other.name for other in list_releases(cursor) if other.release_id == row.release_id]
    return ShownRelease(
        name=name,
        release_id=row.release_id,
        frozen_at=row.frozen_at,
        frozen_by=row.frozen_by,
        also_named=tuple(other for other in same if other != name),
        documents=header["documents"],
        queries=header["queries"],
        grades=header["grades"],
        sealed=sealed_parts(header),
        changed=header.get("changed", 0),
        left_out=header["left_out"],
        override=header.get("override"),
        openings=len(log),
        log=tuple(log),
        sealed_evaluations=tuple(evaluations),
        mark=release.mark,
        half_judged=half_judged(row),
    )


def override_sentence(shown_release: ShownRelease) -> list[str]:
    """That it was frozen against the gate, by whom and why; none of a release that was not."""
    if not (shown_release.mark and shown_release.override):
        return []
    number = shown_release.override["by"]
    who = "who judged nothing of this release" if number == NO_NUMBER else f"in the release: {number}"
    by = f"{shown_release.frozen_by} ({who})"
    return [
        (
            f"{shown_release.name} was {shown_release.mark}. {by} gave this reason: "
            f"“{shown_release.override['reason']}”"
        )
    ]


class ListedExport(NamedTuple):
    """One export, under whatever name of the release; `without` are the parts whose grades were not in it."""

    exported_at: datetime
    exported_by: str
    name: str
    format: str
    without: tuple[str, ...]


def exports_of(cursor: Cursor, release_id: str) -> list[ListedExport]:
    """The exports of a release's content, in the order in which they were recorded."""
    rows = cursor.execute(_EXPORTS, [release_id]).fetchall()
    return [_listed(at, actor, json.loads(detail)) for at, actor, detail in rows]


def _listed(at: datetime, actor: str, detail: dict[str, object]) -> ListedExport:
    without = detail.get("without grades", [])
    names = tuple(map(str, without)) if isinstance(without, list) else ()
    return ListedExport(at, actor, str(detail["name"]), str(detail["format"]), names)


def release_table(found: Sequence[ListedRelease]) -> Table:
    """Releases with how often their sealed parts were seen."""
    columns = (
        "Name",
        "Frozen (UTC)",
        "By",
        "Judged pairs",
        "Seal opened",
        "Sealed evaluations",
        "Release id",
    )
    rows = tuple((marked(one.name, one.mark), *one[1:-1]) for one in found)
    return Table("Frozen gold sets", columns, rows)


def part_table(caption: str, found: Frozen | ShownRelease) -> Table:
    """The parts of a release."""
    rows = (
        (part, queries, found.grades[part], "sealed" if part in found.sealed else "")
        for part, queries in sorted(found.queries.items())
    )
    title = f"{caption}: {amount(found.documents, 'document')}"
    return Table(title, ("Part", "Queries", "Grades", "Seal"), tuple(rows))


def export_table(exports: Sequence[ListedExport]) -> Table:
    """Who exported what, and without whose grades."""
    rows = tuple((*export[:4], ", ".join(export.without) or "–") for export in exports)
    return Table(
        "Exports", ("When (UTC)", "Who", "Name", "Format", "Without the grades of"), rows, words=True
    )


def opening_table(found: Sequence[Unsealing]) -> Table:
    """Who had grades of sealed parts, and why."""
    rows = tuple(
        (one.opened_at, one.opened_by, one.purpose, ", ".join(one.parts), one.reason) for one in found
    )
    return Table("Openings of the seal", ("When (UTC)", "Who", "For", "Parts", "Reason"), rows, words=True)


def sealed_table(evaluations: Sequence[SealedEvaluation]) -> Table:
    """Who evaluated what on sealed parts, with the figure of the first measure, and who was refused."""
    columns = ("When (UTC)", "Who", "System", "Parts", "Shown", "Measure", "Value", "Reason")
    return Table("Sealed evaluations", columns, tuple(map(_sealed_row, evaluations)), words=True)


def _sealed_row(row: SealedEvaluation) -> tuple[object, ...]:
    measure, figure = next(iter(row.shown.items()), ("–", {"value": None}))
    shown = "refused" if row.refused else "one rounded figure" if row.rounded else "all figures"
    return (
        *(row.evaluated_at, row.evaluated_by, row.system, ", ".join(row.parts)),
        *(shown, measure, figure["value"], row.reason or "–"),
    )
