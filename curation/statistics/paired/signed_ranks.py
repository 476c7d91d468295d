"""Wilcoxon's signed-rank test and the sign test of paired differences.

Both ask whether one system is above the other more often than chance would have it. The sign test counts
queries alone. The signed-rank test counts them by the rank of how much they differ. Neither is about the
difference of the means: on skewed differences they may decide otherwise than the randomisation test.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, ndtr

from curation.statistics.arrays import Floats, Ints
from curation.statistics.paired.differences import wins_ties_losses
from curation.statistics.paired.randomisation import EXACT_UP_TO, counted_p, in_steps


def sign_ps(differences: Floats) -> Floats:
    """Two-sided exact p of the sign test, shape (P,); 1 where no query differs.

    J. Arbuthnott (1710), An argument for divine providence, Philosophical Transactions 27; queries that are
    level are left out (W. J. Dixon and A. M. Mood (1946), The statistical sign test, Journal of the American
    Statistical Association 41).

    Parameters
    ----------
    differences: shape (Q, P), NaN where a query has none.
    """
    wins, _, losses = wins_ties_losses(differences)
    found: Floats = np.minimum(2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5), 1.0)
    return found


def wilcoxon_ps(differences: Floats) -> Floats:
    """Two-sided p of Wilcoxon's signed-rank test, shape (P,); 1 where no query differs.

    F. Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1: queries that are
    level are left out, equal sizes share the mean of their ranks. Exact with up to `EXACT_UP_TO` queries
    that differ, also with equal sizes; else by the normal distribution, with the variance that equal sizes
    leave and without a correction for continuity.

    Parameters
    ----------
    differences: shape (Q, P), NaN where a query has none.
    """
    return np.array([_wilcoxon_p(in_steps(column)) for column in differences.T])


def _wilcoxon_p(steps: Ints) -> float:
    steps = steps[steps != 0]
    if not len(steps):
        return 1.0
    ranks = np.sign(steps) * _doubled_ranks(np.abs(steps))
    if len(ranks) <= EXACT_UP_TO:
        # Multiplied, so that the test's allowance for rounding is less than one rank.
        return counted_p(ranks * (len(ranks) + 1))
    spread = float(np.sqrt((ranks.astype(np.float64) ** 2).sum()))
    return 2 * float(ndtr(-abs(float(ranks.sum())) / spread))


def _doubled_ranks(sizes: Ints) -> Ints:
    """Twice the rank of each, from 1; equal ones have the mean of their ranks."""
    _, place, times = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    ranks: Ints = (2 * last - times + 1)[place].astype(np.int64)
    return ranks
