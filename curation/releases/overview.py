"""What releases there are, what is in one, who exported it, had its sealed grades, and scored runs on them.

An override is what a release tells of having been frozen against the gate.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from curation.door import Opening, openings, sealed_parts
from curation.releases.looks import ListedLook, listed_looks
from curation.releases.stored import ReleaseRow, graded_pairs, list_releases
from curation.store import Cursor, Store
from curation.store.release_parts import read_part


class ListedRelease(NamedTuple):
    """A release in the list.

    Attributes
    ----------
    grades: None where the manifest was altered.
    openings, looks: how often its seal was opened, and runs were scored on sealed parts, under whatever name.
    """

    name: str
    frozen_at: datetime
    frozen_by: str
    grades: int | None
    openings: int
    looks: int
    release_id: str


@dataclass(frozen=True)
class ShownRelease:
    """A release and the log of its seal.

    Attributes
    ----------
    also_named: other names of the same content.
    queries, grades: part of the split → number.
    sealed: parts whose grades are handed out for a reason only.
    changed: grades given on another version of their document, kept and marked.
    override: who froze against the gate, by number, and why; None where nobody did.
    openings: how often the seal was opened; `log` has each, oldest first.
    looks: each scoring of a run on a sealed part, oldest first.
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
    log: tuple[Opening, ...]
    looks: tuple[ListedLook, ...]


def releases(store: Store) -> list[ListedRelease]:
    """All releases, oldest first."""
    with store.reading() as cursor:
        rows = list_releases(cursor)
        openings_of, looks_of = (
            dict(cursor.execute(sql).fetchall())
            for sql in (
                "SELECT release_id, count(*) FROM seal_openings GROUP BY release_id",
                "SELECT release_id, count(*) FROM looks GROUP BY release_id",
            )
        )
    return [
        ListedRelease(
            name=row.name,
            frozen_at=row.frozen_at,
            frozen_by=row.frozen_by,
            grades=graded_pairs(row),
            openings=openings_of.get(row.release_id, 0),
            looks=looks_of.get(row.release_id, 0),
            release_id=row.release_id,
        )
        for row in rows
    ]


def show(store: Store, name: str) -> ShownRelease:
    """One release.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: it is not as it was frozen, or a newer goldset froze it.
    """
    from curation.releases.verify import opened  # a list of releases need not wait for Arrow

    release = opened(store, name)
    row, header = release.row, release.header
    with store.reading() as cursor:
        log = openings(cursor, row.release_id)
        looks = listed_looks(cursor, row.release_id)
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
        looks=tuple(looks),
    )


def override_told(cursor: Cursor, release: ReleaseRow) -> list[str]:
    """Who froze against the gate, why, and what spoke against it, in sentences; none where nothing did."""
    try:
        override = next(iter(read_part(cursor, release.release_id, "release")), {}).get("override")
    except ValueError:
        return []  # altered: verifying says so
    if override is None:
        return []
    against = ", ".join(check["figure"] for check in override["against"])
    return [
        f"Frozen by {release.frozen_by} (in the release: {override['by']}) against the gate, where {against} "
        f"stood against it: “{override['reason']}”"
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


_EXPORTS = """
SELECT happened_at, actor, detail::TEXT FROM events
WHERE action = 'export' AND detail->>'release' = ? ORDER BY rowid
"""
