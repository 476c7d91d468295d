"""The coverage map of a corpus, with its entities, graph and clusters, and the clusters C(q) of a query.

A coverage map is identified by the hash of the corpus snapshot and the map's parameters, so making the same
map again computes nothing. The coverage map stores the matches of queries with entities by the text of the
query.

A query matches an entity by phrase if the query has the entity's name, word by word; a name inside a longer
name at the same place does not count. A query matches by meaning the `MAX_BY_MEANING` entities with the
highest cosine of at least `MIN_COSINE`, as the graph joins entities. Some entities matched by meaning are
wrong, and each wrong entity makes a further region look tested. So the matching rule prefers precision: a
query is about a cluster if the cluster has at least two of the query's matched entities. If no cluster has
two matched entities, a query is about the clusters of the entities that the query names. Coverage is reported
by all rules in `ALTERNATIVES`, because the choice of rule changes the measures more than the seed.
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
"""Name of the map's parameter with the rule for C(q). Older maps lack the parameter, and count every matched
entity.
"""
MAX_BY_MEANING = NEIGHBOURS

METHOD = 2
"""Version of the method for coverage maps, which rises when equal parameters give a different map. Version 2
of the method runs three cycles of Leiden, and counts a plural as the same entity as its singular.
"""
BY_RULE = "by rule"
GIVEN = "given"


class MatchingRule(NamedTuple):
    """A rule that decides from the matched entities which clusters a query is about.

    Attributes
    ----------
    nearest: number of the nearest entities by meaning that count, besides the named entities.
    least: number of matched entities that a cluster needs.
    by_model: count the entities that a language model kept instead, if the model has answered.
    """

    name: str
    nearest: int
    least: int = 1
    by_model: bool = False

    def clusters(self, match: EntityMatch, cluster_of: Sequence[int]) -> Clusters:
        """Find the clusters C(q) of a query. `cluster_of` has the cluster of each entity."""
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
    """The positions of a query's matched entities. An entity may match both by phrase and by meaning.

    Attributes
    ----------
    by_phrase: entities that the query names, ascending.
    by_meaning: entities near in meaning, the nearest first; in older maps by ascending position.
    kept: entities that a language model kept, ascending; None if no model has answered.
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
    """Match each text with the entities that the text names or is near in meaning.

    Parameters
    ----------
    names: normalized names of the entities.
    query_vectors: unit vectors of the texts, shape (texts, dimension).
    entity_vectors: unit vectors of the entities, shape (names, dimension).
    most: largest number of entities by meaning.
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
    """Find the entities that a text names. `places` maps singular names of at most `longest` words to
    entities.
    """
    text_words = list(map(singular, words(text)))
    spans = []
    for start in range(len(text_words)):
        for end in range(min(len(text_words), start + longest), start, -1):
            if " ".join(text_words[start:end]) in places:
                spans.append((start, end))
                break  # shorter names from here are inside this name
    furthest, named = 0, set()
    for start, end in spans:
        if end > furthest:  # otherwise the name is inside an earlier name
            named.add(places[" ".join(text_words[start:end])])
            furthest = end
    return tuple(sorted(named))


@dataclass(frozen=True)
class CoverageMap:
    """A coverage map: the entities, documents and clusters of a corpus.

    Attributes
    ----------
    entities: entities by position, ordered by name.
    neighbours: number of each entity's edges in the graph; an isolated entity has 0.
    of_documents: document id → positions of its entities.
    clusters: clusters by number.
    partitions: partitions of each resolution that was tried, by resolution.
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
        """Number of each entity's cluster, by the entity's position."""
        numbers = {entity: cluster.number for cluster in self.clusters for entity in cluster.entities}
        return [numbers[entity] for entity in range(len(self.entities))]

    @property
    def regions(self) -> list[int]:
        """Numbers of the clusters that are regions."""
        return [cluster.number for cluster in self.clusters if cluster.is_region]

    def clusters_of(self, places: Sequence[int]) -> Clusters:
        """Find the clusters that hold entities, such as C(d) for a document's entities."""
        return clusters_at(places, self.cluster_of)

    @property
    def rule(self) -> MatchingRule:
        """Rule of the map that decides which clusters a query is about."""
        if "model" in self.parameters["matching"]:
            return MODEL
        return TWO if MIN_IN_CLUSTER in self.parameters["matching"] else EVERY

    def clusters_of_query(self, match: EntityMatch) -> Clusters:
        """Find the clusters that a query is about, C(q), by the rule of the map."""
        return self.rule.clusters(match, self.cluster_of)


def map_parameters(request: CoverageRequest) -> dict[str, Any]:
    """Collect all parameters that, besides the corpus, decide a coverage map.

    Raises
    ------
    NotFoundError: the model is given as a path, and the folder does not exist.
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
    """Compute the id of the coverage map of a corpus snapshot with these parameters."""
    return digest("coverage map", snapshot_id, parameters)


def make_map(
    store: Store, snapshot_id: str, request: CoverageRequest, progress: Progress = silent
) -> CoverageMap:
    """Make the coverage map of the current corpus and its snapshot. Stores only embeddings.

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
    """Match each text with the entities of the map. Stores only embeddings.

    Raises
    ------
    NotFoundError, RefusedError: see `retrieval.embeddings.embed`.
    """
    if not coverage_map.entities or not texts:
        return [EntityMatch((), ()) for _ in texts]
    entity_texts = [entity.text for entity in coverage_map.entities]
    half = (
        coverage_map.parameters.get("precision") == BFLOAT16
    )  # on any machine; older maps name no precision
    entities = embed(store, entity_texts, "document", model, progress, half)
    queries = embed(store, texts, "query", model, progress)
    most = int(coverage_map.parameters["matching"]["most_by_meaning"])
    return match_queries(texts, [entity.name for entity in coverage_map.entities], queries, entities, most)
