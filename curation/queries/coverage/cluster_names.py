"""What a cluster is called: up to three of its entities, noun phrases that share no word stem.

A word weighs the number of the documents that the cluster has it from, × ln(1 + A / all of these over all
clusters), A their mean over the clusters (class-based TF-IDF: M. Grootendorst 2022, BERTopic, section 3.3).
An entity's weight is the sum over its words / √√words × √(its documents) × how far it is a noun phrase ×
how far its documents are about the cluster, which is the share of their other entities that are in the
cluster, too.

A noun phrase fills the place between words that go before one (articles, prepositions) and words that go
after one (prepositions, forms of "be"), or punctuation. How often it does is counted over the sentences
that describe the entities. A phrase that does so as often as phrases of this corpus do is one; another
counts less, to a tenth. One that begins with -ing needs an article before. With a joining word other than
"of" inside, or a number, it counts a tenth of that. The words are English; in another language only
punctuation speaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log1p

import numpy as np

from curation.core.statistics.arrays import Floats, Ints
from curation.core.words import words
from curation.queries.coverage.entities import (
    CUTS,
    MAX_PHRASE_WORDS,
    MAX_PHRASES,
    Entity,
    singular,
    singular_name,
)
from curation.retrieval.terms import stemmed

MAX_IN_A_NAME = 3
"""Entities that name a cluster, at most."""
MIN_WEIGHT = 0.1
"""What a word or phrase counts that says little."""
MIN_SHARE_OF_FIRST = 0.2
"""The weight from which the second and third entity are in a name, as a share of the first's."""
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


def naming_entities(
    members: Sequence[Sequence[int]],
    labels: Ints,
    entities: Sequence[Entity],
    of_documents: Mapping[str, Sequence[int]],
) -> list[list[int]]:
    """The places of the entities that name each cluster, in the order in which they do.

    Parameters
    ----------
    members: the places of the entities of each cluster.
    labels: the cluster of each entity, shape (entities,).
    of_documents: document id → places of its entities.
    """
    documents, about = documents_about(labels, of_documents)
    stems = [_stems(entity.name) for entity in entities]
    masses = [Counter[str]() for _ in members]
    for mass, places in zip(masses, members, strict=True):
        for entity in places:
            mass.update(dict.fromkeys(stems[entity], int(documents[entity])))
    over_all = Counter[str]()
    for mass in masses:
        over_all.update(mass)
    mean = over_all.total() / max(1, len(masses))
    nouns = noun_shares(entities) * np.sqrt(documents) * about
    named = []
    for mass, places in zip(masses, members, strict=True):
        worth = {word: documents_with * log1p(mean / over_all[word]) for word, documents_with in mass.items()}
        weights = {
            entity: sum(worth[word] for word in stems[entity])
            / len(stems[entity]) ** 0.25
            * float(nouns[entity])
            for entity in places
        }
        named.append(_disjoint(weights, stems))
    return named


def documents_about(labels: Ints, of_documents: Mapping[str, Sequence[int]]) -> tuple[Ints, Floats]:
    """How many documents each entity has, and how far they are about its cluster, from 0 to 1."""
    documents, others, inside = np.zeros((3, len(labels)), np.int64)
    for places in map(list, of_documents.values()):
        documents[places] += 1
        others[places] += len(places) - 1
        inside[places] += (labels[places, None] == labels[places]).sum(axis=1) - 1
    return documents, (inside + 1) / (others + MAX_PHRASES)


def _disjoint(weights: dict[int, float], stems: Sequence[Sequence[str]]) -> list[int]:
    """The heaviest places, without any two that share a stem."""
    chosen: list[int] = []
    for entity in sorted(weights, key=lambda entity: (-round(weights[entity], 9), entity)):
        if (chosen and weights[entity] < MIN_SHARE_OF_FIRST * weights[chosen[0]]) or len(
            chosen
        ) == MAX_IN_A_NAME:
            break
        if not any(set(stems[entity]) & set(stems[other]) for other in chosen):
            chosen.append(entity)
    return chosen


def _stems(name: str) -> list[str]:
    content = [word for word in name.split(" ") if word != "of"] or [name]
    return list(dict.fromkeys(stemmed("english", word) for word in content))


def noun_shares(entities: Sequence[Entity]) -> Floats:
    """How far the name of each entity is a noun phrase, above 0 to 1, shape (entities,)."""
    places = {singular_name(entity.name): at for at, entity in enumerate(entities)}
    seen, filling = np.zeros(len(entities)), np.zeros(len(entities))
    for description in sorted({entity.description for entity in entities}):
        for piece in CUTS.split(description):
            text_words = words(piece)
            singulars = ["", *map(singular, text_words), ""]
            for start in range(1, len(text_words) + 1):
                for end in range(start + 1, min(start + MAX_PHRASE_WORDS, len(text_words) + 1) + 1):
                    at = places.get(" ".join(singulars[start:end]))
                    if at is not None:
                        seen[at] += 1
                        filling[at] += _fills(["", *text_words, ""], start, end)
    usual = max(MIN_WEIGHT**2, filling.sum() / max(1.0, seen.sum()))
    shares: Floats = np.clip((filling + usual) / (seen + 1) / usual, MIN_WEIGHT, 1)
    shares[[not _is_possible(entity.name) for entity in entities]] *= MIN_WEIGHT
    return shares


def _is_possible(name: str) -> bool:
    return _INSIDE.isdisjoint(name.split(" ")) and not any(map(str.isdigit, name))


def _fills(text_words: Sequence[str], start: int, end: int) -> bool:
    """Whether the words from start to end fill the place of a noun phrase; "" is where the text is cut."""
    before, after = text_words[start - 1], text_words[end]
    if end == start + 1 and not before and not after:
        return False  # of a list, which may be one of colours
    goes_before = (
        before in _ARTICLES if text_words[start].endswith("ing") else not before or before in _BEFORE
    )
    return goes_before and (not after or after in _AFTER or (end > start + 1 and after in _JOINING))
