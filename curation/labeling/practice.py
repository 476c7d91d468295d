"""Practice: known queries before the real ones, with the expected grade explained after each answer.

A practice round holds known pairs: what the reviewer decided, with the reason as the explanation, or a file
of the lead's. Each annotator gets some whole queries of them. Who gives the expected grade often enough goes
on to the real queue; who does not waits for the lead, who lets them practise again or lets them pass. The
first answer counts, because the expected grade is shown after it.

Attempts and waivers are events of the round (kind 'extend', `practice` in its detail): an attempt begins at a
position of the annotator's, and what lies before it no longer counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from curation.store import Cursor, Store

PASS_MARK = 0.8


class PracticeState(NamedTuple):
    """How an annotator does in practice.

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


class Standing(NamedTuple):
    """An annotator's state in one practice round; `waived` when the lead let them pass."""

    round_id: str
    round: str
    annotator: str
    paused: bool
    waived: bool
    state: PracticeState

    @property
    def open(self) -> bool:
        """The round stands between the annotator and the real queue."""
        return self.state.passed is not True


class Feedback(NamedTuple):
    """What an annotator is told after a practice answer; `given` is None for cannot-tell."""

    presentation_id: str
    expected: int
    given: int | None
    right: bool
    explanation: str | None


class _Row(NamedTuple):
    round_id: str
    round: str
    parameters: str
    paused: bool
    annotator: str
    position: int
    expected: int
    answered: bool
    given: int | None


def feedback(store: Store, annotator: str, presentation_ids: Sequence[str]) -> list[Feedback]:
    """The expected grades of the annotator's own answered practice showings, in the order asked for.

    Others' showings, unanswered ones and those that are no practice are left out.
    """
    with store.reading() as cursor:
        rows = cursor.execute(_FEEDBACK, [annotator, list(presentation_ids)]).fetchall()
    found = {row[0]: _feedback(*row) for row in rows}
    return [found[one] for one in dict.fromkeys(presentation_ids) if one in found]


def standings(cursor: Cursor, annotator: str | None = None, round_id: str | None = None) -> list[Standing]:
    """Everyone's state (or one annotator's) in the practice rounds that are not closed, oldest first."""
    if not cursor.execute("SELECT 1 FROM rounds WHERE kind = 'practice' LIMIT 1").fetchall():
        return []
    rows = [
        _Row(*row) for row in cursor.execute(_ROWS, [annotator, annotator, round_id, round_id]).fetchall()
    ]
    if not rows:
        return []
    events = cursor.execute(_EVENTS).fetchall()
    begins = {(event[0], event[1]): int(event[2]) for event in events if event[2] is not None}
    waived = {(event[0], event[1]) for event in events if event[3]}
    grouped: dict[tuple[str, str], list[_Row]] = {}
    for row in rows:
        grouped.setdefault((row.round_id, row.annotator), []).append(row)
    return [_standing(key, found, begins.get(key, 0), key in waived) for key, found in grouped.items()]


def practised(cursor: Cursor) -> set[tuple[str, str, str]]:
    """(annotator, query id, document id) of every pair whose expected grade an annotator is shown."""
    return set(cursor.execute(_PRACTISED).fetchall())


def close_enough(given: int | None, expected: int, within: int) -> bool:
    """Whether an answer is right: the expected grade, or at most `within` steps beside it."""
    return given is not None and abs(given - expected) <= within


def _standing(key: tuple[str, str], rows: Iterable[_Row], begin: int, waived: bool) -> Standing:
    now = [row for row in rows if row.position >= begin]
    first = now[0]
    parameters = json.loads(first.parameters)
    pass_mark, within = float(parameters["pass_mark"]), int(parameters["within"])
    answered = sum(row.answered for row in now)
    right = sum(close_enough(row.given, row.expected, within) for row in now if row.answered)
    enough = None if answered < len(now) else right >= pass_mark * len(now) - 1e-9
    state = PracticeState(answered, len(now), right, pass_mark, True if waived else enough)
    return Standing(key[0], first.round, key[1], first.paused, waived, state)


def _feedback(
    presentation_id: str, expected: int, given: int | None, explanation: str | None, parameters: str
) -> Feedback:
    right = close_enough(given, expected, int(json.loads(parameters)["within"]))
    return Feedback(presentation_id, expected, given, right, explanation)


_ROWS = """
SELECT p.round_id, r.name, r.parameters, r.paused, p.annotator, p.position, k.grade,
       coalesce(s.answered, false), s.grade
FROM live_presentations p
JOIN round_states r USING (round_id)
JOIN known_answers k USING (round_id, query_id, document_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE r.kind = 'practice' AND NOT r.closed
  AND (?::TEXT IS NULL OR p.annotator = ?) AND (?::TEXT IS NULL OR p.round_id = ?)
ORDER BY r.opened_at, p.round_id, p.annotator, p.position
"""

_EVENTS = """
SELECT round_id, detail->>'annotator',
       max((detail->>'from')::INTEGER) FILTER (detail->>'practice' = 'again'),
       arg_max(detail->>'practice', revision) = 'pass'
FROM round_events WHERE kind = 'extend' AND detail->>'practice' IS NOT NULL GROUP BY ALL
"""

_FEEDBACK = """
SELECT p.presentation_id, k.grade, s.grade, k.explanation, r.parameters
FROM presentations p
JOIN rounds r USING (round_id)
JOIN known_answers k USING (round_id, query_id, document_id)
JOIN presentation_states s USING (presentation_id)
WHERE r.kind = 'practice' AND s.answered AND p.annotator = ?
  AND p.presentation_id IN (SELECT unnest(?::TEXT[]))
"""

_PRACTISED = """
SELECT DISTINCT p.annotator, p.query_id, p.document_id
FROM presentations p JOIN rounds r USING (round_id) WHERE r.kind = 'practice'
"""
