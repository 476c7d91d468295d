"""Partitions of the entity graph by Leiden at several resolutions, and the choice of a stable resolution.

Leiden (Traag et al. 2019) maximizes modularity with a resolution γ: a higher γ gives more and smaller
clusters. An isolated entity, which has no neighbour, is a cluster by itself.

For every resolution γ, each of several seeds gives a partition. The adjusted Rand index (Hubert and Arabie
1985) between the partitions shows how much the clusters depend on the seed. Isolated entities do not count,
because all partitions agree on isolated entities. The recovered share of a resolution shows how much of the
corpus is in regions that other draws of documents give too. Each draw has four fifths of the documents, and
is clustered with the same resolution γ. Each region is compared with the most similar cluster of the draw, by
the Jaccard index of the entities that both the region and the cluster could have (Hennig 2007, Cluster-wise
assessment of cluster stability, with subsets instead of the bootstrap). The recovered share is the mean
Jaccard index of the regions, weighted by the mass of each region. Each document has a mass of 1, spread
evenly over its entities. The one-standard-error rule chooses the finest resolution γ whose recovered share is
at most one standard error below the best share (Breiman et al. 1984, section 3.4.3; Patterson-Cross, Levine
and Menon 2021, BMC Bioinformatics 22:39).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, repeat
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from curation.core.digests import digest
from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.queries.coverage.clusters import count_documents
from curation.queries.coverage.entity_graph import EntityGraph

ITERATIONS = 3
"""Number of cycles of Leiden; each cycle starts from the result of the previous cycle."""
RESOLUTIONS = (1.0, 2.0, 5.0, 10.0, 15.0, 25.0, 40.0, 60.0)
SEEDS = 3
DRAWS = 5
DRAWN = 0.8
"""Share of the documents of the corpus in each random draw."""


DrawnGraphs = list[tuple[Ints, EntityGraph]]
"""The entities of each draw of documents, and the graph of these entities."""


class Partitions(NamedTuple):
    """The partitions of an entity graph into clusters at one resolution, one for each seed.

    Attributes
    ----------
    labels: cluster of each entity, an array (entities,) for each seed; the first array is for the given seed.
    rand_index: mean adjusted Rand index over the pairs of seeds; None if fewer than two entities have edges.
    recovered: recovered share of each draw for the first seed; empty if there are fewer than two documents.
    """

    resolution: float
    labels: list[Ints]
    rand_index: float | None
    recovered: tuple[float, ...] = ()

    @property
    def recovered_share(self) -> float | None:
        """Return the mean over the draws of the share that each draw recovers, or None without draws."""
        return round(fmean(self.recovered), 6) if self.recovered else None


def partition_graph(graph: EntityGraph, resolution: float, seed: int) -> Ints:
    """Find the cluster of each entity, shape (nodes,); clusters are numbered in the order of their first
    entities.

    Raises
    ------
    RefusedError: graspologic-native is not installed.
    """
    if not len(graph.first):
        return np.arange(graph.nodes)
    try:
        from graspologic_native import leiden_csr
    except ImportError as error:
        raise RefusedError("Coverage needs graspologic-native: pip install graspologic-native.") from error
    connected = np.flatnonzero(graph.degrees)
    matrix = graph.matrix()[connected][:, connected].tocsr()
    matrix.sort_indices()
    _, labels = leiden_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
        len(connected),
        resolution=resolution,
        iterations=ITERATIONS,
        seed=seed,
    )
    return _number_by_first_entity(graph.nodes, connected, labels)


def _number_by_first_entity(nodes: int, connected: Ints, clusters: Mapping[int, int] | Sequence[int]) -> Ints:
    labels = np.arange(nodes) + nodes  # an isolated entity gets a label of its own
    labels[connected] = [clusters[node] for node in range(len(connected))]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[inverse]


def find_partitions(
    graph: EntityGraph,
    document_entities: Mapping[str, Sequence[int]],
    min_documents: int,
    seed: int,
    resolutions: Sequence[float] = RESOLUTIONS,
    progress: Progress = silent,
) -> list[Partitions]:
    """Partition the graph at each resolution with the seeds `seed`, `seed` + 1, …

    Parameters
    ----------
    document_entities: document id → positions of its entities.
    min_documents: fewest documents of a region.
    """
    partitions = []
    is_connected = graph.degrees > 0
    draws = draw_graphs(graph, document_entities, seed)
    masses = compute_entity_masses(graph.nodes, document_entities)
    for number, resolution in enumerate(sorted(set(resolutions)), 1):
        graphs = [*repeat(graph, SEEDS), *(drawn for _, drawn in draws)]
        seeds = [*range(seed, seed + SEEDS), *repeat(seed, len(draws))]
        all_labels = _partition_all(graphs, resolution, seeds)
        labels, draw_labels = all_labels[:SEEDS], all_labels[SEEDS:]
        is_region = count_documents(labels[0], document_entities) >= min_documents
        recovered = compute_recovered_shares(labels[0], is_region, masses, draws, draw_labels)
        rand_index = compute_mean_rand_index([part[is_connected] for part in labels])
        partitions.append(Partitions(resolution, labels, rand_index, tuple(recovered)))
        progress("grouping phrases", number, len(set(resolutions)))
    return partitions


def compute_mean_rand_index(partitions: Sequence[Ints]) -> float | None:
    """Average the adjusted Rand index over all pairs of partitions; None with fewer than two partitions or
    entities."""
    if len(partitions) < 2 or len(partitions[0]) < 2:
        return None
    from sklearn.metrics import adjusted_rand_score

    pairs = combinations(partitions, 2)
    return round(float(np.mean([adjusted_rand_score(first, second) for first, second in pairs])), 6)


def choose_resolution(partitions: Sequence[Partitions]) -> float:
    """Choose the resolution by the one-standard-error rule, or the lowest one if there are no draws."""
    candidates = [candidate for candidate in partitions if candidate.recovered]
    if not candidates:
        return min(candidate.resolution for candidate in partitions)
    best = max(candidates, key=lambda candidate: (fmean(candidate.recovered), candidate.resolution))
    error = stdev(best.recovered) / sqrt(len(best.recovered)) if len(best.recovered) > 1 else 0.0
    lower_bound = fmean(best.recovered) - error
    return max(candidate.resolution for candidate in candidates if fmean(candidate.recovered) >= lower_bound)


def draw_graphs(graph: EntityGraph, entities_of: Mapping[str, Sequence[int]], seed: int) -> DrawnGraphs:
    """Draw documents several times, and return the entities (ascending) and the entity graph of each draw.

    Node i of a graph is the i-th entity of the draw. Documents without an entity do not count, and fewer than
    two documents give no draw.
    """
    ids = sorted(document_id for document_id, entities in entities_of.items() if entities)
    if len(ids) < 2:
        return []
    key = int(digest("coverage draws", seed)[:16], 16)
    random = np.random.Generator(np.random.PCG64(key))
    draws = []
    for _ in range(DRAWS):
        drawn = random.permutation(len(ids))[: max(1, round(DRAWN * len(ids)))]
        drawn_entities = np.unique(np.concatenate([np.array(entities_of[ids[index]]) for index in drawn]))
        draws.append((drawn_entities, _restrict_graph(graph, drawn_entities)))
    return draws


def compute_entity_masses(entities: int, document_entities: Mapping[str, Sequence[int]]) -> Floats:
    """Compute the mass of each entity from its documents, shape (entities,)."""
    masses = np.zeros(entities)
    for _, indices in sorted(document_entities.items()):
        masses[list(indices)] += 1 / max(1, len(indices))
    return masses


def compute_recovered_shares(
    labels: Ints, is_region: Mask, masses: Floats, draws: DrawnGraphs, partitions: Sequence[Ints]
) -> list[float]:
    """Compute the recovered share of each draw, between 0 and 1.

    Parameters
    ----------
    labels: cluster of each entity in the whole graph, shape (entities,).
    is_region: whether each cluster is a region, shape (clusters,).
    masses: mass of each entity, shape (entities,).
    partitions: partition of each draw's graph.
    """
    shares = np.bincount(labels, masses, len(is_region)) * is_region / masses.sum()
    overlaps = (
        _find_best_overlaps(labels[entities], draw_labels, len(is_region))
        for (entities, _), draw_labels in zip(draws, partitions, strict=True)
    )
    return [round(float(shares @ overlap), 6) for overlap in overlaps]


def _partition_all(graphs: Sequence[EntityGraph], resolution: float, seeds: Sequence[int]) -> list[Ints]:
    """Partition each graph with its seed, on all processors: the Leiden code releases the GIL."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partition_graph, graphs, repeat(resolution), seeds))


def _restrict_graph(graph: EntityGraph, entities: Ints) -> EntityGraph:
    index_of = np.full(graph.nodes, -1)
    index_of[entities] = np.arange(len(entities))
    first, second = index_of[graph.first], index_of[graph.second]
    is_inside = (first >= 0) & (second >= 0)
    return EntityGraph(len(entities), first[is_inside], second[is_inside], graph.weights[is_inside])


def _find_best_overlaps(labels: Ints, other_labels: Ints, clusters: int) -> Floats:
    """Find each cluster's highest Jaccard index with any cluster of another partition; 0 for a cluster
    without entities."""
    pairs, common = np.unique(np.stack([labels, other_labels]), axis=1, return_counts=True)
    sizes, other_sizes = np.bincount(labels, minlength=clusters), np.bincount(other_labels)
    unions = sizes[pairs[0]] + other_sizes[pairs[1]] - common
    overlaps = np.zeros(clusters)
    np.maximum.at(overlaps, pairs[0], common / unions)
    return overlaps
