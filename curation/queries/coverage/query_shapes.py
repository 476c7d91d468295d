"""Shapes of queries: the dispersion and alignment of each query, and the 3 × 3 grid of both.

The figures are from Klearman et al. 2026. D(q) are the relevant documents of a query, C(q) and C(d) the
clusters of a query and of a document, and C(D(q)) = ∪ C(d) over d in D(q).

- The dispersion Δ(q) = |C(D(q))| / Σ |C(d)| over d in D(q) is 1 if the relevant documents share no cluster,
  and low if they are all about the same clusters. It needs two relevant documents: with one it is always 1.
- The alignment J(q) = |C(q) ∩ C(D(q))| / |C(q) ∪ C(D(q))| is 1 if the query is about the same clusters as its
  relevant documents.

Both figures are undefined if no relevant document has a cluster. Tertiles cut each figure in three parts; a
value on a boundary belongs to the lower part. A figure whose two boundaries are equal is not cut, and the
cells of the grid are then the thirds of the other figure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from curation.queries.coverage.measures import Clusters

_THIRDS = ("low", "middle", "high")
Cell = tuple[int | None, int | None]
"""The thirds of dispersion and alignment, from 0; None if the figure is undefined or not cut."""


class QueryShape(NamedTuple):
    """The dispersion of a query in (0, 1], None with one relevant document, and the alignment in [0, 1]."""

    dispersion: float | None
    alignment: float


class Tertiles(NamedTuple):
    """The two boundaries that cut a figure in three; a value on a boundary belongs to the lower part."""

    lower: float
    upper: float

    def part(self, value: float) -> int:
        """Find the third of a value: 0, 1 or 2, from low to high."""
        return int(value > self.lower) + int(value > self.upper)


Cuts = tuple[Tertiles | None, Tertiles | None]
"""The boundaries of dispersion and alignment; None for a figure that is unknown or not cut."""


def dispersion(of_relevant: Iterable[Clusters]) -> float | None:
    """Compute Δ from C(d) of each relevant document; None if fewer than two of them have a cluster."""
    in_clusters = [clusters for clusters in of_relevant if clusters]
    return len(frozenset().union(*in_clusters)) / sum(map(len, in_clusters)) if len(in_clusters) > 1 else None


def alignment(of_query: Clusters, of_relevant: Iterable[Clusters]) -> float | None:
    """Compute J from C(q) and C(d) of each relevant document; None if no relevant document has a cluster."""
    relevant = frozenset().union(*of_relevant)
    return len(of_query & relevant) / len(of_query | relevant) if relevant else None


def query_shape(of_query: Clusters, of_relevant: Sequence[Clusters]) -> QueryShape | None:
    """Compute Δ and J of one query; None if no relevant document has a cluster."""
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
    """Find the cell of a query in the grid; None if the query has a third of neither figure."""
    third = None if spread is None or shape.dispersion is None else spread.part(shape.dispersion)
    cell = (third, None if aligned is None else aligned.part(shape.alignment))
    return None if cell == (None, None) else cell


def possible_cells(cells: Collection[Cell]) -> list[Cell]:
    """List the possible cells of the kinds that occur: all nine, or the thirds of one figure alone."""
    thirds = range(3)
    nine: list[Cell] = [(spread, aligned) for spread in thirds for aligned in thirds]
    kinds: list[list[Cell]] = [nine, [(None, third) for third in thirds], [(third, None) for third in thirds]]
    return [cell for kind in kinds if not set(kind).isdisjoint(cells) for cell in kind]


def _find_tertiles(values: Sequence[float | None]) -> Tertiles | None:
    """Compute the boundaries of the known values; None if both boundaries are equal."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    cuts = Tertiles(*np.quantile(known, [1 / 3, 2 / 3]).tolist())
    return cuts if cuts.lower < cuts.upper else None
