"""Own answers: whether somebody may see what they answered earlier.

Blind duplicates, control items and re-labels ask for a pair again. Who sees their old answer can copy it, and
a list that hides only the answers of the pairs concerned tells which pairs will come again. So it is all or
nothing: while anything is open to somebody, no earlier answer of theirs is shown, whatever the item on screen
is. They may still find their last items and answer these again. None of the last ones is a repeat of another,
or of what comes next, because the two showings of a pair are at least `CLOSEST_DUPLICATE` apart.

Practice is left out, because its expected grades are shown and nothing in it is asked twice.
"""

from __future__ import annotations

from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE
from curation.labeling.rounds.upcoming import read_items, read_open_rounds, upcoming_work
from curation.store import Cursor

LAST_ITEMS = CLOSEST_DUPLICATE // 2
"""How many of the last items are listed while others are open; the browser holds fewer of the next ones."""


def open_pairs(cursor: Cursor, annotator: str) -> set[tuple[str, str]]:
    """Query and document of what somebody has still to answer, in paused rounds too."""
    rounds = read_open_rounds(cursor)
    left = upcoming_work(rounds, read_items(cursor, annotator, rounds)).left
    return {(item.query_id, item.document_id) for item in left}


def may_see_own_answers(cursor: Cursor, annotator: str) -> bool:
    """Whether earlier answers may be shown: only where nothing is open to the annotator."""
    return not open_pairs(cursor, annotator)
