"""Probability proportional to traffic, without replacement and of fixed size: systematic sampling.

The queries are laid end to end, each as long as its traffic, and a comb of equally spaced points with one
random start is put on them: a query is drawn if a point falls on it (Madow 1949). Of n queries to draw
among traffic X, one asked x times is drawn with probability n·x/X exactly. A query as long as the spacing
or longer would be hit for certain and perhaps twice, so such queries are taken first, with probability 1,
and the comb is made again for the rest until there is none (Särndal, Swensson & Wretman 1992, section 3.6).

All of it is done in whole numbers: the start is one of X equally likely ones, and n·x of them hit the
query. What the method does not give is a joint probability for every pair: two queries closer together
than the spacing are never drawn both, so that no unbiased estimate of the variance exists. Estimates of
totals and means are unbiased all the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Proportional(NamedTuple):
    """A sample drawn with probability proportional to traffic.

    rows: positions of the queries drawn, ascending, shape (size,).
    probability: of each query of the frame to be drawn, shape (queries,); its sum is the size.
    """

    rows: NDArray[np.intp]
    probability: NDArray[np.float64]


def certain(traffic: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """Which queries are so frequent that a sample of `size` must hold them, shape (queries,)."""
    taken = np.zeros(len(traffic), bool)
    left, rest = size, int(traffic.sum())
    for row in np.argsort(traffic)[::-1]:
        if not left or left * int(traffic[row]) < rest:
            break
        taken[row] = True
        left, rest = left - 1, rest - int(traffic[row])
    return taken


def draw_proportional(traffic: NDArray[np.int64], size: int, start: int) -> Proportional:
    """Draw `size` queries from those given, in their order.

    Parameters
    ----------
    traffic: how often each query was asked, shape (queries,), all at least 1; at least `size` queries.
    start: a random whole number, uniform over far more values than there is traffic.
    """
    taken = certain(traffic, size)
    others = np.flatnonzero(~taken)
    left = size - int(taken.sum())
    ends = np.cumsum(traffic[others])
    probability = np.ones(len(traffic))
    if not left:
        probability[others] = 0.0
        return Proportional(np.flatnonzero(taken), probability)
    rest = int(ends[-1])
    probability[others] = np.minimum(left * traffic[others].astype(np.float64) / rest, 1.0)
    # A point p on the axis stretched by `left` hits the query whose end is the first beyond p / left.
    points = np.array([(start % rest + number * rest) // left for number in range(left)], np.int64)
    hit = others[np.searchsorted(ends, points, side="right")]
    return Proportional(np.sort(np.concatenate([np.flatnonzero(taken), hit])), probability)
