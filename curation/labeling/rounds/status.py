"""The status of a round: its annotators' progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from curation.core.reports.tables import BarCell, NumberCell, Table
from curation.core.text import describe_left_out, pluralize
from curation.labeling.rounds.candidates import OUTSIDE_FILTER
from curation.labeling.rounds.control_items import ControlResult, build_control_table, read_control_results
from curation.labeling.rounds.left_out_queries import LEFT_OUT_QUERY
from curation.labeling.rounds.pace import AnnotatorWork
from curation.labeling.rounds.round_states import read_round_state
from curation.labeling.rounds.upcoming import NEAR_REPEATS, count_unshown
from curation.store import Cursor, Store, fetch

_PROGRESS = """
SELECT p.annotator, count(*), count(*) FILTER (s.answered),
       count(*) FILTER (s.kind = 'cannot_tell'), count(*) FILTER (s.kind = 'later'),
       count(*) FILTER (s.flagged), count(p.duplicate_of), max(s.submitted_at)
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
_LATE = """
SELECT count(DISTINCT e.presentation_id) FROM judgment_events e JOIN presentations p USING (presentation_id)
WHERE e.late AND p.round_id = ?
"""
_WITHDRAWN = """
SELECT w.reason, count(*) FROM withdrawals w JOIN presentations p USING (presentation_id)
WHERE p.round_id = ? GROUP BY w.reason
"""
_SPACING = """
WITH places AS (
    SELECT presentation_id, duplicate_of,
           row_number() OVER (PARTITION BY annotator ORDER BY position) AS place
    FROM live_presentations WHERE round_id = ?)
SELECT count(*), min(again.place - first.place),
       count(*) FILTER (s.submitted_at IS NOT NULL AND t.submitted_at IS NOT NULL),
       count(*) FILTER (s.submitted_at::DATE <> t.submitted_at::DATE)
FROM places again
JOIN places first ON first.presentation_id = again.duplicate_of
LEFT JOIN current_judgments s ON s.presentation_id = first.presentation_id
LEFT JOIN current_judgments t ON t.presentation_id = again.presentation_id
"""
_WORKLOADS = """
SELECT p.annotator, count(*) FILTER (s.answered AND r.kind NOT IN ('pilot', 'practice')),
       count(*) FILTER (NOT coalesce(s.answered, false) AND NOT r.closed)
FROM live_presentations p
JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
GROUP BY p.annotator
"""


class AnnotatorProgress(NamedTuple):
    """An annotator's progress in a round.

    Attributes
    ----------
    answered: the number of answers, `cannot_tell` and `flagged` included.
    presentations, duplicates: numbers of items and of blind duplicates, without duplicates that stay unshown.
    """

    annotator: str
    presentations: int
    answered: int
    cannot_tell: int
    later: int
    flagged: int
    duplicates: int
    last_at: datetime | None


class Spacing(NamedTuple):
    """How far apart a round's blind duplicates were shown.

    Attributes
    ----------
    least_distance: the smallest distance between two showings in presentations, without items that moved to
        others; None if the round has no blind duplicates.
    judged: the number of duplicates with an answer to both showings.
    another_day: the number of judged duplicates whose two answers were given on different days (UTC).
    """

    duplicates: int
    least_distance: int | None
    judged: int
    another_day: int


@dataclass(frozen=True)
class RoundStatus:
    """A round's progress.

    Attributes
    ----------
    guide_hash: the round's current guide.
    complete: number of candidates with an answer to every first showing; control items are not candidates.
    late: number of answers that came in after the round was closed.
    withdrawn: number of presentations that were moved to other annotators.
    left_out: reason → number of presentations that were not moved but will never be shown.
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
    control_items: list[ControlResult]
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Return sentences with the numbers of complete candidates, moved items, late answers and other
        items."""
        state = ", closed" if self.closed else ", paused" if self.paused else ""
        done = f"{self.complete:,} of {pluralize(self.candidates, 'candidate has', 'candidates have')}"
        sentences = [f"{self.round} ({self.kind}{state}): {done} all their judgments."]
        if self.withdrawn:
            moved = pluralize(self.withdrawn, "presentation was", "presentations were")
            sentences.append(f"{moved} withdrawn and moved to others.")
        if self.late:
            late = pluralize(self.late, "answer came", "answers came")
            sentences.append(f"{late} after the round was closed. Late answers are kept and marked.")
        if self.spacing.judged:
            twice, apart = self.spacing.judged, self.spacing.another_day
            sentences.append(
                f"{twice:,} blind duplicates were judged twice, {apart:,} of them on another day (UTC)."
            )
        return [*sentences, *describe_left_out(self.left_out)]

    @property
    def tables(self) -> list[Table]:
        """Return tables of progress by annotator and of control items."""
        return [build_progress_table(self), build_control_table(self.control_items)]


def count_workloads(cursor: Cursor) -> dict[str, tuple[int, int]]:
    """Count each annotator's open items, and answers including imported ones, in rounds that are not
    closed."""
    return {name: (answered, pending) for name, answered, pending in cursor.execute(_WORKLOADS).fetchall()}


def read_round_status(store: Store, name: str) -> RoundStatus:
    """Read a round's status.

    Raises
    ------
    NotFoundError: there is no round with the name.
    """
    with store.reading() as cursor:
        state = read_round_state(cursor, name)
        round_id = state.round_id
        unshown_items = count_unshown(cursor).items()
        unshown_counts = Counter({name: count for (key, name), count in unshown_items if key == round_id})
        progress = []
        for row in fetch(cursor, AnnotatorProgress, _PROGRESS, [round_id]):
            unshown = unshown_counts[row.annotator]
            row = row._replace(presentations=row.presentations - unshown, duplicates=row.duplicates - unshown)
            progress.append(row)
        [(candidates, complete)] = cursor.execute(_COMPLETE, [round_id]).fetchall()
        [(late,)] = cursor.execute(_LATE, [round_id]).fetchall()
        withdrawn = Counter(dict(cursor.execute(_WITHDRAWN, [round_id]).fetchall()))
        left_out = {reason: withdrawn.pop(reason, 0) for reason in (OUTSIDE_FILTER, LEFT_OUT_QUERY)}
        left_out[NEAR_REPEATS] = unshown_counts.total()
        return RoundStatus(
            round=name,
            kind=state.kind,
            opened_at=state.opened_at,
            guide_hash=state.guide_hash,
            candidates=candidates,
            complete=complete,
            annotators=progress,
            paused=state.paused,
            closed=state.closed,
            closed_at=state.closed_at,
            late=late,
            withdrawn=withdrawn.total(),
            spacing=fetch(cursor, Spacing, _SPACING, [round_id])[0],
            control_items=[] if state.kind == "practice" else read_control_results(cursor, round_id),
            left_out={reason: count for reason, count in left_out.items() if count},
        )


def build_progress_table(status: RoundStatus, work: Sequence[AnnotatorWork] = ()) -> Table:
    """Draw the table of annotators' progress, including blind duplicates; `work` adds columns for their
    pace."""
    work_by_annotator = {person.annotator: person for person in work}
    pace = ("Median seconds", "Answers per hour", "Hours left")[
        : 0 if not work else 2 if status.closed else 3
    ]
    rows = (
        (
            annotator.annotator,
            BarCell(annotator.answered, annotator.presentations),
            *(annotator.answered, annotator.presentations),
            *(annotator.cannot_tell, annotator.later, annotator.flagged),
            *_build_pace_cells(work_by_annotator.get(annotator.annotator))[: len(pace)],
            annotator.last_at,
        )
        for annotator in status.annotators
    )
    kind_columns = ("Cannot tell", "Skipped", "Flagged")
    columns = ("Annotator", "Share", "Answered", "Of", *kind_columns, *pace, "Last answer (UTC)")
    return Table("Progress by annotator", columns, tuple(rows))


def _build_pace_cells(work: AnnotatorWork | None) -> tuple[NumberCell, ...]:
    work = work or AnnotatorWork("", 0, [], [])
    hourly = None if work.too_fast else work.hourly
    return (NumberCell(work.median_seconds, 1), NumberCell(hourly, 0), NumberCell(work.hours_left, 1))
