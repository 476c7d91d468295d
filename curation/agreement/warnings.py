"""Early warnings: what in a round is worth a look while there is still time, with the evidence.

A warning accuses nobody: it names figures that are unusual beside those of the others, and leaves it to
people to look at them together. Three rules, each an exact test on counts, so that false alarms are known:

speed        Share of answers given in less than a third of the median time that the others take over texts as
             long (texts in three groups by length). Warned of when it is significantly above a quarter
             (binomial test): quick readers stay below, who does not read does not.
one grade    Share of an annotator's most frequent grade, among pairs that others graded, too. Warned of
             when it is at least 80 % and significantly above what the pairs explain: if it did not matter
             who gave which of a pair's grades, each would be the annotator's with equal probability, and
             the count of a grade a sum of independent draws, one a pair (Poisson binomial, times the grades).
consistency  Share of blind duplicates graded alike, in the earlier and the later half of those judged twice.
             Warned of when the later is significantly lower (Fisher's exact test, one-sided).

By design each rule warns of anybody at all in at most 5 % of the rounds in which nothing is the matter: the
level is shared equally among the annotators checked (Bonferroni). It holds for one look, and for answers
that do not depend on each other; looking again after every answer raises it. What rests on too little is not
checked, and is said to be so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from curation.labeling.excerpts import LONGEST
from curation.labeling.rounds import find_round
from curation.store import Cursor, Store

LEVEL = 0.05
"""At most so often a rule warns of anybody in a round where nothing is the matter."""

FAST = 1 / 3
"""Of the others' median time: below it an answer is called fast."""

USUAL_FAST = 0.25
"""Share of fast answers that is not yet remarkable."""

ONE_GRADE = 0.8
"""Share of one grade from which the second rule looks."""

FEWEST_ANSWERS = 30
"""Answers, or pairs that others graded, too, below which nothing is said about speed or grades."""

FEWEST_REPEATS = 20
"""Blind duplicates judged twice below which nothing is said about consistency."""

FEWEST_OTHERS = 2
"""Other annotators with times, below which there is nobody to compare a speed with."""

SPEED, ONE, CONSISTENCY = "speed", "one grade", "consistency"
RULES = {
    SPEED: f"answers in less than a third of the others' median time over texts as long: more than "
    f"{USUAL_FAST:.0%} of at least {FEWEST_ANSWERS}",
    ONE: f"one grade on at least {ONE_GRADE:.0%} of at least {FEWEST_ANSWERS} pairs that others graded, too, "
    "more often than theirs explain",
    CONSISTENCY: f"fewer blind duplicates graded alike in the later than in the earlier half of at least "
    f"{FEWEST_REPEATS}",
}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EarlyWarning:
    """Something unusual, with its evidence.

    Attributes
    ----------
    count, n: answers (pairs, later repeats) of the annotator that show it, and all of them.
    usual_count, usual_n: the same of the others; for consistency, of the annotator's earlier repeats.
    p, level: how probable it is where nothing is the matter, and the level that it lies below.
    sentence: all this for people.
    """

    rule: str
    annotator: str
    count: int
    n: int
    usual_count: int
    usual_n: int
    p: float
    level: float
    sentence: str


class Checked(NamedTuple):
    """What one rule found.

    Attributes
    ----------
    checked: annotators with enough to look at.
    not_checked: annotator → why not.
    """

    rule: str
    found: tuple[EarlyWarning, ...]
    checked: int
    not_checked: dict[str, str]


class Times(NamedTuple):
    """Answers with the seconds on screen and the characters of the text, in parallel."""

    annotators: Sequence[str]
    seconds: Sequence[float]
    lengths: Sequence[int]


class Given(NamedTuple):
    """Grades in the order in which they were given, in parallel; one a unit and annotator."""

    annotators: Sequence[str]
    units: Sequence[object]
    grades: Sequence[int]


@dataclass(frozen=True)
class RoundWarnings:
    """The early warnings of a round, and for each rule whom it could not check."""

    round: str
    checks: tuple[Checked, ...]

    @property
    def found(self) -> tuple[EarlyWarning, ...]:
        """All warnings, by rule and annotator."""
        return tuple(warning for check in self.checks for warning in check.found)


def early_warnings(store: Store, round_name: str) -> RoundWarnings:
    """Look at a round by all three rules.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id
        people = [row[0] for row in cursor.execute(_PEOPLE, [round_id]).fetchall()]
        times, given = _read_times(cursor, round_id), _read_given(cursor, round_id)
        repeats = _read_repeats(cursor, round_id)
    return RoundWarnings(
        round_name, (speeding(people, times), one_grade(people, given), falling(people, repeats))
    )


def speeding(people: Sequence[str], times: Times) -> Checked:
    """Who answers faster than the texts can be read, judged by the others."""
    who, seconds = np.asarray(times.annotators, dtype=object), np.asarray(times.seconds, dtype=np.float64)
    groups = _length_groups(np.asarray(times.lengths, dtype=np.float64))
    measured, not_checked = {}, {}
    for name in people:
        mine = who == name
        others = len(set(who[~mine]))
        if mine.sum() < FEWEST_ANSWERS:
            not_checked[name] = f"{mine.sum():,} timed answers, {FEWEST_ANSWERS} are needed"
        elif others < FEWEST_OTHERS or (~mine).sum() < FEWEST_ANSWERS:
            not_checked[name] = (
                f"to compare with there are {(~mine).sum():,} timed answers, by {others} other people"
            )
        else:
            fast = seconds < _bounds(seconds, groups, ~mine)
            measured[name] = (
                int(fast[mine].sum()),
                int(mine.sum()),
                int(fast[~mine].sum()),
                int((~mine).sum()),
            )
    p = {name: float(bdtrc(count - 1, n, USUAL_FAST)) for name, (count, n, *_) in measured.items()}
    return _checked(SPEED, measured, p, not_checked, _speed_sentence)


def one_grade(people: Sequence[str], given: Given) -> Checked:
    """Who gives one grade all the time, where the others on the same pairs do not."""
    units: dict[object, list[tuple[str, int]]] = defaultdict(list)
    for name, unit, grade in zip(given.annotators, given.units, given.grades, strict=True):
        units[unit].append((name, grade))
    runs = {name: _longest_run(given, name) for name in people}
    scale = sorted(set(given.grades))
    measured, p, favourite, not_checked = {}, {}, {}, {}
    for name in people:
        shared = [
            votes for votes in units.values() if len(votes) > 1 and any(who == name for who, _ in votes)
        ]
        if len(shared) < FEWEST_ANSWERS:
            not_checked[name] = f"{len(shared):,} pairs that others graded, too; {FEWEST_ANSWERS} are needed"
            continue
        mine = Counter(grade for votes in shared for who, grade in votes if who == name)
        grade = max(mine, key=lambda value: (mine[value], -value))
        theirs = [grade == other for votes in shared for who, other in votes if who != name]
        measured[name] = (mine[grade], len(shared), sum(theirs), len(theirs))
        p[name] = _chance(shared, mine, scale) if mine[grade] >= ONE_GRADE * len(shared) else 1.0
        favourite[name] = grade
    others = {name: max((runs[who] for who in people if who != name), default=0) for name in people}

    def sentence(name: str, count: int, n: int, usual: int, of: int) -> str:
        return (
            f"Look at these together: {name} gave grade {favourite[name]} to {count:,} of {n:,} pairs; on "
            f"these others gave it {usual:,} times of {of:,}. The longest run of one grade is "
            f"{runs[name]:,}, among the others {others[name]:,}. A part of the guide that was read "
            "differently can do that, too."
        )

    return _checked(ONE, measured, p, not_checked, sentence)


def falling(people: Sequence[str], repeats: Mapping[str, Sequence[bool]]) -> Checked:
    """Who grades blind duplicates alike less often than before.

    Parameters
    ----------
    repeats: annotator → alike or not, in the order of the second answers.
    """
    from scipy.stats import hypergeom  # takes a second

    measured, p, not_checked = {}, {}, {}
    for name in people:
        alike = list(repeats.get(name, ()))
        if len(alike) < FEWEST_REPEATS:
            not_checked[name] = f"{len(alike):,} blind duplicates judged twice; {FEWEST_REPEATS} are needed"
            continue
        half = len(alike) // 2
        before, after = sum(alike[:half]), sum(alike[half:])
        measured[name] = (after, len(alike) - half, before, half)
        p[name] = float(hypergeom.cdf(after, len(alike), before + after, len(alike) - half))
    return _checked(CONSISTENCY, measured, p, not_checked, _falling_sentence)


def _checked(
    rule: str,
    measured: Mapping[str, tuple[int, int, int, int]],
    p: Mapping[str, float],
    not_checked: dict[str, str],
    sentence: Callable[[str, int, int, int, int], str],
) -> Checked:
    level = LEVEL / max(1, len(measured))
    found = tuple(
        EarlyWarning(rule, name, *figures, p[name], level, sentence(name, *figures))
        for name, figures in measured.items()
        if p[name] <= level
    )
    return Checked(rule, found, len(measured), not_checked)


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


def _chance(
    shared: Sequence[Sequence[tuple[str, int]]], mine: Mapping[int, int], scale: Sequence[int]
) -> float:
    """How probable a grade as frequent as the most surprising one is, were all grades of a pair anybody's."""
    from scipy.stats import binom  # takes a second

    values = []
    for grade in mine:
        shares = Counter((sum(other == grade for _, other in votes), len(votes)) for votes in shared)
        mass = np.ones(1)
        for (times, of), units in sorted(shares.items()):
            mass = np.convolve(mass, binom.pmf(np.arange(units + 1), units, times / of))
        values.append(float(mass[mine[grade] :].sum()))
    return min(1.0, len(scale) * min(values))


def _longest_run(given: Given, name: str) -> int:
    mine = (grade for who, grade in zip(given.annotators, given.grades, strict=True) if who == name)
    return max((len(list(run)) for _, run in groupby(mine)), default=0)


def _speed_sentence(name: str, count: int, n: int, usual: int, of: int) -> str:
    return (
        f"Look at these together: {count:,} of {n:,} answers of {name} came in less than a third of the time "
        f"that others take over texts as long; of the others' own, {usual:,} of {of:,} did. Practice or easy "
        "pairs can do that, too."
    )


def _falling_sentence(name: str, count: int, n: int, usual: int, of: int) -> str:
    return (
        f"Look at these together: of the last {n:,} pairs that came again, {name} graded {count:,} like the "
        f"first time; of the {of:,} before, {usual:,}. Tiredness, harder queries or a new reading of the "
        "guide can do that."
    )


def _read_times(cursor: Cursor, round_id: str) -> Times:
    rows = cursor.execute(_TIMES, [LONGEST, round_id]).fetchall()
    return Times(*map(list, zip(*rows, strict=True))) if rows else Times([], [], [])


def _read_given(cursor: Cursor, round_id: str) -> Given:
    rows = cursor.execute(_GIVEN, [round_id]).fetchall()
    columns = list(map(list, zip(*rows, strict=True))) if rows else [[], [], [], []]
    return Given(columns[0], list(zip(columns[1], columns[2], strict=True)), columns[3])


def _read_repeats(cursor: Cursor, round_id: str) -> dict[str, list[bool]]:
    repeats: dict[str, list[bool]] = defaultdict(list)
    for name, alike in cursor.execute(_REPEATS, [round_id]).fetchall():
        repeats[name].append(alike)
    return repeats


_PEOPLE = "SELECT DISTINCT annotator FROM live_presentations WHERE round_id = ? ORDER BY annotator"

# The first answer's time: a grade that is changed later takes a moment only.
_TIMES = """
SELECT p.annotator, e.active_ms / 1000, length(d.title) + least(length(d.body), ?)
FROM judgment_events e
JOIN live_presentations p USING (presentation_id)
JOIN documents d USING (content_hash)
WHERE p.round_id = ? AND e.kind IN ('grade', 'cannot_tell')
QUALIFY row_number() OVER (PARTITION BY e.presentation_id ORDER BY e.revision) = 1 AND e.active_ms IS NOT NULL
ORDER BY e.submitted_at, p.presentation_id
"""

_GIVEN = """
SELECT annotator, query_id, document_id, grade FROM current_judgments
WHERE round_id = ? AND duplicate_of IS NULL AND kind = 'grade'
ORDER BY submitted_at, presentation_id
"""

_REPEATS = """
SELECT again.annotator, again.grade = first.grade
FROM current_judgments again JOIN current_judgments first ON first.presentation_id = again.duplicate_of
WHERE again.round_id = ? AND again.kind = 'grade' AND first.kind = 'grade'
ORDER BY again.submitted_at, again.presentation_id
"""
