"""Strata of queries by crossed dimensions, and the two designs that draw from the strata.

A stratum has one value of each dimension of the request, such as `head · docs-site · short`.

    band     head, torso or tail of the traffic
    segment  the segment of the log in which the query was asked most often; the first by text if equal
    length   short: 1 or 2 words, medium: 3 to 5 words, long: at least 6 words, separated by white space
    cluster  the region of the coverage map that the query is most about (see `sampling.cluster_strata`)
    tag:T    T or `not T`, by the tag's rule or by a person's statement (see `queries.tag_rules`)
    field:F  the most frequent value of a further field of the log for the query; the first by text if equal

Every combination of values is a stratum, even without a query, so that people see the missing kinds of
queries.

Bands: the queries are lined up from the most asked to the least asked, each as long as its traffic, so that
the whole log is an axis from 0 to 1. Head, torso and tail are the thirds of the traffic's axis. Queries that
were asked equally often are in the same frequency band: the band of the middle of all these queries. A query
asked once is always tail, and the most asked queries are always head.

    stratified  each stratum gets its number (see `stratified_sampling.allocate`), and all queries of a
                stratum have the same probability, drawn / population
    pps         one draw with probability proportional to traffic (see `draw_pps`); the queries are lined up
                stratum by stratum, so that each stratum's number differs from the expected number by less
                than 1

The designs stratified and pps draw without replacement, and draw exactly the requested size. If a stratified
sample with the same seed gets more queries from a stratum, the sample keeps the earlier queries. A top-up of
a sample uses this property.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.digests import digest
from curation.core.errors import InputError, refuse_problems
from curation.core.reports.tables import Table
from curation.core.statistics.stratified_sampling import (
    allocate_with_quotas,
    compute_weights,
    draw_proportional,
)
from curation.core.text import pluralize
from curation.queries.tag_rules import LONG, SHORT

CLUSTER = "cluster"
DIMENSIONS = ("band", "segment", "length", CLUSTER)
TAG = "tag:"
FIELD = "field:"
LENGTHS = ("short", "medium", "long")
MAX_STRATA = 1_000
"""Largest number of strata."""
BETWEEN = " · "
# Names that splits and releases use for queries outside the current sample, and for sums.
_TAKEN = frozenset({"all", "traffic", "imported", "written", "synthetic"})
BANDS = ("head", "torso", "tail")
HEAD, TORSO = 1 / 3, 2 / 3
"""Shares of traffic at which the bands head and torso end."""


class Labels(NamedTuple):
    """Values of queries in a dimension. `codes` has the position of each query's value in `names`, shape
    (queries,).
    """

    codes: NDArray[np.intp]
    names: tuple[str, ...]

    def name_of(self, query: int) -> str:
        """Return the value of one query."""
        return self.names[int(self.codes[query])]


def check_dimensions(by: Sequence[str]) -> None:
    """Refuse unknown dimensions, repeated dimensions, and an empty list."""
    expected = f"expected some of {', '.join(DIMENSIONS)}, {TAG}NAME, {FIELD}NAME"
    problems = [f"{name!r} is no dimension of strata; {expected}" for name in by if not _is_dimension(name)]
    repeated = [name for name in dict.fromkeys(by) if by.count(name) > 1 and _is_dimension(name)]
    problems += [f"strata by {name!r} were asked for twice" for name in repeated]
    if not by:
        problems = [f"no strata were named; {expected}"]
    refuse_problems(problems)


def names_after(prefix: str, by: Sequence[str]) -> list[str]:
    """List the tags or fields among dimensions of strata, without the prefix `TAG` or `FIELD`."""
    return [name.removeprefix(prefix) for name in by if name.startswith(prefix)]


def _is_dimension(name: str) -> bool:
    return name in DIMENSIONS or any(name.startswith(kind) and name != kind for kind in (TAG, FIELD))


def length_of(words: NDArray[np.int64]) -> NDArray[np.intp]:
    """Find the position in `LENGTHS` of each query by its number of words."""
    return np.searchsorted([SHORT + 1, LONG], words, side="right")


def value_name(field: str, value: str) -> str:
    """Name the stratum of a segment or a field's value, after the field's name if the value is a reserved
    name.
    """
    return f"{field} {value}" if value in _TAKEN or value == none_name(field) else value


def none_name(field: str) -> str:
    """Name the stratum of queries without a segment, or without a value of a field."""
    return f"no {field}"


def cross(dimensions: Sequence[Labels]) -> Labels:
    """Cross dimensions to strata, ordered by the names of the first dimension, then of the second dimension,
    and so on.

    Raises
    ------
    InputError: there are more than `MAX_STRATA` strata, or two strata have the same name.
    """
    sizes = [len(dimension.names) for dimension in dimensions]
    if prod(sizes) > MAX_STRATA:
        kinds = " × ".join(f"{size:,}" for size in sizes)
        raise InputError(
            f"These dimensions make {kinds} = {pluralize(prod(sizes), 'stratum', 'strata')}; expected at "
            f"most {MAX_STRATA:,}.",
            way_out="Name fewer dimensions, or import the log with a coarser segment or field.",
        )
    codes = np.zeros(len(dimensions[0].codes), np.intp)
    for dimension, size in zip(dimensions, sizes, strict=True):
        codes = codes * size + dimension.codes
    names = [BETWEEN.join(name) for name in product(*(dimension.names for dimension in dimensions))]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"Two strata would both be called {twice!r}: a value of the log holds {BETWEEN.strip()!r}.",
            way_out="Name fewer dimensions, or import the log with other values.",
        )
    return Labels(codes, tuple(names))


def band_of(traffic: NDArray[np.int64]) -> NDArray[np.intp]:
    """Find the position in `BANDS` of each query by its traffic, which is at least 1."""
    levels, inverse, queries = np.unique(traffic, return_inverse=True, return_counts=True)
    lengths = (levels * queries)[::-1]
    middles = (np.cumsum(lengths) - lengths / 2)[::-1] / max(int(lengths.sum()), 1)
    band = np.searchsorted([HEAD, TORSO], middles, side="right")
    band[-1:] = BANDS.index("head")
    band[levels == 1] = BANDS.index("tail")
    return band[inverse]


class Stratum(NamedTuple):
    """A stratum with its counts, and the mean inclusion probability of its queries (None without a query)."""

    name: str
    population: int
    traffic: int
    drawn: int
    probability: float | None


def strata_table(sample_id: str, strata: Sequence[Stratum]) -> Table:
    """Show the counts of each stratum."""
    columns = ("Stratum", "Queries", "Traffic", "Drawn", "Probability")
    return Table(f"Sample {sample_id[:8]}", columns, tuple(strata))


class Drawing(NamedTuple):
    """The queries drawn from a sampling frame.

    rows: positions of the drawn queries in the frame, shape (size,).
    probability: inclusion probability of each drawn query, shape (size,).
    strata: counts of each stratum, including empty strata.
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
    """Draw the first queries of each stratum. The queries of the frame are in random order.

    Raises
    ------
    InputError: an allocation or stratum is unknown, or a quota is impossible.
    """
    populations, asked = sizes(traffic, strata)
    weights = compute_weights(allocation, asked)
    numbers = allocate_with_quotas(size, strata.names, populations, weights, quotas or {})
    order = np.argsort(strata.codes, kind="stable")
    starts = np.cumsum([0, *populations[:-1]])
    rows = np.concatenate(
        [order[start : start + number] for start, number in zip(starts, numbers, strict=True)]
    )
    report = _count_strata(traffic, strata, numbers, numbers)
    return Drawing(rows, np.repeat([stratum.probability or 0.0 for stratum in report], numbers), report)


def draw_pps(traffic: NDArray[np.int64], strata: Labels, size: int, seed: int) -> Drawing:
    """Draw queries with probability proportional to traffic, with the queries lined up by stratum."""
    order = np.argsort(strata.codes, kind="stable")
    drawn, probability = draw_proportional(traffic[order], size, int(digest("pps", seed), 16))
    rows = order[drawn]
    most = len(strata.names)
    numbers = np.bincount(strata.codes[rows], minlength=most).tolist()
    expected = np.bincount(strata.codes[order], weights=probability, minlength=most).tolist()
    return Drawing(rows, probability[drawn], _count_strata(traffic, strata, numbers, expected))


def _count_strata(
    traffic: NDArray[np.int64], strata: Labels, drawn: Sequence[int], expected: Sequence[float]
) -> list[Stratum]:
    populations, asked = sizes(traffic, strata)
    chances = [
        share / population if population else None
        for share, population in zip(expected, populations, strict=True)
    ]
    return list(map(Stratum, strata.names, populations, asked, drawn, chances))


def sizes(traffic: NDArray[np.int64], strata: Labels) -> tuple[list[int], list[int]]:
    """Count the queries and the traffic of each stratum, in integers to avoid rounding."""
    populations = np.bincount(strata.codes, minlength=len(strata.names))
    asked = np.zeros(len(strata.names), np.int64)
    np.add.at(asked, strata.codes, traffic)
    return populations.tolist(), asked.tolist()
