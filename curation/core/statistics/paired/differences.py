"""Paired differences: their mean and spread, Student's t test, the standardised effect, wins and losses.

Two systems answer the same queries, so what is compared is the difference of each query. All functions take
many columns of differences at once, one for each pair of systems, and NaN where a query has no figure.

Wilcoxon's signed-rank test counts queries by the rank of how much they differ. It is not about the difference
of the means: on skewed differences it may decide otherwise than the randomisation test.

Power of paired t tests: the smallest difference that n queries detect, and the queries a difference needs.

The power of the two-sided test at 5 % follows from the noncentral t distribution (J. Cohen (1988),
Statistical Power Analysis for the Behavioral Sciences, 2nd ed., chapter 2). A finding in the wrong direction
does not count as power, as in R's `power.t.test`.

95 % intervals of mean differences, also where a few queries decide.

Two systems often do the same. Then a handful of queries carries the difference, a sample easily misses them,
and an interval from what was drawn is too narrow: the bootstrap, Student's t and the studentised bootstrap
held the truth in 41 to 90 % of such sets.

So where fewer than `CARRIED_BY` queries differ from the most common difference, the interval adds one query
that nobody has seen, at the worst and at the best difference that it could have, and weighs all queries at
random (Dirichlet). That is Gaffke's bound, which has held in all simulations known and equals the exact bound
of a share: N. Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a
nonnegative variable, Mathematical Methods of Statistics 14; E. Learned-Miller and P. S. Thomas (2019), A new
confidence interval for the mean of a bounded random variable. Else it is the bootstrap over queries.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import nctdtr, nctdtrinc, stdtr, stdtrit

from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.core.statistics.intervals import Z95, percentile_interval, resampled
from curation.core.statistics.means import most_common
from curation.core.statistics.paired.randomisation import in_steps

CARRIED_BY = 8
"""With fewer queries than this that differ from the most common figure, a sample easily misses such ones."""
TIED_WITHIN = 1e-9
"""Two figures of a query that differ by no more than this are equal: the last digits are the machine's."""
_WEIGHINGS = 2000
POWER = 0.8
"""How often a difference of the stated size is found."""
MOST_QUERIES = 10_000_000
"""A difference that would need more than this is taken as out of reach."""
_Z_POWER = 0.8416212335729143  # the 80 % point of the normal distribution
CONSTANT_WITHIN = 1e-12
"""A standard deviation below this is rounding: the differences are all the same."""


def paired_intervals(differences: Floats, seed: int) -> Floats:
    """95 % intervals of the mean differences: low and high, shape (2, P), NaN with fewer than two queries.

    Pairs with as many queries share their draws, and a query without a difference changes none of them. A
    query that nobody has seen is taken to differ no more than the largest difference that was seen, or by 1
    where none was: the range of nearly all measures.

    Parameters
    ----------
    differences: shape (Q, P); NaN is no query.
    """
    ends = np.full((2, differences.shape[1]), np.nan)
    defined = ~np.isnan(differences)
    for n in np.unique(defined.sum(axis=0)).tolist():
        if n < 2:
            continue
        pairs = np.flatnonzero(defined.sum(axis=0) == n)
        known = differences.T[pairs][defined.T[pairs]].reshape(len(pairs), n).T
        few = most_common(known)[1] < CARRIED_BY
        weights = _random_weights(n, seed) if few.any() else np.empty((0, n + 1))
        ends[:, pairs[few]] = np.array([_guarded(column, weights) for column in known[:, few].T]).T
        if not few.all():
            ends[:, pairs[~few]] = _bootstrapped(known[:, ~few], seed)
    return ends


def _bootstrapped(differences: Floats, seed: int) -> Floats:
    """Expanded percentiles of the means of queries drawn again, the same draws for all; without NaN."""
    queries = len(differences)
    means = np.concatenate(list(resampled(differences, seed))) / queries
    return np.array([percentile_interval(column, queries) for column in means.T], np.float64).T


def _random_weights(queries: int, seed: int) -> Floats:
    """Weights of the queries and of one more, from Dirichlet's distribution: shape (W, queries + 1)."""
    random = np.random.Generator(np.random.PCG64(seed))
    weights = random.standard_exponential((_WEIGHINGS, queries + 1))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _guarded(differences: Floats, weights: Floats) -> tuple[float, float]:
    """Gaffke's two bounds of 2.5 % each, for one column without NaN."""
    largest = float(np.abs(differences).max())
    largest = largest if largest > TIED_WITHIN else 1.0
    seen, unseen = (weights[:, :-1] * differences).sum(axis=1), weights[:, -1]
    low, high = np.quantile(seen - unseen * largest, 0.025), np.quantile(seen + unseen * largest, 0.975)
    return float(low), float(high)


def detectable_difference(n: Ints, sd: Floats) -> Floats:
    """The difference that the test finds in 80 % of sets of n queries; NaN with fewer than two.

    Parameters
    ----------
    n, sd: shape (P,), queries, and the standard deviation of their differences.
    """
    freedom = np.maximum(n - 1, 1)
    shift = nctdtrinc(freedom, 1 - POWER, stdtrit(freedom, 0.975))
    found: Floats = np.where(n > 1, shift * sd / np.sqrt(np.maximum(n, 1)), np.nan)
    return found


def power_of(n: int, effect: float) -> float:
    """How often the test finds a difference of so many standard deviations, n of at least 2 queries."""
    return 1.0 - float(nctdtr(n - 1, sqrt(n) * effect, stdtrit(n - 1, 0.975)))


def queries_needed(difference: float, sds: Floats) -> Floats:
    """The smallest number of queries of which the test finds the difference in 80 % of sets, shape (P,).

    NaN where the spread is unknown or 0, and where it would be more than `MOST_QUERIES`.

    Parameters
    ----------
    difference: above 0. sds: shape (P,), the standard deviation of differences of queries.
    """
    return np.array([_needed(difference / sd) if sd > 0 else np.nan for sd in sds.tolist()])


def _needed(effect: float) -> float:
    """Upwards from the normal distribution's answer, which is a few queries too small (Guenther 1981)."""
    least = ((Z95 + _Z_POWER) / effect) ** 2
    if least > MOST_QUERIES:
        return np.nan
    n = max(2, ceil(least))
    while power_of(n, effect) < POWER:
        n += 1
    return float(n)


def wilcoxon_ps(differences: Floats) -> Floats:
    """Two-sided p of Wilcoxon's signed-rank test, shape (P,); 1 where no query differs.

    F. Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1: queries that are
    level are left out, equal sizes share the mean of their ranks.

    Parameters
    ----------
    differences: shape (Q, P), NaN where a query has none.
    """
    from scipy.stats import wilcoxon

    columns = [in_steps(column) for column in differences.T]  # rounded, so that equal sizes are equal
    return np.array(
        [float(wilcoxon(column[column != 0]).pvalue) if column.any() else 1.0 for column in columns]
    )


class PairedMoments(NamedTuple):
    """How the differences of P pairs are distributed.

    Attributes
    ----------
    n: shape (P,), queries with a difference.
    mean: shape (P,), NaN without queries.
    sd: shape (P,), with the divisor n − 1; NaN with fewer than two queries, 0 where all are the same.
    """

    n: Ints
    mean: Floats
    sd: Floats


def paired_moments(differences: Floats) -> PairedMoments:
    """The moments of differences of shape (Q, P)."""
    defined = ~np.isnan(differences)
    n = defined.sum(axis=0).astype(np.int64)
    total = np.where(defined, differences, 0.0).sum(axis=0)
    mean = ratio(total, n)
    squares = np.where(defined, (differences - mean) ** 2, 0.0).sum(axis=0)
    sd = np.sqrt(ratio(squares, n - 1))
    sd[sd < CONSTANT_WITHIN] = 0.0
    return PairedMoments(n, mean, sd)


def paired_t_p(moments: PairedMoments) -> Floats:
    """Two-sided p of Student's t test of paired differences, shape (P,).

    Student (1908), The probable error of a mean, Biometrika 6. It is 1 where nothing differs, and NaN with
    fewer than two queries or where all differ by the same, which has no t.
    """
    t = _t(moments)
    p = np.where(np.isnan(t), np.nan, 2 * stdtr(np.maximum(moments.n - 1, 1), -np.abs(t)))
    same = (moments.sd == 0) & (np.abs(moments.mean) < CONSTANT_WITHIN)
    found: Floats = np.where(same, 1.0, p)
    return found


def paired_effects(moments: PairedMoments) -> tuple[Floats, Floats, Floats]:
    """The mean difference in standard deviations of the differences, and the ends of its exact 95 % interval.

    Each has shape (P,), and NaN where there is no spread.

    The interval holds the noncentralities under which the t that was found is not in either tail of 2.5 %,
    divided by √n: G. Cumming and S. Finch (2001), A primer on the understanding, use, and calculation of
    confidence intervals that are based on central and noncentral distributions, Educational and
    Psychological Measurement 61. Exact for normal differences.
    """
    t, root = _t(moments), np.sqrt(np.maximum(moments.n, 1))
    low = _noncentrality(moments.n - 1, 0.975, t)
    high = _noncentrality(moments.n - 1, 0.025, t)
    return t / root, low / root, high / root


def wins_ties_losses(differences: Floats, tolerance: float = TIED_WITHIN) -> tuple[Ints, Ints, Ints]:
    """How many differences of shape (Q, P) are above the tolerance, within it, and below minus it."""
    wins, losses = (differences > tolerance).sum(axis=0), (differences < -tolerance).sum(axis=0)
    ties = (np.abs(differences) <= tolerance).sum(axis=0)
    return wins.astype(np.int64), ties.astype(np.int64), losses.astype(np.int64)


def _t(moments: PairedMoments) -> Floats:
    """Student's t, NaN where there is no spread."""
    error = moments.sd / np.sqrt(np.maximum(moments.n, 1))
    return ratio(moments.mean, error)


def _noncentrality(freedom: Ints, share: float, t: Floats) -> Floats:
    """The noncentrality under which a share of all t is at most this one."""
    known = ~np.isnan(t)
    found = np.full(t.shape, np.nan)
    # The function answers for one sign of t only: P(T ≤ t; c) = P(T ≥ −t; −c).
    mirrored = np.where(t < 0, 1 - share, share)
    found[known] = nctdtrinc(freedom[known], mirrored[known], np.abs(t[known]))
    return np.where(t < 0, -found, found)
