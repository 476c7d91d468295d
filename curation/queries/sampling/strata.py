"""Strata: the kinds of queries that a sample distinguishes, and their names.

A stratum is one value of each dimension that was asked for, crossed: `head · docs-site · short`.

    band     head, torso or tail of the traffic (see `queries.sampling.frame.bands`)
    segment  where the query was asked most often, as the log's segment says; ties go to the first by text
    length   short: 1 or 2 words, medium: 3 to 5, long: 6 and more; words are what white space parts
    cluster  the region of the coverage map that the query is most about (see
    `queries.sampling.frame.regions`) tag:T    T or `not T`, as the tag's rule finds, if it has one, or a
    person set it (see `queries.sampling.tags`) field:F  the value that a further field of the log has most
    often for the query; ties to the first by text

Of the searches in a web log most are short and few are long: 63, 34 and 4 % in Excite's of 1997. Text
without white space, as in Chinese, counts as one word: leave length out there. Every crossing is a
stratum, those without a query too: the reader should see that a kind of query is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import InputError, refuse_problems
from curation.core.text import amount

CLUSTER = "cluster"
DIMENSIONS = ("band", "segment", "length", CLUSTER)
TAG = "tag:"
FIELD = "field:"
LENGTHS = ("short", "medium", "long")
SHORT = 2
LONG = 6
MOST = 1_000
"""The largest number of strata that can be crossed."""
BETWEEN = " · "
# What splits and releases call queries that the current sample did not draw, and the sum of all.
_TAKEN = frozenset({"all", "traffic", "imported", "written", "synthetic"})


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
    """What queries are called of which no segment, or no value of a field, is known."""
    return f"no {field}"


def cross(dimensions: Sequence[Labels]) -> Labels:
    """The strata of several dimensions, in the order of their names, the first dimension slowest.

    Raises
    ------
    InputError: these make more than `MOST` strata, or two that are called the same.
    """
    sizes = [len(dimension.names) for dimension in dimensions]
    if prod(sizes) > MOST:
        kinds = " × ".join(f"{size:,}" for size in sizes)
        raise InputError(
            f"These dimensions make {kinds} = {amount(prod(sizes), 'stratum', 'strata')}; expected at "
            f"most {MOST:,}.",
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
