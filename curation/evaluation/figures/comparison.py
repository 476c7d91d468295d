"""The comparison of two systems by one measure, with the deciding significance test.

A difference compares the values of both systems for one query. A query without a figure for one of the
systems is left out of the pair, and the report counts left-out queries. The tests are

    randomisation   Fisher's test of the mean difference: the default
    t               Student's t test of the mean difference
    wilcoxon        signed ranks: the differences of queries, in order of size

One test decides on significance and is chosen before the results are known, because choosing a test
afterwards gives too many significant differences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from curation.core.errors import InputError
from curation.core.text import suggest
from curation.evaluation.scoring.release import MIN_QUERIES

TARGET_DIFFERENCE = 0.02
"""The report gives the number of queries needed to find this difference."""
INTERVAL_ALONE = "the interval excludes 0, but the test finds no significant difference"
BEFORE_CORRECTION = "the interval excludes 0, but after Holm's correction the difference is not significant"
TEST_ALONE = "the test finds a significant difference, although the interval contains 0"
TOO_FEW = f"fewer than {MIN_QUERIES} queries: counts only"
HOLM_COLUMN = "p Holm"
"""Heading of a column with corrected p values."""
SIGNIFICANT = 0.05
"""Two systems are distinguished if the corrected p is below this level."""
RANDOMISATION = "randomisation"
"""Name of the test that decides on significance by default."""
TESTS = {
    RANDOMISATION: "Fisher's randomisation test",
    "t": "Student's t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
"""Map from the name of a test to its name in a sentence."""


class StratumName(NamedTuple):
    """A kind of query as facet and value, such as `tag` and `question`."""

    facet: str
    value: str


@dataclass(frozen=True)
class Comparison:
    """A comparison of two systems by one measure on some of the queries; undefined values are None.

    Attributes
    ----------
    stratum: the compared kind of queries; None for all queries.
    n: the number of queries with a figure for both systems.
    left_out: the number of queries without a figure for both.
    wins, ties, losses: the numbers of queries where `system` is above, level with and below `other`.
    no_verdict: the reason why only counts are given.
    difference, low, high: the mean of `system` minus `other`, and its 95 % interval.
    test: the test that decides.
    p, p_corrected: the two-sided p of this test, and the p corrected by Holm's method for `family` tests.
    detectable: the true difference that a t test finds with n queries of this spread in 80 % of sets.
    queries_needed: the number of queries of this spread that find `TARGET_DIFFERENCE` in 80 % of sets.
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
    test: str | None = None
    p: float | None = None
    p_corrected: float | None = None
    family: int | None = None
    detectable: float | None = None
    queries_needed: int | None = None

    @property
    def distinguished(self) -> bool:
        """Return whether the difference between the systems is significant after correction."""
        return self.p_corrected is not None and self.p_corrected < SIGNIFICANT

    @property
    def deciding_test(self) -> str:
        """Return the test that decides on significance; the default test if none was run."""
        return self.test or RANDOMISATION

    @property
    def note(self) -> str:
        """Explain why there is no verdict, or that the interval and the test disagree; else ''."""
        if self.no_verdict is not None or self.low is None or self.high is None:
            return self.no_verdict or ""
        excludes = self.low > 0 or self.high < 0
        if excludes and not self.distinguished:
            is_significant_before = self.p is not None and self.p < SIGNIFICANT
            return BEFORE_CORRECTION if is_significant_before else INTERVAL_ALONE
        return TEST_ALONE if self.distinguished and not excludes else ""


def select_overall(comparisons: Iterable[Comparison], measure: str) -> list[Comparison]:
    """Select the comparisons of systems by one measure that cover all queries."""
    return [row for row in comparisons if row.measure == measure and row.stratum is None]


def refuse_unknown_test(test: str) -> None:
    """Reject an unknown name of a significance test.

    Raises
    ------
    InputError: no test has that name.
    """
    if test not in TESTS:
        end = suggest(test, TESTS) or "."
        raise InputError(f"There is no test {test!r}; expected one of {', '.join(TESTS)}{end}")


def describe_deciding_test(test: str) -> str:
    """Name the p value that decides on significance, for the caption of a table of differences."""
    return f"a difference is significant if {HOLM_COLUMN}, from {TESTS[test]}, is below {SIGNIFICANT:g}"
