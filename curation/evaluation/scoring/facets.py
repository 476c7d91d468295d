"""Facets: properties that divide a release's queries into kinds.

    stratum   the name in the sample; 'imported', 'written' or 'synthetic' for other queries
    band, length, field:F …
              one dimension of the strata, where the sample has it
    segment   the segment in which the query was asked most often
    tag       each tag; a query with two tags is in both values, a query without tags in 'no tag'
    source, part
    contamination
              whether a text of the query occurs in training data, where somebody compared them
    cluster, grid
              regions of the corpus and the 3 × 3 grid, where the release has a coverage map
    any other column of the topics of a qrels file

`type` is short for stratum and tag, as in agreement by type. Where a language model wrote some of the
queries, figures are always also given by source.

A query is in every region of the corpus that it is about. The grid has the thirds of dispersion Δ and of
alignment J, with the boundaries of the release. Regions without an evaluated query are values too: the
figures of systems there are unknown. Queries in no region, and queries without a cell, are counted under
separate values, which are not strata of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from curation.core.errors import InputError
from curation.core.statistics.arrays import Mask
from curation.core.text import suggest
from curation.queries.sampling.strata import STRATUM_SEPARATOR

NO_SEGMENT = "no segment"
NO_TAG = "no tag"
NOT_SAMPLED = "not sampled"
"""Value of a stratum dimension for queries outside the sample."""
SOURCE, SYNTHETIC = "source", "synthetic"
SHORT_FOR = {"type": ("stratum", "tag")}
CLUSTER, GRID = "cluster", "grid"
COVERAGE = (CLUSTER, GRID)
"""Facets of the release's coverage map."""
NO_COVERAGE = (
    "the release has no coverage map, which defines the clusters and the grid. Measure coverage, "
    "then freeze a release"
)
Row = Mapping[str, Any]
NO_CELL = "no relevant document in a cluster"


@dataclass(frozen=True)
class Facet:
    """A property of queries, such as their tag.

    Attributes
    ----------
    values: value → whether each of the Q queries has it, shape (Q,); ordered by value, regions from the
        largest.
    outside: the values of queries that are in no stratum; these values are not strata.
    """

    name: str
    values: Mapping[str, Mask]
    outside: tuple[str, ...] = ()


def list_facet_names(dimensions: Sequence[str], has_map: bool = False) -> tuple[str, ...]:
    """List the facets that can divide the queries in one part.

    Parameters
    ----------
    dimensions: the dimensions of the strata of the release's sample.
    has_map: whether the release has a coverage map.
    """
    sample_facets = [name for name in dimensions if name not in COVERAGE]
    coverage_facets = COVERAGE if has_map else ()
    return tuple(dict.fromkeys(["stratum", "tag", *sample_facets, "segment", "source", *coverage_facets]))


def make_sample_facets(rows: Sequence[Row], dimensions: Sequence[str]) -> dict[str, Facet]:
    """Make a release's facets, except the facets that need the coverage map.

    Parameters
    ----------
    dimensions: the dimensions of the strata of the release's sample.
    """
    values: dict[str, Callable[[Row], Iterable[str]]] = {
        "stratum": lambda row: [str(row["stratum"])],
        **{
            dimension: _make_dimension_reader(index, len(dimensions))
            for index, dimension in enumerate(dimensions)
            if dimension not in ("segment", *COVERAGE)  # clusters come from the release's own map
        },
        "segment": lambda row: [row.get("segment") or NO_SEGMENT],
        SOURCE: lambda row: [str(row["source"])],
        "part": lambda row: [str(row["part"])],
        "tag": lambda row: row.get("tags") or [NO_TAG],
    }
    for column in rows[0].get("columns", ()) if rows else ():
        values.setdefault(column, partial(_read_column, column))
    if any("contamination" in row for row in rows):
        values["contamination"] = _read_contamination
    return {name: Facet(name, _masks_by_value(rows, masks_of)) for name, masks_of in values.items()}


def choose_facets(facets: Mapping[str, Facet], names: Iterable[str]) -> list[Facet]:
    """Choose the facets with these names, plus `source` if some of the queries are synthetic.

    Raises
    ------
    InputError: names that are not facets of these queries.
    """
    expanded = [facet_name for name in names for facet_name in SHORT_FOR.get(name, (name,))]
    chosen = list(dict.fromkeys(expanded))
    problems = []
    for name in chosen:
        if name not in facets:
            reason = (
                f": {NO_COVERAGE}"
                if name in COVERAGE
                else f" is not a facet of the release's queries{suggest(name, facets)}"
            )
            problems.append(f"{name!r}{reason}")
    if problems:
        raise InputError(problems, way_out=f"Facets: {', '.join([*SHORT_FOR, *facets])}.")
    if SOURCE in facets and SYNTHETIC in facets[SOURCE].values and SOURCE not in chosen:
        chosen.append(SOURCE)
    return [facets[name] for name in chosen]


def _masks_by_value(rows: Sequence[Row], values: Callable[[Row], Iterable[str]]) -> dict[str, Mask]:
    masks: dict[str, Mask] = {}
    for index, row in enumerate(rows):
        for value in values(row):
            masks.setdefault(value, np.zeros(len(rows), bool))[index] = True
    return dict(sorted(masks.items()))


def _read_column(name: str, row: Row) -> list[str]:
    """Read a query's value in a column of the topics table of a qrels file."""
    return [row["columns"][name]]


def _read_contamination(row: Row) -> list[str]:
    if "contamination" not in row:
        return ["not compared"]
    highest = max((match["similarity"] for match in row["contamination"]), default=0.0)
    degree = "" if highest == 1 else "nearly " if highest else "not "
    return [f"{degree}in training data"]


def _make_dimension_reader(index: int, count: int) -> Callable[[Row], list[str]]:
    """Make a function that reads one dimension of a stratum from its name."""

    def read_value(row: Row) -> list[str]:
        if row.get("inclusion_probability") is None:
            return [NOT_SAMPLED]
        parts = str(row["stratum"]).split(STRATUM_SEPARATOR)
        return [parts[index] if len(parts) == count else str(row["stratum"])]

    return read_value


def make_facets(queries: Sequence[Row], part_rows: Callable[[str], Sequence[Row]]) -> dict[str, Facet]:
    """Make all facets by which a release's queries can be divided.

    Parameters
    ----------
    queries: the evaluated queries; masks are in their order.
    part_rows: a function that returns the rows of a part of the release.
    """
    facets = make_sample_facets(queries, read_dimensions(part_rows("sampling")))
    coverage = part_rows("coverage")
    if not coverage:
        return facets
    coverage_rows = {row["query_id"]: row for row in part_rows("query_coverage")}
    rows = [coverage_rows[row["query_id"]] for row in queries]
    return facets | {CLUSTER: _cluster_facet(rows, coverage[0]["clusters"]), GRID: _grid_facet(rows)}


def _cluster_facet(rows: Sequence[Row], clusters: Sequence[Mapping[str, Any]]) -> Facet:
    from curation.queries.coverage.clusters import NO_CLUSTER, SMALL_ONLY

    clusters_of = [frozenset(row["clusters"]) for row in rows]
    regions = {cluster["number"]: cluster["name"] for cluster in clusters if cluster["region"]}
    masks = {number: np.array([number in numbers for numbers in clusters_of]) for number in regions}
    values = {f"{number} {name}": masks[number] for number, name in regions.items()}
    outside = np.array([not numbers.intersection(regions) for numbers in clusters_of])
    unassigned = np.array([not numbers for numbers in clusters_of])
    other_values = {SMALL_ONLY: outside & ~unassigned, NO_CLUSTER: unassigned}
    return _make_facet(CLUSTER, values, other_values)


def _grid_facet(rows: Sequence[Row]) -> Facet:
    from curation.queries.coverage.query_shapes import list_possible_cells, name_third

    def name_cell(dispersion: int | None, alignment: int | None) -> str:
        thirds = {"Δ": dispersion, "J": alignment}
        return ", ".join(f"{name} {name_third(third)}" for name, third in thirds.items() if third is not None)

    cells = [None if row["cell"] is None else tuple(row["cell"]) for row in rows]
    possible = list_possible_cells([cell for cell in cells if cell is not None])
    values = {name_cell(*cell_at): np.array([cell == cell_at for cell in cells]) for cell_at in possible}
    other_values = {NO_CELL: np.array([cell is None for cell in cells])}
    return _make_facet(GRID, values, other_values)


def _make_facet(name: str, values: dict[str, Mask], other_values: Mapping[str, Mask]) -> Facet:
    outside = {value: mask for value, mask in other_values.items() if mask.any()}
    return Facet(name, values | outside, outside=tuple(outside))


def read_dimensions(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the stratum dimensions of a release's sample, in the order used in the strata's names."""
    return list(samples[0]["parameters"].get("strata", [])) if samples else []
