"""The coverage map of one corpus: entities, their graph and its clusters; and what a query is about, C(q).

A map is known by the hash of the corpus snapshot and of all that decided it, so making the same map again
computes nothing. What queries are about is matched against the map and stored with it, text by text.

By phrase a query is matched to an entity whose name it has, word by word; a name inside a longer one at the
same place does not count. By meaning it is matched, as an entity of the graph is joined, to the
`MAX_BY_MEANING` entities with the highest cosine, from `MIN_COSINE` on. Not all of these are what it asks
for, and each wrong one makes one more region look tested. So the rule prefers precision: a cluster counts
where it has two or more of the matched entities. A query without such a cluster has the clusters of the
entities that it names. The figures of coverage are shown by all `ALTERNATIVES`, because the choice of the
rule moves them more than a seed does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from curation.core.digests import digest
from curation.core.progress import Progress, silent
from curation.core.words import words
from curation.queries.coverage.clusters import Cluster, make_clusters
from curation.queries.coverage.entities import (
    EXTRACTOR,
    MAX_PHRASE_WORDS,
    NO_ENTITY,
    Entity,
    find_entities,
    singular,
    singular_name,
)
from curation.queries.coverage.entity_graph import MIN_COSINE, NEIGHBOURS, join_neighbours, nearest
from curation.queries.coverage.measures import Clusters, clusters_at
from curation.queries.coverage.partitions import (
    DRAWN,
    DRAWS,
    RESOLUTIONS,
    SEEDS,
    Partitions,
    choose_resolution,
    find_partitions,
)
from curation.queries.requests import CoverageRequest
from curation.retrieval.embedding_model import Vectors, find_model, has_bfloat16
from curation.retrieval.embeddings import BFLOAT16, embed
from curation.store import Store
from curation.store.documents import StoredDocuments, current_corpus

MIN_IN_CLUSTER = "least_in_cluster"
"""The parameter of a map with the rule; maps of before have none, and count every matched entity."""
MAX_BY_MEANING = NEIGHBOURS

METHOD = 2
"""Raised where equal parameters give another map. 2: three cycles of Leiden, a plural is no other entity."""
BY_RULE = "by rule"
GIVEN = "given"


class MatchingRule(NamedTuple):
    """Which clusters of matched entities a query is about.

    Attributes
    ----------
    nearest: entities by meaning that count, besides those named.
    least: matched entities that a cluster needs.
    by_model: whether what a language model kept counts instead, where it has answered.
    """

    name: str
    nearest: int
    least: int = 1
    by_model: bool = False

    def clusters(self, match: EntityMatch, cluster_of: Sequence[int]) -> Clusters:
        """C(q), where `cluster_of` has the cluster of each entity."""
        if self.by_model and match.kept is not None:
            return clusters_at(match.kept, cluster_of)
        places = {*match.by_phrase, *match.by_meaning[: self.nearest]}
        counts = Counter(cluster_of[entity] for entity in places)
        enough = frozenset(number for number, entities in counts.items() if entities >= self.least)
        return enough or clusters_at(match.by_phrase, cluster_of)


TWO = MatchingRule("two matched entities or more, else of the named ones", MAX_BY_MEANING, 2)


MODEL = MatchingRule("entities that a language model kept", MAX_BY_MEANING, 2, by_model=True)


EVERY = MatchingRule(f"named entities and the {MAX_BY_MEANING} nearest", MAX_BY_MEANING)


ALTERNATIVES = (
    MatchingRule("named entities", 0),
    TWO,
    MatchingRule("named entities and the 10 nearest", 10),
    EVERY,
)


class EntityMatch(NamedTuple):
    """Places of entities that a query may be about; one entity may be found both ways.

    Attributes
    ----------
    by_phrase: ascending.
    by_meaning: the nearest first; ascending where a map of before matched them.
    kept: those that a language model kept, ascending; None: none was asked, or has answered.
    """

    by_phrase: tuple[int, ...]
    by_meaning: tuple[int, ...]
    kept: tuple[int, ...] | None = None

    @property
    def entities(self) -> tuple[int, ...]:
        return tuple(sorted({*self.by_phrase, *self.by_meaning}))


def match_queries(
    texts: Sequence[str],
    names: Sequence[str],
    query_vectors: Vectors,
    entity_vectors: Vectors,
    most: int = MAX_BY_MEANING,
) -> list[EntityMatch]:
    """The entities of each query, in the order of the texts.

    Parameters
    ----------
    names: of the entities, normalised.
    query_vectors: unit vectors, shape (texts, dimension).
    entity_vectors: unit vectors, shape (names, dimension).
    most: entities by meaning.
    """
    places = {singular_name(name): entity for entity, name in enumerate(names)}
    longest = max((name.count(" ") + 1 for name in names), default=MAX_PHRASE_WORDS)
    matches = []
    for text, vector in zip(texts, query_vectors, strict=True):
        cosines = np.round((entity_vectors @ vector).astype(np.float64), 6)
        near = nearest(cosines, most, MIN_COSINE) if words(text) else np.zeros(0, np.int64)
        matches.append(EntityMatch(named_entities(text, places, longest), tuple(near.tolist())))
    return matches


def named_entities(text: str, places: Mapping[str, int], longest: int = MAX_PHRASE_WORDS) -> tuple[int, ...]:
    """Places of the entities that a text names; `places` is `singular_name` → place, `longest` its words."""
    text_words = list(map(singular, words(text)))
    spans = []
    for start in range(len(text_words)):
        for end in range(min(len(text_words), start + longest), start, -1):
            if " ".join(text_words[start:end]) in places:
                spans.append((start, end))
                break  # shorter ones from here are inside it
    furthest, named = 0, set()
    for start, end in spans:
        if end > furthest:  # else it is inside one that began before
            named.add(places[" ".join(text_words[start:end])])
            furthest = end
    return tuple(sorted(named))


@dataclass(frozen=True)
class CoverageMap:
    """The strata of one corpus.

    Attributes
    ----------
    entities: by place, in the order of their names.
    neighbours: edges of each entity in the graph; 0: isolated.
    of_documents: document id → places of its entities.
    clusters: by number.
    partitions: one for each resolution and seed that was tried, by resolution.
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
        clusters = [0] * len(self.entities)
        for cluster in self.clusters:
            for entity in cluster.entities:
                clusters[entity] = cluster.number
        return clusters

    @property
    def regions(self) -> list[int]:
        """The numbers of the clusters that are regions."""
        return [cluster.number for cluster in self.clusters if cluster.is_region]

    def clusters_of(self, places: Sequence[int]) -> Clusters:
        """The clusters of entities: C(d) of a document's."""
        return clusters_at(places, self.cluster_of)

    @property
    def rule(self) -> MatchingRule:
        """The rule that decides which clusters a query is about."""
        if "model" in self.parameters["matching"]:
            return MODEL
        return TWO if MIN_IN_CLUSTER in self.parameters["matching"] else EVERY

    def clusters_of_query(self, match: EntityMatch) -> Clusters:
        """Find the clusters that a query is about, C(q), by the rule of the map."""
        return self.rule.clusters(match, self.cluster_of)


def map_parameters(request: CoverageRequest) -> dict[str, Any]:
    """All that decides a map besides the corpus, as JSON.

    Raises
    ------
    NotFoundError: the model is written as a path, and there is no such folder.
    """
    return {
        "extractor": EXTRACTOR,
        "graph": {"least_cosine": MIN_COSINE, "neighbours": NEIGHBOURS},
        "least_documents": request.least_documents,
        "matching": {"most_by_meaning": MAX_BY_MEANING, MIN_IN_CLUSTER: TWO.least},
        "method": METHOD,
        "model": find_model(request.model).name,
        "precision": BFLOAT16 if has_bfloat16() else "float32",
        "resolution": request.resolution,
        "seed": request.seed,
        "stability": {"drawn": DRAWN, "draws": DRAWS},
        "tried": {"resolutions": RESOLUTIONS, "seeds": SEEDS},
    }


def map_id_of(snapshot_id: str, parameters: Mapping[str, Any]) -> str:
    """The id of the map of a snapshot by these parameters."""
    return digest("coverage map", snapshot_id, parameters)


def make_map(
    store: Store, snapshot_id: str, request: CoverageRequest, progress: Progress = silent
) -> CoverageMap:
    """The map of the corpus in force, which is this snapshot; only embeddings are stored.

    Raises
    ------
    NotFoundError: see `map_parameters`.
    RefusedError: a package of the extra `dense` is missing, or the model cannot be loaded.
    """
    parameters = map_parameters(request)
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    entities, of_documents = find_entities(StoredDocuments(store, corpus.hashes), progress)
    texts = [entity.text for entity in entities]
    vectors = embed(store, texts, "document", request.model, progress, has_bfloat16())
    graph = join_neighbours(vectors, progress=progress)
    given = () if request.resolution is None else (request.resolution,)
    resolutions = (*RESOLUTIONS, *given)
    partitions = find_partitions(
        graph, of_documents, request.least_documents, request.seed, resolutions, progress=progress
    )
    chosen = float(request.resolution) if request.resolution else choose_resolution(partitions)
    labels = next(tried.labels[0] for tried in partitions if tried.resolution == chosen)
    made = make_clusters(labels, graph, entities, of_documents, request.least_documents)
    without = sum(not places for places in of_documents.values())
    return CoverageMap(
        map_id=map_id_of(snapshot_id, parameters),
        snapshot_id=snapshot_id,
        parameters={
            **parameters,
            "resolution": chosen,
            "chosen": GIVEN if given else BY_RULE,
            "recovered": [[tried.resolution, list(tried.recovered)] for tried in partitions],
        },
        entities=entities,
        neighbours=graph.degrees.tolist(),
        of_documents=of_documents,
        clusters=made,
        partitions=partitions,
        left_out={NO_ENTITY: without} if without else {},
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
    entity_texts = [entity.text for entity in coverage_map.entities]
    half = coverage_map.parameters.get("precision") == BFLOAT16  # on any machine; maps of before name none
    entities = embed(store, entity_texts, "document", model, progress, half)
    queries = embed(store, texts, "query", model, progress)
    most = int(coverage_map.parameters["matching"]["most_by_meaning"])
    return match_queries(texts, [entity.name for entity in coverage_map.entities], queries, entities, most)
