"""What releases there are, what is in one, who exported it, had its sealed grades, and scored runs on them.

An override is what a release says where it was frozen against the gate.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.reports.page import Table
from curation.core.text import left_out_sentences, pluralize
from curation.people.seal_access import Unsealing, openings, sealed_parts
from curation.releases.gate_override import gate_overrides, with_gate_override
from curation.releases.release_rows import (
    NO_NUMBER,
    graded_pairs,
    half_judged,
    half_judged_sentence,
    list_releases,
)
from curation.releases.seal import SealedEvaluation, sealed_evaluations
from curation.store import Cursor, Store

_EXPORTS = """
SELECT happened_at, actor, detail::TEXT FROM events
WHERE action = 'export' AND detail->>'release' = ? ORDER BY rowid
"""


class ListedRelease(NamedTuple):
    """A release in the list.

    Attributes
    ----------
    grades: None if the manifest was altered.
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
    override: who froze against the gate, by number, and why; None if nobody did. mark: so in short.
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

    @property
    def sentences(self) -> list[str]:
        """What is in it, what was left out, and whether the seal was opened."""
        single = "grade was given on another version of its document; it is"
        many = "grades were given on another version of their document; they are"
        changed = [f"{pluralize(self.changed, single, many)} marked."] if self.changed else []
        names = ", ".join(self.also_named)
        seal = [] if self.openings else [f"Nobody has opened the seal ({', '.join(self.sealed)}) yet."]
        return [
            *half_judged_sentence(self.half_judged),
            *left_out_sentences(self.left_out),
            *changed,
            *override_sentence(self),
            *([f"The same content is also named {names}."] if names else []),
            *(seal if self.sealed else ["No part is sealed."]),
            f"Its release id is {self.release_id}.",
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The parts, and the logs of the seal."""
        title = (
            f"Release {self.name}, frozen {self.frozen_at:%Y-%m-%d %H:%M} UTC by {self.frozen_by}: "
            f"{pluralize(self.documents, 'document')}"
        )
        parts = part_table(title, self.queries, self.grades, self.sealed)
        return (parts, opening_table(self.log), sealed_table(self.sealed_evaluations))


def releases(store: Store) -> list[ListedRelease]:
    """All releases, oldest first."""
    with store.reading() as cursor:
        rows, marks = list_releases(cursor), gate_overrides(cursor)
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


def export_table(cursor: Cursor, release_id: str) -> Table:
    """Who exported a release's content, under whatever name of it, and without whose grades."""
    rows = []
    for exported_at, exported_by, text in cursor.execute(_EXPORTS, [release_id]).fetchall():
        detail = json.loads(text)
        without = ", ".join(detail.get("without grades", ()))
        rows.append((exported_at, exported_by, detail["name"], detail["format"], without or "–"))
    columns = ("When (UTC)", "Who", "Name", "Format", "Without the grades of")
    return Table("Exports", columns, tuple(rows), words=True)


def release_table(releases: Sequence[ListedRelease]) -> Table:
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
    rows = tuple((with_gate_override(release.name, release.mark), *release[1:-1]) for release in releases)
    return Table("Frozen gold sets", columns, rows)


def part_table(
    title: str, queries: Mapping[str, int], grades: Mapping[str, int], sealed: Collection[str]
) -> Table:
    """The parts of a release."""
    rows = (
        (part, count, grades[part], "sealed" if part in sealed else "")
        for part, count in sorted(queries.items())
    )
    return Table(title, ("Part", "Queries", "Grades", "Seal"), tuple(rows))


def opening_table(openings_of_seal: Sequence[Unsealing]) -> Table:
    """Who had grades of sealed parts, and why."""
    rows = tuple(
        (opening.opened_at, opening.opened_by, opening.purpose, ", ".join(opening.parts), opening.reason)
        for opening in openings_of_seal
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
