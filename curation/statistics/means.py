"""95 % intervals of means over queries, also where a few queries decide.

Figures of queries are often 0 or 1, and two systems often do the same. Then a handful of queries carries the
mean or the difference, a sample easily misses them, and an interval from what was drawn is too narrow: the
bootstrap, Student's t and the studentised bootstrap held the truth in 41 to 90 % of such sets.

So where fewer than `CARRIED_BY` queries differ from the most common figure, the interval adds one query that
nobody has seen, at the worst and at the best figure that it could have, and weighs all queries at random
(Dirichlet). That is Gaffke's bound, which has held in all simulations known and equals the exact bound of a
share: N. Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a
nonnegative variable, Mathematical Methods of Statistics 14; E. Learned-Miller and P. S. Thomas (2019), A new
confidence interval for the mean of a bounded random variable. Else it is the bootstrap over queries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curation.statistics.intervals import (
    RESAMPLES,
    Floats,
    Sums,
    percentile_interval,
    resampled_figures,
)

CARRIED_BY = 8
"""With fewer queries than this that differ from the most common figure, a sample easily misses such ones."""

EQUAL_WITHIN = 9
"""Decimals to which figures are compared: the last digits are the machine's."""

_WEIGHINGS = 2000


def mean_intervals(values: Floats, seed: int, lowest: Floats, highest: Floats) -> Floats:
    """95 % intervals of the means of P columns: low and high, shape (2, P), NaN with fewer than two queries.

    Parameters
    ----------
    values: shape (Q, P); NaN is no query.
    lowest, highest: shape (P,), what a query's figure cannot be below or above.
    """
    ends = np.full((2, values.shape[1]), np.nan)
    defined = ~np.isnan(values)
    counted = defined.sum(axis=0) > 1
    few = counted & (carriers(values) < CARRIED_BY)
    for n in np.unique(defined.sum(axis=0)[few]).tolist():
        weights = _random_weights(n, seed)
        for pair in np.flatnonzero(few & (defined.sum(axis=0) == n)):
            column = values[defined[:, pair], pair]
            ends[:, pair] = _guarded(column, weights, float(lowest[pair]), float(highest[pair]))
    many = np.flatnonzero(counted & ~few)
    if len(many):
        ends[:, many] = _bootstrapped(values[:, many], defined[:, many], seed)
    return ends


def carriers(values: Floats) -> NDArray[np.int64]:
    """How many queries of each column differ from its most common figure, shape (P,); NaN is no query."""
    found = np.zeros(values.shape[1], np.int64)
    for pair, column in enumerate(np.round(values, EQUAL_WITHIN).T):
        known = column[~np.isnan(column)]
        found[pair] = len(known) - np.unique(known, return_counts=True)[1].max(initial=0)
    return found


def _bootstrapped(values: Floats, defined: NDArray[np.bool_], seed: int) -> Floats:
    """Expanded percentiles of the means of queries drawn again, the same draws for all columns."""
    queries, columns = values.shape
    sums = np.hstack([np.where(defined, values, 0.0), defined.astype(np.float64)])
    part = Sums(np.arange(queries), sums, lambda drawn: ratio(drawn[:, :columns], drawn[:, columns:]))
    (means,) = resampled_figures([part], queries, seed, RESAMPLES)
    n = defined.sum(axis=0).tolist()
    ends = [percentile_interval(means[:, column], n[column]) for column in range(columns)]
    return np.array([end or (np.nan, np.nan) for end in ends]).T


def _random_weights(queries: int, seed: int) -> Floats:
    """Weights of the queries and of one more, from Dirichlet's distribution: shape (W, queries + 1)."""
    random = np.random.Generator(np.random.PCG64(seed))
    weights = random.standard_exponential((_WEIGHINGS, queries + 1))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _guarded(values: Floats, weights: Floats, lowest: float, highest: float) -> tuple[float, float]:
    """Gaffke's two bounds of 2.5 % each, for one column without NaN."""
    seen, unseen = (weights[:, :-1] * values).sum(axis=1), weights[:, -1]
    low, high = np.quantile(seen + unseen * lowest, 0.025), np.quantile(seen + unseen * highest, 0.975)
    return float(low), float(high)


def ratio(over: Floats, under: Floats | NDArray[np.int64]) -> Floats:
    """NaN where there is nothing to divide by."""
    found: Floats = np.divide(over, under, out=np.full(over.shape, np.nan), where=under > 0)
    return found
