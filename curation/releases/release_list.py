"""The list of a project's releases, which shows how often each release's sealed grades were used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.reports.tables import Table
from curation.releases import release_rows
from curation.releases.gate_override import mark_name, read_overrides
from curation.store import Store


class ListedRelease(NamedTuple):
    """A release as the list of releases shows it, with how often its sealed grades were used.

    Attributes
    ----------
    grades: number of grades; None if the manifest was altered.
    openings: how often somebody opened the seal of the release, under any of its names.
    sealed_evaluations: number of evaluations on its sealed parts, with refused requests, under any name.
    mark: the mark of a release that was frozen despite the gate.
    """

    name: str
    frozen_at: datetime
    frozen_by: str
    grades: int | None
    openings: int
    sealed_evaluations: int
    release_id: str
    mark: str | None = None


def list_release_overviews(store: Store) -> list[ListedRelease]:
    """List all releases, oldest first."""
    with store.reading() as cursor:
        rows, marks = release_rows.list_releases(cursor), read_overrides(cursor)
        sql = "SELECT release_id, count(*) FROM {} GROUP BY release_id"
        openings_of = dict(cursor.execute(sql.format("seal_openings")).fetchall())
        evaluations_of = dict(cursor.execute(sql.format("sealed_evaluations")).fetchall())
    return [
        ListedRelease(
            name=row.name,
            frozen_at=row.frozen_at,
            frozen_by=row.frozen_by,
            grades=release_rows.count_graded_pairs(row),
            openings=openings_of.get(row.release_id, 0),
            sealed_evaluations=evaluations_of.get(row.release_id, 0),
            release_id=row.release_id,
            mark=marks.get(row.name),
        )
        for row in rows
    ]


def make_release_table(releases: Sequence[ListedRelease]) -> Table:
    """Make a table of releases, with the numbers of openings and sealed evaluations."""
    numbers = ("Judged pairs", "Seal opened", "Sealed evaluations")
    columns = ("Name", "Frozen (UTC)", "By", *numbers, "Release id")
    rows = tuple((mark_name(release.name, release.mark), *release[1:-1]) for release in releases)
    return Table("Frozen gold sets", columns, rows)
