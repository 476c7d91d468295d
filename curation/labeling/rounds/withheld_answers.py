"""The rule that withholds an annotator's earlier answers while the annotator still has unanswered items.

An earlier answer would reveal the grade of a pair that comes back as a blind duplicate. The rule ignores
practice rounds, which show expected grades and repeat no item.
"""

from __future__ import annotations

from curation.labeling.rounds.upcoming import compute_upcoming_work, read_items, read_open_rounds
from curation.store import Cursor

_ASSIGNED_PAIRS = """
SELECT DISTINCT p.query_id, p.document_id FROM live_presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = ? AND r.kind != 'practice'
"""


def may_see_own_answers(cursor: Cursor, annotator: str) -> bool:
    """Return whether an annotator may see their earlier answers, because none of their items is unanswered.

    Unanswered items of paused rounds, and repeats that wait for more items, count as unanswered.
    """
    rounds = read_open_rounds(cursor)
    work = compute_upcoming_work(rounds, read_items(cursor, annotator, rounds))
    return not (work.unanswered_items or work.has_near_repeats)


def read_withheld_pairs(cursor: Cursor, annotator: str) -> set[tuple[str, str]]:
    """Read the pairs assigned to an annotator, answered or not; empty if the annotator may see their earlier
    answers."""
    if may_see_own_answers(cursor, annotator):
        return set()
    return set(cursor.execute(_ASSIGNED_PAIRS, [annotator]).fetchall())
