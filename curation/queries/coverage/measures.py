"""Measures of coverage, which say how much of the corpus the queries test (Klearman et al. 2026).

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
    counted_clusters: Collection[int],
    document_clusters: Sequence[Clusters],
    query_clusters: Sequence[Clusters],
    traffic_clusters: Sequence[tuple[Clusters, int]] = (),
) -> CoverageMeasures:
    """Compute coverage over the counted clusters. Documents and queries in other clusters do not count.

    Parameters
    ----------
    document_clusters, query_clusters: C(d) of each document, C(q) of each query.
    traffic_clusters: clusters and number of searches of each text.
    """
    counted = frozenset(counted_clusters)
    documents = [clusters & counted for clusters in document_clusters if clusters & counted]
    query_counts = count_by_cluster(query_clusters)
    covered = {cluster for cluster in counted if query_counts.get(cluster, 0)}
    covered_for_scc = {cluster for cluster in counted if query_counts.get(cluster, 0) >= MIN_FOR_SCC}
    mass = spread_over_clusters((clusters, 1) for clusters in documents)
    traffic = spread_over_clusters((clusters & counted, searches) for clusters, searches in traffic_clusters)
    return CoverageMeasures(
        clusters=len(counted),
        documents=len(documents),
        queries=sum(bool(clusters & counted) for clusters in query_clusters),
        msc=_divide_or_none(len(covered), len(counted)),
        msc_by_mass=_compute_covered_share(mass, covered),
        msc_by_traffic=_compute_covered_share(traffic, covered),
        scc=_divide_or_none(sum(bool(clusters & covered_for_scc) for clusters in documents), len(documents)),
        zqc=len(counted) - len(covered),
    )


def get_clusters(entities: Iterable[int], cluster_of: Sequence[int]) -> Clusters:
    """Return the clusters of entities, given by position. `cluster_of` has the cluster of each entity."""
    return frozenset(cluster_of[entity] for entity in entities)


def count_by_cluster(items: Iterable[Clusters]) -> dict[int, int]:
    """Count the queries or documents in each cluster, leaving out empty clusters."""
    return dict(Counter(cluster for clusters in items for cluster in clusters))


def spread_over_clusters(items: Iterable[tuple[Clusters, int]]) -> dict[int, float]:
    """Sum amounts by cluster; an item's amount is spread evenly over its clusters."""
    masses: dict[int, float] = {}
    for clusters, amount in items:
        for cluster in sorted(clusters):
            masses[cluster] = masses.get(cluster, 0.0) + amount / len(clusters)
    return masses


def _compute_covered_share(weights: dict[int, float], covered: Collection[int]) -> float | None:
    covered_weight = fsum(weight for cluster, weight in weights.items() if cluster in covered)
    return _divide_or_none(covered_weight, fsum(weights.values()))


def _divide_or_none(numerator: float, denominator: float) -> float | None:
    return numerator / denominator if denominator else None
