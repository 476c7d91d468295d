"""Corrections of many p values: Holm's, and the step-up rule of Benjamini and Hochberg.

Y. Benjamini and Y. Hochberg (1995), Controlling the false discovery rate, Journal of the Royal Statistical
Society B 57.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curation.core.statistics.arrays import Floats


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
