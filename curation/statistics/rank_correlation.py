"""Kendall's tau of orders, many at once."""

from __future__ import annotations

import numpy as np

from curation.statistics.intervals import Floats


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
    taus: Floats = np.divide(theirs @ ours, untied, out=np.full(len(others), np.nan), where=untied > 0)
    return taus
