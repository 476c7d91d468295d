"""Analysis of paired differences between two systems over the same queries.

The tests compare the difference of each query. All functions take
many columns of differences together, one for each pair of systems, and take NaN for a query without a figure.

Wilcoxon's signed-rank test weights each query by the rank of its absolute difference. The signed-rank test
does not test the difference of the means: on skewed differences it may disagree with the randomisation test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import nctdtrinc, stdtr

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


def paired_effects(moments: PairedMoments) -> tuple[Floats, Floats, Floats]:
    """Compute the mean difference in standard deviations, with the ends of its exact 95 % interval.

    Each array has shape (P,), with NaN for pairs of systems whose differences do not vary.

    The interval contains the noncentralities, divided by √n, for which the observed t is in neither tail of
    2.5 %: G. Cumming and S. Finch (2001), A primer on the understanding, use, and calculation of confidence
    intervals that are based on central and noncentral distributions, Educational and Psychological
    Measurement 61. The interval is exact for normal differences.
    """
    t, root = _t(moments), np.sqrt(np.maximum(moments.n, 1))
    low = _noncentrality(moments.n - 1, 0.975, t)
    high = _noncentrality(moments.n - 1, 0.025, t)
    return t / root, low / root, high / root


def count_wins_ties_losses(differences: Floats) -> tuple[Ints, Ints, Ints]:
    """Count the differences, shape (Q, P), above `TIED_WITHIN`, within it, and below minus `TIED_WITHIN`."""
    wins, losses = (differences > TIED_WITHIN).sum(axis=0), (differences < -TIED_WITHIN).sum(axis=0)
    ties = (np.abs(differences) <= TIED_WITHIN).sum(axis=0)
    return wins.astype(np.int64), ties.astype(np.int64), losses.astype(np.int64)


def _t(moments: PairedMoments) -> Floats:
    """Compute Student's t; NaN if all differences are equal."""
    error = moments.sd / np.sqrt(np.maximum(moments.n, 1))
    return ratio(moments.mean, error)


def _noncentrality(df: Ints, share: float, t: Floats) -> Floats:
    """Find the noncentrality under which t has this share of its distribution at or below it."""
    known = ~np.isnan(t)
    noncentrality = np.full(t.shape, np.nan)
    # nctdtrinc answers for one sign of t only: P(T ≤ t; c) = P(T ≥ −t; −c).
    mirrored = np.where(t < 0, 1 - share, share)
    noncentrality[known] = nctdtrinc(df[known], mirrored[known], np.abs(t[known]))
    return np.where(t < 0, -noncentrality, noncentrality)
