"""Measures of coverage: how much of the corpus the queries test (Klearman et al. 2026).

C(d) is the set of clusters of a document d, and C(q) is the set of clusters of a query q.

- MSC: the share of clusters with a query;
- SCC: the share of documents in a cluster with at least `MIN_FOR_SCC` queries;
- ZQC: the number of clusters without a query.

The share MSC is also given weighted by corpus mass and weighted by traffic. Each document and each search has
a mass of 1, which is spread evenly over the clusters of the document or search. A coverage share with
denominator 0 is None, because the share is unknown and not zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import fsum
from typing import NamedTuple

MIN_FOR_SCC = 5
"""Fewest queries of a cluster whose documents count as covered in SCC."""

Clusters = frozenset[int]


class CoverageMeasures(NamedTuple):
    """The measures of coverage over a set of counted clusters.

    Attributes
    ----------
    clusters: number of counted clusters.
    documents: number of documents in a counted cluster.
    queries: number of queries about a counted cluster.
    msc, msc_by_mass, msc_by_traffic: shares between 0 and 1; None without a cluster, without a document in a
        cluster, or without a search about a cluster.
    scc: share between 0 and 1; None without documents.
    zqc: number of clusters without a query.
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
    """Compute coverage over the counted clusters. Documents and queries of other clusters do not count.

    Parameters
    ----------
    traffic: clusters and number of searches of each text.
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
        msc=_ratio_or_none(len(touched), len(kept)),
        msc_by_mass=_touched_share(mass, touched),
        msc_by_traffic=_touched_share(searches, touched),
        scc=_ratio_or_none(sum(bool(clusters & enough) for clusters in documents), len(documents)),
        zqc=len(kept) - len(touched),
    )


def clusters_at(places: Iterable[int], cluster_of: Sequence[int]) -> Clusters:
    """Find the clusters of entities given by position. `cluster_of` has the cluster of each entity."""
    return frozenset(cluster_of[entity] for entity in places)


def count_in_clusters(items: Iterable[Clusters]) -> dict[int, int]:
    """Count the queries, or documents, of each cluster. Clusters with a count of 0 are absent."""
    return dict(Counter(number for clusters in items for number in clusters))


def spread(items: Iterable[tuple[Clusters, int]]) -> dict[int, float]:
    """Sum the amounts of items by cluster. Each amount is spread evenly over the item's clusters."""
    masses: dict[int, float] = {}
    for clusters, amount in items:
        for number in sorted(clusters):
            masses[number] = masses.get(number, 0.0) + amount / len(clusters)
    return masses


def _touched_share(weights: dict[int, float], touched: Collection[int]) -> float | None:
    return _ratio_or_none(
        fsum(weight for number, weight in weights.items() if number in touched), fsum(weights.values())
    )


def _ratio_or_none(part: float, whole: float) -> float | None:
    return part / whole if whole else None
