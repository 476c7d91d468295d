"""Stratified sampling of queries: the number of queries for each stratum, and a draw by traffic within it.

Weights of strata are

    equal         every stratum the same: each is measured as well as any other
    proportional  the stratum's traffic, so that the sample looks like the traffic (Särndal, Swensson &
                  Wretman 1992, section 3.7.4: allocation proportional to the x-total)
    square-root   the root of its traffic, half way between the two (Bankier 1988: power allocation, q = 1/2)

In textbooks, proportional allocation also means allocation by the number of units. Here the units are
distinct queries, and most queries were asked once, so a sample by units would be nearly all tail. Weights are
whole numbers or fractions, so that shares come out the same on any machine.

Probability proportional to traffic, without replacement and of fixed size: systematic sampling.

The queries are laid end to end, each as long as its traffic, and a comb of equally spaced points with one
random start is put on this line: a query is drawn if a point falls on it (Madow 1949). If n queries are drawn
from traffic X, a query that was asked x times is drawn with probability n·x/X exactly. A query as long as the
spacing or longer would be hit for certain and perhaps twice, so such queries are taken first, with
probability 1, and the comb is made again for the rest until no such query is left (Särndal, Swensson &
Wretman 1992, section 3.6).

The computation uses whole numbers only: the start is one of X equally likely numbers, and n·x of these starts
hit the query. The method gives no joint probability for every pair: two queries closer together than the
spacing are never drawn both, so that no unbiased estimate of the variance exists. Estimates of totals and
means are unbiased all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import InputError
from curation.core.text import pluralize

ALLOCATIONS = ("equal", "proportional", "square-root")
_ROOT_BITS = 32  # number of bits behind the point that a root keeps


def allocate(size: int, populations: Sequence[int], weights: Sequence[int | Fraction]) -> list[int]:
    """Divide `size` among strata in proportion to `weights`, by largest remainder (Hamilton's method).

    The share that a small stratum cannot use goes to the other strata in the same proportion, or in
    proportion to their populations if the other strata have no weight. Remainders that tie go to the stratum
    named first. `size` must not exceed the populations' sum; weights are 0 or more.
    """
    sizes = [0] * len(populations)
    unfilled = [stratum for stratum, population in enumerate(populations) if population]
    while True:
        remaining = size - sum(sizes)
        if not any(weights[stratum] for stratum in unfilled):
            weights = populations
        total = sum(weights[stratum] for stratum in unfilled)
        shares = {stratum: Fraction(remaining * weights[stratum]) / total for stratum in unfilled}
        full = [stratum for stratum in unfilled if shares[stratum] >= populations[stratum]]
        if not full:
            break
        for stratum in full:
            sizes[stratum] = populations[stratum]
            unfilled.remove(stratum)
    for stratum, share in shares.items():
        sizes[stratum] = int(share)
    by_remainder = sorted(shares, key=lambda stratum: (int(shares[stratum]) - shares[stratum], stratum))
    for stratum in by_remainder[: size - sum(sizes)]:
        sizes[stratum] += 1
    return sizes


def allocate_with_quotas(
    size: int,
    names: Sequence[str],
    populations: Sequence[int],
    weights: Sequence[int | Fraction],
    quotas: Mapping[str, int],
) -> list[int]:
    """Give each stratum with a quota (name → number) exactly its quota, and divide the rest among the others.

    Raises
    ------
    InputError: a quota names an unknown stratum, or the quotas and the size cannot be met together.
    """
    problems = [describe_impossible_quota(name, quota, names, populations) for name, quota in quotas.items()]
    rest = size - sum(quotas.values())
    unbound = [
        0 if name in quotas else population for name, population in zip(names, populations, strict=True)
    ]
    if rest < 0:
        problems.append(
            f"the quotas sum to {size - rest:,}, more than the {pluralize(size, 'query', 'queries')} of the "
            "sample"
        )
    elif rest > sum(unbound):
        problems.append(
            f"the quotas leave {rest:,} of {pluralize(size, 'query', 'queries')} for the other strata, which "
            f"have only {sum(unbound):,}"
        )
    if any(problems):
        raise InputError([problem for problem in problems if problem])
    sizes = allocate(rest, unbound, weights)
    return [quotas.get(name, population) for name, population in zip(names, sizes, strict=True)]


def describe_impossible_quota(name: str, quota: int, names: Sequence[str], populations: Sequence[int]) -> str:
    """Explain why a quota cannot be met; '' if it can be met."""
    if name not in names:
        expected_names = ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")
        return f"the sample has no stratum {name!r}; expected one of {expected_names}"
    if quota < 0:
        return f"the quota of {name!r} is {quota}; expected 0 or more"
    population = populations[names.index(name)]
    if quota > population:
        return (
            f"the quota of {name!r} is {quota:,}, but it has only {pluralize(population, 'query', 'queries')}"
        )
    return ""


def find_certain(traffic: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """Mark the queries that are so frequent that a sample of `size` must contain them; shape (queries,)."""
    certain = np.zeros(len(traffic), bool)
    draws, total = size, int(traffic.sum())
    for row in np.argsort(traffic)[::-1]:
        if not draws or draws * int(traffic[row]) < total:
            break
        certain[row] = True
        draws, total = draws - 1, total - int(traffic[row])
    return certain


def draw_proportional(
    traffic: NDArray[np.int64], size: int, start: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Draw `size` queries with probability proportional to their traffic.

    Parameters
    ----------
    traffic: number of times that each query was asked, shape (queries,), all at least 1; at least `size`
        queries.
    start: a random whole number, uniform over far more values than there is traffic.

    Returns
    -------
    The indices of the drawn queries, ascending, shape (size,), and the probability of each query to be drawn,
    shape (queries,), which sum to the size.
    """
    certain = find_certain(traffic, size)
    uncertain = np.flatnonzero(~certain)
    draws = size - int(certain.sum())
    ends = np.cumsum(traffic[uncertain])
    probability = np.ones(len(traffic))
    if not draws:
        probability[uncertain] = 0.0
        return np.flatnonzero(certain), probability
    total = int(ends[-1])
    probability[uncertain] = np.minimum(draws * traffic[uncertain].astype(np.float64) / total, 1.0)
    # A point p on the axis stretched by `left` hits the query whose end is the first beyond p / left.
    points = np.array([(start % total + point * total) // draws for point in range(draws)], np.int64)
    drawn = uncertain[np.searchsorted(ends, points, side="right")]
    return np.sort(np.concatenate([np.flatnonzero(certain), drawn])), probability


def compute_weights(allocation: str, traffic: Sequence[int]) -> list[int]:
    """Compute the weight with which each stratum gets queries, from the stratum's traffic.

    Raises
    ------
    InputError: the allocation is not in `ALLOCATIONS`.
    """
    if allocation == "equal":
        return [1] * len(traffic)
    if allocation == "proportional":
        return list(traffic)
    if allocation == "square-root":
        return [isqrt(count << 2 * _ROOT_BITS) for count in traffic]
    raise InputError(f"{allocation!r} is not an allocation rule; expected one of {', '.join(ALLOCATIONS)}.")
