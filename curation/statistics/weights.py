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
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from curation.errors import InputError, refuse_problems

NEYMAN = "neyman"
ALLOCATIONS = ("equal", "proportional", "square-root", NEYMAN)
_ROOT_BITS = 32  # a root keeps so many bits behind the point


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
