"""Coverage measured: how much of the corpus the queries test (Klearman et al. 2026).

C(d) are the clusters of a document, C(q) the clusters of a query.

- MSC, the share of clusters with a query;
- SCC, the share of documents in a cluster with `MIN_FOR_SCC` queries or more;
- ZQC, the number of clusters without a query.

MSC is also weighted, by corpus mass and by traffic. A document has a mass of 1, a search of 1, each spread
evenly over its clusters. A share of nothing is None: unknown, not zero.

Dispersion and alignment of queries, and the 3 × 3 grid of both (Klearman et al. 2026).

With D(q) the relevant documents of a query:

- dispersion Δ(q) = |∪ C(d)| / Σ |C(d)| over d in D(q): 1 where relevant documents share no cluster, low where
  they are all about the same. With one document it is 1 by definition and says nothing, so it needs two;
- alignment J(q) = |C(q) ∩ C(D(q))| / |C(q) ∪ C(D(q))| with C(D(q)) = ∪ C(d): 1 where the query names
  just what its relevant documents are about.

A query without a relevant document that has clusters has neither. Tertiles cut both; a value on a boundary is
in the lower part. A figure so often equal that both boundaries are one value is not cut: the cells are then
the thirds of the other one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import fsum
from typing import NamedTuple

import numpy as np

MIN_FOR_SCC = 5
"""Queries that make a cluster tested well enough for SCC."""

Clusters = frozenset[int]
_THIRDS = ("low", "middle", "high")


Cell = tuple[int | None, int | None]
"""The thirds of dispersion and alignment from 0; None if the figure is undefined or not cut."""


class CoverageMeasures(NamedTuple):
    """What the queries cover of some clusters.

    Attributes
    ----------
    clusters: how many are counted.
    documents: documents in any of them.
    queries: queries in any of them.
    msc, msc_by_mass, msc_by_traffic: shares between 0 and 1; None if there is no cluster, no document in one,
        or no search in one.
    scc: share between 0 and 1; None without documents.
    zqc: number of clusters.
    """

    clusters: int
    documents: int
    queries: int
    msc: float | None
    msc_by_mass: float | None
    msc_by_traffic: float | None
    scc: float | None
    zqc: int


def measure_coverage(
    counted: Collection[int],
    of_documents: Sequence[Clusters],
    of_queries: Sequence[Clusters],
    traffic: Sequence[tuple[Clusters, int]] = (),
) -> CoverageMeasures:
    """The measures over the counted clusters; documents and queries elsewhere do not count.

    Parameters
    ----------
    traffic: the clusters of each text that was asked for, and how many searches asked for it.
    """
    kept = frozenset(counted)
    documents = [clusters & kept for clusters in of_documents if clusters & kept]
    asked = count_in_clusters(of_queries)
    touched = {number for number in kept if asked.get(number, 0)}
    enough = {number for number in kept if asked.get(number, 0) >= MIN_FOR_SCC}
    mass = spread((clusters, 1) for clusters in documents)
    searches = spread((clusters & kept, times) for clusters, times in traffic)
    return CoverageMeasures(
        clusters=len(kept),
        documents=len(documents),
        queries=sum(bool(clusters & kept) for clusters in of_queries),
        msc=_share(len(touched), len(kept)),
        msc_by_mass=_weighted(mass, touched),
        msc_by_traffic=_weighted(searches, touched),
        scc=_share(sum(bool(clusters & enough) for clusters in documents), len(documents)),
        zqc=len(kept) - len(touched),
    )


def count_in_clusters(items: Iterable[Clusters]) -> dict[int, int]:
    """Cluster → number of the queries, or documents, in it; clusters without any are absent."""
    return dict(Counter(number for clusters in items for number in clusters))


def spread(items: Iterable[tuple[Clusters, int]]) -> dict[int, float]:
    """Cluster → the sum of what each item gives it; an item is spread evenly over its clusters."""
    masses: dict[int, float] = {}
    for clusters, amount in items:
        for number in sorted(clusters):
            masses[number] = masses.get(number, 0.0) + amount / len(clusters)
    return masses


def _weighted(weights: dict[int, float], touched: Collection[int]) -> float | None:
    return _share(
        fsum(weight for number, weight in weights.items() if number in touched), fsum(weights.values())
    )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


class QueryShape(NamedTuple):
    """Δ in (0, 1] of a query, None with one relevant document, and J in [0, 1]."""

    dispersion: float | None
    alignment: float


class Tertiles(NamedTuple):
    """The two values that cut a figure in three; a value on one is below it."""

    lower: float
    upper: float

    def part(self, value: float) -> int:
        """0, 1 or 2, from low to high."""
        return int(value > self.lower) + int(value > self.upper)


Cuts = tuple[Tertiles | None, Tertiles | None]
"""Where dispersion and alignment are cut in three; None if the figure is unknown, or mostly one value."""


def dispersion(of_relevant: Iterable[Clusters]) -> float | None:
    """Δ from C(d) of each relevant document; None with fewer than two that have a cluster."""
    in_clusters = [clusters for clusters in of_relevant if clusters]
    return len(frozenset().union(*in_clusters)) / sum(map(len, in_clusters)) if len(in_clusters) > 1 else None


def alignment(of_query: Clusters, of_relevant: Iterable[Clusters]) -> float | None:
    """J from C(q) and C(d) of each relevant document; None if none of these has a cluster."""
    relevant = frozenset().union(*of_relevant)
    return len(of_query & relevant) / len(of_query | relevant) if relevant else None


def query_shape(of_query: Clusters, of_relevant: Sequence[Clusters]) -> QueryShape | None:
    """Δ and J of one query; None if no relevant document has a cluster."""
    aligned = alignment(of_query, of_relevant)
    return None if aligned is None else QueryShape(dispersion(of_relevant), aligned)


def cuts_of(shapes: Iterable[QueryShape | None]) -> Cuts:
    """Where the dispersion and the alignment of these queries are cut in three."""
    known = [shape for shape in shapes if shape is not None]
    return _tertiles([shape.dispersion for shape in known]), _tertiles([shape.alignment for shape in known])


def third_name(third: int | None) -> str:
    """What a third is called, from 0; a dash for none."""
    return "–" if third is None else _THIRDS[third]


def cell_of(shape: QueryShape, spread: Tertiles | None, aligned: Tertiles | None) -> Cell | None:
    """The cell of a query by the boundaries; None if it has a third of neither figure."""
    third = None if spread is None or shape.dispersion is None else spread.part(shape.dispersion)
    cell = (third, None if aligned is None else aligned.part(shape.alignment))
    return None if cell == (None, None) else cell


def possible_cells(cells: Collection[Cell]) -> list[Cell]:
    """The cells that such queries can have: nine, and the thirds of one figure where the other has none."""
    thirds = range(3)
    nine: list[Cell] = [(spread, aligned) for spread in thirds for aligned in thirds]
    kinds: list[list[Cell]] = [nine, [(None, third) for third in thirds], [(third, None) for third in thirds]]
    return [cell for kind in kinds if not set(kind).isdisjoint(cells) for cell in kind]


def _tertiles(values: Sequence[float | None]) -> Tertiles | None:
    """The boundaries of the values that are known; None if both would be one value."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    cuts = Tertiles(*np.quantile(known, [1 / 3, 2 / 3]).tolist())
    return cuts if cuts.lower < cuts.upper else None
