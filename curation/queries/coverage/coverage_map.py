"""The coverage map: entities, their graph and its clusters for one corpus, made once and stored.

A map is known by the hash of the corpus snapshot and of all that decided it, so making the same map again
computes nothing. What queries are about is matched against the map and stored with it, text by text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from curation.core.errors import refuse_problems
from curation.core.operation import out_of_bounds
from curation.core.progress import Progress, silent
from curation.core.text import digest
from curation.queries.coverage import CoverageRequest, entity_graph, resolution
from curation.queries.coverage.clusters import Cluster, make_clusters
from curation.queries.coverage.entities import Entity, Extractor, find_entities
from curation.queries.coverage.entity_graph import join_neighbours
from curation.queries.coverage.entity_linking import MOST_BY_MEANING, EntityMatch, match_queries
from curation.queries.coverage.matching import LEAST_IN_CLUSTER, TWO, rule_of
from curation.queries.coverage.measures import Clusters
from curation.queries.coverage.phrases import PhraseExtractor
from curation.queries.coverage.resolution import Partitions, choose_resolution, find_partitions
from curation.retrieval.embeddings import BFLOAT16, embed, find_model, has_bfloat16
from curation.store import (
    Store,
)
from curation.store.documents import StoredDocuments, current_corpus

METHOD = 2
"""Raised where equal parameters give another map. 2: three cycles of Leiden, a plural is no other entity."""
BY_RULE = "by rule"
GIVEN = "given"


@dataclass(frozen=True)
class CoverageMap:
    """The strata of one corpus.

    Attributes
    ----------
    entities: by place, in the order of their names.
    neighbours: edges of each entity in the graph; 0: isolated.
    of_documents: document id → places of its entities.
    clusters: by number.
    partitions: those of every resolution and seed tried, by resolution.
    left_out: reason → number of documents that are in no cluster.
    """

    map_id: str
    snapshot_id: str
    parameters: Mapping[str, Any]
    entities: list[Entity]
    neighbours: list[int]
    of_documents: dict[str, tuple[int, ...]]
    clusters: list[Cluster]
    partitions: list[Partitions]
    left_out: dict[str, int]

    @cached_property
    def cluster_of(self) -> list[int]:
        """The number of the cluster of each entity, by place."""
        found = [0] * len(self.entities)
        for cluster in self.clusters:
            for place in cluster.entities:
                found[place] = cluster.number
        return found

    @property
    def regions(self) -> list[int]:
        """The numbers of the clusters that are regions."""
        return [cluster.number for cluster in self.clusters if cluster.is_region]

    def clusters_of(self, places: Sequence[int]) -> Clusters:
        """The clusters of entities: C(d) of a document's."""
        return frozenset(self.cluster_of[place] for place in places)

    def clusters_of_query(self, match: EntityMatch, cluster_of: Sequence[int] | None = None) -> Clusters:
        """C(q) by the rule of the map, in this partition or in another one."""
        return rule_of(self.parameters).clusters(match, cluster_of or self.cluster_of)


@dataclass(frozen=True)
class MapSettings(CoverageRequest):
    """What decides a map besides the corpus: what is asked for, what finds the entities, and C(q).

    Attributes
    ----------
    filtering: the language model and the prompt that say what queries are about; empty: the rule does.
    """

    extractor: Extractor = field(default_factory=PhraseExtractor)
    filtering: Mapping[str, str] = field(default_factory=dict)

    def parameters(self) -> dict[str, Any]:
        """All that decides the map, as JSON.

        Raises
        ------
        InputError: the resolution is not above 0, or a region needs no document.
        NotFoundError: the model is written as a path, and there is no such folder.
        """
        refuse_problems(out_of_bounds(CoverageRequest, vars(self)))
        return {
            "extractor": {"name": self.extractor.name, **self.extractor.settings},
            "graph": {"least_cosine": entity_graph.LEAST_COSINE, "neighbours": entity_graph.NEIGHBOURS},
            "least_documents": self.least_documents,
            "matching": {"most_by_meaning": MOST_BY_MEANING, LEAST_IN_CLUSTER: TWO.least, **self.filtering},
            "method": METHOD,
            "model": find_model(self.model).name,
            "precision": BFLOAT16 if has_bfloat16() else "float32",
            "resolution": self.resolution,
            "seed": self.seed,
            "stability": {"drawn": resolution.DRAWN, "draws": resolution.DRAWS},
            "tried": {"resolutions": resolution.RESOLUTIONS, "seeds": resolution.SEEDS},
        }


def map_id_of(snapshot_id: str, parameters: Mapping[str, Any]) -> str:
    """The id of the map of a snapshot by these parameters."""
    return digest("coverage map", snapshot_id, parameters)


def make_map(
    store: Store,
    snapshot_id: str,
    settings: MapSettings,
    progress: Progress = silent,
) -> CoverageMap:
    """The map of the corpus in force, which is this snapshot; only embeddings are stored.

    Raises
    ------
    InputError, NotFoundError: see `MapSettings.parameters`.
    RefusedError: a package of the extra `dense` is missing, or the model cannot be loaded.
    """
    parameters = settings.parameters()
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    entities = find_entities(StoredDocuments(store, corpus.hashes), settings.extractor, progress)
    texts = [entity.text for entity in entities.entities]
    vectors = embed(store, texts, "document", settings.model, progress, has_bfloat16())
    graph = join_neighbours(vectors, progress=progress)
    given = () if settings.resolution is None else (settings.resolution,)
    resolutions = (*resolution.RESOLUTIONS, *given)
    partitions = find_partitions(
        graph, entities.of_documents, settings.least_documents, settings.seed, resolutions, progress=progress
    )
    chosen = float(settings.resolution) if settings.resolution else choose_resolution(partitions)
    labels = next(tried.labels[0] for tried in partitions if tried.resolution == chosen)
    made = make_clusters(labels, graph, entities.entities, entities.of_documents, settings.least_documents)
    return CoverageMap(
        map_id=map_id_of(snapshot_id, parameters),
        snapshot_id=snapshot_id,
        parameters={
            **parameters,
            "resolution": chosen,
            "chosen": GIVEN if given else BY_RULE,
            "recovered": [[tried.resolution, list(tried.recovered)] for tried in partitions],
        },
        entities=entities.entities,
        neighbours=graph.degrees.tolist(),
        of_documents=entities.of_documents,
        clusters=made,
        partitions=partitions,
        left_out=entities.left_out,
    )


def match_texts(
    store: Store, texts: Sequence[str], coverage_map: CoverageMap, model: str, progress: Progress = silent
) -> list[EntityMatch]:
    """The entities of the map that each text is about; only embeddings are stored.

    Raises
    ------
    NotFoundError, RefusedError: see `retrieval.embeddings.embed`.
    """
    if not coverage_map.entities or not texts:
        return [EntityMatch((), ()) for _ in texts]
    held = [entity.text for entity in coverage_map.entities]
    half = coverage_map.parameters.get("precision") == BFLOAT16  # on any machine; maps of before name none
    entities = embed(store, held, "document", model, progress, half)
    queries = embed(store, texts, "query", model, progress)
    most = int(coverage_map.parameters["matching"]["most_by_meaning"])
    return match_queries(texts, [entity.name for entity in coverage_map.entities], queries, entities, most)
