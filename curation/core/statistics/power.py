"""Statistical power of the paired t test.

The power of the two-sided test at 5 % follows from the noncentral t distribution (J. Cohen (1988),
Statistical Power Analysis for the Behavioral Sciences, 2nd ed., chapter 2). A finding in the wrong direction
does not count as power, as in R (power.t.test).
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
from scipy.special import nctdtr, nctdtrinc, stdtrit

from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.intervals import Z95

ALPHA = 0.05  # significance level of the two-sided test
POWER = 0.8  # probability of finding a difference of the stated size
MAX_QUERIES = 10_000_000  # a difference that needs more queries is out of reach
_Z_POWER = 0.8416212335729143  # 80 % point of the normal distribution


def detectable_difference(n: Ints, sd: Floats) -> Floats:
    """Compute the mean difference that the paired t test finds in 80 % of sets of n queries; NaN with fewer
    than two queries.

    Parameters
    ----------
    n, sd: shape (P,), queries, and the standard deviation of their differences.
    """
    df = np.maximum(n - 1, 1)
    noncentrality = nctdtrinc(df, 1 - POWER, stdtrit(df, 1 - ALPHA / 2))
    difference: Floats = np.where(n > 1, noncentrality * sd / np.sqrt(np.maximum(n, 1)), np.nan)
    return difference


def compute_power(n: int, effect: float) -> float:
    """Compute the probability that the t test finds an effect, given in standard deviations; needs two
    queries.
    """
    df, noncentrality = n - 1, sqrt(n) * effect
    return 1.0 - float(nctdtr(df, noncentrality, stdtrit(df, 1 - ALPHA / 2)))


def queries_needed(difference: float, sds: Floats) -> Floats:
    """Compute how many queries the t test needs to find a difference in 80 % of sets, shape (P,).

    The result is NaN if the standard deviation is unknown or 0, and if more than `MAX_QUERIES` queries are
    needed.

    Parameters
    ----------
    difference: above 0. sds: shape (P,), the standard deviations of the queries' differences.
    """
    return np.array([_find_sample_size(difference / sd) if sd > 0 else np.nan for sd in sds.tolist()])


def _find_sample_size(effect: float) -> float:
    """Search for the sample size, upwards from the normal approximation, which is too small (Guenther
    1981)."""
    lower_bound = ((Z95 + _Z_POWER) / effect) ** 2
    if lower_bound > MAX_QUERIES:
        return np.nan
    n = max(2, ceil(lower_bound))
    while compute_power(n, effect) < POWER:
        n += 1
    return float(n)
