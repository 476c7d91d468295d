"""The variance of figure × traffic in each stratum of a frame, for Neyman's allocation.

A mean over searches adds up figure × traffic, y·x, over the queries of a stratum. The traffic x of every
query is known. The figure y is known for a sample of queries, those of a release (`releases.spread`).
Taken as independent within a stratum, their product has the variance (Goodman 1960, On the exact variance
of products, equation 2)

    S²(x·y) = S²(y) · mean(x²) + mean(y)² · S²(x)

with the figure's mean and variance from the release and the traffic's from the frame that is drawn from. So a
log that has grown since changes nothing about what was learned, and one search-engine query asked 100,000
times does not have to be in the release for its weight to be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import RefusedError
from curation.core.text import amount, listed
from curation.queries.sampling.strata import Labels

LEAST = 2
"""A stratum of a release needs so many queries with a figure to have a variance of its own."""
WITHOUT_NEYMAN = "A release or a run to take variances from goes with the allocation neyman alone."


class Moments(NamedTuple):
    """Mean and variance (divisor n - 1) of a figure among n queries."""

    queries: int
    mean: float
    variance: float


class FigureSpread(NamedTuple):
    """How a figure varies in a release.

    Attributes
    ----------
    figure: its name.
    strata: stratum of the release → moments, where it has `LEAST` queries.
    pooled: mean of all, and the variance within strata.
    unranked: queries of its sample that the run does not have; their figure is 0.
    left_out: reason → number of the release's queries.
    """

    release: str
    release_id: str
    run_id: str | None
    figure: str
    strata: dict[str, Moments]
    pooled: Moments
    unranked: int
    left_out: dict[str, int]


def variances_of(
    spread: FigureSpread, traffic: NDArray[np.int64], strata: Labels
) -> tuple[list[float], list[str]]:
    """S² of figure × traffic in each stratum of a frame, and the strata that borrow the pooled one.

    Raises
    ------
    RefusedError: the release knows none of these strata.
    """
    order = np.argsort(strata.codes, kind="stable")
    ends = np.cumsum(np.bincount(strata.codes, minlength=len(strata.names)))
    parts = np.split(traffic[order], ends[:-1])
    held = [name for name, part in zip(strata.names, parts, strict=True) if len(part)]
    if not spread.strata.keys() & set(held):
        raise RefusedError(
            f"None of the strata of this draw ({listed(held)}) is one of those that the release "
            f"{spread.release!r} was sampled by ({listed(list(spread.strata))}). Draw with the same "
            "strata, or choose another allocation."
        )
    values = [
        _product(spread.strata.get(name, spread.pooled), part) if len(part) else 0.0
        for name, part in zip(strata.names, parts, strict=True)
    ]
    return values, [name for name in held if name not in spread.strata]


def variance_warnings(spread: FigureSpread, pooled: Sequence[str]) -> list[str]:
    """What the reader of the sample should know about its variances, in sentences."""
    warnings = [f"The variances are those of {spread.figure} in the release {spread.release!r}."]
    if pooled:
        warnings.append(
            f"The release has fewer than {LEAST} queries with a figure of {listed(pooled)}: their "
            "variance is the one within all other strata, pooled."
        )
    if spread.unranked:
        warnings.append(
            f"The run has no result for {amount(spread.unranked, 'query', 'queries')} of the release's "
            "sample: their figure is 0."
        )
    warnings += [
        f"{amount(count, 'query of the release tells', 'queries of the release tell')} nothing about the "
        f"variances: {reason}."
        for reason, count in spread.left_out.items()
    ]
    return warnings


def _product(figure: Moments, traffic: NDArray[np.int64]) -> float:
    """The variance of figure × traffic; the traffic's share of it in whole numbers."""
    levels, times = np.unique(traffic, return_counts=True)
    pairs = [(int(level), int(count)) for level, count in zip(levels, times, strict=True)]
    number = len(traffic)
    total = sum(level * count for level, count in pairs)
    squares = sum(level * level * count for level, count in pairs)
    spread = Fraction(squares * number - total * total, number * (number - 1)) if number > 1 else 0
    product = Fraction(figure.variance) * Fraction(squares, number) + Fraction(figure.mean) ** 2 * spread
    return six_digits(float(product))


def six_digits(number: float) -> float:
    """Six significant digits: the last ones are the machine's."""
    return float(f"{number:.6g}")
