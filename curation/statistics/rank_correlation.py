"""Kendall's tau and AP correlation of orders, many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.statistics.arrays import Floats, Ints, ratio


def kendall_taus(values: Floats, others: Floats) -> Floats:
    """Kendall's tau-b of one order of S things with each of R others, shape (R,); NaN without variation.

    M. G. Kendall (1945), The treatment of ties in ranking problems, Biometrika 33.

    Parameters
    ----------
    values: shape (S,). others: shape (R, S); an order with NaN has no tau.
    """
    first, second = np.triu_indices(len(values), 1)
    ours = np.sign(values[first] - values[second])
    theirs = np.sign(others[:, first] - others[:, second])
    untied = np.sqrt((ours**2).sum() * (theirs**2).sum(axis=1))
    return ratio(theirs @ ours, untied)


def ap_correlations(ranks: NDArray[np.integer[Any]], times: Ints, both: bool = False) -> Floats:
    """The AP correlation of R orders with other orders, shape (R,): 1 for the same, −1 for the reverse.

    E. Yilmaz, J. A. Aslam and S. Robertson (2008), A new rank correlation coefficient for information
    retrieval, SIGIR, section 4: how likely a thing and one above it are in the other's order, for a thing
    below the first drawn at random. Mistakes at the top of the first order weigh most, so it is not
    symmetric.

    Parameters
    ----------
    ranks: shape (R, N), for the things of each order, from its first on, their ranks in the other one, none
        twice. With `both` they are from 1 without a gap.
    times: shape (R,), how many of the N things an order has, two or more.
    both: the mean of both directions. A thing has the same things rightly above it in either.
    """
    total = np.zeros(len(ranks))
    for place in range(1, ranks.shape[1]):
        right = (ranks[:, :place] < ranks[:, place, None]).sum(axis=1)
        weight = (1 / place + 1 / np.maximum(ranks[:, place] - 1, 1)) / 2 if both else 1 / place
        total += np.where(times > place, right * weight, 0.0)
    found: Floats = 2 * total / (times - 1) - 1
    return found
