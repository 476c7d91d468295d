"""Coverage as evaluation reads it from a release: its regions and the 3 × 3 grid as facets of the queries.

    cluster  each region of the corpus; a query is in every region that it is about
    grid     the thirds of dispersion Δ and of alignment J, as the release has their boundaries

Regions without an evaluated query are values too: what systems reach there is unknown. Queries that are in no
region, or have no cell, are counted under a value of their own, which is no stratum of the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from curation.coverage.clusters import NO_CLUSTER, SMALL_ONLY
from curation.evaluation.inputs.facets import CLUSTER, GRID, Facet, Row
from curation.releases.verify import Opened
from curation.statistics.arrays import Mask

NO_CELL = "no relevant document in a cluster"
THIRDS = ("low", "middle", "high")


def coverage_facets(query_ids: Sequence[str], release: Opened) -> list[Facet]:
    """The facets `cluster` and `grid` of queries; none where the release has no coverage.

    Parameters
    ----------
    query_ids: the evaluated queries; masks are in their order.
    """
    coverage = release.rows("coverage")
    if not coverage:
        return []
    of = {row["query_id"]: row for row in release.rows("query_coverage")}
    rows = [of[query_id] for query_id in query_ids]
    return [_clusters(rows, coverage[0]["clusters"]), _grid(rows)]


def cell_name(dispersion: int, alignment: int) -> str:
    """What a cell of the grid is called, by its thirds from 0."""
    return f"Δ {THIRDS[dispersion]}, J {THIRDS[alignment]}"


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
