"""The clusters of the entity graph, which are the strata of a corpus.

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
from curation.queries.coverage.cluster_names import choose_naming_entities
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
    document_entities: Mapping[str, Sequence[int]],
    min_documents: int = MIN_DOCUMENTS,
) -> list[Cluster]:
    """Make a partition's clusters with their documents and names, largest cluster first.

    Parameters
    ----------
    labels: cluster of each entity, shape (entities,).
    document_entities: document id → positions of its entities.
    """
    members: dict[int, list[int]] = {}
    for entity, label in enumerate(labels.tolist()):
        members.setdefault(label, []).append(entity)
    documents: dict[int, set[str]] = {label: set() for label in members}
    for document_id, indices in document_entities.items():
        for entity in indices:
            documents[int(labels[entity])].add(document_id)
    largest_first = sorted(members, key=lambda at: (-len(documents[at]), -len(members[at]), members[at]))
    members_by_number = [members[label] for label in largest_first]
    naming = choose_naming_entities(members_by_number, labels, entities, document_entities)
    inner_weights = _sum_inner_weights(graph, labels)
    clusters = []
    for number, (label, naming_entities) in enumerate(zip(largest_first, naming, strict=True)):
        other_members = [entity for entity in members[label] if entity not in naming_entities]
        other_members.sort(key=lambda entity: (-inner_weights[entity], entity))
        name = ", ".join(entities[entity].name for entity in naming_entities)
        cluster_documents = tuple(sorted(documents[label]))
        is_region = len(cluster_documents) >= min_documents
        ranked = (*naming_entities, *other_members)
        clusters.append(Cluster(number, name, ranked, cluster_documents, is_region))
    return clusters


def count_documents(labels: Ints, document_entities: Mapping[str, Sequence[int]]) -> Ints:
    """Count each cluster's documents, shape (clusters,)."""
    clusters = int(labels.max(initial=-1)) + 1
    entity_counts = [len(entities) for entities in document_entities.values()]
    document_index = np.repeat(np.arange(len(document_entities)), entity_counts)
    entity_labels = labels[np.fromiter(chain.from_iterable(document_entities.values()), np.int64)]
    distinct_pairs = np.unique(document_index * clusters + entity_labels)
    return np.bincount(distinct_pairs % max(1, clusters), minlength=clusters)


def _sum_inner_weights(graph: EntityGraph, labels: Ints) -> list[float]:
    """Sum the weights of each entity's edges inside its cluster."""
    is_inner = labels[graph.first] == labels[graph.second]
    ends = np.concatenate([graph.first[is_inner], graph.second[is_inner]])
    weights = np.concatenate([graph.weights[is_inner], graph.weights[is_inner]])
    totals: list[float] = np.round(np.bincount(ends, weights, graph.nodes), 6).tolist()
    return totals
