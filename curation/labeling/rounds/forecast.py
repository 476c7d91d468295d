"""Workloads: what each person has judged and still has to judge, over all rounds.

Pace and forecast: how fast annotators answer, and when a round will be done at that pace.

Pace has two figures: the median seconds an item is on screen, and answers per hour of work, where work is the
time between answers that follow within ten minutes. The forecast is by calendar days instead, nights and
weekends included: open items over the answers per day of the last seven days. It is made for each annotator,
because work does not move between people by itself, and the last to finish decides.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

import numpy as np

from curation.core.text import amount
from curation.labeling.rounds.rounds import find_round
from curation.labeling.rounds.upcoming import unshown
from curation.store import Cursor, Store, fetch, utc_now

BREAK = timedelta(minutes=10)
"""A longer pause between two answers does not count as work."""

WINDOW = timedelta(days=7)
SHORTEST = timedelta(hours=1)
"""There is no forecast from answers over a shorter time."""

FEWEST = 10
"""With fewer answers there is neither a pace nor a forecast."""

FASTEST = 3600.0
"""Answers per hour of work (one a second) above which nobody can have read the items."""

DAYS_FOR_RANGE = 3
DAYS_SHOWN = 14
RESAMPLES = 1000
FURTHEST = timedelta(days=3650)


class Workload(NamedTuple):
    """Of one annotator: answers that count as judgments, and open items of rounds that are not closed."""

    annotator: str
    answered: int
    open: int


_WORKLOADS = """
SELECT p.annotator, count(*) FILTER (s.answered AND r.kind NOT IN ('pilot', 'practice')),
       count(*) FILTER (NOT coalesce(s.answered, false) AND NOT r.closed)
FROM live_presentations p
JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
GROUP BY p.annotator
"""


def workloads(cursor: Cursor) -> dict[str, Workload]:
    """The workload of everybody who has any, by name; imported judgments are answers, too."""
    return {workload.annotator: workload for workload in fetch(cursor, Workload, _WORKLOADS)}


class AnnotatorPace(NamedTuple):
    """One annotator's pace in a round, None where it rests on fewer than 10 answers.

    Attributes
    ----------
    open: items that are not answered.
    seconds: median seconds on screen.
    hourly: answers an hour of work.
    hours_left: open items at that rate; also None if it is faster than a person can read.
    """

    annotator: str
    open: int
    seconds: float | None
    hourly: float | None
    hours_left: float | None

    @property
    def too_fast(self) -> bool:
        """Whether answers came faster than a person can read: from a script, or many sent at once."""
        return self.hourly is not None and self.hourly > FASTEST


class AnnotatorWork(NamedTuple):
    """One annotator's open items, the times of their answers (ascending), and the known seconds on screen.

    grades: grade → answers; -1 is "cannot tell".
    """

    annotator: str
    open: int
    answered: Sequence[datetime]
    seconds: Sequence[float]
    grades: Mapping[int, int] = {}


class Forecast(NamedTuple):
    """When a round would be done.

    Attributes
    ----------
    done_at: at the present pace; None if somebody with open items has no pace, or nothing is open.
    low, high: the middle 80 % when the days of the window are resampled; None below 3 days.
    last: who is the slowest.
    missing: annotator with open items → why there is no forecast for them.
    how: the method or the reason for no forecast, in a sentence.
    """

    done_at: datetime | None
    low: datetime | None
    high: datetime | None
    last: str | None
    missing: dict[str, str]
    how: str


class DailyAnswers(NamedTuple):
    """Answers a day.

    Attributes
    ----------
    given: day → answers, of the last 14 days, today last.
    expected: day → answers as the forecast has them, from tomorrow on, of 14 days at most; without a
        forecast none.
    """

    given: tuple[tuple[date, int], ...]
    expected: tuple[tuple[date, float], ...]


_WORK = """
WITH first_answers AS (
    SELECT presentation_id, submitted_at, active_ms FROM judgment_events
    WHERE kind IN ('grade', 'cannot_tell') AND time_known
    QUALIFY row_number() OVER (PARTITION BY presentation_id ORDER BY revision) = 1)
SELECT p.annotator, count(*) FILTER (NOT coalesce(s.answered, false)),
       list(f.submitted_at ORDER BY f.submitted_at) FILTER (f.submitted_at IS NOT NULL),
       list(f.active_ms ORDER BY f.active_ms) FILTER (f.active_ms IS NOT NULL),
       histogram(coalesce(s.grade, -1)) FILTER (s.answered)
FROM live_presentations p
LEFT JOIN presentation_states s USING (presentation_id)
LEFT JOIN first_answers f USING (presentation_id)
WHERE p.round_id = ?
GROUP BY p.annotator ORDER BY p.annotator
"""


def annotators_work(store: Store, round_name: str) -> list[AnnotatorWork]:
    """All annotators' work in a round, by name.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id
        rows = cursor.execute(_WORK, [round_id]).fetchall()
        hidden = unshown(cursor)
    return [
        AnnotatorWork(
            *(name, left - hidden[round_id, name], at or []),
            [milliseconds / 1000 for milliseconds in times or []],
            grades or {},
        )
        for name, left, at, times, grades in rows
    ]


def pace(work: AnnotatorWork) -> AnnotatorPace:
    """How fast one annotator works."""
    gaps = [later - earlier for earlier, later in zip(work.answered, work.answered[1:], strict=False)]
    working = [gap for gap in gaps if gap <= BREAK]
    spent = sum(working, timedelta()).total_seconds() / 3600
    hourly = len(working) / spent if len(working) >= FEWEST and spent > 0 else None
    seconds = statistics.median(work.seconds) if len(work.seconds) >= FEWEST else None
    hours_left = work.open / hourly if hourly and hourly <= FASTEST else None
    return AnnotatorPace(work.annotator, work.open, seconds, hourly, hours_left)


def forecast(work: Sequence[AnnotatorWork], now: datetime | None = None, seed: int = 0) -> Forecast:
    """When everybody would be done at the pace of the last seven days."""
    now = now or utc_now()
    waiting = [one for one in work if one.open]
    if not waiting:
        return Forecast(None, None, None, None, {}, "Nothing is open.")
    reasons = {one.annotator: _why_not(one, now) for one in waiting}
    missing = {name: why for name, why in reasons.items() if why}
    if missing:
        return Forecast(None, None, None, None, missing, _without(missing))
    days = {one.annotator: one.open / _rate(one, now) for one in waiting}
    last = max(days, key=lambda name: (days[name], name))
    low, high = _range(waiting, now, seed)
    how = (
        f"Open items divided by each person's answers a day in the last {WINDOW.days} days, nights and "
        f"weekends included; {last} is the slowest."
    )
    return Forecast(_after(now, days[last]), low, high, last, {}, how)


def daily_answers(work: Sequence[AnnotatorWork], now: datetime | None = None) -> DailyAnswers:
    """The answers of each day, and those that `forecast` expects."""
    now = now or utc_now()
    today = now.date()
    by_day = Counter(at.date() for one in work for at in one.answered)
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS_SHOWN))]
    given = tuple((day, by_day[day]) for day in days)
    if forecast(work, now).done_at is None:
        return DailyAnswers(given, ())
    waiting = [(one.open, _rate(one, now)) for one in work if one.open]
    ahead = [
        sum(min(rate, max(0.0, left - rate * number)) for left, rate in waiting)
        for number in range(DAYS_SHOWN)
    ]
    expected = ((today + timedelta(days=number + 1), one) for number, one in enumerate(ahead) if one > 0)
    return DailyAnswers(given, tuple(expected))


def _since(work: AnnotatorWork, now: datetime) -> datetime:
    return max(now - WINDOW, work.answered[0])


def _recent(work: AnnotatorWork, now: datetime) -> list[datetime]:
    return [at for at in work.answered if at >= _since(work, now)]


def _why_not(work: AnnotatorWork, now: datetime) -> str:
    if not work.answered:
        return "has answered nothing yet"
    found = len(_recent(work, now))
    if found < FEWEST:
        return f"answered {amount(found, 'item')} in the last {WINDOW.days} days; {FEWEST} are needed"
    if now - _since(work, now) < SHORTEST:
        return "began less than an hour ago"
    if pace(work).too_fast:
        return "answered faster than a person reads"
    return ""


def _rate(work: AnnotatorWork, now: datetime) -> float:
    """Answers a day."""
    return len(_recent(work, now)) / ((now - _since(work, now)) / timedelta(days=1))


def _range(
    waiting: Sequence[AnnotatorWork], now: datetime, seed: int
) -> tuple[datetime | None, datetime | None]:
    """The middle 80 % of the end when the days of each annotator's window are resampled."""
    random = np.random.Generator(np.random.PCG64(seed))
    ends = np.zeros(RESAMPLES)
    for one in sorted(waiting):
        length = (now - _since(one, now)) / timedelta(days=1)
        if length < DAYS_FOR_RANGE:
            return None, None
        ago = np.array([(now - at) / timedelta(days=1) for at in _recent(one, now)])
        whole = math.ceil(length)
        daily = np.bincount(np.minimum(ago.astype(int), whole - 1), minlength=whole)
        drawn = daily[random.integers(whole, size=(RESAMPLES, whole))].sum(axis=1) / length
        ends = np.maximum(ends, one.open / np.maximum(drawn, 1e-9))
    low, high = np.quantile(ends, [0.1, 0.9])
    return _after(now, float(low)), _after(now, float(high))


def _after(now: datetime, days: float) -> datetime:
    return now + min(FURTHEST, timedelta(days=min(days, FURTHEST.days)))


def _without(missing: dict[str, str]) -> str:
    return f"No forecast: {'; '.join(f'{name} {why}' for name, why in missing.items())}."
