"""An annotator's last answers by time: how many in this hour, and how long each took."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.store import Cursor, utc_now

HOUR = timedelta(hours=1)
PACE_ANSWERS = 50
"""The pace is the median of so many last answers."""

FEWEST_FOR_PACE = 5


class Answer(NamedTuple):
    """One answering event; `active_ms` is the time on screen, where the screen told it."""

    submitted_at: datetime
    presentation_id: str
    active_ms: int | None


class Recent(NamedTuple):
    """An annotator's answers of the last hour, and the last `PACE_ANSWERS` of known length, newest first."""

    hour: list[Answer]
    timed: list[Answer]

    @classmethod
    def of(cls, answers: Iterable[Answer], now: datetime) -> Recent:
        """What is recent of some answers, each of which may be named twice."""
        newest = sorted(set(answers), key=lambda one: one.presentation_id)
        newest.sort(key=lambda one: one.submitted_at, reverse=True)
        timed = [one for one in newest if one.active_ms is not None]
        return cls([one for one in newest if one.submitted_at > now - HOUR], timed[:PACE_ANSWERS])

    def pace(self, now: datetime) -> tuple[int, float | None]:
        """Presentations answered in the last 60 minutes, and the median seconds on screen, None below 5."""
        hour = len({one.presentation_id for one in self.hour if one.submitted_at > now - HOUR})
        seconds = [one.active_ms / 1000 for one in self.timed if one.active_ms is not None]
        return hour, statistics.median(seconds) if len(seconds) >= FEWEST_FOR_PACE else None


def recent(cursor: Cursor, annotator: str) -> Recent:
    """An annotator's recent answers, those that were changed or taken back since among them."""
    now = utc_now()
    parameters = {"who": annotator, "since": now - HOUR, "last": PACE_ANSWERS}
    return Recent.of(map(Answer._make, cursor.execute(_ANSWERS, parameters).fetchall()), now)


_ANSWERS = """
WITH answers AS (
    SELECT submitted_at, presentation_id, active_ms FROM judgment_events
    WHERE author = $who AND kind IN ('grade', 'cannot_tell'))
FROM answers WHERE submitted_at > $since
UNION ALL
(FROM answers WHERE active_ms IS NOT NULL ORDER BY submitted_at DESC, presentation_id LIMIT $last)
"""
