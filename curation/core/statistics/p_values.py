"""P values: by permutations, by signs, and by Student's t for a ratio over queries; and their correction.

The step-up rule of Benjamini and Hochberg limits how many false alarms many tests raise together.

Y. Benjamini and Y. Hochberg (1995), Controlling the false discovery rate, Journal of the Royal Statistical
Society B 57.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.core.statistics.arrays import Floats

PERMUTATIONS = 999

EXACT_UP_TO = 300
"""With more values than this, the permutation distribution is taken to be normal."""


def permuted_p(weights: Floats, values: Floats, seed: int) -> float:
    """How often values in random order are as strongly tied to the weights, both signs; 1 without variation.

    The statistic is the sum of products. Many values take the normal distribution with the permutations' own
    mean and variance (W. Hoeffding 1951, A combinatorial central limit theorem).
    """
    weights, values = weights - weights.mean(), values - values.mean()
    spread = float((weights**2).sum() * (values**2).sum())
    if spread <= 1e-18 * len(values):
        return 1.0
    found = abs(float(weights @ values))
    if len(values) > EXACT_UP_TO:
        return erfc(found / sqrt(spread / (len(values) - 1)) / sqrt(2))
    random = np.random.Generator(np.random.PCG64(seed))
    orders = random.permuted(np.tile(values, (PERMUTATIONS, 1)), axis=1)
    as_large = int((np.abs(orders @ weights) >= found * (1 - 1e-9)).sum())
    return (1 + as_large) / (1 + PERMUTATIONS)


def sign_p(differences: NDArray[np.integer[Any]]) -> float:
    """How probable a sum as far from 0 is, were each difference as likely positive as negative; exact.

    R. A. Fisher (1935), The Design of Experiments, section 21: the signs are all that chance decides.
    """
    sizes, times = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    mass, reach = np.ones(1), 0
    for size, number in zip(sizes.tolist(), times.tolist(), strict=True):
        own = np.zeros(2 * size * number + 1)
        own[:: 2 * size] = _coins(number)
        mass, reach = np.convolve(mass, own), reach + size * number
    far = np.abs(np.arange(-reach, reach + 1)) >= abs(int(differences.sum()))
    return min(1.0, float(mass[far].sum()))


def _coins(number: int) -> Floats:
    """How probable 0, 1, …, `number` heads are, shape (number + 1,)."""
    heads = np.arange(number + 1)
    from scipy.special import gammaln

    choices = gammaln(number + 1) - gammaln(heads + 1) - gammaln(number - heads + 1)
    mass: Floats = np.exp(choices - number * log(2))
    mass /= mass.sum()
    return mass


def mean_p(value: float, off: Floats) -> float:
    """How probable a figure as far from 0 is, were 0 the truth (Student's t over queries); 1 for 0 itself.

    Parameters
    ----------
    off: shape (Q,), what each query adds to the figure's deviation from its mean, to first order (the
        linearised variance of a ratio: W. G. Cochran (1977), Sampling Techniques, section 6.3).
    """
    queries = len(off)
    error = sqrt(queries / (queries - 1) * float(off @ off))
    if error < 1e-12:
        return 1.0 if abs(value) < 1e-12 else 0.0
    from scipy.special import stdtr

    return 2 * float(stdtr(queries - 1, -abs(value) / error))


def threshold(ps: Sequence[float], share: float) -> float:
    """The largest p that counts among all these tests; below 0 where none does.

    The k-th smallest p of m counts up to k/m of `share`. Where nothing is to be found, anything counts in at
    most `share` of cases; else at most `share` of what counts is false on average. This holds for tests that
    are independent or lean the same way.
    """
    ordered = sorted(ps)
    counting = [p for k, p in enumerate(ordered, start=1) if p <= k * share / len(ordered)]
    return counting[-1] if counting else -1.0


def holm(ps: Floats) -> Floats:
    """The p values of a family of tests, corrected so that at most 5 % of families have a false alarm at 5 %.

    S. Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6: the k-th smallest of m is multiplied by m − k + 1, never below those before it, at most 1.
    It holds however the tests depend on each other.

    Parameters
    ----------
    ps: shape (m,). NaN is no test: it remains NaN, and m does not count it.
    """
    tests = np.flatnonzero(~np.isnan(ps))
    order = tests[np.argsort(ps[tests], kind="stable")]
    corrected = np.full(ps.shape, np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(ps[order] * np.arange(len(order), 0, -1)), 1.0)
    return corrected
