"""Dispersion and alignment of queries, and the 3 × 3 grid of both (Klearman et al. 2026).

With D(q) the relevant documents of a query:

- dispersion Δ(q) = |∪ C(d)| / Σ |C(d)| over d in D(q): 1 where relevant documents share no cluster, low where
  they are all about the same;
- alignment J(q) = |C(q) ∩ C(D(q))| / |C(q) ∪ C(D(q))| with C(D(q)) = ∪ C(d): 1 where the query names
  just what its relevant documents are about.

A query without a relevant document that has clusters has neither. Tertiles cut both; a value on a boundary is
in the lower part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from curation.coverage.measures import Clusters


class QueryShape(NamedTuple):
    """Δ in (0, 1] and J in [0, 1] of a query."""

    dispersion: float
    alignment: float


class Tertiles(NamedTuple):
    """The two values that cut a figure in three; a value on one is below it."""

    lower: float
    upper: float

    def part(self, value: float) -> int:
        """0, 1 or 2, from low to high."""
        return int(value > self.lower) + int(value > self.upper)


class QueryGrid(NamedTuple):
    """The cells of queries, as (tertile of dispersion, tertile of alignment).

    Attributes
    ----------
    left_out: queries without a relevant document that has a cluster: they have no cell.
    """

    dispersion: Tertiles
    alignment: Tertiles
    cells: dict[str, tuple[int, int]]
    left_out: list[str]


def dispersion(of_relevant: Iterable[Clusters]) -> float | None:
    """Δ from C(d) of each relevant document; None if none of them has a cluster."""
    held = list(of_relevant)
    total = sum(map(len, held))
    return len(frozenset().union(*held)) / total if total else None


def alignment(of_query: Clusters, of_relevant: Iterable[Clusters]) -> float | None:
    """J from C(q) and C(d) of each relevant document; None if none of these has a cluster."""
    relevant = frozenset().union(*of_relevant)
    return len(of_query & relevant) / len(of_query | relevant) if relevant else None


def query_shape(of_query: Clusters, of_relevant: Sequence[Clusters]) -> QueryShape | None:
    """Δ and J of one query; None if no relevant document has a cluster."""
    spread, aligned = dispersion(of_relevant), alignment(of_query, of_relevant)
    return None if spread is None or aligned is None else QueryShape(spread, aligned)


def make_grid(shapes: Mapping[str, QueryShape | None]) -> QueryGrid | None:
    """The grid of queries by their id; None if none of them has a shape."""
    known = {query_id: shape for query_id, shape in sorted(shapes.items()) if shape is not None}
    if not known:
        return None
    spread = _tertiles([shape.dispersion for shape in known.values()])
    aligned = _tertiles([shape.alignment for shape in known.values()])
    return QueryGrid(
        dispersion=spread,
        alignment=aligned,
        cells={
            query_id: (spread.part(shape.dispersion), aligned.part(shape.alignment))
            for query_id, shape in known.items()
        },
        left_out=sorted(shapes.keys() - known.keys()),
    )


def _tertiles(values: Sequence[float]) -> Tertiles:
    lower, upper = np.quantile(values, [1 / 3, 2 / 3])
    return Tertiles(float(lower), float(upper))
