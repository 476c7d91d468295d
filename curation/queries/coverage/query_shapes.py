"""Shapes of queries: the dispersion and alignment of each query, and the 3 × 3 grid of both.

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
from typing import NamedTuple

import numpy as np

from curation.queries.coverage.measures import Clusters

_THIRDS = ("low", "middle", "high")
Cell = tuple[int | None, int | None]
"""The third (0, 1 or 2) of a query's dispersion and alignment; None if the figure is undefined or not cut."""


class QueryShape(NamedTuple):
    """The dispersion of a query in (0, 1], None with one relevant document, and the alignment in [0, 1]."""

    dispersion: float | None
    alignment: float


class Tertiles(NamedTuple):
    """The two boundaries that cut dispersion or alignment in thirds. A value on a boundary belongs to the
    lower third.
    """

    lower: float
    upper: float

    def part(self, value: float) -> int:
        """Find the third that a value is in: 0, 1 or 2, from low to high."""
        return int(value > self.lower) + int(value > self.upper)


Cuts = tuple[Tertiles | None, Tertiles | None]
"""The boundaries of dispersion and alignment; None for a figure that is unknown or not cut."""


def dispersion(of_relevant: Iterable[Clusters]) -> float | None:
    """Compute dispersion Δ from C(d) of the relevant documents, or None if fewer than two have clusters."""
    in_clusters = [clusters for clusters in of_relevant if clusters]
    return len(frozenset().union(*in_clusters)) / sum(map(len, in_clusters)) if len(in_clusters) > 1 else None


def alignment(of_query: Clusters, of_relevant: Iterable[Clusters]) -> float | None:
    """Compute the alignment J from C(q) and C(d) of the relevant documents, or None if no document has a
    cluster.
    """
    relevant = frozenset().union(*of_relevant)
    return len(of_query & relevant) / len(of_query | relevant) if relevant else None


def query_shape(of_query: Clusters, of_relevant: Sequence[Clusters]) -> QueryShape | None:
    """Compute dispersion Δ and alignment J of one query, or None if no relevant document has a cluster."""
    aligned = alignment(of_query, of_relevant)
    return None if aligned is None else QueryShape(dispersion(of_relevant), aligned)


def cuts_of(shapes: Iterable[QueryShape | None]) -> Cuts:
    """Compute the boundaries that cut the dispersion and the alignment of queries in three."""
    known = [shape for shape in shapes if shape is not None]
    return _find_tertiles([shape.dispersion for shape in known]), _find_tertiles(
        [shape.alignment for shape in known]
    )


def third_name(third: int | None) -> str:
    """Name a third: low, middle, high, or a dash for None."""
    return "–" if third is None else _THIRDS[third]


def cell_of(shape: QueryShape, spread: Tertiles | None, aligned: Tertiles | None) -> Cell | None:
    """Find the cell of a query in the grid of thirds, or None if the query has no third."""
    third = None if spread is None or shape.dispersion is None else spread.part(shape.dispersion)
    cell = (third, None if aligned is None else aligned.part(shape.alignment))
    return None if cell == (None, None) else cell


def possible_cells(cells: Collection[Cell]) -> list[Cell]:
    """List the possible cells of the grid: all nine cells, or only the thirds of one figure."""
    thirds = range(3)
    nine: list[Cell] = [(spread, aligned) for spread in thirds for aligned in thirds]
    kinds: list[list[Cell]] = [nine, [(None, third) for third in thirds], [(third, None) for third in thirds]]
    return [cell for kind in kinds if not set(kind).isdisjoint(cells) for cell in kind]


def _find_tertiles(values: Sequence[float | None]) -> Tertiles | None:
    """Compute the boundaries of the thirds of the known values, or None if both boundaries are equal."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    cuts = Tertiles(*np.quantile(known, [1 / 3, 2 / 3]).tolist())
    return cuts if cuts.lower < cuts.upper else None
