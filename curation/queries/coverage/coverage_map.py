"""A corpus's coverage map: its entities, and the clusters of entities that are the strata of coverage.

A coverage map is identified by the hash of the corpus snapshot and the map's parameters, so making the same
map again computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from curation.core.digests import digest
from curation.core.progress import Progress
from curation.queries.coverage import matching, partitions
from curation.queries.coverage.clusters import Cluster, make_clusters
from curation.queries.coverage.entities import EXTRACTOR, NO_ENTITY, Entity, find_entities
from curation.queries.coverage.entity_graph import MIN_COSINE, NEIGHBOURS, join_neighbours
from curation.queries.coverage.matching import ALL_MATCHED, BY_MODEL, TWO_ENTITIES, EntityMatch, MatchingRule
from curation.queries.coverage.measures import Clusters, get_clusters
from curation.queries.coverage.partitions import DRAWN, DRAWS, RESOLUTIONS, Partitions, choose_resolution
from curation.queries.requests import CoverageRequest
from curation.retrieval.embedding_model import find_model, has_bfloat16
from curation.retrieval.embeddings import BFLOAT16, embed, has_measured_speed, minutes_to_embed
from curation.store import Cursor, Store, get_setting
from curation.store.documents import StoredDocuments, current_corpus

MIN_IN_CLUSTER = "least_in_cluster"
"""Name of the map's parameter with the rule for C(q); maps without it count every matched entity."""

ENTITIES, ENTITY_LENGTH = 6, 190
"""Entities of a document and characters of an entity, for forecasts; MED has 5.5 entities for each document,
and the 317 pages of Python's library have 6.6."""

METHOD = 3
"""Version of the method for coverage maps, which rises when equal parameters give a different map. Version 2
of the method runs three cycles of Leiden, and counts a plural as the same entity as its singular. Version 3
leaves out markup.
"""
BY_RULE = "by rule"
GIVEN = "given"


@dataclass(frozen=True)
class CoverageMap:
    """A coverage map: the entities, documents and clusters of a corpus.

    Attributes
    ----------
    entities: entities by position, ordered by name.
    neighbours: number of each entity's edges in the graph; an isolated entity has 0.
    document_entities: document id → positions of its entities.
    clusters: clusters by number.
    partitions: partitions of each resolution that was tried, by resolution.
    left_out: reason → number of documents that are in no cluster.
    dismissed: numbers of the regions that a lead dismissed as no topic.
    """

    map_id: str
    snapshot_id: str
    parameters: Mapping[str, Any]
    entities: list[Entity]
    neighbours: list[int]
    document_entities: dict[str, tuple[int, ...]]
    clusters: list[Cluster]
    partitions: list[Partitions]
    left_out: dict[str, int]
    dismissed: frozenset[int] = frozenset()

    @cached_property
    def cluster_of(self) -> list[int]:
        """Return each entity's cluster number, by the entity's position."""
        numbers = {entity: cluster.number for cluster in self.clusters for entity in cluster.entities}
        return [numbers[entity] for entity in range(len(self.entities))]

    @property
    def regions(self) -> list[int]:
        """Return the numbers of the clusters that are regions."""
        return [cluster.number for cluster in self.clusters if cluster.is_region]

    @property
    def topics(self) -> list[int]:
        """Return the numbers of the regions that no lead dismissed."""
        return [number for number in self.regions if number not in self.dismissed]

    def find_clusters(self, entities: Sequence[int]) -> Clusters:
        """Return the clusters to which these entities belong; for a document's entities, this is C(d)."""
        return get_clusters(entities, self.cluster_of)

    @property
    def rule(self) -> MatchingRule:
        """Return the coverage map's rule, which decides which clusters a query is about."""
        if "model" in self.parameters["matching"]:
            return BY_MODEL
        return TWO_ENTITIES if MIN_IN_CLUSTER in self.parameters["matching"] else ALL_MATCHED

    def find_query_clusters(self, match: EntityMatch) -> Clusters:
        """Return the clusters that a query is about, C(q), by the coverage map's rule."""
        return self.rule.find_clusters(match, self.cluster_of)


def make_parameters(request: CoverageRequest) -> dict[str, Any]:
    """Collect all parameters that determine a coverage map, together with the corpus.

    Raises
    ------
    NotFoundError: the model is given as a path, and the folder does not exist.
    """
    return {
        "extractor": EXTRACTOR,
        "graph": {"least_cosine": MIN_COSINE, "neighbours": NEIGHBOURS},
        "least_documents": request.least_documents,
        "matching": {"most_by_meaning": matching.MAX_BY_MEANING, MIN_IN_CLUSTER: TWO_ENTITIES.least},
        "method": METHOD,
        "model": find_model(request.model).name,
        "precision": BFLOAT16 if has_bfloat16() else "float32",
        "resolution": request.resolution,
        "seed": request.seed,
        "stability": {"drawn": DRAWN, "draws": DRAWS},
        "tried": {"resolutions": RESOLUTIONS, "seeds": partitions.SEEDS},
    }


def compute_map_id(snapshot_id: str, parameters: Mapping[str, Any]) -> str:
    """Compute the coverage map's id for a corpus snapshot and these parameters."""
    return digest("coverage map", snapshot_id, parameters)


def forecast_map(cursor: Cursor) -> str | None:
    """Estimate how long embedding the corpus's entities takes; None if nobody has measured the machine's
    speed."""
    if not has_measured_speed(cursor, half=has_bfloat16()):
        return None
    sql = """
        SELECT coalesce(sum(least(?, length(title) + length(body))), 0)
        FROM documents JOIN snapshot_documents USING (content_hash) WHERE snapshot_id = ?
    """
    parameters = [ENTITY_LENGTH, get_setting(cursor, "corpus")]
    [(characters,)] = cursor.execute(sql, parameters).fetchall()
    return minutes_to_embed(cursor, ENTITIES * characters, half=has_bfloat16())


def make_map(store: Store, snapshot_id: str, request: CoverageRequest, progress: Progress) -> CoverageMap:
    """Make the coverage map of the current corpus; store only embeddings, not the map.

    Raises
    ------
    NotFoundError: see `make_parameters`.
    RefusedError: a package of the extra `dense` is missing, or the model cannot be loaded.
    """
    parameters = make_parameters(request)
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    entities, document_entities = find_entities(StoredDocuments(store, corpus.hashes), progress)
    texts = [entity.text for entity in entities]
    vectors = embed(store, texts, "document", request.model, progress, has_bfloat16())
    graph = join_neighbours(vectors, progress=progress)
    is_given = request.resolution is not None
    resolutions = (*RESOLUTIONS, request.resolution) if request.resolution is not None else RESOLUTIONS
    tried_partitions = partitions.find_partitions(
        graph, document_entities, request.least_documents, request.seed, resolutions, progress=progress
    )
    resolution = float(request.resolution) if request.resolution else choose_resolution(tried_partitions)
    labels = next(tried.labels[0] for tried in tried_partitions if tried.resolution == resolution)
    clusters = make_clusters(labels, graph, entities, document_entities, request.least_documents)
    without_entity = sum(not indices for indices in document_entities.values())
    return CoverageMap(
        map_id=compute_map_id(snapshot_id, parameters),
        snapshot_id=snapshot_id,
        parameters={
            **parameters,
            "resolution": resolution,
            "chosen": GIVEN if is_given else BY_RULE,
            "recovered": [[tried.resolution, list(tried.recovered)] for tried in tried_partitions],
        },
        entities=entities,
        neighbours=graph.degrees.tolist(),
        document_entities=document_entities,
        clusters=clusters,
        partitions=tried_partitions,
        left_out={NO_ENTITY: without_entity} if without_entity else {},
    )
