"""An annotator's released answers: the answers that count in statistics shown to that annotator.

If every new answer changed these statistics, the change would reveal whether the answer was a repeat. So
answers are released in blocks of `ANSWERS_PER_BLOCK`, in the order of the first answers, once the block was
full when the day began (UTC). An answer counts as it was when its block was full, because a later change
would reveal one item. When a round closes, all its answers are released in their last state.
"""

from __future__ import annotations

from datetime import datetime

from curation.store import utc_now

ANSWERS_PER_BLOCK = 50
"""Number of answers that are released together."""
RELEASED_ANSWERS = """
WITH events AS (
    SELECT e.*, e.rowid AS event_row, r.closed
    FROM judgment_events e
    JOIN live_presentations p USING (presentation_id)
    JOIN round_states r USING (round_id)
    WHERE e.author = $annotator AND p.annotator = $annotator AND r.kind NOT IN ('pilot', 'practice')),
first_answers AS (
    SELECT presentation_id, min(event_row) AS event_row, arg_min(submitted_at, event_row) AS submitted_at
    FROM events WHERE kind IN ('grade', 'cannot_tell') GROUP BY presentation_id),
block_answers AS (
    SELECT *, (row_number() OVER (ORDER BY event_row) - 1) // $block_size AS block
    FROM first_answers),
full_blocks AS (
    SELECT block, max(event_row) AS last_event_row FROM block_answers
    GROUP BY block HAVING count(*) = $block_size AND max(submitted_at) < $today),
released AS (
    SELECT p.*, state.kind, state.grade, state.submitted_at, state.event_row
    FROM (
        SELECT e.* FROM events e LEFT JOIN block_answers USING (presentation_id)
        LEFT JOIN full_blocks USING (block)
        WHERE CASE WHEN e.closed THEN NOT coalesce(e.late, false)
                   ELSE e.event_row <= full_blocks.last_event_row END
        QUALIFY row_number() OVER (PARTITION BY presentation_id ORDER BY revision DESC) = 1) state
    JOIN presentations p USING (presentation_id)
    WHERE state.kind IN ('grade', 'cannot_tell'))
"""
"""Beginning of an SQL statement that defines the table `released`, with the parameters of
`bind_release_parameters`.
"""


def bind_release_parameters(annotator: str, now: datetime | None) -> dict[str, object]:
    """Make the parameters of `RELEASED_ANSWERS`, by default for the current time."""
    midnight = (now or utc_now()).replace(hour=0, minute=0, second=0, microsecond=0)
    return {"annotator": annotator, "block_size": ANSWERS_PER_BLOCK, "today": midnight}
