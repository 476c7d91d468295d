"""95 % intervals of means over queries, also where a few queries decide.

Figures of queries are bounded, skewed and often 0 or 1. A small sample easily misses the few queries that
carry the mean; then its mean and its spread are both too small, and Student's t, the bootstrap and the
studentised bootstrap hold the truth too seldom. So it is Wilson's score interval of a share with two changes:

- n is the number of queries that would vary as much if each were 0 or 1, m (1 − m) / error² (the effective
  sample of surveys: E. L. Korn and B. I. Graubard (1998), Confidence intervals for proportions with small
  expected number of positive counts estimated from survey data, Survey Methodology 24), and Student's t takes
  the place of the normal distribution;
- `UNSEEN` queries are added at the worst figure that a query can have, and as many at the best, as A. Agresti
  and B. A. Coull (1998), The American Statistician 52, add successes and failures.

That is enough where the most common figure is 0 or the highest one. Where it is between, and fewer than
`FEW_OTHERS` queries have another one, these say little of how many more there are: the interval then
reaches as far as if as many had the worst or the best figure as Clopper and Pearson's (1934) bound of a share
allows.

The interval needs no draws, so the same figures have the same interval wherever they are shown, and it ends
where figures end. `benchmarks.coverage_means` has what it holds on real topics.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, stdtrit

from curation.core.statistics.arrays import Floats, Ints, ratio

UNSEEN = 1 / 8
"""How many queries are added at either end of the range."""

FEW_OTHERS = 4
"""With fewer queries than this besides the most common figure, a sample easily misses such ones."""

EQUAL_WITHIN = 9
"""Decimals to which figures are compared: the last digits are the machine's."""


def mean_intervals(values: Floats, highest: Floats) -> Floats:
    """95 % intervals of the means of P columns: low and high, shape (2, P), NaN with fewer than two queries.

    Parameters
    ----------
    values: shape (Q, P), at least 0; NaN is no query.
    highest: shape (P,), what a query's figure cannot be above.
    """
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    mean = ratio(np.where(defined, values, 0.0).sum(axis=0), n)
    squares = np.where(defined, (values - mean) ** 2, 0.0).sum(axis=0)
    variance = ratio(ratio(squares, n - 1), n)
    ends = score_intervals(mean, variance, n, np.maximum(n - 1, 1), highest)
    return with_unseen(ends, mean, values, n, highest)


def score_intervals(
    mean: Floats | float,
    variance: Floats | float,
    n: Floats | Ints | float,
    freedom: Floats | Ints | float,
    highest: Floats | float,
    unseen: float = UNSEEN,
) -> Floats:
    """95 % intervals of means of figures from 0 on: low and high, shape (2, P), NaN where the variance is.

    Parameters
    ----------
    mean, variance: shape (P,) or one each, the means and the variances of these means.
    n, freedom: the same, queries (or as many of equal weight as say as much) and degrees of freedom.
    highest: the same, what a figure cannot be above.
    """
    share, total = np.clip(np.divide(mean, highest), 0, 1), n + 2 * unseen
    centre = (n * share + unseen) / total
    squares = n * (n - 1) * np.divide(variance, np.square(highest)) + n * (share - centre) ** 2
    squares = squares + unseen * (centre**2 + (1 - centre) ** 2)
    spread = centre * (1 - centre)
    slack = np.square(stdtrit(freedom, 0.975)) * squares / (total * (total - 1) * spread)
    half = np.sqrt(slack * spread + slack**2 / 4)
    low, high = (centre + slack / 2 - half) / (1 + slack), (centre + slack / 2 + half) / (1 + slack)
    return highest * np.array([np.clip(np.minimum(low, share), 0, 1), np.clip(np.maximum(high, share), 0, 1)])


def with_unseen(
    ends: Floats, mean: Floats, values: Floats, n: Floats | Ints, highest: Floats | float
) -> Floats:
    """The intervals, wider where few of `values`, shape (Q, P), differ from the most common figure."""
    common, others = most_common(values)
    few = (others < np.minimum(FEW_OTHERS, n / 2)) & (common > 0) & (common < highest - 10.0**-EQUAL_WITHIN)
    more = betaincinv(others + 1.0, np.where(few, n - others, 1.0), 0.975) - others / np.maximum(n, 1)
    low, high = (
        np.minimum(ends[0], mean - more * common),
        np.maximum(ends[1], mean + more * (highest - common)),
    )
    return np.where(few, np.clip([low, high], 0, highest), ends)


def most_common(values: Floats) -> tuple[Floats, Ints]:
    """The most common figure of each column and how many queries have another, (P,); NaN is no query."""
    common, others = np.full(values.shape[1], np.nan), np.zeros(values.shape[1], np.int64)
    for place, column in enumerate(np.round(values, EQUAL_WITHIN).T):
        found, times = np.unique(column[~np.isnan(column)], return_counts=True)
        if len(found):
            common[place], others[place] = found[times.argmax()], times.sum() - times.max()
    return common, others
