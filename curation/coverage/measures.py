"""Coverage measured: how much of the corpus the queries test (Klearman et al. 2026).

With C(d) the clusters of a document, C(q) those of a query:

- MSC, the share of clusters with a query;
- SCC, the share of documents in a cluster with `ENOUGH` queries or more;
- ZQC, the number of clusters without a query.

MSC is also weighted, by corpus mass and by traffic. A document has a mass of 1, a search of 1, each spread
evenly over its clusters. A share of nothing is None: unknown, not zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import fsum
from typing import NamedTuple

ENOUGH = 5
"""Queries that make a cluster tested well enough for SCC."""

Clusters = frozenset[int]


class AskedText(NamedTuple):
    """A text of the traffic: its clusters, and how many searches asked it."""

    clusters: Clusters
    searches: int


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
    traffic: Sequence[AskedText] = (),
) -> CoverageMeasures:
    """The measures over the counted clusters; documents and queries elsewhere do not count."""
    kept = frozenset(counted)
    documents = [held & kept for held in of_documents if held & kept]
    asked = count_in_clusters(of_queries)
    touched = {number for number in kept if asked.get(number, 0)}
    enough = {number for number in kept if asked.get(number, 0) >= ENOUGH}
    mass = spread((held, 1) for held in documents)
    searches = spread((text.clusters & kept, text.searches) for text in traffic)
    return CoverageMeasures(
        clusters=len(kept),
        documents=len(documents),
        queries=sum(bool(held & kept) for held in of_queries),
        msc=_share(len(touched), len(kept)),
        msc_by_mass=_weighted(mass, touched),
        msc_by_traffic=_weighted(searches, touched),
        scc=_share(sum(bool(held & enough) for held in documents), len(documents)),
        zqc=len(kept) - len(touched),
    )


def count_in_clusters(items: Iterable[Clusters]) -> dict[int, int]:
    """Cluster → number of the queries, or documents, in it; clusters without any are absent."""
    return dict(Counter(number for held in items for number in held))


def spread(held: Iterable[tuple[Clusters, int]]) -> dict[int, float]:
    """Cluster → the sum of what each item gives it; an item is spread evenly over its clusters."""
    found: dict[int, float] = {}
    for clusters, amount in held:
        for number in sorted(clusters):
            found[number] = found.get(number, 0.0) + amount / len(clusters)
    return found


def _weighted(weights: dict[int, float], touched: Collection[int]) -> float | None:
    return _share(
        fsum(weight for number, weight in weights.items() if number in touched), fsum(weights.values())
    )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
