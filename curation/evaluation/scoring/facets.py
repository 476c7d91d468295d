"""Facets tell the queries of a release apart, for figures of each kind.

    stratum   what the sample calls it; 'imported', 'written' or 'synthetic' for others
    band, length, field:F …
              one dimension of the strata, where the sample has it
    segment   where the query was asked most often
    tag       each tag; a query with two tags is in both values, one without any in 'no tag'
    source, part
    cluster, grid
              regions of the corpus and the 3 × 3 grid, where the release has a coverage map

`type` is short for stratum and tag, as in agreement by type. Where a language model wrote some of the
queries, they are always distinguished by source.

A query is in every region of the corpus that it is about. The grid is the thirds of dispersion Δ and of
alignment J, as the release has their boundaries. Regions without an evaluated query are values too: what
systems reach there is unknown. Queries that are in no region, or have no cell, are counted under a value of
their own, which is no stratum of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curation.core.errors import InputError
from curation.core.statistics.arrays import Mask
from curation.queries.sampling.designs import BETWEEN

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
NO_CELL = "no relevant document in a cluster"


@dataclass(frozen=True)
class Facet:
    """A way to tell queries apart.

    Attributes
    ----------
    values: value → which of the Q queries have it, shape (Q,); ordered by value, regions from the largest.
    outside: values of the queries that are in no stratum; these values are no strata.
    """

    name: str
    values: Mapping[str, Mask]
    outside: tuple[str, ...] = ()


def facet_names(dimensions: Sequence[str], covered: bool = False) -> tuple[str, ...]:
    """The facets by which queries of one part can be distinguished.

    Parameters
    ----------
    dimensions: what the strata of the release's sample were made by.
    covered: whether the release has a coverage map.
    """
    dimensions_shown = [name for name in dimensions if name not in COVERAGE]
    return tuple(
        dict.fromkeys(
            ["stratum", "tag", *dimensions_shown, "segment", "source", *(COVERAGE if covered else ())]
        )
    )


def facets_of(rows: Sequence[Row], dimensions: Sequence[str]) -> dict[str, Facet]:
    """The facets of queries, as a release has them.

    Parameters
    ----------
    dimensions: what the strata of the release's sample were made by.
    """
    facets = [_one("stratum", rows, lambda row: str(row["stratum"]))]
    for index, dimension in enumerate(dimensions):
        if dimension not in ("segment", *COVERAGE):  # `cluster` is what the release's own map says
            facets.append(_one(dimension, rows, _component(index, len(dimensions))))
    facets.append(_one("segment", rows, lambda row: row.get("segment") or NO_SEGMENT))
    facets += [
        _one(SOURCE, rows, lambda row: str(row["source"])),
        _one("part", rows, lambda row: str(row["part"])),
    ]
    facets.append(Facet("tag", _several(rows, lambda row: row.get("tags") or [NO_TAG])))
    return {facet.name: facet for facet in facets}


def chosen_facets(facets: Mapping[str, Facet], names: Iterable[str]) -> list[Facet]:
    """The facets of these names, and `source` where some of the queries are synthetic.

    Raises
    ------
    InputError: names that are no facets of these queries.
    """
    wanted = list(dict.fromkeys(facet_name for name in names for facet_name in SHORT_FOR.get(name, (name,))))
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
    return Facet(name, _several(rows, lambda row: [value(row)]))


def _several(rows: Sequence[Row], values: Callable[[Row], Iterable[str]]) -> dict[str, Mask]:
    masks: dict[str, Mask] = {}
    for index, row in enumerate(rows):
        for value in values(row):
            masks.setdefault(value, np.zeros(len(rows), bool))[index] = True
    return dict(sorted(masks.items()))


def _component(index: int, number: int) -> Callable[[Row], str]:
    """One dimension of a stratum's name."""

    def read(row: Row) -> str:
        if row.get("inclusion_probability") is None:
            return OTHER
        parts = str(row["stratum"]).split(BETWEEN)
        return parts[index] if len(parts) == number else str(row["stratum"])

    return read


def all_facets(queries: Sequence[Row], part_rows: Callable[[str], Sequence[Row]]) -> dict[str, Facet]:
    """The facets of a release's queries, also by its coverage map.

    Parameters
    ----------
    queries: the evaluated ones; masks are in their order.
    part_rows: the rows of a part of the release.
    """
    facets = facets_of(queries, dimensions_of(part_rows("sampling")))
    return facets | {
        coverage_facet.name: coverage_facet for coverage_facet in _coverage_facets(queries, part_rows)
    }


def _coverage_facets(queries: Sequence[Row], part_rows: Callable[[str], Sequence[Row]]) -> list[Facet]:
    """The facets `cluster` and `grid` of queries; none where the release has no coverage."""
    coverage = part_rows("coverage")
    if not coverage:
        return []
    of = {row["query_id"]: row for row in part_rows("query_coverage")}
    rows = [of[row["query_id"]] for row in queries]
    return [_clusters(rows, coverage[0]["clusters"]), _grid(rows)]


def cell_name(dispersion: int | None, alignment: int | None) -> str:
    """What a cell of the grid is called, by its thirds from 0."""
    from curation.queries.coverage.measures import third_name

    thirds = {"Δ": dispersion, "J": alignment}
    return ", ".join(f"{name} {third_name(third)}" for name, third in thirds.items() if third is not None)


def _clusters(rows: Sequence[Row], clusters: Sequence[Mapping[str, Any]]) -> Facet:
    from curation.queries.coverage.clusters import NO_CLUSTER, SMALL_ONLY

    clusters_of = [frozenset(row["clusters"]) for row in rows]
    regions = {cluster["number"]: cluster["name"] for cluster in clusters if cluster["region"]}
    values = {
        f"{number} {name}": np.array([number in numbers for numbers in clusters_of])
        for number, name in regions.items()
    }
    outside = np.array([not numbers.intersection(regions) for numbers in clusters_of])
    nowhere = np.array([not numbers for numbers in clusters_of])
    rest = {SMALL_ONLY: outside & ~nowhere, NO_CLUSTER: nowhere}
    return _facet(CLUSTER, values, rest)


def _grid(rows: Sequence[Row]) -> Facet:
    from curation.queries.coverage.measures import possible_cells

    cells = [None if row["cell"] is None else tuple(row["cell"]) for row in rows]
    possible = possible_cells([cell for cell in cells if cell is not None])
    values = {cell_name(*cell_at): np.array([cell == cell_at for cell in cells]) for cell_at in possible}
    rest = {NO_CELL: np.array([cell is None for cell in cells])}
    return _facet(GRID, values, rest)


def _facet(name: str, values: dict[str, Mask], rest: Mapping[str, Mask]) -> Facet:
    outside = {value: mask for value, mask in rest.items() if mask.any()}
    return Facet(name, values | outside, outside=tuple(outside))


def dimensions_of(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the strata of a release's sample were made by, in the order of their names."""
    return list(samples[0]["parameters"].get("strata", [])) if samples else []
