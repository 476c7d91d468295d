"""Tests of significance: which one decides whether two systems differ, and below which p.

    randomisation   Fisher's test of the mean difference: the default
    t               Student's, of the mean difference
    wilcoxon        signed ranks: by how much the queries differ, in order of size

Holm's correction keeps 95 % of families without a false alarm.

All tests that were made are shown. One decides, and it is named beforehand: who takes the one that finds
something finds too much.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.core.errors import InputError

HOLM_COLUMN = "p Holm"
"""What a column of corrected p values is called."""
SIGNIFICANT = 0.05
"""A corrected p below this distinguishes two systems."""
RANDOMISATION = "randomisation"
"""The test that decides where nobody names another."""


class SignificanceTest(NamedTuple):
    """A test, with what it is called in a column and in a sentence."""

    short: str
    words: str


TESTS = {
    RANDOMISATION: SignificanceTest("randomisation", "Fisher's randomisation test"),
    "t": SignificanceTest("t", "Student's t test"),
    "wilcoxon": SignificanceTest("Wilcoxon", "Wilcoxon's signed-rank test"),
}
"""By name; `Comparison` has the p of each as `p_` and its name."""


def check_test(test: str) -> None:
    """Refuse a test that there is not.

    Raises
    ------
    InputError: there is none of that name.
    """
    if test not in TESTS:
        raise InputError(f"There is no test {test!r}; expected one of {', '.join(TESTS)}.")


def what_decides(test: str) -> str:
    """What the captions of differences say: neither the interval nor another test decides."""
    return f"{HOLM_COLUMN} below {SIGNIFICANT:g}, of {TESTS[test].words}, decides"
