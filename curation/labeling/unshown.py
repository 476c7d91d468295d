"""Blind duplicates that cannot come back any more.

The repeat of what was put off waits until 20 other items have been answered since (see `ahead`). Where an
annotator has nothing else left, so many do not come: the repeat is left out of what is open, with the reason,
and the round can be complete. It is worked out anew each time: should more work come, it can be shown again.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.labeling.ahead import ahead, read_items, read_sources
from curation.labeling.orders import CLOSEST_DUPLICATE
from curation.store import Cursor

TOO_NEAR = (
    "blind duplicates cannot come back: their first showing was put off, and fewer than "
    f"{CLOSEST_DUPLICATE - 1} other items come after it"
)


class Unshown(NamedTuple):
    """A presentation that will not be shown as things are."""

    presentation_id: str
    round_id: str
    annotator: str


def unshown(cursor: Cursor) -> list[Unshown]:
    """Those of all rounds that are not closed."""
    waiting = [row[0] for row in cursor.execute(_WAITING).fetchall()]
    if not waiting:
        return []
    sources = read_sources(cursor)
    work = {who: ahead(sources, read_items(cursor, who, sources)) for who in waiting}
    return [
        Unshown(item.presentation_id, item.round_id, who)
        for who, found in work.items()
        if not found.left
        for item in found.items
        if item.answered_at is None
    ]


_WAITING = """
SELECT DISTINCT p.annotator
FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.duplicate_of IN (SELECT presentation_id FROM judgment_events WHERE kind = 'later')
  AND NOT coalesce(s.answered, false)
ORDER BY p.annotator
"""
