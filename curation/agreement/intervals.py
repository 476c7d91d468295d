"""95 % intervals: Wilson's for a share, and the bootstrap over queries for everything else.

Queries are what was drawn, so queries are what is drawn again: documents of one query stand and fall
together, and resampling pairs would make intervals too narrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""

RESAMPLES = 1000
UNDEFINED_SHARE = 0.025
"""With more undefined resamples than lie beyond one end of the interval, that end could be anywhere."""

_CELLS = 2_000_000  # weights held at a time


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share, n > 0.

    E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22.
    """
    share, slack = successes / n, Z95**2 / n
    centre = share + slack / 2
    half = Z95 * sqrt(share * (1 - share) / n + slack / (4 * n))
    low, high = (centre - half) / (1 + slack), (centre + half) / (1 + slack)
    return (0.0 if successes == 0 else low), (1.0 if successes == n else high)


def resampled(per_query: Floats, seed: int, resamples: int = RESAMPLES) -> Iterator[Floats]:
    """Sums over queries drawn again with replacement.

    Parameters
    ----------
    per_query: shape (Q, K), what each query contributes to K sums.

    Yields
    ------
    Blocks of shape (r, K) whose r add up to `resamples`; the same seed gives the same draws.
    """
    queries = len(per_query)
    random = np.random.Generator(np.random.PCG64(seed))
    block = max(1, _CELLS // queries)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = random.integers(queries, size=(rows, queries)) + queries * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * queries).reshape(rows, queries)
        yield times @ per_query


def percentile_interval(values: Floats) -> tuple[float, float] | None:
    """The middle 95 % of resampled statistics; None when too many of them are undefined (NaN)."""
    defined = values[~np.isnan(values)]
    if len(defined) < (1 - UNDEFINED_SHARE) * len(values):
        return None
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)
