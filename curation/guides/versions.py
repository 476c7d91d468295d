"""Versions of the guide: every text that was in force, since when, by whom, and what was judged under it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError
from curation.core.reports.page import Table
from curation.guides.guide import Guide, guide_by_hash
from curation.store import Cursor, fetch

SHORT = 8
"""Characters of a hash that name a version on screen."""


class GuideVersion(NamedTuple):
    """A stored guide.

    Attributes
    ----------
    since, by, reason: of when it was put in force last; None and '' where no record says so.
    answers: judgments that were given under it, those taken back left out.
    rounds: the rounds that use it now and are not closed.
    """

    guide_hash: str
    title: str
    in_force: bool
    since: datetime | None
    by: str | None
    reason: str
    answers: int
    rounds: list[str]


_VERSIONS = """
WITH used AS (
    SELECT detail->>'guide' AS guide_hash, happened_at, actor, coalesce(detail->>'reason', '') AS reason,
           rowid AS written
    FROM events WHERE action IN ('init', 'use guide')
)
SELECT g.guide_hash, g.title, g.guide_hash = (SELECT value FROM settings WHERE name = 'guide') AS in_force,
       u.happened_at, u.actor, coalesce(u.reason, ''),
       (SELECT count(*) FROM current_judgments j WHERE j.guide_hash = g.guide_hash),
       (SELECT coalesce(list(r.name ORDER BY r.sequence), []) FROM round_states r
        WHERE r.guide_hash = g.guide_hash AND NOT r.closed AND r.kind <> 'imported')
FROM guides g
LEFT JOIN (FROM used QUALIFY row_number() OVER (PARTITION BY guide_hash ORDER BY written DESC) = 1) u
  USING (guide_hash)
ORDER BY in_force DESC, u.written DESC NULLS LAST, g.rowid DESC
"""


def guide_versions(cursor: Cursor) -> list[GuideVersion]:
    """All versions: the one in force first, then those put in force last."""
    return fetch(cursor, GuideVersion, _VERSIONS)


def find_version(cursor: Cursor, name: str) -> Guide:
    """The guide whose hash begins so.

    Raises
    ------
    InputError: several begin so.
    NotFoundError: none does.
    """
    found = [
        guide_version
        for guide_version in guide_versions(cursor)
        if name and guide_version.guide_hash.startswith(name.lower())
    ]
    if not found:
        raise NotFoundError(
            f"The project has no guide {name!r}.", command="goldgrade guide versions lists them."
        )
    if len(found) > 1:
        names = ", ".join(one.guide_hash[: len(name) + 4] for one in found)
        raise InputError(f"{name!r} begins several guides: {names}. Give more of it.")
    return guide_by_hash(cursor, found[0].guide_hash)


def version_table(versions: Sequence[GuideVersion]) -> Table:
    """The versions, and the judgments that were given under each."""
    rows = (
        (
            version.guide_hash[:SHORT] + (", in force" if version.in_force else ""),
            *(
                version.title,
                version.since or "not recorded",
                version.by or "not recorded",
                version.reason or "–",
            ),
            *(version.answers, ", ".join(version.rounds) or "–"),
        )
        for version in versions
    )
    columns = ("Version", "Title", "In force since (UTC)", "By", "Why", "Judgments", "Open rounds")
    return Table("Versions of the guide, newest first", columns, tuple(rows), words=True)
