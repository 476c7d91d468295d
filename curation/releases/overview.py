"""A human-readable overview of a release, with its exports and the log of its sealed grades."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, pluralize
from curation.people.seal_access import Unsealing, list_sealed_parts, read_openings
from curation.releases import release_rows
from curation.releases.part_rows import NO_NUMBER
from curation.releases.sealed_log import SealedEvaluation, make_sealed_table, read_sealed_evaluations
from curation.store import Cursor, Store

_EXPORTS = """
SELECT happened_at, actor, detail::TEXT FROM events
WHERE action = 'export' AND detail->>'release' = ? ORDER BY rowid
"""


@dataclass(frozen=True)
class ShownRelease:
    """A release, and the log of requests for its sealed grades.

    Attributes
    ----------
    also_named: other names of the same content.
    queries, grades: part of the split → number.
    sealed: parts whose grades people get only for a reason.
    changed: number of grades on another version of their document, which are kept and marked.
    half_judged: number of grades with fewer opinions than were planned.
    override: the number of the person who froze despite the gate, and the reason; None for other releases.
    mark: the mark of a release that was frozen despite the gate.
    openings: how often somebody opened the seal.
    log: the openings, oldest first.
    sealed_evaluations: the evaluations on sealed parts, with refused requests, oldest first.
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
        """Return the remarks on the release, and its id."""
        return [*self.remarks, f"The release id is {self.release_id}."]

    @property
    def remarks(self) -> list[str]:
        """Return sentences on grades for other document versions, on the freeze, and on how often the seal
        was opened."""
        sentences = [*release_rows.say_half_judged(self.half_judged), *describe_left_out(self.left_out)]
        if self.changed:
            single = "marked grade is for a different version of its document."
            many = "marked grades are for a different version of their document."
            sentences.append(pluralize(self.changed, single, many))
        sentences += explain_override(self)
        if self.also_named:
            sentences.append(f"Other names of the same content: {', '.join(self.also_named)}.")
        if not self.sealed:
            sentences.append("No part is sealed.")
        elif not self.openings:
            sentences.append(f"Nobody has opened sealed grades ({', '.join(self.sealed)}) yet.")
        return sentences

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return tables of the parts of the release, and of the openings of its seal."""
        title = (
            f"Release {self.name}, frozen {self.frozen_at:%Y-%m-%d %H:%M} UTC by {self.frozen_by}: "
            f"{pluralize(self.documents, 'document')}"
        )
        parts = make_part_table(title, self.queries, self.grades, self.sealed)
        return (parts, make_opening_table(self.log), make_sealed_table(self.sealed_evaluations))


def read_overview(store: Store, name: str) -> ShownRelease:
    """Read the content of a release, with the logs of its seal.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: the release was altered, or a newer goldgrade froze it.
    """
    from curation.releases.frozen_release import load_release

    release = load_release(store, name)
    row, header = release.row, release.header
    with store.reading() as cursor:
        log = read_openings(cursor, row.release_id)
        evaluations = read_sealed_evaluations(cursor, row.release_id)
        releases = release_rows.list_releases(cursor)
    names = [release_row.name for release_row in releases if release_row.release_id == row.release_id]
    return ShownRelease(
        name=name,
        release_id=row.release_id,
        frozen_at=row.frozen_at,
        frozen_by=row.frozen_by,
        also_named=tuple(alias for alias in names if alias != name),
        **{field: header[field] for field in ("documents", "queries", "grades", "left_out")},
        sealed=list_sealed_parts(header),
        changed=header.get("changed", 0),
        override=header.get("override"),
        openings=len(log),
        log=tuple(log),
        sealed_evaluations=tuple(evaluations),
        mark=release.mark,
        half_judged=release_rows.count_half_judged(row),
    )


def explain_override(shown_release: ShownRelease) -> list[str]:
    """Return sentences about a freeze despite the gate, with person and reason; else []."""
    if not (shown_release.mark and shown_release.override):
        return []
    number, reason = shown_release.override["by"], shown_release.override["reason"]
    identity = f"{number} in the release" if number != NO_NUMBER else "who did not grade"
    given = f"Reason given by {shown_release.frozen_by}, {identity}: “{reason}”"
    return [f"{shown_release.name} was {shown_release.mark}. {given}"]


def make_export_table(cursor: Cursor, release_id: str) -> Table:
    """Make a table of the exports of a release's content under any of its names."""
    rows = []
    for exported_at, exported_by, text in cursor.execute(_EXPORTS, [release_id]).fetchall():
        detail = json.loads(text)
        without = ", ".join(detail.get("without grades", ()))
        rows.append((exported_at, exported_by, detail["name"], detail["format"], without or "–"))
    columns = ("When (UTC)", "Who", "Name", "Format", "Without the grades of")
    return Table("Exports", columns, tuple(rows), words=True)


def make_part_table(
    title: str, queries: Mapping[str, int], grades: Mapping[str, int], sealed: Collection[str]
) -> Table:
    """Make a table of the parts of the split in a release."""
    seals = dict.fromkeys(sealed, "sealed")
    rows = ((part, queries[part], grades[part], seals.get(part, "")) for part in sorted(queries))
    return Table(title, ("Part", "Queries", "Grades", "Seal"), tuple(rows))


def make_opening_table(openings_of_seal: Sequence[Unsealing]) -> Table:
    """Make a table of the openings of a seal: the person, the purpose and the reason."""
    rows = tuple(
        (opening.opened_at, opening.opened_by, opening.purpose, ", ".join(opening.parts), opening.reason)
        for opening in openings_of_seal
    )
    return Table(
        "Who opened sealed grades", ("When (UTC)", "Who", "For", "Parts", "Reason"), rows, words=True
    )
