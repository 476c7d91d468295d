"""An annotator's recent answers, from which the screen shows the pace."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.store import Cursor, utc_now

HOUR = timedelta(hours=1)
PACE_ANSWERS = 50
"""Number of latest answers whose median time is the pace."""
MIN_FOR_PACE = 5
_ANSWERS = """
WITH own AS (
    SELECT *, row_number() OVER (ORDER BY rowid) AS written FROM judgment_events WHERE author = $who),
answers AS (
    SELECT written, submitted_at, presentation_id, active_ms FROM own
    WHERE kind IN ('grade', 'cannot_tell') AND time_known)
FROM answers WHERE submitted_at > $since
UNION ALL
(FROM answers WHERE active_ms IS NOT NULL ORDER BY written DESC LIMIT $last)
"""
_ANSWERED_AT = """
SELECT max(submitted_at) FROM judgment_events WHERE author = ? AND time_known
GROUP BY presentation_id HAVING arg_max(kind, revision) IN ('grade', 'cannot_tell')
"""


class RecentAnswer(NamedTuple):
    """An annotator's answer to a presentation.

    Attributes
    ----------
    written: index of the event among the annotator's events, in the order of writing.
    active_ms: milliseconds on screen; None if the screen sent no time.
    """

    written: int
    submitted_at: datetime
    presentation_id: str
    active_ms: int | None


class RecentAnswers(NamedTuple):
    """An annotator's answers of the last hour, and the last `PACE_ANSWERS` answers with a known time on
    screen."""

    hour: list[RecentAnswer]
    timed: list[RecentAnswer]

    @classmethod
    def of(cls, answers: Iterable[RecentAnswer], now: datetime) -> RecentAnswers:
        """Choose the recent answers; an answer may occur twice in the input."""
        newest = sorted({answer.written: answer for answer in answers}.values(), reverse=True)
        timed = [answer for answer in newest if answer.active_ms is not None]
        return cls([answer for answer in newest if answer.submitted_at > now - HOUR], timed[:PACE_ANSWERS])

    def pace(self, now: datetime) -> tuple[int, float | None]:
        """Compute the number of presentations answered in the last hour, and the median seconds on screen.

        The seconds are None for fewer than 5 answers.
        """
        hour = len({answer.presentation_id for answer in self.hour if answer.submitted_at > now - HOUR})
        seconds = [answer.active_ms / 1000 for answer in self.timed if answer.active_ms is not None]
        return hour, statistics.median(seconds) if len(seconds) >= MIN_FOR_PACE else None


def read_recent_answers(cursor: Cursor, annotator: str) -> RecentAnswers:
    """Read an annotator's recent answers, also answers that were changed or undone since."""
    now = utc_now()
    parameters = {"who": annotator, "since": now - HOUR, "last": PACE_ANSWERS}
    return RecentAnswers.of(map(RecentAnswer._make, cursor.execute(_ANSWERS, parameters).fetchall()), now)


def count_answered_since(cursor: Cursor, annotator: str, moments: Sequence[datetime]) -> list[int]:
    """Count the presentations that the annotator has answered since each moment (UTC), without undone
    answers."""
    times = [row[0] for row in cursor.execute(_ANSWERED_AT, [annotator]).fetchall()]
    return [sum(time >= moment for time in times) for moment in moments]
