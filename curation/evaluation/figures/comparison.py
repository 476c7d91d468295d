"""Comparisons of systems by paired tests, overall and in each stratum.

A difference compares the values of both systems for one query. A query without a figure for one of the
systems is left out of the pair, and the report counts left-out queries. The tests are

    randomisation   Fisher's test of the mean difference: the default
    t               Student's t test of the mean difference
    wilcoxon        signed ranks: the differences of queries, in order of size

One test decides on significance and is chosen before the results are known, because choosing a test
afterwards gives too many significant differences. Every pair of systems has the randomisation test, Student's
t test and the test that decides, overall and in every stratum. Wilcoxon's test is always shown overall.

With Holm's correction, at most 5 % of families contain a false alarm. For all queries together, a family is
all pairs of systems by one measure. For strata, a family is all pairs of systems in all strata by one
measure. The correction protects a reader who searches the strata for a difference against a finding by
chance. Tests by several measures are not corrected for each other, so choose the main measure beforehand. A
stratum with few sealed queries is suppressed and not compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from curation.core.errors import InputError, refuse_problems
from curation.core.statistics import paired_differences
from curation.core.statistics.arrays import Floats, Mask
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.multiple_tests import correct_by_holm
from curation.core.statistics.paired_intervals import paired_intervals
from curation.core.statistics.power import detectable_difference, queries_needed
from curation.core.statistics.randomisation_test import choose_assignments, randomisation_ps
from curation.evaluation.scoring.release import MIN_QUERIES

TARGET_DIFFERENCE = 0.02
"""The difference for which the report gives the number of queries needed."""
INTERVAL_ALONE = "the interval excludes 0, the test does not decide"
BEFORE_CORRECTION = "the interval excludes 0; after Holm's correction nothing is decided"
TEST_ALONE = "the test decides, though the interval holds 0"
TOO_FEW = f"fewer than {MIN_QUERIES} queries: counts only"
HOLM_COLUMN = "p Holm"
"""The heading of a column of corrected p values."""
SIGNIFICANT = 0.05
"""The corrected p below which two systems are distinguished."""
RANDOMISATION = "randomisation"
"""The test that decides by default."""
TESTS = {
    RANDOMISATION: ("randomisation", "Fisher's randomisation test"),
    "t": ("t", "Student's t test"),
    "wilcoxon": ("Wilcoxon", "Wilcoxon's signed-rank test"),
}
"""Name of a test → its name in a column and in a sentence.

`Comparison` has the p of each test in the field `p_` + name.
"""


SystemPair = tuple[int, int]
"""Indexes of two systems; the difference is the first minus the second."""
_Block = tuple["StratumName | None", Floats]
"""Differences of all pairs by one measure in one stratum, shape (q, P)."""


class StratumName(NamedTuple):
    """A kind of query: the value of a facet, such as `tag` and `question`."""

    facet: str
    value: str


@dataclass(frozen=True)
class Comparison:
    """The comparison of two systems by one measure on some of the queries. Undefined figures are None.

    Attributes
    ----------
    stratum: the compared kind of queries; None for all queries.
    n: the number of queries with a figure for both systems.
    left_out: the number of queries without a figure for both.
    wins, ties, losses: the numbers of queries where `system` is above, level with and below `other`.
    no_verdict: the reason why only counts are given.
    difference, low, high: the mean of `system` minus `other`, and its 95 % interval.
    p_t, p_randomisation, p_wilcoxon: the two-sided p of each test, uncorrected.
    p_holm: p_randomisation after Holm's correction for its family, whichever test decides.
    test: the test that decides.
    p_corrected: the p of the test that decides, corrected by Holm's method for `family` tests.
    effect, effect_low, effect_high: the difference in standard deviations of the differences.
    detectable: the true difference that a t test finds with n queries of this spread in 80 % of sets.
    queries_needed: the number of queries of this spread that find `TARGET_DIFFERENCE` in 80 % of sets.
    traffic: the difference for all searches; None for strata and where no query was drawn.
    """

    system: str
    other: str
    measure: str
    stratum: StratumName | None
    n: int
    left_out: int
    wins: int | None
    ties: int | None
    losses: int | None
    no_verdict: str | None = TOO_FEW
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_t: float | None = None
    p_randomisation: float | None = None
    p_wilcoxon: float | None = None
    p_holm: float | None = None
    test: str | None = None
    p_corrected: float | None = None
    family: int | None = None
    effect: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None
    detectable: float | None = None
    queries_needed: int | None = None
    traffic: Estimate | None = None

    @property
    def distinguished(self) -> bool:
        """True if the difference is more than noise, after the correction."""
        return self.p_corrected is not None and self.p_corrected < SIGNIFICANT

    @property
    def deciding(self) -> str:
        """The test that decides; the default test where no test was made."""
        return self.test or RANDOMISATION

    @property
    def p(self) -> float | None:
        """The p of the test that decides, uncorrected."""
        value: float | None = getattr(self, f"p_{self.deciding}")
        return value

    @property
    def note(self) -> str:
        """The reason for a missing verdict, or a remark that interval and test disagree; else ''."""
        if self.no_verdict is not None or self.low is None or self.high is None:
            return self.no_verdict or ""
        excludes = self.low > 0 or self.high < 0
        if excludes and not self.distinguished:
            before = self.p is not None and self.p < SIGNIFICANT
            return BEFORE_CORRECTION if before else INTERVAL_ALONE
        return TEST_ALONE if self.distinguished and not excludes else ""


def pair_systems(systems: Sequence[str], baseline: str | None = None) -> list[SystemPair]:
    """Pair the systems: the later of two systems minus the earlier, or each system minus the baseline.

    Raises
    ------
    InputError: no system has the name of the baseline, or two systems have one name.
    """
    problems = [
        f"the system {name!r} is named {systems.count(name)} times; expected each name once"
        for name in sorted(set(systems))
        if systems.count(name) > 1
    ]
    if baseline is not None and baseline not in systems:
        known = ", ".join(systems)
        problems.append(f"the baseline {baseline!r} is not one of the systems; expected one of {known}")
    refuse_problems(problems)
    if baseline is None:
        return [(later, earlier) for earlier, later in combinations(range(len(systems)), 2)]
    base = list(systems).index(baseline)
    return [(index, base) for index in range(len(systems)) if index != base]


def compare_systems(
    systems: Sequence[str],
    measures: Sequence[str],
    values: Floats,
    strata: Mapping[StratumName, Mask],
    *,
    seed: int,
    baseline: str | None = None,
    by_stratum: int | None = None,
    deciding: str = RANDOMISATION,
) -> tuple[Comparison, ...]:
    """Compare every pair by every measure: overall, then in each stratum.

    Parameters
    ----------
    values: the values of S systems by M measures, shape (S, Q, M), NaN where a query has no figure.
    strata: stratum → whether it holds each of the Q queries, shape (Q,).
    by_stratum: the number of measures, from the first, that are compared by stratum; None is all measures.

    Raises
    ------
    InputError: as for `pair_systems`.
    """
    pairs = pair_systems(systems, baseline)
    if not pairs:
        return ()
    names = [(systems[system], systems[other]) for system, other in pairs]
    comparisons: list[Comparison] = []
    for column, measure in enumerate(measures):
        differences = subtract_pairs(values[:, :, column], pairs)
        compared_strata = strata if by_stratum is None or column < by_stratum else {}
        blocks: list[_Block] = [(name, differences[mask]) for name, mask in compared_strata.items()]
        comparisons += _compare_family([(None, differences)], TESTS, names, measure, deciding, seed)
        if blocks:
            tests = {"t", "randomisation", deciding}
            comparisons += _compare_family(blocks, tests, names, measure, deciding, seed)
    return tuple(comparisons)


def select_overall(comparisons: Iterable[Comparison], measure: str) -> list[Comparison]:
    """Choose the comparisons on all queries by one measure."""
    return [row for row in comparisons if row.measure == measure and row.stratum is None]


def subtract_pairs(values: Floats, pairs: Sequence[SystemPair]) -> Floats:
    """Subtract the values of pairs, shape (S, Q); the differences have the shape (Q, P)."""
    return (values[[system for system, _ in pairs]] - values[[other for _, other in pairs]]).T


def _compare_family(
    family: Sequence[_Block],
    tests: Collection[str],
    names: Sequence[tuple[str, str]],
    measure: str,
    deciding: str,
    seed: int,
) -> Iterator[Comparison]:
    """Compare pairs that are corrected together.

    Parameters
    ----------
    family: the blocks of differences of all pairs.
    names: the two systems of each pair.
    """
    ps = {test: _test_family(test, family, seed) for test in sorted(tests)}
    holms, corrected = (
        correct_by_holm(ps[test].ravel()).reshape(ps[test].shape) for test in ("randomisation", deciding)
    )
    size = int((~np.isnan(corrected)).sum())
    for row, (stratum, differences) in enumerate(family):
        n = (~np.isnan(differences)).sum(axis=0).tolist()
        outcomes = paired_differences.count_wins_ties_losses(differences)
        counts = zip(*(column.tolist() for column in outcomes), strict=True)
        p_values = {f"p_{test}": values[row] for test, values in ps.items()}
        p_values |= {"p_holm": holms[row], "p_corrected": corrected[row]}
        figures = _compute_pair_figures(differences, p_values, seed)
        for pair, pair_figures, pair_n, results in zip(names, figures, n, counts, strict=True):
            left_out = len(differences) - pair_n
            comparison = Comparison(*pair, measure, stratum, pair_n, left_out, *results)
            if pair_n >= MIN_QUERIES:
                comparison = replace(comparison, no_verdict=None, test=deciding, family=size, **pair_figures)
            yield comparison


def _test_family(test: str, family: Sequence[_Block], seed: int) -> Floats:
    """Compute the p of each pair in each block, shape (blocks, P); NaN where a pair has too few queries."""
    is_tested = np.array([(~np.isnan(differences)).sum(axis=0) >= MIN_QUERIES for _, differences in family])
    ps, drawn = np.full(is_tested.shape, np.nan), choose_assignments(int(is_tested.sum()))
    for row, (_, block), tested in zip(ps, family, is_tested, strict=True):
        differences = block[:, tested]
        if test == "t":
            row[tested] = paired_differences.paired_t_p(paired_differences.compute_moments(differences))
        elif test == "randomisation":
            row[tested] = randomisation_ps(differences, seed, drawn)
        else:
            row[tested] = paired_differences.wilcoxon_ps(differences)
    return ps


def _compute_pair_figures(differences: Floats, ps: Mapping[str, Floats], seed: int) -> list[dict[str, Any]]:
    """Compute the figures of every pair of one block, by the fields of `Comparison`."""
    moments = paired_differences.compute_moments(differences)
    effect, effect_low, effect_high = paired_differences.paired_effects(moments)
    low, high = paired_intervals(differences, seed)
    columns = {
        "difference": moments.mean,
        "low": low,
        "high": high,
        **ps,
        "effect": effect,
        "effect_low": effect_low,
        "effect_high": effect_high,
        "detectable": detectable_difference(moments.n, moments.sd),
    }
    needed = queries_needed(TARGET_DIFFERENCE, moments.sd).tolist()
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {name: None if isnan(value) else value for name, value in zip(columns, row, strict=True)}
        | {"queries_needed": None if isnan(number) else int(number)}
        for row, number in zip(rows, needed, strict=True)
    ]


def refuse_unknown_test(test: str) -> None:
    """Refuse the name of an unknown test.

    Raises
    ------
    InputError: no test has that name.
    """
    if test not in TESTS:
        raise InputError(f"There is no test {test!r}; expected one of {', '.join(TESTS)}.")


def describe_deciding_test(test: str) -> str:
    """Name the p that decides, for captions of differences."""
    return f"{HOLM_COLUMN} below {SIGNIFICANT:g}, of {TESTS[test][1]}, decides"
