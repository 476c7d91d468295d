"""The shape of a query: the dispersion and the alignment of its clusters.

Dispersion and alignment are defined by Klearman et al. 2026. D(q) is the set of relevant documents of a query
q, C(q) and C(d) are the sets of clusters of a query and of a document, and C(D(q)) = ∪ C(d) over d in D(q).

- The dispersion Δ(q) = |C(D(q))| / Σ |C(d)| over d in D(q) is 1 if the relevant documents share no cluster,
  and low if they are all about the same clusters. The dispersion needs two relevant documents, because it is
  always 1 for one document.
- The alignment J(q) = |C(q) ∩ C(D(q))| / |C(q) ∪ C(D(q))| is 1 if the query is about the same clusters as its
  relevant documents.

Dispersion and alignment are undefined if no relevant document has a cluster. Tertiles cut dispersion and
alignment each in three parts. A value on a boundary belongs to the lower part. If the two boundaries of
dispersion, or of alignment, are equal, that figure is not cut, and the cells of the grid are the thirds of
the other figure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from curation.queries.coverage.measures import Clusters

_THIRDS = ("low", "middle", "high")
Cell = tuple[int | None, int | None]
"""The thirds (0, 1 or 2) in which a query's dispersion and alignment are; None if undefined or not cut."""


class QueryShape(NamedTuple):
    """A query's dispersion in (0, 1], None with one relevant document, and its alignment in [0, 1]."""

    dispersion: float | None
    alignment: float


class Tertiles(NamedTuple):
    """The two boundaries that divide dispersion or alignment into thirds; a value on a boundary is in the
    lower third."""

    lower: float
    upper: float

    def find_third(self, value: float) -> int:
        """Find the third in which a value lies: 0, 1 or 2, from low to high."""
        return int(value > self.lower) + int(value > self.upper)


Cuts = tuple[Tertiles | None, Tertiles | None]
"""The boundaries of dispersion and alignment; None for a figure that is unknown or not cut."""


def compute_dispersion(relevant_clusters: Iterable[Clusters]) -> float | None:
    """Compute dispersion Δ from C(d) of the relevant documents, or None if fewer than two have clusters."""
    non_empty = [clusters for clusters in relevant_clusters if clusters]
    if len(non_empty) < 2:
        return None
    return len(frozenset().union(*non_empty)) / sum(map(len, non_empty))


def compute_alignment(query_clusters: Clusters, relevant_clusters: Iterable[Clusters]) -> float | None:
    """Compute alignment J from C(q) and C(d) of relevant documents, or None if no document has a cluster."""
    relevant = frozenset().union(*relevant_clusters)
    return len(query_clusters & relevant) / len(query_clusters | relevant) if relevant else None


def measure_shape(query_clusters: Clusters, relevant_clusters: Sequence[Clusters]) -> QueryShape | None:
    """Compute dispersion Δ and alignment J of one query, or None if no relevant document has a cluster."""
    alignment = compute_alignment(query_clusters, relevant_clusters)
    return None if alignment is None else QueryShape(compute_dispersion(relevant_clusters), alignment)


def find_cuts(shapes: Iterable[QueryShape | None]) -> Cuts:
    """Compute the boundaries that divide queries' dispersion and alignment into thirds."""
    known_shapes = [shape for shape in shapes if shape is not None]
    dispersion_cuts = _find_tertiles([shape.dispersion for shape in known_shapes])
    alignment_cuts = _find_tertiles([shape.alignment for shape in known_shapes])
    return dispersion_cuts, alignment_cuts


def name_third(third: int | None) -> str:
    """Return the name of a third: low, middle, high, or a dash for None."""
    return "–" if third is None else _THIRDS[third]


def find_cell(shape: QueryShape, dispersion: Tertiles | None, alignment: Tertiles | None) -> Cell | None:
    """Find a query's cell in the grid of thirds, or None if the query has no third."""
    cell: Cell = (_find_third(shape.dispersion, dispersion), _find_third(shape.alignment, alignment))
    return None if cell == (None, None) else cell


def list_possible_cells(cells: Collection[Cell]) -> list[Cell]:
    """List the possible cells of the grid: all nine cells, or three if only dispersion or only alignment has
    thirds."""
    thirds = range(3)
    grids: list[list[Cell]] = [
        [*product(thirds, thirds)],
        [(None, third) for third in thirds],
        [(third, None) for third in thirds],
    ]
    return [cell for grid in grids if not set(grid).isdisjoint(cells) for cell in grid]


def _find_third(value: float | None, cuts: Tertiles | None) -> int | None:
    return None if value is None or cuts is None else cuts.find_third(value)


def _find_tertiles(values: Sequence[float | None]) -> Tertiles | None:
    """Compute the boundaries of the thirds of the known values, or None if both boundaries are equal."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    cuts = Tertiles(*np.quantile(known, [1 / 3, 2 / 3]).tolist())
    return cuts if cuts.lower < cuts.upper else None
