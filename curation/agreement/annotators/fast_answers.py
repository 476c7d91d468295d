"""Fast answers: how many of each annotator's answers came faster than a query and a document can be read.

That is less than a third of the others' median time over texts as long, in three groups by length; and,
no matter who else there is, less than a second. Whose median is below that second has a pace that no reader
has, however easy the pairs are: 3,600 answers an hour.

The favourite grade: how often each annotator gives one grade to pairs that others graded, too.

If it did not matter who gave which of a pair's grades, each would be the annotator's with equal probability.
Then the count of a grade is a sum of independent draws, one a pair (Poisson binomial).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.labeling.judgments.events import EVENT
from curation.presentation.excerpts import LONGEST
from curation.statistics.arrays import Floats, Ints
from curation.store import Cursor
from curation.store.documents import LENGTH, VERSION
from curation.text import amount

FAST = 1 / 3
"""Of the others' median time: below it an answer is called fast."""

FASTEST = 1.0
"""Seconds: an answer in less is fast, however fast the others are; `forecast` has the same limit of pace.

Wood, Harms, Lowman and DeSimone (2017), Social Psychological and Personality Science 8: below one second an
item, answers to one-line items of questionnaires stop being consistent. Huang and others (2012), Journal of
Business and Psychology 27, ask for two. A query and a document are longer than such an item.
"""

FEWEST_AT_FLOOR = 20
"""Timed answers from which a median below `FASTEST` counts: of quick readers a quarter are below it, and then
the median of 20 is in fewer than one case of 200."""

FEWEST_ANSWERS = 30
"""Answers, or pairs that others graded, too, below which nothing is said about speed or grades."""

FEWEST_OTHERS = 2
"""Other annotators with times, below which an answer is fast by `FASTEST` alone."""


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
        return self.answers >= FEWEST_AT_FLOOR

    @property
    def unread(self) -> bool:
        """Whether nobody who reads has this pace."""
        return self.enough and self.median is not None and self.median < FASTEST

    @property
    def sentence(self) -> str:
        """The pace in words."""
        return (
            f"{self.annotator}: half of {amount(self.answers, 'answer')} came in {self.median or 0.0:.1f} "
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
    """The times of a round's answers, or of all but those of pilots and practice."""
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
    found: dict[str, FastAnswers | str] = {}
    for name in people:
        mine = who == name
        others, own = inside & ~mine, int(mine.sum())
        median = float(np.median(seconds[mine])) if own else 0.0
        if own < FEWEST_ANSWERS and not AnswerPace(name, own, 0, median).unread:
            found[name] = f"{own:,} timed answers, {FEWEST_ANSWERS} are needed"
            continue
        compared = len(set(who[others])) >= FEWEST_OTHERS and others.sum() >= FEWEST_ANSWERS
        bounds = _bounds(seconds, groups, others) if compared else np.zeros(len(seconds))
        fast = seconds < np.maximum(bounds, FASTEST)
        below = int((seconds[mine] < FASTEST).sum())
        counts = (int(fast[mine].sum()), own, int(fast[others].sum()), int(others.sum()))
        found[name] = FastAnswers(*counts, below, bool(compared), median)
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


ONE_GRADE = 0.8
"""Share of one grade from which its probability is worked out."""


class RoundGrades(NamedTuple):
    """Grades in the order in which they were given, in parallel; one a unit and annotator.

    `timed`: whether its time, and so its place in the order, is known; without it all are.
    """

    annotators: Sequence[str]
    units: Sequence[object]
    grades: Sequence[int]
    timed: Sequence[bool] | None = None


class FavouriteGrade(NamedTuple):
    """The most frequent grade of an annotator on pairs that others graded, too.

    Attributes
    ----------
    times, pairs: how often it was given, of how many pairs; `others_times` of `others_grades`: by others.
    longest_run: of one grade, in the order of all answers whose time is known; `others_run`: the longest one
        of anybody else.
    p: how probable a grade as frequent is, were all grades of a pair anybody's; 1 below `ONE_GRADE`.
    """

    grade: int
    times: int
    pairs: int
    others_times: int
    others_grades: int
    longest_run: int
    others_run: int
    p: float


def read_given(cursor: Cursor, round_id: str | None) -> RoundGrades:
    """The grades of a round, or all that count, without those of blind duplicates."""
    relation = _ROUND if round_id else "counted_judgments"
    columns = cursor.execute(_GIVEN.format(relation), [round_id] if round_id else []).fetchnumpy()
    names = ("annotator", "unit", "grade", "timed")
    return RoundGrades(*(np.asarray(columns[name]).tolist() for name in names))


def favourite_grades(
    people: Sequence[str], given: RoundGrades, left_out: Collection[str] = ()
) -> dict[str, FavouriteGrade | str]:
    """Annotator → favourite grade against the others who are not left out, or why there is none."""
    scale, value = np.unique(np.asarray(given.grades, dtype=np.int64), return_inverse=True)
    who = np.asarray(given.annotators, dtype=object)
    _, unit = np.unique(_numbers(given.units), return_inverse=True)
    inside = ~np.isin(who, list(left_out))
    tally = tallied(unit[inside], value[inside], int(unit.max(initial=-1)) + 1, len(scale))
    runs = {name: _longest_run(given, name) for name in people}
    found: dict[str, FavouriteGrade | str] = {}
    for name in people:
        mine = who == name
        others = others_of(tally, unit[mine], value[mine], name not in left_out)
        shared = others.any(axis=1)
        if shared.sum() < FEWEST_ANSWERS:
            found[name] = (
                f"{amount(shared.sum(), 'pair')} that others graded, too; {FEWEST_ANSWERS} are needed"
            )
            continue
        own, theirs = value[mine][shared], others[shared]
        times = np.bincount(own, minlength=len(scale))
        grade = int(times.argmax())
        others_run = max((runs[who] for who in people if who != name), default=0)
        counts = (int(times[grade]), len(own), int(theirs[:, grade].sum()), int(theirs.sum()))
        found[name] = FavouriteGrade(
            int(scale[grade]), *counts, runs[name], others_run, one_grade_p(own, theirs)
        )
    return found


def tallied(units: Ints, values: Ints, number: int, grades: int) -> Ints:
    """How often each unit got each value, shape (number, grades)."""
    return np.bincount(units * grades + values, minlength=number * grades).reshape(number, grades)


def others_of(tally: Ints, units: Ints, values: Ints, counted: bool) -> Ints:
    """The tally of somebody's units without their own grades, which are in it if they are `counted`."""
    others = tally[units]
    others[np.arange(len(units)), values] -= counted
    return others


def one_grade_p(own: Ints, others: Ints) -> float:
    """How probable the most surprising count of a grade is, times the grades (Bonferroni).

    Parameters
    ----------
    own: shape (n,), the place of the annotator's grade on the scale; others: shape (n, grades), how many
        others gave each. It is 1 where no grade makes up `ONE_GRADE`.
    """
    times = np.bincount(own, minlength=others.shape[1])
    if times.max(initial=0) < ONE_GRADE * len(own):
        return 1.0
    from scipy.stats import binom  # takes a second

    everybody = others.copy()
    everybody[np.arange(len(own)), own] += 1
    judges = everybody.sum(axis=1)
    values: list[float] = []
    for grade in np.flatnonzero(times).tolist():
        shares, units = np.unique(np.stack([everybody[:, grade], judges], axis=1), axis=0, return_counts=True)
        # Pairs with the same share of this grade make one binomial; their sum is the convolution of all.
        mass = np.ones(1)
        for (named, of), number in zip(shares.tolist(), units.tolist(), strict=True):
            mass = np.convolve(mass, binom.pmf(np.arange(number + 1), number, named / of))
        values.append(float(mass[times[grade] :].sum()))
    return min(1.0, float(others.shape[1] * min(values)))


def _longest_run(given: RoundGrades, name: str) -> int:
    timed = given.timed if given.timed is not None else [True] * len(given.grades)
    rows = zip(given.annotators, given.grades, timed, strict=True)
    mine = (grade for who, grade, known in rows if who == name and known)
    return max((len(list(run)) for _, run in groupby(mine)), default=0)


def _numbers(units: Sequence[object]) -> NDArray[Any]:
    places: dict[object, int] = {}
    return np.asarray([places.setdefault(unit, len(places)) for unit in units], dtype=np.int64)


_GIVEN = f"""
SELECT j.annotator, dense_rank() OVER (ORDER BY j.query_id, j.content_hash) AS unit, j.grade,
       e.time_known AS timed
FROM {{}} j {EVENT}
WHERE j.kind = 'grade'
ORDER BY j.submitted_at, j.presentation_id
"""  # noqa: S608
_ROUND = "(SELECT * FROM current_judgments WHERE round_id = ? AND duplicate_of IS NULL)"
