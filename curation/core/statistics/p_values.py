"""P values: of an association by permutation, and of a mean by Student's t."""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np

from curation.core.statistics.arrays import Floats

PERMUTATIONS = 999
# With more values, a normal distribution approximates the permutation distribution
MAX_PERMUTED = 300


def permutation_p(weights: Floats, values: Floats, seed: int) -> float:
    """Compute the two-sided permutation p value of an association between weights and values.

    The statistic is the sum of products; p is 1 if weights or values do not vary. For many values, p
    comes from the normal distribution with the permutations' mean and variance (W. Hoeffding 1951, A
    combinatorial central limit theorem).
    """
    weights, values = weights - weights.mean(), values - values.mean()
    spread = float((weights**2).sum() * (values**2).sum())
    if spread <= 1e-18 * len(values):
        return 1.0
    statistic = abs(float(weights @ values))
    if len(values) > MAX_PERMUTED:
        return erfc(statistic / sqrt(spread / (len(values) - 1)) / sqrt(2))
    random = np.random.Generator(np.random.PCG64(seed))
    orders = random.permuted(np.tile(values, (PERMUTATIONS, 1)), axis=1)
    extreme_orders = int((np.abs(orders @ weights) >= statistic * (1 - 1e-9)).sum())
    return (1 + extreme_orders) / (1 + PERMUTATIONS)


def mean_t_p(value: float, deviations: Floats) -> float:
    """Compute the p value of a statistic under the hypothesis 0 (Student's t over queries); 1 for 0.

    Parameters
    ----------
    deviations: shape (Q,), the contribution of each query to the figure's deviation from its mean, to first
        order (the linearised variance of a ratio: W. G. Cochran (1977), Sampling Techniques, section 6.3).
    """
    queries = len(deviations)
    error = sqrt(queries / (queries - 1) * float(deviations @ deviations))
    if error < 1e-12:
        return 1.0 if abs(value) < 1e-12 else 0.0
    from scipy.special import stdtr

    return 2 * float(stdtr(queries - 1, -abs(value) / error))
