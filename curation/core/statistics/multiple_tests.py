"""Corrections for multiple tests: Holm's method, and Benjamini and Hochberg's step-up procedure.

Y. Benjamini and Y. Hochberg (1995), Controlling the false discovery rate, Journal of the Royal Statistical
Society B 57.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curation.core.statistics.arrays import Floats


def find_fdr_threshold(ps: Sequence[float], share: float) -> float:
    """Find the largest p value that is significant among several tests (Benjamini and Hochberg); below 0 if
    no test is significant.

    The k-th smallest of m p values is significant up to k/m of `share`. If all null hypotheses are true, a
    test is significant in at most `share` of cases. If some null hypotheses are false, at most `share` of the
    significant tests are false on average. The rule is valid for independent and for positively dependent
    tests.
    """
    ordered = sorted(ps)
    significant = [p for k, p in enumerate(ordered, start=1) if p <= k * share / len(ordered)]
    return significant[-1] if significant else -1.0


def correct_by_holm(ps: Floats) -> Floats:
    """Correct the p values of a family of tests, so that at most 5 % of families have a false alarm at 5 %.

    S. Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6: the k-th smallest of m is multiplied by m − k + 1, never below those before it, at most 1.
    Holm's correction is valid for any dependence between the tests.

    Parameters
    ----------
    ps: shape (m,). NaN stands for no test: a NaN remains NaN, and m does not count NaN.
    """
    tests = np.flatnonzero(~np.isnan(ps))
    order = tests[np.argsort(ps[tests], kind="stable")]
    corrected = np.full(ps.shape, np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(ps[order] * np.arange(len(order), 0, -1)), 1.0)
    return corrected
