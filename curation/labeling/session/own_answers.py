"""Own answers: whether somebody may see what they answered earlier.

Blind duplicates, control items and re-labels ask for a pair again. Who sees their old answer can copy it, and
a list that hides only the answers of the pairs concerned tells which pairs will come again. So it is all or
nothing: while anything is open to somebody, no earlier answer of theirs is shown, whatever the item on screen
is. They may still find their last items and answer these again. None of the last ones is a repeat of another,
or of what comes next, because the two showings of a pair are at least `CLOSEST_DUPLICATE` apart.

Practice is left out, because its expected grades are shown and nothing in it is asked twice.
"""

from __future__ import annotations

from curation.labeling.rounds.upcoming import read_items, read_open_rounds, upcoming_work
from curation.store import Cursor


def may_see_own_answers(cursor: Cursor, annotator: str) -> bool:
    """Whether earlier answers may be shown: only where nothing can come any more, in paused rounds too.

    A repeat of what was put off may come with more work, so answers wait as long as one would.
    """
    rounds = read_open_rounds(cursor)
    work = upcoming_work(rounds, read_items(cursor, annotator, rounds))
    return not (work.left or work.near)


_GIVEN = """
SELECT DISTINCT p.query_id, p.document_id FROM live_presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = ? AND r.kind != 'practice'
"""


def withheld_pairs(cursor: Cursor, annotator: str) -> set[tuple[str, str]]:
    """Query and document of all that was given to somebody, answered or not; none if answers may be shown."""
    if may_see_own_answers(cursor, annotator):
        return set()
    return set(cursor.execute(_GIVEN, [annotator]).fetchall())
