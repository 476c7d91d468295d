"""How far the best of many looks at a sealed part may flatter.

A look scores a system on the part's Q queries. Its figure is off from what all queries would give, by about
sd / √Q. Who keeps the best of n looks keeps what was lucky, too. Three statements, each for figures that
are means over queries whose standard deviation is sd:

    expected  on average the best of n systems chosen beforehand flatters by no more than
              n φ(Φ⁻¹(1 − 1/n)) · sd / √Q, however the systems resemble each other: the mean of the largest of
              n normal variables cannot be more (T. L. Lai and H. Robbins (1976), Maximally dependent random
              variables, Proceedings of the National Academy of Sciences 73)
    at_most   with 95 % none of n systems chosen beforehand flatters by more than Φ⁻¹(1 − 0.05/n) · sd / √Q
              (Bonferroni)
    adaptive  on average a system that is built from the answers of n looks flatters by no more than
              √(2 n ln m) · sd / √Q, where each answer was one of m: the bias is at most σ √(2 I), and the
              answers hold no more information I than n ln m (D. Russo and J. Zou (2020), How much does your
              data exploration overfit?, IEEE Transactions on Information Theory 66)

The means of queries are taken as normal. The first two hold for looks that do not react to each other. People
look, change something and look again, so their truth is between the first and the last. An attack that
combines what each answer gave away reaches about √(2n/π) · sd / √Q: see docs/evaluation-method.md.
"""

from __future__ import annotations

from math import exp, log, pi, sqrt
from typing import NamedTuple

from scipy.special import ndtri

from curation.errors import InputError
from curation.text import amount

ANSWERS = 1001
"""How many answers a figure between 0 and 1 with three decimals has."""


class Flattery(NamedTuple):
    """How far figures of a sealed part may be above the truth; units of the measure.

    Attributes
    ----------
    looks: n. queries: Q. sd: of the measure over queries.
    standard_error: sd / √Q, of a single look.
    expected, at_most, adaptive: see the module.
    """

    looks: int
    queries: int
    sd: float
    standard_error: float
    expected: float
    at_most: float
    adaptive: float


def flattery(looks: int, queries: int, sd: float, answers: int = ANSWERS, figures: int = 1) -> Flattery:
    """The bounds after so many looks.

    Parameters
    ----------
    sd: standard deviation over queries, of the measure whose best figure is kept.
    answers: how many values each shown figure can have.
    figures: how many figures a look shows, such as one for each measure and stratum.

    Raises
    ------
    InputError: there is no look, no query or no answer, or the sd is negative.
    """
    if min(looks, queries, figures) < 1 or answers < 2 or not sd >= 0:
        raise InputError(
            f"{amount(looks, 'look')} at {amount(queries, 'query', 'queries')}, "
            f"{amount(figures, 'figure')} of {amount(answers, 'answer')}, sd {sd:g}: "
            "expected at least one look, query and figure, two answers, and an sd of 0 or more."
        )
    error = sd / sqrt(queries)
    return Flattery(
        looks,
        queries,
        sd,
        error,
        expected=error * largest_mean(looks),
        at_most=error * float(-ndtri(0.05 / looks)),
        adaptive=error * sqrt(2 * looks * figures * log(answers)),
    )


def largest_mean(looks: int) -> float:
    """The largest mean that the maximum of n standard normal variables can have: n φ(Φ⁻¹(1 − 1/n))."""
    if looks == 1:
        return 0.0
    place = float(ndtri(1 / looks))
    return looks * exp(-(place**2) / 2) / sqrt(2 * pi)
