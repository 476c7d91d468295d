"""The two designs: from a frame in seeded order to the queries drawn and their probabilities.

    stratified  each stratum gets its number (see `core.statistics.allocation`); within it every query is
    equally
                likely, with probability drawn / population
    pps         one draw with probability proportional to traffic (see `draw_pps`); the queries are put
                on the axis stratum by stratum, so that each stratum comes within one of its expected number

Both draw without replacement, exactly the size asked. With the same seed a stratified sample that gets
more from a stratum keeps what it had there, which is how an earlier sample is topped up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.reports.page import Table
from curation.core.statistics.allocation import allocate_with_quotas
from curation.core.statistics.weights import NEYMAN, draw_proportional, neyman_weights, weights_of
from curation.core.text import digest
from curation.queries.sampling.strata import Labels

NEYMAN_LEAST = 2
"""What neyman gives every stratum at least, if there is room: figures that did not vary in a release may vary
elsewhere, a stratum without a query makes each total wrong, and one with a single query has no variance."""


class Stratum(NamedTuple):
    """One row of the report; the probability is the mean of its queries', None where there is none."""

    name: str
    population: int
    traffic: int
    drawn: int
    probability: float | None


def strata_table(sample_id: str, strata: Sequence[Stratum]) -> Table:
    """What was drawn of each stratum."""
    columns = ("Stratum", "Queries", "Traffic", "Drawn", "Probability")
    return Table(f"Sample {sample_id[:8]}", columns, tuple(strata))


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
    variances: Sequence[float] | None = None,
) -> Drawing:
    """Draw from each stratum the first of its queries; they come in random order.

    Parameters
    ----------
    variances: for the allocation neyman, S² of figure × traffic in each stratum.

    Raises
    ------
    InputError: an unknown allocation or stratum, or quotas that cannot be met.
    """
    populations, asked = sizes(traffic, strata)
    weights = stratum_weights(allocation, populations, asked, variances)
    least = NEYMAN_LEAST if allocation == NEYMAN else 0
    numbers = _numbers(size, strata.names, populations, weights, quotas or {}, least)
    order = np.argsort(strata.codes, kind="stable")
    starts = np.cumsum([0, *populations[:-1]])
    rows = np.concatenate(
        [order[start : start + number] for start, number in zip(starts, numbers, strict=True)]
    )
    report = _report(traffic, strata, numbers, numbers)
    return Drawing(rows, np.repeat([one.probability or 0.0 for one in report], numbers), report)


def _numbers(
    size: int,
    names: Sequence[str],
    populations: Sequence[int],
    weights: Sequence[int | Fraction],
    quotas: Mapping[str, int],
    least: int,
) -> list[int]:
    """The allocation, with strata that came out below `least` fixed at that and the rest shared again."""
    fixed = dict(quotas)
    while True:
        numbers = allocate_with_quotas(size, names, populations, weights, fixed)
        thin = {
            name: min(least, population)
            for name, population, number in zip(names, populations, numbers, strict=True)
            if name not in fixed and number < min(least, population)
        }
        if not thin or sum(fixed.values()) + sum(thin.values()) > size:
            return numbers
        fixed |= thin


def stratum_weights(
    allocation: str, populations: Sequence[int], traffic: Sequence[int], variances: Sequence[float] | None
) -> Sequence[int | Fraction]:
    """What the strata's shares of a sample are proportional to.

    Raises
    ------
    InputError: an unknown allocation, or neyman without variances.
    """
    if allocation == NEYMAN and variances is not None:
        return neyman_weights(populations, variances)
    return weights_of(allocation, traffic)


def draw_pps(traffic: NDArray[np.int64], strata: Labels, size: int, seed: int) -> Drawing:
    """Draw with probability proportional to traffic, along the strata."""
    order = np.argsort(strata.codes, kind="stable")
    drawn = draw_proportional(traffic[order], size, int(digest("pps", seed), 16))
    rows = order[drawn.rows]
    most = len(strata.names)
    numbers = np.bincount(strata.codes[rows], minlength=most).tolist()
    expected = np.bincount(strata.codes[order], weights=drawn.probability, minlength=most).tolist()
    return Drawing(rows, drawn.probability[drawn.rows], _report(traffic, strata, numbers, expected))


def _report(
    traffic: NDArray[np.int64], strata: Labels, drawn: Sequence[int], expected: Sequence[float]
) -> list[Stratum]:
    populations, asked = sizes(traffic, strata)
    chances = [
        share / population if population else None
        for share, population in zip(expected, populations, strict=True)
    ]
    return list(map(Stratum, strata.names, populations, asked, drawn, chances))


def sizes(traffic: NDArray[np.int64], strata: Labels) -> tuple[list[int], list[int]]:
    """Queries and traffic of each stratum; whole numbers, for a sum of floats would round."""
    populations = np.bincount(strata.codes, minlength=len(strata.names))
    asked = np.zeros(len(strata.names), np.int64)
    np.add.at(asked, strata.codes, traffic)
    return populations.tolist(), asked.tolist()
