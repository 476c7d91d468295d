"""Annotators' pace in a round, from which the end of the round is forecast.

Pace has two figures: the median seconds that an item is on screen, and the answers per hour of work. Hours of
work include the time between two answers only if it is at most ten minutes. The forecast uses calendar days:
each annotator's open items, divided by the annotator's answers per day in the last seven days. The slowest
annotator determines the end, because items do not move between annotators automatically.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from curation.core.text import pluralize
from curation.labeling.rounds.rounds import find_round
from curation.labeling.rounds.upcoming import count_unshown
from curation.store import Store, utc_now

MAX_PAUSE = timedelta(minutes=10)
"""Longest pause between two answers that counts as work."""
WINDOW = timedelta(days=7)
MIN_TIME = timedelta(hours=1)
"""Smallest time from an annotator's first answer until a forecast is made."""
MIN_ANSWERS = 10
"""Smallest number of answers from which a pace, or a forecast, is computed."""
MIN_SECONDS = 1.0
"""Seconds per answer below which a pace is too fast for a person.

Wood, Harms, Lowman and DeSimone (2017), Social Psychological and Personality Science 8: below one second an
item, answers to one-line items of questionnaires stop being consistent. Huang and others (2012), Journal of
Business and Psychology 27, require two seconds an item. A query with a document is longer than an item of a
questionnaire.
"""
MAX_HOURLY = 3600 / MIN_SECONDS
"""Answers per hour of work above which an annotator cannot have read the items."""
DAYS_SHOWN = 14
MAX_DAYS = 3650
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


class AnnotatorWork(NamedTuple):
    """An annotator's work in a round; the pace is None if there are fewer than 10 answers.

    Attributes
    ----------
    open: the number of unanswered items.
    answered: the times of the answers, ascending.
    seconds: the seconds that items were on screen, if known.
    grades: grade → number of answers; the grade -1 stands for "cannot tell".
    """

    annotator: str
    open: int
    answered: Sequence[datetime]
    seconds: Sequence[float]
    grades: Mapping[int, int] = {}

    @property
    def median_seconds(self) -> float | None:
        """Return the median time that an item was on screen, in seconds."""
        return statistics.median(self.seconds) if len(self.seconds) >= MIN_ANSWERS else None

    @property
    def hourly(self) -> float | None:
        """Return the number of answers per hour of work."""
        pauses = [later - earlier for earlier, later in zip(self.answered, self.answered[1:], strict=False)]
        working_pauses = [gap for gap in pauses if gap <= MAX_PAUSE]
        hours = sum(working_pauses, timedelta()).total_seconds() / 3600
        return len(working_pauses) / hours if len(working_pauses) >= MIN_ANSWERS and hours > 0 else None

    @property
    def too_fast(self) -> bool:
        """Return whether answers came faster than a person can read, for example because a script sent
        them."""
        return self.hourly is not None and self.hourly > MAX_HOURLY

    @property
    def hours_left(self) -> float | None:
        """Return the hours that the open items will take; None if the pace is unknown or too fast."""
        return self.open / self.hourly if self.hourly and not self.too_fast else None


def read_annotators_work(store: Store, round_name: str) -> list[AnnotatorWork]:
    """Read all annotators' work in a round, by name.

    Raises
    ------
    NotFoundError: the round is unknown.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id
        rows = cursor.execute(_WORK, [round_id]).fetchall()
        unshown_counts = count_unshown(cursor)
    return [
        AnnotatorWork(
            *(annotator, open_count - unshown_counts[round_id, annotator], answer_times or []),
            [milliseconds / 1000 for milliseconds in screen_times or []],
            grades or {},
        )
        for annotator, open_count, answer_times, screen_times, grades in rows
    ]


def forecast_end(work: Sequence[AnnotatorWork], now: datetime | None = None) -> tuple[datetime | None, str]:
    """Forecast when all annotators will be done, with a sentence that explains the forecast.

    If no item is open, or an annotator has no pace, the time is None and the sentence gives the reason.
    """
    now = now or utc_now()
    active = [person for person in work if person.open]
    if not active:
        return None, "No items are open."
    reasons = [f"{person.annotator} {why}" for person in active if (why := _explain_no_forecast(person, now))]
    if reasons:
        return None, f"No forecast: {'; '.join(reasons)}."
    days_left, slowest = max((_compute_days_left(person, now), person.annotator) for person in active)
    explanation = (
        f"Open items divided by each person's answers per day in the last {WINDOW.days} days, nights and "
        f"weekends included; {slowest} finishes last."
    )
    return now + timedelta(days=min(days_left, MAX_DAYS)), explanation


def count_daily_answers(work: Sequence[AnnotatorWork], now: datetime | None = None) -> dict[date, int]:
    """Count the answers on each of the last 14 days, ending with today."""
    today = (now or utc_now()).date()
    by_day = Counter(answered_at.date() for person in work for answered_at in person.answered)
    days = [today - timedelta(days=days_ago) for days_ago in reversed(range(DAYS_SHOWN))]
    return {day: by_day[day] for day in days}


def _find_recent_answers(work: AnnotatorWork, now: datetime) -> list[datetime]:
    return [answered_at for answered_at in work.answered if answered_at >= now - WINDOW]


def _explain_no_forecast(work: AnnotatorWork, now: datetime) -> str:
    if not work.answered:
        return "has not answered yet"
    recent_answers = _find_recent_answers(work, now)
    if len(recent_answers) < MIN_ANSWERS:
        item_count = pluralize(len(recent_answers), "item")
        return f"answered {item_count} in the last {WINDOW.days} days; {MIN_ANSWERS} are needed"
    if now - work.answered[0] < MIN_TIME:
        return "began to answer less than an hour ago"
    return "answered faster than a person can read" if work.too_fast else ""


def _compute_days_left(work: AnnotatorWork, now: datetime) -> float:
    span = min(WINDOW, now - work.answered[0]) / timedelta(days=1)
    return work.open * span / len(_find_recent_answers(work, now))
