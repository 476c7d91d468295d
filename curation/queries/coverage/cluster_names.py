"""Names of clusters: up to three of a cluster's entities that are noun phrases and share no word stem.

The weight of a word in a cluster is n × ln(1 + A / N): n is the number of documents of the cluster's entities
with the word, summed over the entities, N is the sum of n over all clusters, and A is the mean over the
clusters of the sum of n over all words (class-based TF-IDF: Grootendorst 2022, BERTopic, section 3.3). The
weight of an entity in its cluster is the sum of its word weights / √√words × √documents × noun share × the
share of the other entities of the entity's documents that are in the cluster.

A phrase stands as a noun phrase if an article, a preposition or punctuation is before the phrase, and a
preposition, a form of "be" or punctuation is after the phrase. The noun share of an entity, between 0.1 and
1, compares how often the entity's name stands as a noun phrase, in the sentences that describe entities, with
the average of all names of the corpus. A phrase that begins with a word in -ing counts as a noun phrase only
after an article. An entity's name with a digit, or with a joining word other than "of" inside, gets a tenth
of its noun share. The lists of articles, prepositions and verbs are English, so only punctuation shows noun
phrases in other languages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log1p

import numpy as np

from curation.core.statistics.arrays import Floats, Ints
from curation.core.words import split_words
from curation.queries.coverage.entities import (
    CUTS,
    MAX_PHRASE_WORDS,
    MAX_PHRASES,
    Entity,
    make_singular,
    normalise_singular,
)
from curation.retrieval.stemming import stem_word

MAX_IN_A_NAME = 3
"""Largest number of entities in a cluster's name."""
MIN_WEIGHT = 0.1
"""Smallest noun share, given to an entity name that is not a noun phrase."""
MIN_SHARE_OF_FIRST = 0.2
"""Smallest weight of the second and third entity of a name, as a share of the first entity's weight."""
_ARTICLES = frozenset(
    "a an the this that these those its their his her our each some any such both all several no two three "
    "four".split()
)
_BEFORE = _ARTICLES | frozenset("of in on for with from between into among during about against".split())
_AFTER = frozenset(
    "of in on for with by from at to is are was were be been has have had may can will would should could "
    "which that who when where as than during between among into while".split()
)
_JOINING = frozenset(["and", "or"])
_INSIDE = (_BEFORE | _AFTER | _JOINING) - {"of"}


def choose_naming_entities(
    members: Sequence[Sequence[int]],
    labels: Ints,
    entities: Sequence[Entity],
    document_entities: Mapping[str, Sequence[int]],
) -> list[list[int]]:
    """Choose the entities that name each cluster, as positions in `entities`, the entity with the largest
    weight first.

    Parameters
    ----------
    members: positions of the entities of each cluster.
    labels: cluster of each entity, shape (entities,).
    document_entities: document id → positions of its entities.
    """
    documents, focus = count_documents_about(labels, document_entities)
    stems = [_name_stems(entity.name) for entity in entities]
    masses = [Counter[str]() for _ in members]
    for mass, entity_indices in zip(masses, members, strict=True):
        for entity in entity_indices:
            mass.update(dict.fromkeys(stems[entity], int(documents[entity])))
    totals = Counter[str]()
    for mass in masses:
        totals.update(mass)
    mean = totals.total() / max(1, len(masses))
    factors = compute_noun_shares(entities) * np.sqrt(documents) * focus
    chosen = []
    for mass, entity_indices in zip(masses, members, strict=True):
        worth = {word: count * log1p(mean / totals[word]) for word, count in mass.items()}
        weights = {
            entity: sum(worth[word] for word in stems[entity])
            / len(stems[entity]) ** 0.25
            * float(factors[entity])
            for entity in entity_indices
        }
        chosen.append(_choose_disjoint(weights, stems))
    return chosen


def count_documents_about(labels: Ints, entities_of: Mapping[str, Sequence[int]]) -> tuple[Ints, Floats]:
    """Count each entity's documents, and compute the share of its co-occurring entities that are in the same
    cluster."""
    documents, co_entities, co_entities_inside = np.zeros((3, len(labels)), np.int64)
    for indices in map(list, entities_of.values()):
        documents[indices] += 1
        co_entities[indices] += len(indices) - 1
        co_entities_inside[indices] += (labels[indices, None] == labels[indices]).sum(axis=1) - 1
    return documents, (co_entities_inside + 1) / (co_entities + MAX_PHRASES)


def _choose_disjoint(weights: dict[int, float], stems: Sequence[Sequence[str]]) -> list[int]:
    """Choose the positions of the entities with the largest weights, so that no two entities share a word
    stem."""
    chosen: list[int] = []
    for entity in sorted(weights, key=lambda entity: (-round(weights[entity], 9), entity)):
        is_light = chosen and weights[entity] < MIN_SHARE_OF_FIRST * weights[chosen[0]]
        if is_light or len(chosen) == MAX_IN_A_NAME:
            break
        if not any(set(stems[entity]) & set(stems[other]) for other in chosen):
            chosen.append(entity)
    return chosen


def _name_stems(name: str) -> list[str]:
    content = [word for word in name.split(" ") if word != "of"] or [name]
    return list(dict.fromkeys(stem_word("english", word) for word in content))


def compute_noun_shares(entities: Sequence[Entity]) -> Floats:
    """Compute how often each entity's name stands as a noun phrase, as a share above 0 and at most 1, shape
    (entities,)."""
    index_of = {normalise_singular(entity.name): index for index, entity in enumerate(entities)}
    occurrences, noun_occurrences = np.zeros(len(entities)), np.zeros(len(entities))
    for description in sorted({entity.description for entity in entities}):
        for piece in CUTS.split(description):
            text_words = split_words(piece)
            singulars = ["", *map(make_singular, text_words), ""]
            for start in range(1, len(text_words) + 1):
                for end in range(start + 1, min(start + MAX_PHRASE_WORDS, len(text_words) + 1) + 1):
                    index = index_of.get(" ".join(singulars[start:end]))
                    if index is not None:
                        occurrences[index] += 1
                        noun_occurrences[index] += _stands_as_noun_phrase(["", *text_words, ""], start, end)
    average = max(MIN_WEIGHT**2, noun_occurrences.sum() / max(1.0, occurrences.sum()))
    shares: Floats = np.clip((noun_occurrences + average) / (occurrences + 1) / average, MIN_WEIGHT, 1)
    shares[[not _may_be_noun_phrase(entity.name) for entity in entities]] *= MIN_WEIGHT
    return shares


def _may_be_noun_phrase(name: str) -> bool:
    return _INSIDE.isdisjoint(name.split(" ")) and not any(map(str.isdigit, name))


def _stands_as_noun_phrase(text_words: Sequence[str], start: int, end: int) -> bool:
    """Return whether the words from `start` to `end` stand in a text where a noun phrase can stand; "" is
    punctuation."""
    previous, following = text_words[start - 1], text_words[end]
    if end == start + 1 and not previous and not following:
        return False  # the word is part of an enumeration, such as colors
    is_gerund = text_words[start].endswith("ing")
    goes_before = previous in _ARTICLES if is_gerund else not previous or previous in _BEFORE
    is_pair = end > start + 1 and following in _JOINING
    return goes_before and (not following or following in _AFTER or is_pair)
