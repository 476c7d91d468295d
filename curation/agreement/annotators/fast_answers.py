"""Fast answers: how many of each annotator's answers came faster than a query and a document can be read.

That is less than a third of the others' median time over texts as long, in three groups by length; and,
whoever else there is, less than a second.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.labeling.session.excerpts import LONGEST
from curation.statistics.intervals import Floats
from curation.store import Cursor
from curation.store.documents import LENGTH, VERSION

FAST = 1 / 3
"""Of the others' median time: below it an answer is called fast."""

FASTEST = 1.0
"""Seconds: an answer in less is fast, however fast the others are; `forecast` has the same limit of pace."""

FEWEST_ANSWERS = 30
"""Answers, or pairs that others graded, too, below which nothing is said about speed or grades."""

FEWEST_OTHERS = 2
"""Other annotators with times, below which an answer is fast by `FASTEST` alone."""


class AnswerTimes(NamedTuple):
    """Answers with the seconds on screen and the characters of the text, in parallel."""

    annotators: Sequence[str]
    seconds: Sequence[float]
    lengths: Sequence[int]


class FastAnswers(NamedTuple):
    """Fast answers among all of an annotator's timed ones, and likewise of the others'.

    `below_second`: those in less than `FASTEST`; `compared`: whether there are others to compare with.
    """

    fast: int
    answers: int
    others_fast: int
    others_answers: int
    below_second: int
    compared: bool


def read_times(cursor: Cursor, round_id: str | None) -> AnswerTimes:
    """The times of a round's answers, or of all but those of pilots and practice."""
    rows = cursor.execute(_TIMES, [LONGEST, round_id, round_id]).fetchall()
    return AnswerTimes(*map(list, zip(*rows, strict=True))) if rows else AnswerTimes([], [], [])


def fast_answers(
    people: Sequence[str], times: AnswerTimes, left_out: Collection[str] = ()
) -> dict[str, FastAnswers | str]:
    """Annotator → fast answers beside the others who are not left out, or why they are not counted."""
    who, seconds = np.asarray(times.annotators, dtype=object), np.asarray(times.seconds, dtype=np.float64)
    groups = _length_groups(np.asarray(times.lengths, dtype=np.float64))
    inside = ~np.isin(who, list(left_out))
    found: dict[str, FastAnswers | str] = {}
    for name in people:
        mine = who == name
        others, own = inside & ~mine, int(mine.sum())
        if own < FEWEST_ANSWERS:
            found[name] = f"{own:,} timed answers, {FEWEST_ANSWERS} are needed"
            continue
        compared = len(set(who[others])) >= FEWEST_OTHERS and others.sum() >= FEWEST_ANSWERS
        bounds = _bounds(seconds, groups, others) if compared else np.zeros(len(seconds))
        fast = seconds < np.maximum(bounds, FASTEST)
        below = int((seconds[mine] < FASTEST).sum())
        counts = (int(fast[mine].sum()), own, int(fast[others].sum()), int(others.sum()))
        found[name] = FastAnswers(*counts, below, bool(compared))
    return found


def _length_groups(lengths: Floats) -> NDArray[np.int64]:
    """0, 1 or 2 for short, middling and long texts; equally long ones are never parted."""
    if not len(lengths):
        return np.zeros(0, dtype=np.int64)
    return np.searchsorted(np.quantile(lengths, [1 / 3, 2 / 3]), lengths).astype(np.int64)


def _bounds(seconds: Floats, groups: NDArray[np.int64], others: NDArray[np.bool_]) -> Floats:
    """For each answer the time below which it is fast.

    A length of which others answered few is compared with all of theirs.
    """
    bounds = np.full(len(seconds), FAST * np.median(seconds[others]))
    for group in range(3):
        theirs = others & (groups == group)
        if theirs.sum() >= FEWEST_ANSWERS:
            bounds[groups == group] = FAST * np.median(seconds[theirs])
    return bounds


# The first answer's time: a grade that is changed later takes a moment only.
_TIMES = f"""
SELECT p.annotator, e.active_ms / 1000, {LENGTH}
FROM judgment_events e
JOIN live_presentations p USING (presentation_id)
JOIN {VERSION}
JOIN rounds r USING (round_id)
WHERE (p.round_id = ? OR (?::TEXT IS NULL AND r.kind NOT IN ('pilot', 'practice')))
  AND e.kind IN ('grade', 'cannot_tell')
QUALIFY row_number() OVER (PARTITION BY e.presentation_id ORDER BY e.revision) = 1 AND e.active_ms IS NOT NULL
ORDER BY e.submitted_at, p.presentation_id
"""  # noqa: S608
