"""Fast answers: how many of each annotator's answers took less than a third of the others' median time.

Texts are put into three groups by length, and an answer is compared with the others' over texts as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.labeling.session.excerpts import LONGEST
from curation.statistics.intervals import Floats
from curation.store import Cursor
from curation.store.documents import LENGTH, VERSION

FAST = 1 / 3
"""Of the others' median time: below it an answer is called fast."""

FEWEST_ANSWERS = 30
"""Answers, or pairs that others graded, too, below which nothing is said about speed or grades."""

FEWEST_OTHERS = 2
"""Other annotators with times, below which there is nobody to compare a speed with."""


class AnswerTimes(NamedTuple):
    """Answers with the seconds on screen and the characters of the text, in parallel."""

    annotators: Sequence[str]
    seconds: Sequence[float]
    lengths: Sequence[int]


class FastAnswers(NamedTuple):
    """Fast answers among all of an annotator's timed ones, and likewise of the others'."""

    fast: int
    answers: int
    others_fast: int
    others_answers: int


def read_times(cursor: Cursor, round_id: str) -> AnswerTimes:
    """The times of a round's answers."""
    rows = cursor.execute(_TIMES, [LONGEST, round_id]).fetchall()
    return AnswerTimes(*map(list, zip(*rows, strict=True))) if rows else AnswerTimes([], [], [])


def fast_answers(people: Sequence[str], times: AnswerTimes) -> dict[str, FastAnswers | str]:
    """Annotator → fast answers, or why they are not counted."""
    who, seconds = np.asarray(times.annotators, dtype=object), np.asarray(times.seconds, dtype=np.float64)
    groups = _length_groups(np.asarray(times.lengths, dtype=np.float64))
    found: dict[str, FastAnswers | str] = {}
    for name in people:
        mine = who == name
        own, others_answers, others = int(mine.sum()), int((~mine).sum()), len(set(who[~mine]))
        if own < FEWEST_ANSWERS:
            found[name] = f"{own:,} timed answers, {FEWEST_ANSWERS} are needed"
        elif others < FEWEST_OTHERS or others_answers < FEWEST_ANSWERS:
            found[name] = (
                f"to compare with there are {others_answers:,} timed answers, by {others} other people"
            )
        else:
            fast = seconds < _bounds(seconds, groups, ~mine)
            found[name] = FastAnswers(int(fast[mine].sum()), own, int(fast[~mine].sum()), others_answers)
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
WHERE p.round_id = ? AND e.kind IN ('grade', 'cannot_tell')
QUALIFY row_number() OVER (PARTITION BY e.presentation_id ORDER BY e.revision) = 1 AND e.active_ms IS NOT NULL
ORDER BY e.submitted_at, p.presentation_id
"""  # noqa: S608
