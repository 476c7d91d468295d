"""Paired differences: their mean and spread, Student's t test, the standardised effect, wins and losses.

Two systems answer the same queries, so what is compared is the difference of each query. All functions take
many columns of differences at once, one for each pair of systems, and NaN where a query has no figure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import nctdtrinc, stdtr

from curation.statistics.arrays import Floats, Ints
from curation.statistics.means import ratio
from curation.statistics.paired.intervals import TIED_WITHIN

CONSTANT_WITHIN = 1e-12
"""A standard deviation below this is rounding: the differences are all the same."""


class PairedMoments(NamedTuple):
    """How the differences of P pairs are distributed.

    Attributes
    ----------
    n: shape (P,), queries with a difference.
    mean: shape (P,), NaN without queries.
    sd: shape (P,), with the divisor n − 1; NaN with fewer than two queries, 0 where all are the same.
    """

    n: Ints
    mean: Floats
    sd: Floats


class PairedEffects(NamedTuple):
    """Standardised mean differences of P pairs with their 95 % intervals; NaN where there is no spread."""

    value: Floats
    low: Floats
    high: Floats


class WinsTiesLosses(NamedTuple):
    """How many queries of each of P pairs are above, within and below the tolerance; shape (P,) each."""

    wins: Ints
    ties: Ints
    losses: Ints


def paired_moments(differences: Floats) -> PairedMoments:
    """The moments of differences of shape (Q, P)."""
    defined = ~np.isnan(differences)
    n = defined.sum(axis=0).astype(np.int64)
    total = np.where(defined, differences, 0.0).sum(axis=0)
    mean = ratio(total, n)
    squares = np.where(defined, (differences - mean) ** 2, 0.0).sum(axis=0)
    sd = np.sqrt(ratio(squares, n - 1))
    sd[sd < CONSTANT_WITHIN] = 0.0
    return PairedMoments(n, mean, sd)


def paired_t_p(moments: PairedMoments) -> Floats:
    """Two-sided p of Student's t test of paired differences, shape (P,).

    Student (1908), The probable error of a mean, Biometrika 6. It is 1 where nothing differs, and NaN with
    fewer than two queries or where all differ by the same, which has no t.
    """
    t = _t(moments)
    p = np.where(np.isnan(t), np.nan, 2 * stdtr(np.maximum(moments.n - 1, 1), -np.abs(t)))
    same = (moments.sd == 0) & (np.abs(moments.mean) < CONSTANT_WITHIN)
    found: Floats = np.where(same, 1.0, p)
    return found


def paired_effects(moments: PairedMoments) -> PairedEffects:
    """The mean difference in standard deviations of the differences, with an exact 95 % interval.

    The interval holds the noncentralities under which the t that was found is not in either tail of 2.5 %,
    divided by √n: G. Cumming and S. Finch (2001), A primer on the understanding, use, and calculation of
    confidence intervals that are based on central and noncentral distributions, Educational and
    Psychological Measurement 61. Exact for normal differences.
    """
    t, root = _t(moments), np.sqrt(np.maximum(moments.n, 1))
    low = _noncentrality(moments.n - 1, 0.975, t)
    high = _noncentrality(moments.n - 1, 0.025, t)
    return PairedEffects(t / root, low / root, high / root)


def wins_ties_losses(differences: Floats, tolerance: float = TIED_WITHIN) -> WinsTiesLosses:
    """How many differences of shape (Q, P) are above the tolerance, within it, and below minus it."""
    wins, losses = (differences > tolerance).sum(axis=0), (differences < -tolerance).sum(axis=0)
    ties = (np.abs(differences) <= tolerance).sum(axis=0)
    return WinsTiesLosses(*(count.astype(np.int64) for count in (wins, ties, losses)))


def _t(moments: PairedMoments) -> Floats:
    """Student's t, NaN where there is no spread."""
    error = moments.sd / np.sqrt(np.maximum(moments.n, 1))
    return ratio(moments.mean, error)


def _noncentrality(freedom: Ints, share: float, t: Floats) -> Floats:
    """The noncentrality under which a share of all t is at most this one."""
    known = ~np.isnan(t)
    found = np.full(t.shape, np.nan)
    # The function answers for one sign of t only: P(T ≤ t; c) = P(T ≥ −t; −c).
    mirrored = np.where(t < 0, 1 - share, share)
    found[known] = nctdtrinc(freedom[known], mirrored[known], np.abs(t[known]))
    return np.where(t < 0, -found, found)
