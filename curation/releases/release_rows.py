"""The rows of frozen releases in the project's database, one for each name of a release.

A row has a manifest with the checksums of the release's parts (`checksums`). The manifest also names the
versions of the packages that froze the release, which are not part of the id.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError
from curation.core.text import suggest
from curation.store import Cursor, Store, fetch
from curation.store.release_parts import read_part


class ReleaseRow(NamedTuple):
    """The stored row of a release under one of its names. `manifest` is JSON."""

    name: str
    release_id: str
    manifest: str
    frozen_at: datetime
    frozen_by: str


def list_releases(cursor: Cursor) -> list[ReleaseRow]:
    """Read all releases in the order of freezing, ignoring times because a clock may be set back."""
    sql = "SELECT name, release_id, manifest, frozen_at, frozen_by FROM releases ORDER BY rowid"
    return fetch(cursor, ReleaseRow, sql)


def read_released_queries(store: Store) -> dict[str, list[str]]:
    """Map each release id to the ids of its queries, for draws that leave out released queries."""
    sql = "SELECT DISTINCT release_id FROM release_parts WHERE part = 'queries' ORDER BY release_id"
    with store.reading() as cursor:
        return {
            release_id: [row["query_id"] for row in read_part(cursor, release_id, "queries")]
            for (release_id,) in cursor.execute(sql).fetchall()
        }


def is_id_prefix(reference: str) -> bool:
    """Return whether a text can be the beginning of a release id: at least six hex digits."""
    return re.fullmatch(r"[0-9a-f]{6,64}", reference) is not None


def count_graded_pairs(row: ReleaseRow) -> int | None:
    """Read the number of grades from the manifest of a release; None if the manifest was altered."""
    try:
        return int(json.loads(row.manifest)["parts"]["qrels"]["lines"])
    except (ValueError, KeyError, TypeError):
        return None


def count_half_judged(row: ReleaseRow) -> int:
    """Read the number of grades with fewer opinions than were planned; 0 if the manifest was altered."""
    try:
        return int(json.loads(row.manifest).get("half_judged", 0))
    except (ValueError, AttributeError, TypeError):
        return 0


def say_half_judged(count: int) -> list[str]:
    """Return a sentence about grades with fewer opinions than were planned; '' if there are none."""
    verb = "has" if count == 1 else "have"
    return [f"{count:,} of these grades {verb} fewer opinions than were planned."] if count else []


def find_release(cursor: Cursor, name: str) -> ReleaseRow:
    """Find the release with this name, or else a release whose id begins with this text.

    Raises
    ------
    InputError: several ids begin with the name.
    NotFoundError: there is no such release; the refusal lists the existing names.
    """
    releases = {row.name: row for row in list_releases(cursor)}
    if name in releases:
        return releases[name]
    if is_id_prefix(name):
        ids = {row.release_id: row for row in reversed(releases.values()) if row.release_id.startswith(name)}
        if len(ids) > 1:
            names = ", ".join(sorted(f"{row.name} ({row.release_id[:16]}…)" for row in ids.values()))
            message = (
                f"{len(ids)} releases have an id that begins with {name}: {names}. Give more "
                "characters of the id."
            )
            raise InputError(message)
        if ids:
            return next(iter(ids.values()))
    if not releases:
        command = "`goldgrade freeze NAME` makes a release."
        raise NotFoundError(f"The project has no release {name!r}. There is no release yet.", command=command)
    end = suggest(name, releases) or "."
    raise NotFoundError(f"The project has no release {name!r}{end} It has {', '.join(releases)}.")
