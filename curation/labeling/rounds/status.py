"""The status of a round: how much of it is answered, by annotator."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from curation.labeling.rounds.candidates import OUTSIDE_FILTER
from curation.labeling.rounds.control_items import ControlItemResult, control_item_results
from curation.labeling.rounds.duplicate_spacing import Spacing, spacing
from curation.labeling.rounds.rounds import find_round
from curation.labeling.rounds.upcoming import TOO_NEAR, unshown
from curation.store import Store, fetch


class AnnotatorProgress(NamedTuple):
    """The progress of one annotator; cannot_tell and flagged are part of answered.

    Blind duplicates that cannot be shown any more are neither among `presentations` nor `duplicates`.
    """

    annotator: str
    presentations: int
    answered: int
    cannot_tell: int
    later: int
    flagged: int
    duplicates: int
    duplicates_answered: int
    last_at: datetime | None


@dataclass(frozen=True)
class RoundStatus:
    """A round's progress.

    Attributes
    ----------
    guide_hash: the guide in force in the round now.
    complete: candidates with all their first showings answered; control items are no candidates.
    late: presentations whose answer came after the round was closed.
    withdrawn: presentations that were moved to somebody else.
    left_out: reason → number of presentations that nobody will see, though they were not moved.
    """

    round: str
    kind: str
    opened_at: datetime
    guide_hash: str
    candidates: int
    complete: int
    annotators: list[AnnotatorProgress]
    paused: bool
    closed: bool
    closed_at: datetime | None
    late: int
    withdrawn: int
    spacing: Spacing
    control_items: list[ControlItemResult]
    left_out: dict[str, int]


_PROGRESS = """
SELECT p.annotator, count(*), count(*) FILTER (s.answered),
       count(*) FILTER (s.kind = 'cannot_tell'), count(*) FILTER (s.kind = 'later'),
       count(*) FILTER (s.flagged), count(p.duplicate_of),
       count(*) FILTER (p.duplicate_of IS NOT NULL AND s.answered), max(s.submitted_at)
FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.round_id = ?
GROUP BY p.annotator ORDER BY p.annotator
"""


_COMPLETE = """
WITH pairs AS (
    SELECT p.query_id, p.document_id, bool_and(j.presentation_id IS NOT NULL) AS answered
    FROM live_presentations p LEFT JOIN current_judgments j USING (presentation_id)
    WHERE p.round_id = ? AND p.duplicate_of IS NULL AND NOT EXISTS (
        FROM known_answers k
        WHERE k.round_id = p.round_id AND k.query_id = p.query_id AND k.document_id = p.document_id)
    GROUP BY p.query_id, p.document_id)
SELECT count(*), count(*) FILTER (answered) FROM pairs
"""


_STATE = """
SELECT kind, opened_at, guide_hash, paused, closed, closed_at,
       (SELECT count(DISTINCT e.presentation_id)
        FROM judgment_events e JOIN presentations p USING (presentation_id)
        WHERE e.late AND p.round_id = r.round_id),
       (SELECT (count(*) FILTER (w.reason <> $filter), count(*) FILTER (w.reason = $filter))
        FROM withdrawals w JOIN presentations p USING (presentation_id) WHERE p.round_id = r.round_id)
FROM round_states r WHERE round_id = $round
"""


def round_status(store: Store, name: str) -> RoundStatus:
    """Read the status of a round.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, name).round_id
        hidden = Counter({who: count for (of, who), count in unshown(cursor).items() if of == round_id})
        progress = [
            _without(row, hidden[row.annotator])
            for row in fetch(cursor, AnnotatorProgress, _PROGRESS, [round_id])
        ]
        candidates, complete = cursor.execute(_COMPLETE, [round_id]).fetchall()[0]
        kind, opened_at, guide_hash, paused, closed, closed_at, late, (withdrawn, outside) = cursor.execute(
            _STATE, {"round": round_id, "filter": OUTSIDE_FILTER}
        ).fetchall()[0]
        left_out = {TOO_NEAR: hidden.total(), OUTSIDE_FILTER: outside}
        return RoundStatus(
            round=name,
            kind=kind,
            opened_at=opened_at,
            guide_hash=guide_hash,
            candidates=candidates,
            complete=complete,
            annotators=progress,
            paused=paused,
            closed=closed,
            closed_at=closed_at,
            late=late,
            withdrawn=withdrawn,
            spacing=spacing(cursor, round_id),
            control_items=[] if kind == "practice" else control_item_results(cursor, round_id),
            left_out={reason: count for reason, count in left_out.items() if count},
        )


def _without(row: AnnotatorProgress, hidden: int) -> AnnotatorProgress:
    return row._replace(presentations=row.presentations - hidden, duplicates=row.duplicates - hidden)
