"""Clusters of the entity graph with their documents and names: the strata of a corpus.

A region is a cluster with at least `MIN_DOCUMENTS` documents: a region is large enough to deserve a query.
Clusters are numbered from the largest, ordered by number of documents, then number of entities, then first
entity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Ints
from curation.queries.coverage.cluster_names import naming_entities
from curation.queries.coverage.entities import Entity
from curation.queries.coverage.entity_graph import EntityGraph
from curation.queries.requests import MIN_DOCUMENTS

SMALL_ONLY, NO_CLUSTER = "in small clusters only", "in no cluster"
"""Names of the strata for queries that are in no region."""


class Cluster(NamedTuple):
    """A cluster of entities with its documents.

    Attributes
    ----------
    number: number of the cluster, from 0 for the largest cluster.
    name: names of the naming entities (`curation.queries.coverage.cluster_names`), or a name by a lead.
    entities: positions of the entities: first the naming entities, then by the weight of their edges inside.
    documents: ids of the documents with at least one of the entities, ascending.
    is_region: whether the cluster has enough documents to be a region.
    """

    number: int
    name: str
    entities: tuple[int, ...]
    documents: tuple[str, ...]
    is_region: bool


def make_clusters(
    labels: Ints,
    graph: EntityGraph,
    entities: Sequence[Entity],
    of_documents: Mapping[str, Sequence[int]],
    least_documents: int = MIN_DOCUMENTS,
) -> list[Cluster]:
    """Make the clusters of a partition with their documents and names, the largest cluster first.

    Parameters
    ----------
    labels: cluster of each entity, shape (entities,).
    of_documents: document id → positions of its entities.
    """
    members: dict[int, list[int]] = {}
    for entity, label in enumerate(labels.tolist()):
        members.setdefault(label, []).append(entity)
    documents: dict[int, set[str]] = {label: set() for label in members}
    for document_id, entities_of_document in of_documents.items():
        for entity in entities_of_document:
            documents[int(labels[entity])].add(document_id)
    inside = _weights_inside(graph, labels)
    ordered = sorted(members, key=lambda at: (-len(documents[at]), -len(members[at]), members[at]))
    naming = naming_entities([members[label] for label in ordered], labels, entities, of_documents)
    clusters = []
    for number, (label, first) in enumerate(zip(ordered, naming, strict=True)):
        central = sorted(members[label], key=lambda entity: (entity not in first, -inside[entity], entity))
        name = ", ".join(entities[entity].name for entity in first)
        of_cluster = tuple(sorted(documents[label]))
        ranked = (*first, *central[len(first) :])
        clusters.append(Cluster(number, name, ranked, of_cluster, len(of_cluster) >= least_documents))
    return clusters


def _weights_inside(graph: EntityGraph, labels: Ints) -> list[float]:
    """Sum the weights of each entity's edges inside its cluster."""
    same = labels[graph.first] == labels[graph.second]
    ends = np.concatenate([graph.first[same], graph.second[same]])
    weights = np.concatenate([graph.weights[same], graph.weights[same]])
    totals: list[float] = np.round(np.bincount(ends, weights, graph.nodes), 6).tolist()
    return totals


def documents_of(labels: Ints, of_documents: Mapping[str, Sequence[int]]) -> Ints:
    """Count the documents of each cluster, shape (clusters,)."""
    clusters = int(labels.max(initial=-1)) + 1
    documents = np.repeat(np.arange(len(of_documents)), [len(entities) for entities in of_documents.values()])
    of_entities = labels[np.fromiter(chain.from_iterable(of_documents.values()), np.int64)]
    return np.bincount(np.unique(documents * clusters + of_entities) % max(1, clusters), minlength=clusters)
