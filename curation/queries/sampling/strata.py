"""Strata of queries: the crossed values of a request's dimensions, such as `head · docs-site · short`.

Every combination of values is a stratum, even without a query, so that people see the missing kinds of
queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from curation.core.errors import InputError
from curation.core.reports.charts import draw_bars
from curation.core.reports.tables import Table
from curation.core.statistics.arrays import Ints
from curation.core.text import pluralize

MAX_STRATA = 1_000
"""Largest number of strata."""
STRATUM_SEPARATOR = " · "
"""Separator between the dimensions in a stratum's name."""


class Labels(NamedTuple):
    """The value of each query in a dimension, or the stratum of each query.

    Attributes
    ----------
    codes: position of each query's value in `names`, shape (queries,).
    """

    codes: NDArray[np.intp]
    names: tuple[str, ...]

    def get_name(self, query: int) -> str:
        """Return the name of the value that a query has in this dimension."""
        return self.names[int(self.codes[query])]


class Stratum(NamedTuple):
    """A stratum with its counts and its queries' mean inclusion probability (None without queries)."""

    name: str
    population: int
    traffic: int
    drawn: int
    probability: float | None


def cross_dimensions(dimensions: Sequence[Labels]) -> Labels:
    """Combine the values of several dimensions into strata, ordered by the first dimension's values, then the
    second's, and so on.

    Raises
    ------
    InputError: there are more than `MAX_STRATA` strata, or two strata have the same name.
    """
    sizes = [len(dimension.names) for dimension in dimensions]
    if prod(sizes) > MAX_STRATA:
        factors = " × ".join(f"{size:,}" for size in sizes)
        raise InputError(
            f"These dimensions make {factors} = {pluralize(prod(sizes), 'stratum', 'strata')}; expected at "
            f"most {MAX_STRATA:,}.",
            way_out="Name fewer dimensions, or import the log with a coarser segment or field.",
        )
    codes = np.zeros(len(dimensions[0].codes), np.intp)
    for dimension, size in zip(dimensions, sizes, strict=True):
        codes = codes * size + dimension.codes
    names = [
        STRATUM_SEPARATOR.join(values) for values in product(*(dimension.names for dimension in dimensions))
    ]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"Two strata would both be called {repeated!r}: a value of the log contains "
            f"{STRATUM_SEPARATOR.strip()!r}.",
            way_out="Name fewer dimensions, or import the log with other values.",
        )
    return Labels(codes, tuple(names))


def count_strata(traffic: Ints, strata: Labels) -> tuple[list[int], list[int]]:
    """Count the queries and the traffic of each stratum, in integers to avoid rounding."""
    populations = np.bincount(strata.codes, minlength=len(strata.names))
    totals = np.zeros(len(strata.names), np.int64)
    np.add.at(totals, strata.codes, traffic)
    return populations.tolist(), totals.tolist()


def build_strata_table(drawn_at: datetime, strata: Sequence[Stratum]) -> Table:
    """Make a table with the counts of each stratum of a sample."""
    columns = ("Stratum", "Queries", "Traffic", "Drawn", "Probability")
    return Table(f"Sample of {drawn_at:%d %b %Y, %H:%M} UTC", columns, tuple(strata))


def make_sample_chart(strata: Sequence[Stratum]) -> Markup:
    """Draw two bars for each stratum: the stratum's share of the traffic, and its share of the sample."""
    traffic = sum(stratum.traffic for stratum in strata) or 1
    drawn = sum(stratum.drawn for stratum in strata) or 1
    rows = [(stratum.name, (stratum.traffic / traffic, stratum.drawn / drawn)) for stratum in strata]
    return draw_bars(
        "Share of traffic and share of the sample by stratum",
        "Two bars for each stratum. The table has the same figures.",
        ("share of traffic", "share of sample"),
        rows,
    )
