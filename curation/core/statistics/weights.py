"""What the strata's shares of a sample are proportional to.

    equal         every stratum the same: each is measured as well as any other
    proportional  the stratum's traffic, so that the sample looks like the traffic (Särndal, Swensson &
                  Wretman 1992, section 3.7.4: allocation proportional to the x-total)
    square-root   the root of its traffic, half way between the two (Bankier 1988: power allocation, q = 1/2)
    neyman        number of queries × standard deviation: the smallest variance of a total (Neyman 1934)

Textbooks also call proportional what goes by the number of units. Here these are distinct queries, most
of which were asked once: such a sample would be nearly all tail, and nobody asks what share of all
spellings a system serves. Weights are whole numbers or fractions, so that shares come out the same on any
machine.

Probability proportional to traffic, without replacement and of fixed size: systematic sampling.

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

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import InputError, refuse_problems

NEYMAN = "neyman"
ALLOCATIONS = ("equal", "proportional", "square-root", NEYMAN)
_ROOT_BITS = 32  # a root keeps so many bits behind the point


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


def weights_of(allocation: str, traffic: Sequence[int]) -> list[int]:
    """The weight of each stratum, given its traffic alone; for neyman see `neyman_weights`.

    Raises
    ------
    InputError: the allocation is none of `ALLOCATIONS`, or cannot do with the traffic.
    """
    if allocation == NEYMAN:
        raise InputError("The allocation neyman needs the variance of each stratum, from a release.")
    if allocation == "equal":
        return [1] * len(traffic)
    if allocation == "proportional":
        return list(traffic)
    if allocation == "square-root":
        return [isqrt(times << 2 * _ROOT_BITS) for times in traffic]
    raise InputError(f"{allocation!r} is no allocation; expected one of {', '.join(ALLOCATIONS)}.")


def neyman_weights(populations: Sequence[int], variances: Sequence[float]) -> list[Fraction]:
    """The weight N·S of each stratum.

    Parameters
    ----------
    variances: S² of what will be added up, among the queries of each stratum. For a mean over searches that
        is a query's figure times its traffic. A stratum without variance has weight 0: it gets queries only
        when the others have none left, or as a least number (`designs.NEYMAN_LEAST`).

    Raises
    ------
    InputError: a variance that is negative or no number.
    """
    problems = [
        f"the variance of stratum {number} is {variance:g}; expected 0 or more"
        for number, variance in enumerate(variances, 1)
        if not 0 <= variance < float("inf")
    ]
    refuse_problems(problems)
    return [
        population * _root(Fraction(variance))
        for population, variance in zip(populations, variances, strict=True)
    ]


def _root(number: Fraction) -> Fraction:
    """The square root to within 2⁻⁶⁴, without floats: the same on any machine."""
    scaled = isqrt((number.numerator * number.denominator) << 128)
    return Fraction(scaled, number.denominator << 64)
