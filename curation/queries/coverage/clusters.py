"""Clusters of the entity graph: the strata of coverage, by Leiden (Traag et al. 2019).

Leiden maximises modularity with a resolution γ: a higher γ gives more and smaller clusters. An entity without
a neighbour, isolated, is a cluster of its own. A region is a cluster with at least `LEAST_DOCUMENTS`
documents: a part of the corpus that deserves a query. Clusters with fewer, most of them isolated entities,
are counted
apart. Clusters are numbered from the largest, by documents, then entities, then their first entity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from curation.core.errors import RefusedError
from curation.core.statistics.arrays import Floats, Ints
from curation.queries.coverage import LEAST_DOCUMENTS
from curation.queries.coverage.entities import Entity
from curation.queries.coverage.names import naming_entities

if TYPE_CHECKING:
    pass
from curation.queries.coverage.entity_graph import EntityGraph

ITERATIONS = 3
"""Cycles of Leiden, each on the result of the one before."""


def documents_of(labels: Ints, of_documents: Mapping[str, Sequence[int]]) -> Ints:
    """The number of documents of each cluster, shape (clusters,)."""
    clusters = int(labels.max(initial=-1)) + 1
    documents = np.repeat(np.arange(len(of_documents)), [len(held) for held in of_documents.values()])
    of_entities = labels[np.fromiter(chain.from_iterable(of_documents.values()), np.int64)]
    return np.bincount(np.unique(documents * clusters + of_entities) % max(1, clusters), minlength=clusters)


def entity_masses(entities: int, of_documents: Mapping[str, Sequence[int]]) -> Floats:
    """The mass of each entity, shape (entities,)."""
    masses = np.zeros(entities)
    for _, held in sorted(of_documents.items()):
        masses[list(held)] += 1 / max(1, len(held))
    return masses


class Cluster(NamedTuple):
    """A stratum of the corpus.

    Attributes
    ----------
    number: from 0, the largest first.
    name: its naming entities (`curation.queries.coverage.names`).
    entities: their places: those that name it, then by the weight of their edges inside the cluster.
    documents: ids of the documents with one of the entities, ascending.
    is_region: whether it has as many documents as a region needs; otherwise it is counted apart.
    """

    number: int
    name: str
    entities: tuple[int, ...]
    documents: tuple[str, ...]
    is_region: bool


def partition(graph: EntityGraph, resolution: float, seed: int) -> Ints:
    """The cluster of each entity, shape (nodes,), numbered by first entity; isolated entities have one each.

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
    joined = np.flatnonzero(graph.degrees)
    matrix = graph.matrix()[joined][:, joined].tocsr()
    matrix.sort_indices()
    _, found = leiden_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
        len(joined),
        resolution=resolution,
        iterations=ITERATIONS,
        seed=seed,
    )
    return _by_first_entity(graph.nodes, joined, found)


def _by_first_entity(nodes: int, joined: Ints, found: Mapping[int, int] | Sequence[int]) -> Ints:
    labels = np.arange(nodes) + nodes  # isolated entities: all different, and none of Leiden's
    labels[joined] = [found[place] for place in range(len(joined))]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[inverse]


def make_clusters(
    labels: Ints,
    graph: EntityGraph,
    entities: Sequence[Entity],
    of_documents: Mapping[str, Sequence[int]],
    least_documents: int = LEAST_DOCUMENTS,
) -> list[Cluster]:
    """The clusters of a partition with their documents and names, the largest first.

    Parameters
    ----------
    labels: the cluster of each entity, shape (entities,).
    of_documents: document id → places of its entities.
    """
    members: dict[int, list[int]] = {}
    for place, label in enumerate(labels.tolist()):
        members.setdefault(label, []).append(place)
    documents: dict[int, set[str]] = {label: set() for label in members}
    for document_id, held in of_documents.items():
        for place in held:
            documents[int(labels[place])].add(document_id)
    inside = _weights_inside(graph, labels)
    ordered = sorted(members, key=lambda at: (-len(documents[at]), -len(members[at]), members[at]))
    naming = naming_entities([members[label] for label in ordered], labels, entities, of_documents)
    found = []
    for number, (label, first) in enumerate(zip(ordered, naming, strict=True)):
        central = sorted(members[label], key=lambda place: (place not in first, -inside[place], place))
        name = ", ".join(entities[place].name for place in first)
        is_region = len(documents[label]) >= least_documents
        found.append(
            Cluster(
                number, name, (*first, *central[len(first) :]), tuple(sorted(documents[label])), is_region
            )
        )
    return found


def _weights_inside(graph: EntityGraph, labels: Ints) -> list[float]:
    """The sum of the weights of each entity's edges within its cluster."""
    same = labels[graph.first] == labels[graph.second]
    ends = np.concatenate([graph.first[same], graph.second[same]])
    weights = np.concatenate([graph.weights[same], graph.weights[same]])
    totals: list[float] = np.round(np.bincount(ends, weights, graph.nodes), 6).tolist()
    return totals
