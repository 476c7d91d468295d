"""Agreement of each annotator with the other annotators on the same pairs, and exclusion of outliers.

An annotator who grades at random, always gives one grade, or reads the scale upside down agrees with nobody,
although the annotator may be consistent. So the annotator's weighted kappa with the others is compared with
the kappa of the others among themselves, on the same pairs if two others graded enough of these pairs. Both
kappas fall if one grade is very common; the share of equal grades does not fall.

A few bad annotators make good annotators look biased. So annotators who clearly agree with nobody, give one
grade only, or grade much higher or lower are excluded from the others, the worst first. Then all annotators
are compared again, until no further annotator stands out. The excluded annotators are always a minority,
because a majority may be right.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from curation.agreement.grades import MINIMUM_GRADES, Grades
from curation.agreement.modal_grade import one_grade_p, shared_grades
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.intervals import MINIMUM_QUERIES, percentile_interval, resampled
from curation.core.statistics.multiple_tests import threshold
from curation.core.statistics.p_values import mean_p
from curation.core.text import pluralize

SHARE_OF_OTHERS = 0.5
"""An annotator agrees too little if their kappa is clearly below this share of the kappa among the others."""
FAR_OFF = 0.25
"""Bias in grades from which an annotator is excluded from the comparison of others."""
LEVEL = 0.05
"""Maximum average share of excluded annotators who are excluded by chance alone."""
AT_ONCE = 20
"""One in this many annotators is excluded in each step, so that a large group needs few steps."""
AGREEMENT, ONE_GRADE, BIAS = "agreement", "one grade", "bias"
NO_VARIATION = "no variation: all gave one grade, so chance explains all"
NOBODY_ELSE = f"fewer than {MINIMUM_GRADES} pairs were graded by two other annotators who can be compared"
OTHERS_BY_CHANCE = "the others agree among themselves no better than chance"
_NOTHING = 1e-12
_Others = tuple[float, float, int]
"""Agreement among the other annotators: mean squared distance of two grades, kappa, and number of pairs."""


class OthersAgreement(NamedTuple):
    """Weighted kappa (quadratic, by grade values) of an annotator with the others on the same pairs.

    J. Cohen (1968), Weighted kappa, Psychological Bulletin 70; with several others the result is the mean
    over the others.

    Attributes
    ----------
    pairs, queries: numbers of the annotator's pairs that others also graded, and of their queries.
    kappa: value with a 95 % interval by bootstrap over queries; None if `undefined` gives the reason.
    others: kappa of the others among themselves, over any two of the others; `others_pairs`: number of its
        pairs.
    p: the probability of such low agreement if kappa were half of the others' kappa and disagreement were no
        larger than among the others (Student's t over queries).
    """

    annotator: str
    pairs: int
    queries: int
    kappa: float | None = None
    low: float | None = None
    high: float | None = None
    others: float | None = None
    others_pairs: int = 0
    p: float | None = None
    undefined: str | None = None

    @property
    def follows(self) -> bool:
        """True if this annotator's kappa is at least half of the others' kappa among themselves."""
        return None not in (self.kappa, self.others) and _follows(self.kappa or 0.0, self.others or 0.0)


class _Shared(NamedTuple):
    """One annotator's grades on pairs that others also graded, with the number and means of the others'
    grades.
    """

    grade: Floats
    query: Ints
    number: Floats
    mean: Floats
    square: Floats

    @property
    def off(self) -> Floats:
        """Compute the mean squared distance between the annotator's grade and the others' grades, by pair."""
        return self.grade**2 - 2 * self.grade * self.mean + self.square


def left_out_of(grades: Grades) -> dict[str, str]:
    """Find the annotators who are excluded when others are compared: name → reason.

    Reason 'agreement': the annotator agrees with the others clearly less than half as well as the others
    agree among themselves. Reason 'one grade': the annotator gives nearly always one grade on pairs with
    different grades of others. Reason 'bias': the annotator grades much higher or lower.
    """
    graded = grades.graded_by_person
    inside = np.ones(len(grades.names), dtype=bool)
    left_out: dict[str, str] = {}
    most = (len(np.unique(graded.people)) - 1) // 2
    while len(left_out) < most:
        standing_out = _standing_out(graded, inside)
        if standing_out is None:
            break
        why, people = standing_out
        step = people[: min(max(1, int(inside.sum()) // AT_ONCE), most - len(left_out))]
        inside[step] = False
        left_out |= {grades.names[person]: why for person in step}
    return dict(sorted(left_out.items()))


def uninformative_of(grades: Grades) -> frozenset[str]:
    """Find the annotators whose grades do not depend on the pair, so that repeating them shows no
    consistency.
    """
    return frozenset(name for name, why in left_out_of(grades).items() if why != BIAS)


def agreement_with_others(
    grades: Grades, left_out: Collection[str] = (), seed: int = 0
) -> dict[str, OthersAgreement]:
    """Compute each annotator's agreement with the others who are not left out, by name."""
    graded = grades.graded_by_person
    totals = _Totals(graded, graded.without(left_out))
    agreements = {}
    for person, name in enumerate(grades.names):
        shared = totals.shared(person)
        agreements[name] = _agreement(name, shared, totals.others(person, shared), seed)
    return agreements


class _Totals:
    """Sums of the grades of all compared annotators, by pair and in total, from which one annotator is
    subtracted.
    """

    def __init__(self, graded: Grades, inside: Mask) -> None:
        self.units, self.inside, self.rows_of = graded.units, inside, graded.rows_of
        self.grades = graded.grades.astype(np.float64)
        self.queries = graded.unit_queries[graded.units]
        counted = inside[graded.people]
        units, number = self.units[counted], int(self.units.max(initial=-1)) + 1
        self.sums = np.stack(
            [np.bincount(units, self.grades[counted] ** power, number) for power in range(3)]
        ).astype(np.float64)
        self.pairs = _two_others(self.sums)
        self.whole = self.pairs.sum(axis=1)

    def shared(self, person: int) -> _Shared:
        """Take the annotator's grades on pairs that at least one other compared annotator graded."""
        rows = self.rows_of[person]
        grade, others = self.grades[rows], self._without(person)
        there = others[0] > 0
        number, first, second = others[:, there]
        query = self.queries[rows][there]
        return _Shared(grade[there], query, number, first / number, second / number)

    def others(self, person: int, shared: _Shared) -> _Others | None:
        """Compute the others' agreement on the annotator's pairs, or on all pairs if too few have two
        others.
        """
        near = _two_others(
            np.stack([shared.number, *(shared.number * x for x in (shared.mean, shared.square))])
        )
        sums = near.sum(axis=1)
        if sums[0] < MINIMUM_GRADES:
            units = self.units[self.rows_of[person]]
            again = _two_others(self._without(person)).sum(axis=1)
            sums = self.whole - self.pairs[:, units].sum(axis=1) + again
        if sums[0] < MINIMUM_GRADES:
            return None
        pairs, distance, mean, square = sums
        chance = 2 * (square / pairs - (mean / pairs) ** 2)
        if chance <= _NOTHING:
            return None
        return float(distance / pairs), float(1 - distance / pairs / chance), round(pairs)

    def _without(self, person: int) -> Floats:
        rows = self.rows_of[person]
        grade, others = self.grades[rows], self.sums[:, self.units[rows]]
        if self.inside[person]:
            others = others - np.stack([grade**power for power in range(3)])
        without: Floats = others
        return without


def _two_others(sums: Floats) -> Floats:
    """Compute four numbers by pair: 1, mean squared distance of two grades, mean, mean square; 0 without two
    grades.
    """
    number, first, second = sums
    two = number >= 2
    n = np.where(two, number, 2)
    columns = (np.ones(len(n)), 2 * (n * second - first**2) / (n * (n - 1)), first / n, second / n)
    return np.stack([np.where(two, column, 0.0) for column in columns])


def _compared(shared: _Shared, others: _Others | None) -> tuple[float, float | None] | None:
    """Compute kappa and its p value, which is None if the others do not agree; None if grades do not vary."""
    off, grade, mean = shared.off, shared.grade.mean(), shared.mean.mean()
    chance = float((shared.grade**2).mean() - 2 * grade * mean + shared.square.mean())
    if chance <= _NOTHING:
        return None
    distance = float(off.mean())
    kappa = 1 - distance / chance
    if others is None or others[1] <= 0:
        return kappa, None
    others_distance, others_kappa, _ = others
    # What each pair adds to distance less its share of chance, to first order in the two means.
    by_pair = shared.grade**2 + shared.square - 2 * (grade * shared.mean + shared.grade * mean - grade * mean)
    excess = off - (1 - SHARE_OF_OTHERS * others_kappa) * by_pair
    return kappa, max(_above(excess, shared.query), _above(off - others_distance, shared.query))


def _above(values: Floats, query: Ints) -> float:
    """Compute the one-sided p value of a mean above 0 (Student's t over queries)."""
    p = _mean_p(values, query)
    return p / 2 if values.mean() > 0 else 1 - p / 2


def _mean_p(values: Floats, query: Ints) -> float:
    _, index = np.unique(query, return_inverse=True)
    off = np.bincount(index, values - values.mean()) / len(values)
    return mean_p(float(values.mean()), off.astype(np.float64))


def _enough(shared: _Shared) -> bool:
    return len(shared.grade) >= MINIMUM_GRADES and len(np.unique(shared.query)) >= MINIMUM_QUERIES


def _standing_out(graded: Grades, inside: Mask) -> tuple[str, list[int]] | None:
    """Find the reason and the annotators to exclude next, the worst first; None if no annotator stands
    out.
    """
    totals = _Totals(graded, inside)
    people = np.flatnonzero(inside).tolist()
    everyone = {person: totals.shared(person) for person in people}
    besides = {person: shared for person, shared in everyone.items() if _enough(shared)}
    others = {person: totals.others(person, shared) for person, shared in besides.items()}
    others_kappa = {person: other[1] if other is not None else np.inf for person, other in others.items()}
    compared = {
        person: figures
        for person, shared in besides.items()
        if (figures := _compared(shared, others[person])) is not None
    }
    agreeing = {person: (p, kappa) for person, (kappa, p) in compared.items() if p is not None}
    following = {person for person, (kappa, _) in compared.items() if _follows(kappa, others_kappa[person])}
    one_grade = {
        person: (p := one_grade_p(*shared), p)
        for person, shared in enumerate(shared_grades(graded, inside))
        if person in besides and person not in following
    }
    far = {person: shared.grade - shared.mean for person, shared in besides.items()}
    biased = {
        person: (_mean_p(off, besides[person].query), -abs(off.mean()))
        for person, off in far.items()
        if abs(off.mean()) >= FAR_OFF
    }
    for why, looks in ((AGREEMENT, agreeing), (ONE_GRADE, one_grade), (BIAS, biased)):
        ps = [p for p, _ in looks.values()]
        line = threshold([*ps, *[1.0] * (len(besides) - len(ps))], LEVEL)
        named = sorted((worst, person) for person, (p, worst) in looks.items() if p <= line)
        if named:
            return why, [person for _, person in named]
    return None


def _follows(kappa: float, others: float) -> bool:
    return kappa > 0 and kappa >= SHARE_OF_OTHERS * others


def _agreement(name: str, shared: _Shared, others: _Others | None, seed: int) -> OthersAgreement:
    pairs, queries = len(shared.grade), len(np.unique(shared.query))
    few = OthersAgreement(name, pairs, queries)
    if not _enough(shared):
        shared_pairs = f"{pluralize(pairs, 'pair')} of {pluralize(queries, 'query', 'queries')}"
        needed = f"{MINIMUM_GRADES} of {MINIMUM_QUERIES} are needed"
        return few._replace(undefined=f"others graded {shared_pairs}; {needed}")
    compared = _compared(shared, others)
    if compared is None:
        return few._replace(undefined=NO_VARIATION)
    kappa, p = compared
    low, high = _interval(shared, seed)
    agreement = few._replace(kappa=_plain(kappa), low=_plain(low), high=_plain(high), p=p)
    if others is None:
        return agreement._replace(undefined=NOBODY_ELSE)
    agreement = agreement._replace(others=others[1], others_pairs=others[2])
    return agreement if p is not None else agreement._replace(undefined=OTHERS_BY_CHANCE)


def _plain(value: float | None) -> float | None:
    """Round the value, so that a rounding error just below 0 becomes 0."""
    return None if value is None else round(value, 9) + 0.0


def _interval(shared: _Shared, seed: int) -> tuple[float | None, float | None]:
    _, index = np.unique(shared.query, return_inverse=True)
    columns = (shared.off, shared.grade, shared.mean, shared.grade**2 + shared.square, np.ones(len(index)))
    sums = np.stack([np.bincount(index, column) for column in columns], axis=1).astype(np.float64)
    drawn = [_kappas(block) for block in resampled(sums, seed)]
    return percentile_interval(np.concatenate(drawn), len(sums)) or (None, None)


def _kappas(sums: Floats) -> Floats:
    off, grade, mean, squares, pairs = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = squares / pairs - 2 * grade * mean / pairs**2
        kappas: Floats = np.where(chance > _NOTHING, 1 - off / pairs / chance, np.nan)
    return kappas
