"""Coverage as evaluation reads it from a release: its regions and the 3 × 3 grid as facets of the queries.

    cluster  each region of the corpus; a query is in every region that it is about
    grid     the thirds of dispersion Δ and of alignment J, as the release has their boundaries

Regions without an evaluated query are values too: what systems reach there is unknown. Queries that are in no
region, or have no cell, are counted under a value of their own, which is no stratum of the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from curation.evaluation.inputs.facets import CLUSTER, GRID, Facet, Mask, Row

SMALL_ONLY = "in small clusters only"
NO_CLUSTER = "in no cluster"
NO_CELL = "no relevant document in a cluster"
THIRDS = ("low", "middle", "high")


class Boundaries(NamedTuple):
    """Where a figure is cut in three; a value on a boundary is in the lower part."""

    lower: float
    upper: float


class ReleasedCoverage(NamedTuple):
    """What a release says about its coverage map.

    Attributes
    ----------
    resolution, seed, least_documents: that made the map's regions.
    regions: of the whole corpus.
    relevant_grade: least grade of the relevant documents that Δ and J are of.
    dispersion, alignment: None where no query has a cell.
    """

    map_id: str
    resolution: float
    seed: int
    least_documents: int
    regions: int
    relevant_grade: int
    dispersion: Boundaries | None
    alignment: Boundaries | None


def released_coverage(rows: Sequence[Row]) -> ReleasedCoverage | None:
    """The part `coverage` of a release; None where it has none."""
    if not rows:
        return None
    row = rows[0]
    parameters = row["parameters"]
    return ReleasedCoverage(
        map_id=row["map_id"],
        resolution=parameters["resolution"],
        seed=parameters["seed"],
        least_documents=parameters["least_documents"],
        regions=sum(cluster["region"] for cluster in row["clusters"]),
        relevant_grade=row["relevant_grade"],
        dispersion=_boundaries(row["dispersion"]),
        alignment=_boundaries(row["alignment"]),
    )


def about_coverage(found: ReleasedCoverage, relevant: int) -> list[str]:
    """The map and the grid's boundaries, in sentences; `relevant` is the grade that is evaluated by."""
    told = [
        f"Coverage map {found.map_id[:12]}…: {found.regions:,} regions of {found.least_documents:,} or more "
        f"documents, resolution {found.resolution:g}, seed {found.seed}."
    ]
    if found.dispersion is not None and found.alignment is not None:
        told.append(
            f"The grid is cut at a dispersion of {found.dispersion.lower:.3f} and "
            f"{found.dispersion.upper:.3f}, and an alignment of {found.alignment.lower:.3f} and "
            f"{found.alignment.upper:.3f}, both of documents with a grade of {found.relevant_grade} or more."
        )
        if relevant != found.relevant_grade:
            told.append(f"Binary measures count a grade of {relevant} or more.")
    return told


def coverage_facets(query_ids: Sequence[str], coverage: Sequence[Row], queries: Sequence[Row]) -> list[Facet]:
    """The facets `cluster` and `grid` of queries; none where the release has no coverage.

    Parameters
    ----------
    query_ids: the evaluated queries; masks are in their order.
    coverage, queries: the release's parts `coverage` and `query_coverage`.
    """
    if not coverage:
        return []
    of = {row["query_id"]: row for row in queries}
    rows = [of[query_id] for query_id in query_ids]
    return [_clusters(rows, coverage[0]["clusters"]), _grid(rows)]


def cell_name(dispersion: int, alignment: int) -> str:
    """What a cell of the grid is called, by its thirds from 0."""
    return f"dispersion {THIRDS[dispersion]}, alignment {THIRDS[alignment]}"


def _clusters(rows: Sequence[Row], clusters: Sequence[Mapping[str, Any]]) -> Facet:
    held = [frozenset(row["clusters"]) for row in rows]
    regions = {cluster["number"]: cluster["name"] for cluster in clusters if cluster["region"]}
    values = {
        f"{number} {name}": np.array([number in own for own in held]) for number, name in regions.items()
    }
    outside = np.array([not own.intersection(regions) for own in held])
    nowhere = np.array([not own for own in held])
    rest = {SMALL_ONLY: outside & ~nowhere, NO_CLUSTER: nowhere}
    return _facet(CLUSTER, values, rest, apart=False)


def _grid(rows: Sequence[Row]) -> Facet:
    cells = [None if row["cell"] is None else tuple(row["cell"]) for row in rows]
    values = {
        cell_name(spread, aligned): np.array([cell == (spread, aligned) for cell in cells])
        for spread in range(3)
        for aligned in range(3)
    }
    rest = {NO_CELL: np.array([cell is None for cell in cells])}
    return _facet(GRID, values, rest, apart=True, by_grades=True)


def _facet(
    name: str, values: dict[str, Mask], rest: Mapping[str, Mask], *, apart: bool, by_grades: bool = False
) -> Facet:
    held = {value: mask for value, mask in rest.items() if mask.any()}
    return Facet(name, values | held, apart, beside=tuple(held), by_grades=by_grades)


def _boundaries(row: Mapping[str, float] | None) -> Boundaries | None:
    return None if row is None else Boundaries(row["lower"], row["upper"])
