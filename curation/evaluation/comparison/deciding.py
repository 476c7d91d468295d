"""Which test decides whether two systems differ, and how it is corrected for the others of its family.

    randomisation   Fisher's test of the mean difference: the default
    t               Student's, of the mean difference
    wilcoxon        signed ranks: by how much the queries differ, in order of size
    sign            which of the two is above on more queries
    tukey           all pairs at once, by randomisation; it corrects itself

    holm, bonferroni   no false alarm in 95 % of families
    bh                 on average at most 5 % of what is found is false (Benjamini and Hochberg)

All tests that were made are shown. One decides, and it is named beforehand: who takes the one that finds
something finds too much.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.errors import RefusedError, refuse_problems

SIGNIFICANT = 0.05
"""A corrected p below this distinguishes two systems."""


class SignificanceTest(NamedTuple):
    """A test, with what it is called in a column and in a sentence."""

    short: str
    words: str


TESTS = {
    "randomisation": SignificanceTest("randomisation", "Fisher's randomisation test"),
    "t": SignificanceTest("t", "Student's t test"),
    "wilcoxon": SignificanceTest("Wilcoxon", "Wilcoxon's signed-rank test"),
    "sign": SignificanceTest("sign", "the sign test"),
    "tukey": SignificanceTest("Tukey HSD", "the randomised Tukey HSD"),
}
"""By name; `Comparison` has the p of each as `p_` and its name."""


class Correction(NamedTuple):
    """A correction of the p values of a family, with what it is called in a column and in a sentence."""

    short: str
    words: str


CORRECTIONS = {
    "holm": Correction("p Holm", "Holm's correction"),
    "bonferroni": Correction("p Bonferroni", "Bonferroni's correction"),
    "bh": Correction("p BH", "Benjamini and Hochberg's correction"),
}
HOLM, TUKEY = "holm", "tukey"


class DecidingTest(NamedTuple):
    """The test that decides.

    Attributes
    ----------
    test: of `TESTS`.
    correction: of `CORRECTIONS`; None is Holm's, and for `tukey` none: it is of all pairs already.
    """

    test: str = "randomisation"
    correction: str | None = None

    @property
    def corrected_by(self) -> str:
        """The name of the correction, `tukey` where the test corrects itself."""
        return TUKEY if self.test == TUKEY else self.correction or HOLM

    @property
    def column(self) -> str:
        """What a column of corrected p values is called."""
        return "p HSD" if self.test == TUKEY else CORRECTIONS[self.corrected_by].short

    @property
    def words(self) -> str:
        """What the captions of differences say: neither the interval nor another test decides."""
        return f"{self.column} below {SIGNIFICANT:g}, of {TESTS[self.test].words}, decides"

    @property
    def after(self) -> str:
        """The correction in a sentence."""
        return "correction for all pairs" if self.test == TUKEY else CORRECTIONS[self.corrected_by].words


def check_deciding(deciding: DecidingTest, sealed: bool = False) -> None:
    """Refuse a test or a correction that there is not, or that a sealed part does not allow.

    Counts of wins and ranks of single queries would tell of sealed grades, and so would one figure corrected
    in several ways, so a sealed part has the test that all its looks have.

    Raises
    ------
    InputError: there is none of that name.
    RefusedError: a part is sealed, and another one than the default is asked for.
    """
    problems = []
    if deciding.test not in TESTS:
        problems.append(f"there is no test {deciding.test!r}; expected one of {', '.join(TESTS)}")
    if deciding.correction is not None and deciding.correction not in CORRECTIONS:
        known = ", ".join(CORRECTIONS)
        problems.append(f"there is no correction {deciding.correction!r}; expected one of {known}")
    if deciding.test == TUKEY and deciding.correction is not None:
        problems.append("the test tukey is of all pairs already: choose no correction with it")
    refuse_problems(problems)
    if sealed and deciding != DecidingTest():
        raise RefusedError(
            "A sealed part is compared by Fisher's randomisation test with Holm's correction, and by no "
            "other: each further one would tell more of its grades.",
            command="Leave --significance-test and --correction out.",
        )
