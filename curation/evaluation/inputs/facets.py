"""Facets: by what the evaluated queries can be distinguished, for figures of each kind.

    stratum   what the sample calls it; 'imported', 'written' or 'synthetic' for others
    band, length, field:F …
              one dimension of the strata, where the sample has it
    segment   where the query was asked most often
    tag       each tag; a query with two tags is in both values, one without any in 'no tag'
    source, part
    cluster, grid
              regions of the corpus and the 3 × 3 grid, where the release has a coverage map

`type` is short for stratum and tag, as in agreement by type. Where a language model wrote some of the
queries, they are always told apart by source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curation.errors import InputError
from curation.sampling.strata import BETWEEN
from curation.statistics.arrays import Mask

NO_SEGMENT = "no segment"
NO_TAG = "no tag"
OTHER = "not sampled"
"""What dimensions of strata call a query that is of no stratum of the sample."""
SOURCE, SYNTHETIC = "source", "synthetic"
SHORT_FOR = {"type": ("stratum", "tag")}
CLUSTER, GRID = "cluster", "grid"
COVERAGE = (CLUSTER, GRID)
"""Facets of the release's coverage map."""
NO_COVERAGE = (
    "the release has no coverage map, which says what the clusters and the grid are. Map the corpus and "
    "freeze a release after it"
)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Facet:
    """A way to tell queries apart.

    Attributes
    ----------
    values: value → which of the Q queries have it, shape (Q,); ordered by value, regions from the largest.
    apart: no query has two values.
    beside: values of the queries that are in no stratum; they are none themselves.
    by_grades: which queries have a value follows from their grades.
    """

    name: str
    values: Mapping[str, Mask]
    apart: bool
    beside: tuple[str, ...] = ()
    by_grades: bool = False


def facet_names(dimensions: Sequence[str], covered: bool = False) -> tuple[str, ...]:
    """The facets by which queries of one part can be distinguished.

    Parameters
    ----------
    dimensions: what the strata of the release's sample were made by.
    covered: whether the release has a coverage map.
    """
    own = [name for name in dimensions if name not in COVERAGE]
    return tuple(dict.fromkeys(["stratum", "tag", *own, "segment", "source", *(COVERAGE if covered else ())]))


def facets_of(rows: Sequence[Row], dimensions: Sequence[str]) -> dict[str, Facet]:
    """The facets of queries, as a release has them.

    Parameters
    ----------
    dimensions: what the strata of the release's sample were made by.
    """
    found = [_one("stratum", rows, lambda row: str(row["stratum"]))]
    for place, dimension in enumerate(dimensions):
        if dimension not in ("segment", *COVERAGE):  # `cluster` is what the release's own map says
            found.append(_one(dimension, rows, _component(place, len(dimensions))))
    found.append(_one("segment", rows, lambda row: row.get("segment") or NO_SEGMENT))
    found += [
        _one(SOURCE, rows, lambda row: str(row["source"])),
        _one("part", rows, lambda row: str(row["part"])),
    ]
    found.append(Facet("tag", _several(rows, lambda row: row.get("tags") or [NO_TAG]), apart=False))
    return {facet.name: facet for facet in found}


def chosen_facets(facets: Mapping[str, Facet], names: Iterable[str]) -> list[Facet]:
    """The facets of these names, and `source` where some of the queries are synthetic.

    Raises
    ------
    InputError: names that are no facets of these queries.
    """
    wanted = list(dict.fromkeys(one for name in names for one in SHORT_FOR.get(name, (name,))))
    problems = [
        f"{name!r}: {NO_COVERAGE}" if name in COVERAGE else f"{name!r} is no facet of the release's queries"
        for name in wanted
        if name not in facets
    ]
    if problems:
        raise InputError(problems, way_out=f"Facets: {', '.join([*SHORT_FOR, *facets])}.")
    if SOURCE in facets and SYNTHETIC in facets[SOURCE].values and SOURCE not in wanted:
        wanted.append(SOURCE)
    return [facets[name] for name in wanted]


def _one(name: str, rows: Sequence[Row], value: Callable[[Row], str]) -> Facet:
    return Facet(name, _several(rows, lambda row: [value(row)]), apart=True)


def _several(rows: Sequence[Row], values: Callable[[Row], Iterable[str]]) -> dict[str, Mask]:
    masks: dict[str, Mask] = {}
    for place, row in enumerate(rows):
        for value in values(row):
            masks.setdefault(value, np.zeros(len(rows), bool))[place] = True
    return dict(sorted(masks.items()))


def _component(place: int, number: int) -> Callable[[Row], str]:
    """One dimension of a stratum's name."""

    def read(row: Row) -> str:
        if row.get("inclusion_probability") is None:
            return OTHER
        parts = str(row["stratum"]).split(BETWEEN)
        return parts[place] if len(parts) == number else str(row["stratum"])

    return read
