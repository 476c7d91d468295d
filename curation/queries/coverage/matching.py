"""Matching of a query's text with entities, from which a rule decides the query's clusters C(q).

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
from typing import NamedTuple

import numpy as np

from curation.core.words import split_words
from curation.queries.coverage.entities import MAX_PHRASE_WORDS, make_singular, normalise_singular
from curation.queries.coverage.entity_graph import MIN_COSINE, NEIGHBOURS, find_nearest
from curation.queries.coverage.measures import Clusters, get_clusters
from curation.retrieval.embedding_model import Vectors

MAX_BY_MEANING = NEIGHBOURS


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

    def find_clusters(self, match: EntityMatch, cluster_of: Sequence[int]) -> Clusters:
        """Find the clusters C(q) of a query. `cluster_of` has the cluster of each entity."""
        if self.by_model and match.kept is not None:
            return get_clusters(match.kept, cluster_of)
        entities = {*match.by_phrase, *match.by_meaning[: self.nearest]}
        counts = Counter(cluster_of[entity] for entity in entities)
        clusters = frozenset(cluster for cluster, count in counts.items() if count >= self.least)
        return clusters or get_clusters(match.by_phrase, cluster_of)


TWO_ENTITIES = MatchingRule(
    "two or more matched entities, otherwise of the named entities", MAX_BY_MEANING, 2
)

BY_MODEL = MatchingRule("entities that a language model kept", MAX_BY_MEANING, 2, by_model=True)

ALL_MATCHED = MatchingRule(f"named entities and the {MAX_BY_MEANING} nearest", MAX_BY_MEANING)

ALTERNATIVES = (
    MatchingRule("named entities", 0),
    TWO_ENTITIES,
    MatchingRule("named entities and the 10 nearest", 10),
    ALL_MATCHED,
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


def match_entities(
    texts: Sequence[str],
    names: Sequence[str],
    query_vectors: Vectors,
    entity_vectors: Vectors,
    max_by_meaning: int = MAX_BY_MEANING,
) -> list[EntityMatch]:
    """Match each text with the entities that the text names or is close to in meaning.

    Parameters
    ----------
    names: normalized names of the entities.
    query_vectors: unit vectors of the texts, shape (texts, dimension).
    entity_vectors: unit vectors of the entities, shape (names, dimension).
    max_by_meaning: largest number of entities by meaning.
    """
    entity_of_name = {normalise_singular(name): entity for entity, name in enumerate(names)}
    max_words = max((name.count(" ") + 1 for name in names), default=MAX_PHRASE_WORDS)
    matches = []
    for text, vector in zip(texts, query_vectors, strict=True):
        cosines = np.round((entity_vectors @ vector).astype(np.float64), 6)
        by_phrase = find_named_entities(text, entity_of_name, max_words)
        by_meaning = find_nearest(cosines, max_by_meaning, MIN_COSINE).tolist() if split_words(text) else ()
        matches.append(EntityMatch(by_phrase, tuple(by_meaning)))
    return matches


def find_named_entities(
    text: str, entity_of_name: Mapping[str, int], max_words: int = MAX_PHRASE_WORDS
) -> tuple[int, ...]:
    """Find the entities that a text names.

    Parameters
    ----------
    entity_of_name: singular name → position of the entity.
    max_words: largest number of words of a name.
    """
    text_words = list(map(make_singular, split_words(text)))
    spans = []
    for start in range(len(text_words)):
        for end in range(min(len(text_words), start + max_words), start, -1):
            if " ".join(text_words[start:end]) in entity_of_name:
                spans.append((start, end))
                break  # shorter names from here are inside this name
    last_end, entities = 0, set()
    for start, end in spans:
        if end > last_end:  # otherwise the name is inside an earlier name
            entities.add(entity_of_name[" ".join(text_words[start:end])])
            last_end = end
    return tuple(sorted(entities))
