"""The two designs that draw queries from strata.

    stratified  each stratum gets its number (see `stratified_sampling.allocate`), and all queries of a
                stratum have the same probability, drawn / population
    pps         one draw with probability proportional to traffic (see `draw_pps`); the queries are lined up
                stratum by stratum, so that each stratum's number differs from the expected number by less
                than 1

Both designs draw without replacement, and draw exactly the requested size. If a stratified sample with the
same seed gets more queries from a stratum, the sample keeps the earlier queries. A top-up of a sample uses
this property.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.digests import digest
from curation.core.statistics import stratified_sampling
from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.stratified_sampling import allocate_with_quotas, draw_proportional
from curation.queries.sampling.strata import Labels, Stratum, count_strata


class Drawing(NamedTuple):
    """The queries drawn from a sampling frame.

    rows: positions of the drawn queries in the frame, shape (size,).
    probability: inclusion probability of each drawn query, shape (size,).
    strata: counts of each stratum, including empty strata.
    """

    rows: NDArray[np.intp]
    probability: Floats
    strata: list[Stratum]


def draw_stratified(
    traffic: Ints, strata: Labels, size: int, allocation: str = "equal", quotas: Mapping[str, int] = {}
) -> Drawing:
    """Draw the first queries of each stratum. The queries of the frame are in random order.

    Raises
    ------
    InputError: an allocation or stratum is unknown, or a quota is impossible.
    """
    populations, stratum_traffic = count_strata(traffic, strata)
    weights = stratified_sampling.compute_weights(allocation, stratum_traffic)
    sizes = allocate_with_quotas(size, strata.names, populations, weights, quotas)
    order = np.argsort(strata.codes, kind="stable")
    starts = np.cumsum([0, *populations[:-1]])
    rows = np.concatenate([order[start : start + count] for start, count in zip(starts, sizes, strict=True)])
    counts = _list_strata(traffic, strata, sizes, sizes)
    return Drawing(rows, np.repeat([stratum.probability or 0.0 for stratum in counts], sizes), counts)


def draw_pps(traffic: Ints, strata: Labels, size: int, seed: int) -> Drawing:
    """Draw queries with probability proportional to their traffic, systematically from the queries sorted by
    stratum."""
    order = np.argsort(strata.codes, kind="stable")
    drawn, probability = draw_proportional(traffic[order], size, int(digest("pps", seed), 16))
    rows = order[drawn]
    strata_count = len(strata.names)
    sizes = np.bincount(strata.codes[rows], minlength=strata_count).tolist()
    expected = np.bincount(strata.codes[order], weights=probability, minlength=strata_count).tolist()
    return Drawing(rows, probability[drawn], _list_strata(traffic, strata, sizes, expected))


def _list_strata(traffic: Ints, strata: Labels, sizes: list[int], expected: Sequence[float]) -> list[Stratum]:
    """Make the strata with their counts, from the drawn and the expected numbers of queries."""
    populations, stratum_traffic = count_strata(traffic, strata)
    probabilities = [
        number / population if population else None
        for number, population in zip(expected, populations, strict=True)
    ]
    return list(map(Stratum, strata.names, populations, stratum_traffic, sizes, probabilities))
