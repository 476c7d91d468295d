"""Analysis of paired differences between two systems over the same queries.

The tests compare the difference of each query. All functions take
many columns of differences together, one for each pair of systems, and take NaN for a query without a figure.

Wilcoxon's signed-rank test weights each query by the rank of its absolute difference. The signed-rank test
does not test the difference of the means: on skewed differences it may disagree with the randomisation test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.core.statistics.randomisation_test import round_to_steps

# Values that differ by no more count as equal; smaller differences come from rounding on different machines
TIED_WITHIN = 1e-9
CONSTANT_WITHIN = 1e-12  # below this standard deviation, all differences are equal up to rounding


def wilcoxon_ps(differences: Floats) -> Floats:
    """Compute the two-sided p value of Wilcoxon's signed-rank test, shape (P,); 1 if no query differs.

    F. Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1: queries with a
    difference of 0 are left out, and equally large differences share the mean of their ranks.

    Parameters
    ----------
    differences: shape (Q, P), NaN for a query without a difference.
    """
    from scipy.stats import wilcoxon

    pairs = [round_to_steps(column) for column in differences.T]  # rounded, so that equal sizes are equal
    return np.array([float(wilcoxon(pair[pair != 0]).pvalue) if pair.any() else 1.0 for pair in pairs])


class PairedMoments(NamedTuple):
    """The number, mean and standard deviation of the differences between P pairs of systems.

    Attributes
    ----------
    n: shape (P,), queries with a difference.
    mean: shape (P,), NaN without queries.
    sd: shape (P,), with the divisor n − 1; NaN with fewer than two queries, 0 if all differences are equal.
    """

    n: Ints
    mean: Floats
    sd: Floats


def compute_moments(differences: Floats) -> PairedMoments:
    """Compute number, mean and standard deviation of differences of shape (Q, P)."""
    defined = ~np.isnan(differences)
    n = defined.sum(axis=0).astype(np.int64)
    total = np.where(defined, differences, 0.0).sum(axis=0)
    mean = ratio(total, n)
    squares = np.where(defined, (differences - mean) ** 2, 0.0).sum(axis=0)
    sd = np.sqrt(ratio(squares, n - 1))
    sd[sd < CONSTANT_WITHIN] = 0.0
    return PairedMoments(n, mean, sd)


def paired_t_p(moments: PairedMoments) -> Floats:
    """Compute the two-sided p value of Student's t test of paired differences, shape (P,).

    Student (1908), The probable error of a mean, Biometrika 6. The p value is 1 if no query differs, and NaN
    with fewer than two queries or if all queries differ by the same amount.
    """
    t = _t(moments)
    p = np.where(np.isnan(t), np.nan, 2 * stdtr(np.maximum(moments.n - 1, 1), -np.abs(t)))
    same = (moments.sd == 0) & (np.abs(moments.mean) < CONSTANT_WITHIN)
    corrected: Floats = np.where(same, 1.0, p)
    return corrected


def count_wins_ties_losses(differences: Floats) -> tuple[Ints, Ints, Ints]:
    """Count wins, ties and losses in differences of shape (Q, P): above `TIED_WITHIN`, within ±`TIED_WITHIN`,
    and below −`TIED_WITHIN`."""
    wins, losses = (differences > TIED_WITHIN).sum(axis=0), (differences < -TIED_WITHIN).sum(axis=0)
    ties = (np.abs(differences) <= TIED_WITHIN).sum(axis=0)
    return wins.astype(np.int64), ties.astype(np.int64), losses.astype(np.int64)


def _t(moments: PairedMoments) -> Floats:
    """Compute Student's t; NaN if all differences are equal."""
    error = moments.sd / np.sqrt(np.maximum(moments.n, 1))
    return ratio(moments.mean, error)
