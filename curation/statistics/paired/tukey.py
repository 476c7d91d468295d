"""Tukey's honestly significant difference over queries, by randomisation: all pairs of systems at once.

Were all systems alike, the values of a query could be theirs in any order. In each trial the values of every
query are put in random order, and the largest difference of two means is kept. The p of a pair is the share
of trials whose largest difference is at least as large as that pair's, so that no correction for the number
of pairs is needed (B. A. Carterette (2012), Multiple testing in statistical analysis of systems-based
information retrieval experiments, ACM Transactions on Information Systems 30). With two systems it is
Fisher's randomisation test.
"""

from __future__ import annotations

import numpy as np

from curation.statistics.arrays import Floats, Ints
from curation.statistics.paired.randomisation import CELLS, STEPS


def tukey_ps(values: Floats, seed: int, trials: int) -> Floats:
    """p values of all pairs of S systems, shape (S, S), 1 on the diagonal: (1 + k) / (1 + B) of B trials.

    Parameters
    ----------
    values: shape (Q, S), of queries that every system has a figure for. Their order matters no more than that
        of the systems where the values of no two queries are the same.
    """
    queries = len(values)
    most = float(np.abs(values).max(initial=0.0))
    steps = np.rint(values * (STEPS / most) if most else values)
    sums = steps.sum(axis=0)
    found = np.abs(sums[:, None] - sums[None, :]) - queries  # what rounding can explain
    largest = np.sort(_largest_differences(np.sort(steps, axis=1), seed, trials))
    as_large = trials - np.searchsorted(largest, found, side="left")
    ps: Floats = np.minimum((1 + as_large) / (1 + trials), 1.0)
    return ps


def _largest_differences(values: Floats, seed: int, trials: int) -> Floats:
    """The largest difference of two systems' sums in each trial, shape (B,)."""
    random = np.random.Generator(np.random.PCG64(seed))
    block = max(1, CELLS // max(values.size, 1))
    found = []
    for start in range(0, trials, block):
        shape = (min(block, trials - start), *values.shape)
        order: Ints = np.argsort(random.random(shape, np.float32), axis=2)
        sums = np.take_along_axis(np.broadcast_to(values, shape), order, axis=2).sum(axis=1)
        found.append(sums.max(axis=1) - sums.min(axis=1))
    return np.concatenate(found)
