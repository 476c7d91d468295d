"""Fast answers: how many of each annotator's answers came faster than a query and a document can be read.

An answer is fast in less than a third of the others' median time over texts as long, in three groups by
length, and always in less than a second. A median under one second is too fast to have read
the documents: it would be 3,600 answers an hour.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.text import pluralize
from curation.labeling.presentation.excerpts import LONGEST
from curation.labeling.rounds.pace import FASTEST
from curation.store import Cursor
from curation.store.documents import LENGTH, VERSION

FAST = 1 / 3
"""Share of the others' median time; an answer that took less is fast."""
MIN_AT_FLOOR = 20
"""Timed answers from which a median below `FASTEST` counts: of quick readers a quarter are below it, and then
the median of 20 is in fewer than one case of 200."""
MIN_ANSWERS = 30
"""Answers, or pairs that others graded, too, that an annotator needs for a figure on speed or grades."""
MIN_OTHERS = 2
"""Other annotators with times, below which an answer is fast by `FASTEST` alone."""
# The first answer's time: a grade that is changed later takes a moment only.
_FIRST = """
JOIN live_presentations p USING (presentation_id)
{}
JOIN rounds r USING (round_id)
WHERE (p.round_id = ? OR (?::TEXT IS NULL AND r.kind NOT IN ('pilot', 'practice')))
  AND e.kind IN ('grade', 'cannot_tell')
QUALIFY row_number() OVER (PARTITION BY e.presentation_id ORDER BY e.revision) = 1
"""
_TIMES = f"""
SELECT p.annotator, e.active_ms / 1000, {LENGTH}
FROM judgment_events e {_FIRST.format(f"JOIN {VERSION}")} AND e.active_ms IS NOT NULL
ORDER BY e.submitted_at, p.presentation_id
"""  # noqa: S608
_PACES = f"""
SELECT annotator, count(ms), count(ms) FILTER (ms < {FASTEST * 1000}), median(ms) / 1000
FROM (SELECT p.annotator, e.active_ms AS ms FROM judgment_events e {_FIRST.format("")})
GROUP BY annotator ORDER BY annotator
"""  # noqa: S608


class AnswerTimes(NamedTuple):
    """Answers with the seconds on screen and the characters of the text, in parallel."""

    annotators: Sequence[str]
    seconds: Sequence[float]
    lengths: Sequence[int]


class AnswerPace(NamedTuple):
    """An annotator's timed answers, those in less than `FASTEST`, and their median in seconds, if any."""

    annotator: str
    answers: int
    below_second: int
    median: float | None

    @property
    def enough(self) -> bool:
        """Whether there are enough timed answers to say something about the pace."""
        return self.answers >= MIN_AT_FLOOR

    @property
    def unread(self) -> bool:
        """Whether nobody who reads has this pace."""
        return self.enough and self.median is not None and self.median < FASTEST

    @property
    def sentence(self) -> str:
        """The pace in words."""
        return (
            f"{self.annotator}: half of {pluralize(self.answers, 'answer')} came in {self.median or 0.0:.1f} "
            f"seconds or less, {self.below_second:,} in less than {FASTEST:g} second. Nobody reads a query "
            "and a document at this pace."
        )


class FastAnswers(NamedTuple):
    """Fast answers among all of an annotator's timed ones, and likewise of the others'.

    `below_second`: those in less than `FASTEST`; `compared`: whether there are others to compare with;
    `median`: of the annotator's answers, in seconds.
    """

    fast: int
    answers: int
    others_fast: int
    others_answers: int
    below_second: int
    compared: bool
    median: float


def read_times(cursor: Cursor, round_id: str | None) -> AnswerTimes:
    """The times of a round's answers; without a round, of all answers but in pilots and practice."""
    rows = cursor.execute(_TIMES, [LONGEST, round_id, round_id]).fetchall()
    return AnswerTimes(*map(list, zip(*rows, strict=True))) if rows else AnswerTimes([], [], [])


def read_paces(cursor: Cursor, round_id: str | None) -> tuple[AnswerPace, ...]:
    """The pace of everybody who answered, by name, in the rounds of `read_times`."""
    return tuple(AnswerPace(*row) for row in cursor.execute(_PACES, [round_id, round_id]).fetchall())


def fast_answers(
    people: Sequence[str], times: AnswerTimes, left_out: Collection[str] = ()
) -> dict[str, FastAnswers | str]:
    """Annotator → fast answers against the others who are not left out, or why they are not counted."""
    who, seconds = np.asarray(times.annotators, dtype=object), np.asarray(times.seconds, dtype=np.float64)
    groups = _length_groups(np.asarray(times.lengths, dtype=np.float64))
    inside = ~np.isin(who, list(left_out))
    by_person: dict[str, FastAnswers | str] = {}
    for name in people:
        mine = who == name
        others, answers = inside & ~mine, int(mine.sum())
        median = float(np.median(seconds[mine])) if answers else 0.0
        if answers < MIN_ANSWERS and not AnswerPace(name, answers, 0, median).unread:
            by_person[name] = f"{answers:,} timed answers, {MIN_ANSWERS} are needed"
            continue
        compared = len(set(who[others])) >= MIN_OTHERS and others.sum() >= MIN_ANSWERS
        bounds = _bounds(seconds, groups, others) if compared else np.zeros(len(seconds))
        fast = seconds < np.maximum(bounds, FASTEST)
        below = int((seconds[mine] < FASTEST).sum())
        counts = (int(fast[mine].sum()), answers, int(fast[others].sum()), int(others.sum()))
        by_person[name] = FastAnswers(*counts, below, bool(compared), median)
    return by_person


def _length_groups(lengths: Floats) -> Ints:
    """0, 1 or 2 for short, middling and long texts; equally long ones are never parted."""
    if not len(lengths):
        return np.zeros(0, dtype=np.int64)
    return np.searchsorted(np.quantile(lengths, [1 / 3, 2 / 3]), lengths).astype(np.int64)


def _bounds(seconds: Floats, groups: Ints, others: Mask) -> Floats:
    """For each answer the time below which it is fast.

    Where others answered few texts of a length, all their answers are the comparison.
    """
    bounds = np.full(len(seconds), FAST * np.median(seconds[others]))
    for group in range(3):
        in_group = others & (groups == group)
        if in_group.sum() >= MIN_ANSWERS:
            bounds[groups == group] = FAST * np.median(seconds[in_group])
    return bounds
