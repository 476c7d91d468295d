"""Change points: where the share of an annotator's repeats that are graded alike changed, and stayed changed.

At most `LEVEL` of annotators of whom nothing changed get any. Random orders of the same repeats decide, so
that this holds for small numbers too; their seed is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.statistics.arrays import Floats, Mask
from curation.statistics.p_values import PERMUTATIONS

Ints = NDArray[np.integer[Any]]
Times = NDArray[np.datetime64]

LEVEL = 0.05
SHORTEST = 8
"""Repeats on either side of a change point."""


class ChangePoint(NamedTuple):
    """A change point: the shares before and after it, within the stretch that it divides.

    Attributes
    ----------
    place: the number of repeats before it.
    at: when the first repeat after it was graded.
    p: how probable a change as clear, anywhere in the stretch, is where nothing changed; of a change within
        a side of another one no less than that one's.
    """

    place: int
    at: datetime
    before: float
    after: float
    p: float


def change_points(alike: Mask, at: Times, seed: int = 0, falls_only: bool = False) -> tuple[ChangePoint, ...]:
    """Where the share of identical grades changed, by order.

    Binary segmentation: the place with the largest likelihood ratio is a change when a random order has as
    large a one anywhere in at most `LEVEL` of `PERMUTATIONS` cases; then both sides are looked at likewise.
    Where nothing changed, at most `LEVEL` of annotators get any. With `falls_only` a rise is no change, not
    even in the random orders, so falls are found more often.

    A. J. Scott and M. Knott (1974), A cluster analysis method for grouping means, Biometrics 30.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    return tuple(sorted(_changes(alike.astype(np.int8), at, 0, 0.0, random, falls_only)))


def _changes(
    alike: Ints, at: Times, start: int, least: float, random: np.random.Generator, falls_only: bool
) -> Iterator[ChangePoint]:
    if len(alike) < 2 * SHORTEST or alike.min() == alike.max():
        return
    ratios = likelihood_ratios(alike[None, :], falls_only)[0]
    place = int(np.round(ratios, 9).argmax())
    p = max(least, _order_p(alike, float(ratios[place]), random, falls_only))
    split = place + SHORTEST
    if p > LEVEL:
        return
    sides = alike[:split], alike[split:]
    yield ChangePoint(start + split, moment(at[split]), float(sides[0].mean()), float(sides[1].mean()), p)
    yield from _changes(sides[0], at[:split], start, p, random, falls_only)
    yield from _changes(sides[1], at[split:], start + split, p, random, falls_only)


def _order_p(alike: Ints, ratio: float, random: np.random.Generator, falls_only: bool) -> float:
    """How often a random order has as large a ratio; ten times as many orders where none of the first has.

    Many people are looked at together in a round, so a p of 1 / (1 + `PERMUTATIONS`) would be too coarse.
    """
    found = 1.0
    for number in (PERMUTATIONS, 10 * PERMUTATIONS):
        orders = random.permuted(np.tile(alike, (number, 1)), axis=1)
        as_clear = int((likelihood_ratios(orders, falls_only).max(axis=1) >= ratio - 1e-9).sum())
        found = min(found, (1 + as_clear) / (1 + number))
        if as_clear:
            break
    return found


def likelihood_ratios(rows: Ints, falls_only: bool = False) -> Floats:
    """Log-likelihood ratios of a change at each place that leaves `SHORTEST` on both sides; rows are 0, 1.

    With `falls_only` they are 0 where the share after the place is no lower than before it.
    """
    length = rows.shape[1]
    left = np.cumsum(rows, axis=1, dtype=np.int32)[:, SHORTEST - 1 : length - SHORTEST]
    before = np.arange(SHORTEST, length - SHORTEST + 1)
    right = rows.sum(axis=1, keepdims=True) - left
    # Bernoulli's log-likelihood at its maximum is made of k log k for counts k.
    counts = np.arange(length + 1, dtype=np.float64)
    terms = counts * np.log(np.maximum(counts, 1))
    ends: Floats = terms[left] + terms[before - left] + terms[right] + terms[length - before - right]
    whole = terms[left[:, :1] + right[:, :1]] + terms[length - left[:, :1] - right[:, :1]] - terms[length]
    found: Floats = ends - terms[before] - terms[length - before] - whole
    return np.where(right * before < left * (length - before), found, 0.0) if falls_only else found


def weeks_of(at: Times) -> NDArray[np.int64]:
    """Weeks from Monday to Sunday in UTC, numbered as days of their Monday since 1970."""
    days = at.astype("datetime64[D]").astype(np.int64)
    monday: NDArray[np.int64] = days - (days + 3) % 7  # 1970-01-01 was a Thursday
    return monday


def moment(at: np.datetime64) -> datetime:
    """A time of an array as Python's."""
    found: datetime = at.astype("datetime64[us]").astype(datetime)
    return found
