"""An annotator's recent answers, from which the screen computes counts and the pace."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.store import Cursor

HOUR = timedelta(hours=1)
PACE_ANSWERS = 50
"""Number of latest answers whose median time is the pace."""
MIN_FOR_PACE = 5
_ANSWERS = """
WITH own AS (
    SELECT *, row_number() OVER (ORDER BY rowid) AS event_number FROM judgment_events WHERE author = $who),
answers AS (
    SELECT event_number, submitted_at, presentation_id, active_ms FROM own
    WHERE kind IN ('grade', 'cannot_tell') AND time_known)
FROM answers WHERE submitted_at > $since
UNION ALL
(FROM answers WHERE active_ms IS NOT NULL ORDER BY event_number DESC LIMIT $last)
"""
_ANSWERED_AT = """
SELECT max(submitted_at) FROM judgment_events WHERE author = ? AND time_known
GROUP BY presentation_id HAVING arg_max(kind, revision) IN ('grade', 'cannot_tell')
"""


class RecentAnswer(NamedTuple):
    """A recent answer of an annotator, with its time and its duration.

    Attributes
    ----------
    event_number: number of the event among the annotator's events, in the order of writing.
    active_ms: milliseconds on screen; None if the screen sent no time.
    """

    event_number: int
    submitted_at: datetime
    presentation_id: str
    active_ms: int | None


class Pace(NamedTuple):
    """An annotator's current pace of answering, as the screen shows it.

    Attributes
    ----------
    answers_last_hour: number of presentations answered in the last 60 minutes.
    median_seconds: median seconds on screen of the last `PACE_ANSWERS` answers; None for fewer than 5
        answers.
    """

    answers_last_hour: int
    median_seconds: float | None


class RecentAnswers(NamedTuple):
    """An annotator's answers from the last hour, and the last `PACE_ANSWERS` answers that have a time."""

    last_hour: list[RecentAnswer]
    timed: list[RecentAnswer]

    @classmethod
    def choose(cls, answers: Iterable[RecentAnswer], now: datetime) -> RecentAnswers:
        """Choose the recent answers; an answer may occur twice in the input."""
        newest = sorted({answer.event_number: answer for answer in answers}.values(), reverse=True)
        timed = [answer for answer in newest if answer.active_ms is not None]
        return cls([answer for answer in newest if answer.submitted_at > now - HOUR], timed[:PACE_ANSWERS])

    def compute_pace(self, now: datetime) -> Pace:
        """Compute the pace at a time (UTC), which is at most an hour after the answers were read."""
        last_hour = [answer for answer in self.last_hour if answer.submitted_at > now - HOUR]
        seconds = [answer.active_ms / 1000 for answer in self.timed if answer.active_ms is not None]
        median_seconds = statistics.median(seconds) if len(seconds) >= MIN_FOR_PACE else None
        return Pace(len({answer.presentation_id for answer in last_hour}), median_seconds)


def read_recent_answers(cursor: Cursor, annotator: str, now: datetime) -> RecentAnswers:
    """Read an annotator's recent answers at a time (UTC), including answers changed or undone since."""
    parameters = {"who": annotator, "since": now - HOUR, "last": PACE_ANSWERS}
    rows = cursor.execute(_ANSWERS, parameters).fetchall()
    return RecentAnswers.choose(map(RecentAnswer._make, rows), now)


def count_answered_since(cursor: Cursor, annotator: str, moments: Sequence[datetime]) -> list[int]:
    """Count the presentations that the annotator has answered since each moment (UTC), leaving out undone
    answers."""
    answer_times = [row[0] for row in cursor.execute(_ANSWERED_AT, [annotator]).fetchall()]
    return [sum(answered_at >= moment for answered_at in answer_times) for moment in moments]
