"""The stored versions of the labeling guide, with the judgments and rounds that use each version.

The hash of a guide's whole text identifies a version, so every judgment can refer to the exact text that the
annotator followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError
from curation.core.reports.tables import Table
from curation.guides.guide import Guide, load_guide
from curation.store import Cursor, fetch

VERSION_LENGTH = 8
"""Number of characters of a guide's hash that identify a version on screen."""
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


class GuideVersion(NamedTuple):
    """A stored version of the labeling guide.

    Attributes
    ----------
    in_force: whether the version is the current guide.
    since, by, reason: time, author and reason of the last change that made the version the current guide;
    None and '' if nothing is recorded. answers: number of judgments given under the version, without
    withdrawn judgments. rounds: rounds that use the version and are not closed.
    """

    guide_hash: str
    title: str
    in_force: bool
    since: datetime | None
    by: str | None
    reason: str
    answers: int
    rounds: list[str]


def list_versions(cursor: Cursor) -> list[GuideVersion]:
    """Return all versions of the guide: the current guide first, then earlier guides, latest first."""
    return fetch(cursor, GuideVersion, _VERSIONS)


def find_version(cursor: Cursor, prefix: str) -> Guide:
    """Return the guide whose hash begins with the given characters.

    Raises
    ------
    InputError: the hashes of several guides begin with these characters. NotFoundError: no hash begins with
    these characters.
    """
    versions = list_versions(cursor)
    matching = [version for version in versions if prefix and version.guide_hash.startswith(prefix.lower())]
    if not matching:
        command = "goldgrade guide show --versions lists all guides."
        raise NotFoundError(f"The project has no guide {prefix!r}.", command=command)
    if len(matching) > 1:
        hashes = ", ".join(version.guide_hash[: len(prefix) + 4] for version in matching)
        raise InputError(
            f"Several guides have a hash that begins with {prefix!r}: {hashes}. Give more characters of the "
            "hash."
        )
    return load_guide(cursor, matching[0].guide_hash)


def build_version_table(versions: Sequence[GuideVersion]) -> Table:
    """Return the table of the guide's versions, with the number of judgments made under each version."""
    rows = []
    for version in versions:
        name = version.guide_hash[:VERSION_LENGTH] + (", current" if version.in_force else "")
        since, by = version.since or "not recorded", version.by or "not recorded"
        rounds = ", ".join(version.rounds) or "–"
        rows.append((name, version.title, since, by, version.reason or "–", version.answers, rounds))
    columns = ("Version", "Title", "Current since (UTC)", "By", "Why", "Judgments", "Open rounds")
    return Table("Versions of the guide, newest first", columns, tuple(rows), words=True)
