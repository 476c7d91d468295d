"""Recent answers of an annotator: how many came in the last hour, and how long each took."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.store import Cursor, utc_now

HOUR = timedelta(hours=1)
PACE_ANSWERS = 50
"""The pace is the median of this many last answers."""
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


class Answer(NamedTuple):
    """One answering event.

    Attributes
    ----------
    written: its place among the annotator's events, in the order of writing.
    active_ms: the time on screen, if the screen sent it.
    """

    written: int
    submitted_at: datetime
    presentation_id: str
    active_ms: int | None


class Recent(NamedTuple):
    """An annotator's answers of the last hour, and the last `PACE_ANSWERS` of known length, newest first."""

    hour: list[Answer]
    timed: list[Answer]

    @classmethod
    def of(cls, answers: Iterable[Answer], now: datetime) -> Recent:
        """The recent ones of some answers, in which an answer may occur twice."""
        newest = sorted({answer.written: answer for answer in answers}.values(), reverse=True)
        timed = [answer for answer in newest if answer.active_ms is not None]
        return cls([answer for answer in newest if answer.submitted_at > now - HOUR], timed[:PACE_ANSWERS])

    def pace(self, now: datetime) -> tuple[int, float | None]:
        """Presentations answered in the last 60 minutes, and the median seconds on screen, None below 5."""
        hour = len({answer.presentation_id for answer in self.hour if answer.submitted_at > now - HOUR})
        seconds = [answer.active_ms / 1000 for answer in self.timed if answer.active_ms is not None]
        return hour, statistics.median(seconds) if len(seconds) >= MIN_FOR_PACE else None


def recent(cursor: Cursor, annotator: str) -> Recent:
    """An annotator's recent answers, including those that were changed or undone since."""
    now = utc_now()
    parameters = {"who": annotator, "since": now - HOUR, "last": PACE_ANSWERS}
    return Recent.of(map(Answer._make, cursor.execute(_ANSWERS, parameters).fetchall()), now)


def answered_since(cursor: Cursor, annotator: str, moments: Sequence[datetime]) -> list[int]:
    """For each moment (UTC) how many presentations the annotator has answered since, and not taken back."""
    times = [row[0] for row in cursor.execute(_ANSWERED_AT, [annotator]).fetchall()]
    return [sum(time >= moment for time in times) for moment in moments]
