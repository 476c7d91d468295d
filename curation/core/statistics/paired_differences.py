"""Statistics of paired differences between systems over the same queries.

All functions take many columns of differences together, one for each pair of systems, and take NaN for a
query without a figure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio

# Values that differ by no more count as equal; smaller differences come from rounding on different machines
TIED_WITHIN = 1e-9
CONSTANT_WITHIN = 1e-12  # below this standard deviation, all differences are equal up to rounding


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


def count_wins_ties_losses(differences: Floats) -> tuple[Ints, Ints, Ints]:
    """Count wins, ties and losses in differences of shape (Q, P): above `TIED_WITHIN`, within ±`TIED_WITHIN`,
    and below −`TIED_WITHIN`."""
    wins, losses = (differences > TIED_WITHIN).sum(axis=0), (differences < -TIED_WITHIN).sum(axis=0)
    ties = (np.abs(differences) <= TIED_WITHIN).sum(axis=0)
    return wins.astype(np.int64), ties.astype(np.int64), losses.astype(np.int64)
