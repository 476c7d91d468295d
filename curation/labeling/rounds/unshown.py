"""Blind duplicates that cannot be shown any more.

The repeat of an item that was put off waits until 20 other items have been answered since (see `upcoming`).
An annotator who has too few items left never gets there. The repeat then no longer counts as open, and the
round can be complete. This is computed each time: if more work comes, the repeat can be shown.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE
from curation.labeling.rounds.upcoming import read_items, read_open_rounds, upcoming_work
from curation.store import Cursor

TOO_NEAR = (
    "blind duplicates cannot come back: their first showing was put off, and fewer than "
    f"{CLOSEST_DUPLICATE - 1} other items come after it"
)


class Unshown(NamedTuple):
    """A presentation that will not be shown unless more work comes."""

    presentation_id: str
    round_id: str
    annotator: str


def unshown(cursor: Cursor) -> list[Unshown]:
    """The presentations of all open rounds that will not be shown."""
    waiting = [row[0] for row in cursor.execute(_WAITING).fetchall()]
    if not waiting:
        return []
    rounds = read_open_rounds(cursor)
    work = {who: upcoming_work(rounds, read_items(cursor, who, rounds)) for who in waiting}
    return [
        Unshown(item.presentation_id, item.round_id, who)
        for who, upcoming in work.items()
        if not upcoming.left
        for item in upcoming.items
        if item.answered_at is None
    ]


_WAITING = """
SELECT DISTINCT p.annotator
FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.duplicate_of IN (SELECT presentation_id FROM judgment_events WHERE kind = 'later')
  AND NOT coalesce(s.answered, false)
ORDER BY p.annotator
"""
