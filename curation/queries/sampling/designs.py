"""Strata, the kinds of queries that a sample distinguishes, and the two designs that draw from them.

A stratum is one value of each dimension that was asked for, crossed: `head · docs-site · short`.

    band     head, torso or tail of the traffic
    segment  where the query was asked most often, as the log's segment says; ties go to the first by text
    length   short: 1 or 2 words, medium: 3 to 5, long: 6 and more; words are what white space parts
    cluster  the region of the coverage map that the query is most about (see `queries.sampling.frame`)
    tag:T    T or `not T`, by the tag's rule, if it has one, or by a person (see `queries.tag_rules`)
    field:F  the value that a further field of the log has most often for the query; ties to the first by text

Every crossing is a stratum, those without a query too: the reader should see that a kind of query is missing.

Bands: queries are laid end to end, the most asked first, each as long as its traffic, so that the whole log
is an axis from 0 to 1. Head, torso and tail are the thirds of that axis. Queries that were asked equally
often are never parted: they belong to the band that holds their middle. A query asked once is always tail,
and the most asked level is always head.

    stratified  each stratum gets its number (see `core.statistics.allocation`); within it every query is
                equally likely, with probability drawn / population
    pps         one draw with probability proportional to traffic (see `draw_pps`); the queries are put on the
                axis stratum by stratum, so that each stratum comes within one of its expected number

Both draw without replacement, exactly the size asked. With the same seed a stratified sample that gets more
from a stratum keeps what it had there, which is how an earlier sample is topped up.
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
from curation.core.reports.page import Table
from curation.core.statistics.allocation import allocate_with_quotas, draw_proportional, weights_of
from curation.core.text import pluralize
from curation.queries.tag_rules import LONG, SHORT

CLUSTER = "cluster"
DIMENSIONS = ("band", "segment", "length", CLUSTER)
TAG = "tag:"
FIELD = "field:"
LENGTHS = ("short", "medium", "long")
MAX_STRATA = 1_000
"""The largest number of strata that can be crossed."""
BETWEEN = " · "
# What splits and releases call queries that the current sample did not draw, and the sum of all.
_TAKEN = frozenset({"all", "traffic", "imported", "written", "synthetic"})
BANDS = ("head", "torso", "tail")
HEAD, TORSO = 1 / 3, 2 / 3
"""The shares of traffic at which these bands end."""


class Labels(NamedTuple):
    """A value for each query: its position in `names`, shape (queries,)."""

    codes: NDArray[np.intp]
    names: tuple[str, ...]

    def name_of(self, query: int) -> str:
        """The value of one query."""
        return self.names[int(self.codes[query])]


def check_dimensions(by: Sequence[str]) -> None:
    """Raise an InputError unless these are dimensions, each named once, and at least one."""
    expected = f"expected some of {', '.join(DIMENSIONS)}, {TAG}NAME, {FIELD}NAME"
    problems = [f"{name!r} is nothing to make strata by; {expected}" for name in by if not _is_one(name)]
    repeated = [name for name in dict.fromkeys(by) if by.count(name) > 1 and _is_one(name)]
    problems += [f"strata by {name!r} were asked for twice" for name in repeated]
    if not by:
        problems = [f"no strata were named; {expected}"]
    refuse_problems(problems)


def names_after(prefix: str, by: Sequence[str]) -> list[str]:
    """The tags or fields among these dimensions, without `TAG` or `FIELD`."""
    return [name.removeprefix(prefix) for name in by if name.startswith(prefix)]


def _is_one(name: str) -> bool:
    return name in DIMENSIONS or any(name.startswith(kind) and name != kind for kind in (TAG, FIELD))


def length_of(words: NDArray[np.int64]) -> NDArray[np.intp]:
    """The position in `LENGTHS` of queries with so many words."""
    return np.searchsorted([SHORT + 1, LONG], words, side="right")


def value_name(field: str, value: str) -> str:
    """What a segment or value is called as a stratum: itself, unless other queries are called so."""
    return f"{field} {value}" if value in _TAKEN or value == none_name(field) else value


def none_name(field: str) -> str:
    """The stratum of queries without a known segment, or without a value of the field."""
    return f"no {field}"


def cross(dimensions: Sequence[Labels]) -> Labels:
    """The strata of several dimensions, in the order of their names, the first dimension slowest.

    Raises
    ------
    InputError: these make more than `MAX_STRATA` strata, or two that are called the same.
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
    """The band of each query, as its position in `BANDS`; `traffic`: how often each was asked, 1 or more."""
    levels, inverse, queries = np.unique(traffic, return_inverse=True, return_counts=True)
    lengths = (levels * queries)[::-1]
    middles = (np.cumsum(lengths) - lengths / 2)[::-1] / max(int(lengths.sum()), 1)
    band = np.searchsorted([HEAD, TORSO], middles, side="right")
    band[-1:] = BANDS.index("head")
    band[levels == 1] = BANDS.index("tail")
    return band[inverse]


class Stratum(NamedTuple):
    """One row of the report; the probability is the mean of its queries', None without one."""

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
) -> Drawing:
    """Draw from each stratum the first of its queries; they come in random order.

    Raises
    ------
    InputError: an unknown allocation or stratum, or quotas that cannot be met.
    """
    populations, asked = sizes(traffic, strata)
    weights = weights_of(allocation, asked)
    numbers = allocate_with_quotas(size, strata.names, populations, weights, quotas or {})
    order = np.argsort(strata.codes, kind="stable")
    starts = np.cumsum([0, *populations[:-1]])
    rows = np.concatenate(
        [order[start : start + number] for start, number in zip(starts, numbers, strict=True)]
    )
    report = _report(traffic, strata, numbers, numbers)
    return Drawing(rows, np.repeat([stratum.probability or 0.0 for stratum in report], numbers), report)


def draw_pps(traffic: NDArray[np.int64], strata: Labels, size: int, seed: int) -> Drawing:
    """Draw with probability proportional to traffic, along the strata."""
    order = np.argsort(strata.codes, kind="stable")
    drawn, probability = draw_proportional(traffic[order], size, int(digest("pps", seed), 16))
    rows = order[drawn]
    most = len(strata.names)
    numbers = np.bincount(strata.codes[rows], minlength=most).tolist()
    expected = np.bincount(strata.codes[order], weights=probability, minlength=most).tolist()
    return Drawing(rows, probability[drawn], _report(traffic, strata, numbers, expected))


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
