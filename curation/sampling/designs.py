"""The two designs: from a frame in seeded order to the queries drawn and their probabilities.

    stratified  each stratum gets its number (see `sampling.allocation`); within it every query is equally
                likely, with probability drawn / population
    pps         one draw with probability proportional to traffic (see `sampling.pps`); the queries lie on
                the axis stratum by stratum, so that each stratum comes within one of its expected number

Both draw without replacement, exactly the size asked. With the same seed a stratified sample that gets
more from a stratum keeps what it had there, which is how an earlier sample is topped up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.sampling.allocation import allocate_with_quotas
from curation.sampling.pps import draw_proportional
from curation.sampling.strata import Labels
from curation.sampling.weights import weights_of
from curation.text import digest

DESIGNS = ("stratified", "pps")


class Stratum(NamedTuple):
    """One row of the report; the probability is the mean of its queries', None where there is none."""

    name: str
    population: int
    traffic: int
    drawn: int
    probability: float | None


class Drawing(NamedTuple):
    """What was drawn from a frame.

    rows: positions in the frame, shape (size,).
    probability: of each of those to be drawn, shape (size,).
    strata: the report, one row for each stratum, empty ones included.
    """

    rows: NDArray[np.intp]
    probability: NDArray[np.float64]
    strata: list[Stratum]


def draw_stratified(
    traffic: NDArray[np.int64],
    strata: Labels,
    size: int,
    allocation: str = "equal",
    quotas: Mapping[str, int] | None = None,
) -> Drawing:
    """Draw from each stratum the first of its queries; they come in random order.

    Raises
    ------
    InputError: an unknown allocation or stratum, or quotas that cannot be met.
    """
    populations, asked = _sizes(traffic, strata)
    weights = weights_of(allocation, asked)
    numbers = allocate_with_quotas(size, strata.names, populations, weights, quotas or {})
    order = np.argsort(strata.codes, kind="stable")
    starts = np.cumsum([0, *populations[:-1]])
    rows = np.concatenate(
        [order[start : start + number] for start, number in zip(starts, numbers, strict=True)]
    )
    chances = [
        number / population if population else None
        for number, population in zip(numbers, populations, strict=True)
    ]
    report = list(map(Stratum, strata.names, populations, asked, numbers, chances))
    probability = np.repeat([chance or 0.0 for chance in chances], numbers)
    return Drawing(rows, probability, report)


def draw_pps(traffic: NDArray[np.int64], strata: Labels, size: int, seed: int) -> Drawing:
    """Draw with probability proportional to traffic, along the strata."""
    order = np.argsort(strata.codes, kind="stable")
    drawn = draw_proportional(traffic[order], size, int(digest("pps", seed), 16))
    rows = order[drawn.rows]
    populations, asked = _sizes(traffic, strata)
    numbers = np.bincount(strata.codes[rows], minlength=len(strata.names)).tolist()
    expected = np.bincount(
        strata.codes[order], weights=drawn.probability, minlength=len(strata.names)
    ).tolist()
    chances = [
        share / population if population else None
        for share, population in zip(expected, populations, strict=True)
    ]
    report = list(map(Stratum, strata.names, populations, asked, numbers, chances))
    return Drawing(rows, drawn.probability[drawn.rows], report)


def _sizes(traffic: NDArray[np.int64], strata: Labels) -> tuple[list[int], list[int]]:
    """Queries and traffic of each stratum; whole numbers, for a sum of floats would round."""
    populations = np.bincount(strata.codes, minlength=len(strata.names))
    asked = np.zeros(len(strata.names), np.int64)
    np.add.at(asked, strata.codes, traffic)
    return populations.tolist(), asked.tolist()
