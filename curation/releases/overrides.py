"""Overrides: what a release tells of having been frozen against the gate."""

from __future__ import annotations

import json

from curation.releases.stored import ReleaseRow
from curation.store import Cursor


def override_told(cursor: Cursor, release: ReleaseRow) -> list[str]:
    """Who froze against the gate, why, and what stood against it, in sentences; none where nothing did."""
    row = cursor.execute(
        "SELECT content FROM release_parts WHERE release_id = ? AND part = 'release'", [release.release_id]
    ).fetchall()
    try:
        override = json.loads(row[0][0]).get("override")
    except (IndexError, ValueError):
        return []  # altered: verifying says so
    if override is None:
        return []
    against = ", ".join(check["figure"] for check in override["against"])
    return [
        f"Frozen by {release.frozen_by} (in the release: {override['by']}) against the gate, where {against} "
        f"stood against it: “{override['reason']}”"
    ]
