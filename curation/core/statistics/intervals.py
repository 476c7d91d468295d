"""95 % confidence intervals for shares and for means over queries, without a bootstrap.

Figures of queries are bounded, skewed and often 0 or 1, and a small sample easily misses the few queries that
carry the mean. So the interval of a mean is Wilson's interval with two changes:

- n is the number of queries that would vary as much if each were 0 or 1, m (1 − m) / error² (E. L. Korn and
  B. I. Graubard (1998), Survey Methodology 24), and Student's t takes the place of the normal distribution;
- `UNSEEN` queries are added at the worst figure that a query can have, and the same number at the best
  figure, as A. Agresti and B. A. Coull (1998), The American Statistician 52, add successes and failures.

Where the most common figure is between the ends and fewer than `FEW_UNCOMMON` queries have a different
figure, the interval assumes the worst or the best figure for the largest share of queries that Clopper and
Pearson's (1934) bound allows. `benchmarks.coverage_means` measures on real topics how often this interval
contains the true mean.
"""

from __future__ import annotations

from math import isinf, sqrt

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio

Z95 = 1.959963984540054
"""97.5 % point of the normal distribution."""


MINIMUM_QUERIES = 5
"""Minimum number of queries for an interval."""


UNSEEN = 1 / 8
"""Number of unseen queries that are added at each end of the range."""
FEW_UNCOMMON = 4
"""Number of queries with an uncommon value below which an interval is widened."""
EQUAL_DECIMALS = 9
"""Number of decimals to which values are compared; later digits differ between machines."""


def wilson_interval(successes: int, n: int) -> tuple[float, float]:
    """Compute Wilson's 95 % score interval for a share, n > 0.

    E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22.
    """
    return _score_interval(successes / n, n, Z95)


def interpolate_wilson(share: float, n: int) -> tuple[float, float]:
    """Compute Wilson's 95 % interval for a share of n trials that is not a whole number of successes.

    The interval is interpolated between the intervals of the two nearest numbers of successes.
    """
    successes = int(share * n)
    fraction = share * n - successes
    below = np.array(wilson_interval(successes, n))
    above = np.array(wilson_interval(min(n, successes + 1), n))
    low, high = (1 - fraction) * below + fraction * above
    return float(low), float(high)


def effective_sample_size(successes: Ints, counts: Ints) -> float:
    """Compute how many independent trials give as much information about a share as clustered trials.

    The number of trials divided by the design effect: the variance of the share between clusters (linearised)
    over the variance of independent trials, at least 1. If all trials have the same result, there is no
    variance to compare, and a cluster counts as one trial.

    Parameters
    ----------
    successes, counts: of each cluster, shape (clusters,); all counts > 0.
    """
    n, clusters = int(counts.sum()), len(counts)
    share = successes.sum() / n
    if share in (0, 1) or clusters == 1:
        return float(clusters)
    between = clusters / (clusters - 1) * ((successes - share * counts) ** 2).sum() / n**2
    return float(n / max(1.0, between / (share * (1 - share) / n)))


def clustered_share_interval(share: float, size: float, clusters: int) -> tuple[float, float]:
    """Compute Wilson's 95 % interval for a share of clustered trials.

    The interval is computed at the `effective_sample_size`, with Student's quantile for `clusters` - 1
    degrees of freedom: E. L. Korn and B. I. Graubard (1998), Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data, Survey Methodology 24, who adjust the exact
    interval likewise.
    """
    from scipy.special import stdtrit

    return _score_interval(share, size, float(stdtrit(clusters - 1, 0.975)) if clusters > 1 else np.inf)


def mean_intervals(values: Floats, highest: Floats) -> Floats:
    """Compute 95 % intervals for the means of P columns: low and high, shape (2, P), NaN with under two
    queries.

    Parameters
    ----------
    values: shape (Q, P), at least 0; NaN if a query has no figure.
    highest: shape (P,), upper bound of a query's figure.
    """
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    mean = ratio(np.where(defined, values, 0.0).sum(axis=0), n)
    squares = np.where(defined, (values - mean) ** 2, 0.0).sum(axis=0)
    variance = ratio(ratio(squares, n - 1), n)
    ends = mean_score_intervals(mean, variance, n, np.maximum(n - 1, 1), highest)
    return widen_for_uncommon(ends, mean, values, n, highest)


def mean_score_intervals(
    mean: Floats | float,
    variance: Floats | float,
    n: Floats | Ints | float,
    df: Floats | Ints | float,
    highest: Floats | float,
    unseen: float = UNSEEN,
) -> Floats:
    """Compute 95 % intervals for means of values of at least 0, from means and variances: low and high, shape
    (2, P); NaN if the variance is NaN.

    Parameters
    ----------
    mean, variance: shape (P,) or a single number, the means and the variances of these means.
    n, df: same shape, the number of queries (or the effective number of weighted queries) and the
        degrees of freedom.
    highest: same shape, upper bound of a figure.
    """
    from scipy.special import stdtrit

    share, enlarged_n = np.clip(np.divide(mean, highest), 0, 1), n + 2 * unseen
    centre = (n * share + unseen) / enlarged_n
    squares = n * (n - 1) * np.divide(variance, np.square(highest)) + n * (share - centre) ** 2
    squares = squares + unseen * (centre**2 + (1 - centre) ** 2)
    spread = centre * (1 - centre)
    slack = np.square(stdtrit(df, 0.975)) * squares / (enlarged_n * (enlarged_n - 1) * spread)
    half = np.sqrt(slack * spread + slack**2 / 4)
    low, high = (centre + slack / 2 - half) / (1 + slack), (centre + slack / 2 + half) / (1 + slack)
    return highest * np.array([np.clip(np.minimum(low, share), 0, 1), np.clip(np.maximum(high, share), 0, 1)])


def widen_for_uncommon(
    ends: Floats, mean: Floats, values: Floats, n: Floats | Ints, highest: Floats | float
) -> Floats:
    """Widen the intervals of columns in which few `values`, shape (Q, P), differ from the column's most
    common value."""
    from scipy.special import betaincinv

    common, uncommon = find_most_common(values)
    is_between = (common > 0) & (common < highest - 10.0**-EQUAL_DECIMALS)
    widened = (uncommon < np.minimum(FEW_UNCOMMON, n / 2)) & is_between
    upper_share = betaincinv(uncommon + 1.0, np.where(widened, n - uncommon, 1.0), 0.975)
    missed = upper_share - uncommon / np.maximum(n, 1)
    low = np.minimum(ends[0], mean - missed * common)
    high = np.maximum(ends[1], mean + missed * (highest - common))
    return np.where(widened, np.clip([low, high], 0, highest), ends)


def find_most_common(values: Floats) -> tuple[Floats, Ints]:
    """Find each column's most common value, and count queries with a different value, shape (P,), ignoring
    NaN."""
    common, uncommon = np.full(values.shape[1], np.nan), np.zeros(values.shape[1], np.int64)
    for index, column in enumerate(np.round(values, EQUAL_DECIMALS).T):
        distinct, times = np.unique(column[~np.isnan(column)], return_counts=True)
        if len(distinct):
            common[index], uncommon[index] = distinct[times.argmax()], times.sum() - times.max()
    return common, uncommon


def _score_interval(share: float, n: float, quantile: float) -> tuple[float, float]:
    if isinf(quantile):
        return 0.0, 1.0
    slack = quantile**2 / n
    centre = share + slack / 2
    half = quantile * sqrt(share * (1 - share) / n + slack / (4 * n))
    low, high = (centre - half) / (1 + slack), (centre + half) / (1 + slack)
    return (0.0 if share == 0 else low), (1.0 if share == 1 else high)
