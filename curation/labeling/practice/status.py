"""Practice status: how annotators do on queries with known grades, which they grade before the real ones.

A practice round holds pairs with an expected grade and its explanation, from the reviewer's decisions or from
a file. Each annotator gets some whole queries of them. Who gives the expected grade often enough goes on to
the real queue. Who does not waits for the lead, who lets them practise again or pass. The first answer
counts, because the expected grade is shown after it.

Attempts and waivers are events of the round (kind 'extend', `practice` in its detail). An attempt begins at a
position of the annotator; earlier positions no longer count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from curation.core.reports.page import ShareCell, Table
from curation.people.seal_access import shut_door
from curation.store import Cursor, Store

PASS_MARK = 0.8


class PracticeState(NamedTuple):
    """The result of an annotator's practice so far.

    Attributes
    ----------
    right: answers with the expected grade.
    pass_mark: the share of right answers that is needed.
    passed: None while unfinished.
    """

    answered: int
    total: int
    right: int
    pass_mark: float
    passed: bool | None


class PracticeStatus(NamedTuple):
    """An annotator's status in one practice round; `waived` if the lead let them pass."""

    round_id: str
    round: str
    annotator: str
    paused: bool
    waived: bool
    state: PracticeState

    @property
    def open(self) -> bool:
        """Whether the annotator has to pass the round before the real queue."""
        return self.state.passed is not True

    @property
    def standing(self) -> str:
        """What became of it, in words."""
        if self.waived:
            return "let pass"
        return {None: "under way", True: "passed", False: "not passed"}[self.state.passed]


class PracticeFeedback(NamedTuple):
    """What an annotator sees after a practice answer; `given` is None for cannot-tell."""

    presentation_id: str
    expected: int
    given: int | None
    right: bool
    explanation: str | None


_FEEDBACK = """
SELECT p.presentation_id, p.query_id, k.grade, s.grade, k.explanation, r.parameters
FROM presentations p
JOIN rounds r USING (round_id)
JOIN known_answers k USING (round_id, query_id, document_id)
JOIN presentation_states s USING (presentation_id)
WHERE r.kind = 'practice' AND s.answered AND p.annotator = ?
  AND p.presentation_id IN (SELECT unnest(?::TEXT[]))
"""


def feedback(store: Store, annotator: str, presentation_ids: Sequence[str]) -> list[PracticeFeedback]:
    """The expected grades of the annotator's own answered practice showings, in the order asked for.

    Others' showings, unanswered ones and those that are no practice are left out. So are pairs that a release
    has sealed since, unless the round was opened with a reason to show them.
    """
    with store.reading() as cursor:
        rows = cursor.execute(_FEEDBACK, [annotator, list(presentation_ids)]).fetchall()
        door = shut_door(cursor) if rows else None
    found = {
        row[0]: _feedback(row[0], *row[2:])
        for row in rows
        if door is None or door.shows(row[1]) or shows_sealed(json.loads(row[-1]))
    }
    return [found[fromkey] for fromkey in dict.fromkeys(presentation_ids) if fromkey in found]


def shows_sealed(parameters: Mapping[str, Any]) -> bool:
    """Whether a practice round was opened with a reason to show sealed grades."""
    return "sealed" in parameters


_STATUSES = """
WITH decisions AS (
    SELECT round_id, detail->>'annotator' AS annotator,
           max((detail->>'from')::INTEGER) FILTER (detail->>'practice' = 'again') AS begins,
           arg_max(detail->>'practice', revision) = 'pass' AS waived
    FROM round_events WHERE kind = 'extend' AND detail->>'practice' IS NOT NULL GROUP BY ALL)
SELECT p.round_id, r.name, p.annotator, r.paused, coalesce(any_value(d.waived), false),
       count(*) FILTER (s.answered), count(*),
       count(*) FILTER (s.answered AND abs(s.grade - k.grade) <= (r.parameters->>'within')::INTEGER),
       (r.parameters->>'pass_mark')::DOUBLE
FROM live_presentations p
JOIN round_states r USING (round_id)
JOIN known_answers k USING (round_id, query_id, document_id)
LEFT JOIN presentation_states s USING (presentation_id)
LEFT JOIN decisions d USING (round_id, annotator)
WHERE r.kind = 'practice' AND NOT r.closed AND p.position >= coalesce(d.begins, 0)
  AND (?::TEXT IS NULL OR p.annotator = ?) AND (?::TEXT IS NULL OR p.round_id = ?)
GROUP BY p.round_id, r.name, r.sequence, r.paused, r.parameters, p.annotator
ORDER BY r.sequence, p.annotator
"""


def practice_statuses(
    cursor: Cursor, annotator: str | None = None, round_id: str | None = None
) -> list[PracticeStatus]:
    """The status of all annotators, or of one, in the practice rounds that are not closed, oldest first."""
    if not cursor.execute("SELECT 1 FROM rounds WHERE kind = 'practice' LIMIT 1").fetchall():
        return []
    found = []
    rows = cursor.execute(_STATUSES, [annotator, annotator, round_id, round_id]).fetchall()
    for key, name, who, paused, waived, answered, total, right, pass_mark in rows:
        enough = None if answered < total else right >= pass_mark * total - 1e-9
        state = PracticeState(answered, total, right, pass_mark, True if waived else enough)
        found.append(PracticeStatus(key, name, who, paused, waived, state))
    return found


def close_enough(given: int | None, expected: int, within: int) -> bool:
    """Whether an answer is right: the expected grade, or at most `within` steps away from it."""
    return given is not None and abs(given - expected) <= within


def _feedback(
    presentation_id: str, expected: int, given: int | None, explanation: str | None, parameters: str
) -> PracticeFeedback:
    right = close_enough(given, expected, int(json.loads(parameters)["within"]))
    return PracticeFeedback(presentation_id, expected, given, right, explanation)


def practice_table(statuses: Sequence[PracticeStatus]) -> Table:
    """How far everybody is with practice, and who may begin to label."""
    rows = (
        (
            *(status.annotator, status.state.answered, status.state.total, status.state.right),
            *(ShareCell(status.state.pass_mark), status.standing),
        )
        for status in statuses
    )
    columns = ("Annotator", "Answered", "Of", "As expected", "Needed", "Status")
    return Table("Practice by annotator", columns, tuple(rows))
