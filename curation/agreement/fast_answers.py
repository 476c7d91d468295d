"""Each annotator's fast answers: answers given in less time than it takes to read the query and document.

An answer is fast if it took less than a third of the others' median time for texts of similar length (three
groups by length), or less than a second. An annotator whose median is below a second cannot have read the
documents: that pace is 3,600 answers an hour.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.text import pluralize
from curation.labeling.presentation.excerpts import MAX_PASSAGE_LENGTH
from curation.labeling.rounds.pace import MIN_SECONDS
from curation.store import Cursor
from curation.store.documents import LENGTH, VERSION

FAST_TIME_SHARE = 1 / 3
"""An answer is fast below this share of the others' median time."""
MIN_AT_FLOOR = 20
"""Minimum number of timed answers before a median below `MIN_SECONDS` is reported. A quick reader gives a
quarter of the answers in less than `MIN_SECONDS`; then the median of 20 answers is below `MIN_SECONDS` in
fewer than one of 200 cases.
"""
MIN_ANSWERS = 30
"""Minimum number of answers for statistics on speed, and of shared pairs for statistics on grades."""
MIN_OTHERS = 2
"""Minimum number of other annotators with times; with fewer, only answers below `MIN_SECONDS` are fast."""
# The time of the first answer counts, because changing a grade later takes only a moment.
_FIRST_ANSWERS = """
JOIN live_presentations p USING (presentation_id)
{}
JOIN rounds r USING (round_id)
WHERE (p.round_id = ? OR (?::TEXT IS NULL AND r.kind NOT IN ('pilot', 'practice')))
  AND e.kind IN ('grade', 'cannot_tell')
QUALIFY row_number() OVER (PARTITION BY e.presentation_id ORDER BY e.revision) = 1
"""
_ANSWER_TIMES = f"""
SELECT p.annotator, e.active_ms / 1000, {LENGTH}
FROM judgment_events e {_FIRST_ANSWERS.format(f"JOIN {VERSION}")} AND e.active_ms IS NOT NULL
ORDER BY e.submitted_at, p.presentation_id
"""  # noqa: S608
_ANSWER_PACES = f"""
SELECT annotator, count(ms), count(ms) FILTER (ms < {MIN_SECONDS * 1000}), median(ms) / 1000
FROM (SELECT p.annotator, e.active_ms AS ms FROM judgment_events e {_FIRST_ANSWERS.format("")})
GROUP BY annotator ORDER BY annotator
"""  # noqa: S608


class AnswerTimes(NamedTuple):
    """Answer times as parallel sequences: annotator, seconds on screen, and characters in the text."""

    annotators: Sequence[str]
    seconds: Sequence[float]
    lengths: Sequence[int]


class AnswerPace(NamedTuple):
    """An annotator's pace: number of timed answers, number of answers in less than `MIN_SECONDS`, and median
    seconds."""

    annotator: str
    answers: int
    below_second: int
    median: float | None

    @property
    def enough(self) -> bool:
        """Return whether there are enough timed answers to judge the annotator's pace."""
        return self.answers >= MIN_AT_FLOOR

    @property
    def unread(self) -> bool:
        """Return whether the pace is too fast for an annotator who reads the documents."""
        return self.enough and self.median is not None and self.median < MIN_SECONDS

    @property
    def sentence(self) -> str:
        """Write a sentence that says that the annotator's pace is too fast to have read the documents."""
        return (
            f"{self.annotator}: half of {pluralize(self.answers, 'answer')} came in {self.median or 0.0:.1f} "
            f"seconds or less, {self.below_second:,} in less than {MIN_SECONDS:g} second. Nobody reads a "
            "query and a document at this pace."
        )


class FastAnswers(NamedTuple):
    """Counts of fast answers and of all timed answers, for one annotator and for the others.

    `below_second` is the number of answers in less than `MIN_SECONDS`. `compared` is True if there are others
    to compare with. `median` is the annotator's median time in seconds.
    """

    fast: int
    answers: int
    others_fast: int
    others_answers: int
    below_second: int
    compared: bool
    median: float


def read_times(cursor: Cursor, round_id: str | None) -> AnswerTimes:
    """Read the answer times of a round, or of all rounds except pilots and practice."""
    rows = cursor.execute(_ANSWER_TIMES, [MAX_PASSAGE_LENGTH, round_id, round_id]).fetchall()
    return AnswerTimes(*map(list, zip(*rows, strict=True))) if rows else AnswerTimes([], [], [])


def read_paces(cursor: Cursor, round_id: str | None) -> tuple[AnswerPace, ...]:
    """Read the pace of each annotator who answered, by name, from the same rounds as `read_times`."""
    return tuple(AnswerPace(*row) for row in cursor.execute(_ANSWER_PACES, [round_id, round_id]).fetchall())


def count_fast_answers(
    annotators: Sequence[str], times: AnswerTimes, outliers: Collection[str] = ()
) -> dict[str, FastAnswers | str]:
    """Count each annotator's fast answers and those of the others who are not outliers, or say why they
    cannot be counted."""
    names, seconds = np.asarray(times.annotators, dtype=object), np.asarray(times.seconds, dtype=np.float64)
    groups = _group_by_length(np.asarray(times.lengths, dtype=np.float64))
    is_compared = ~np.isin(names, list(outliers))
    counts: dict[str, FastAnswers | str] = {}
    for name in annotators:
        is_own = names == name
        is_other = is_compared & ~is_own
        answer_count = int(is_own.sum())
        median = float(np.median(seconds[is_own])) if answer_count else 0.0
        if answer_count < MIN_ANSWERS and not AnswerPace(name, answer_count, 0, median).unread:
            counts[name] = f"{answer_count:,} timed answers; {MIN_ANSWERS} are needed"
            continue
        compared = len(set(names[is_other])) >= MIN_OTHERS and is_other.sum() >= MIN_ANSWERS
        limits = _compute_limits(seconds, groups, is_other) if compared else np.zeros(len(seconds))
        is_fast = seconds < np.maximum(limits, MIN_SECONDS)
        counts[name] = FastAnswers(
            fast=int(is_fast[is_own].sum()),
            answers=answer_count,
            others_fast=int(is_fast[is_other].sum()),
            others_answers=int(is_other.sum()),
            below_second=int((seconds[is_own] < MIN_SECONDS).sum()),
            compared=bool(compared),
            median=median,
        )
    return counts


def _group_by_length(lengths: Floats) -> Ints:
    """Divide texts into three groups by length, 0, 1 and 2; texts of equal length are in the same group."""
    if not len(lengths):
        return np.zeros(0, dtype=np.int64)
    return np.searchsorted(np.quantile(lengths, [1 / 3, 2 / 3]), lengths).astype(np.int64)


def _compute_limits(seconds: Floats, groups: Ints, is_other: Mask) -> Floats:
    """Compute for each answer the time below which the answer is fast.

    If the others answered few texts of a length group, all their answers are compared.
    """
    limits = np.full(len(seconds), FAST_TIME_SHARE * np.median(seconds[is_other]))
    for group in range(3):
        in_group = is_other & (groups == group)
        if in_group.sum() >= MIN_ANSWERS:
            limits[groups == group] = FAST_TIME_SHARE * np.median(seconds[in_group])
    return limits
