"""Entities: what the documents are about, by name, with a description that needs no context.

An extractor reads documents and mentions entities in them. Mentions whose normalised names are equal but for
the English plural are one entity, named and described by its heaviest mention. The order of entities is that
of their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from curation.core.progress import Progress, silent
from curation.core.words import words
from curation.store import Document

NO_ENTITY = "no entity was found in it"
SHORTEST_PLURAL = 3
"""Letters up to which a word is no plural: "gas", "bus"."""
LONGEST_SENTENCE = 40
"""Words of a description."""
LONGEST_DESCRIPTION = 280
"""Letters of it: a sentence of a script without spaces has no words to count."""


class Mention(NamedTuple):
    """An entity as one document has it; `weight` says how much of the document it is, to its extractor."""

    name: str
    description: str
    weight: float


class Extraction(NamedTuple):
    """What an extractor found.

    Attributes
    ----------
    mentions: in each document, in the order of the documents; heaviest first.
    unread: id of a document that could not be read → why.
    """

    mentions: list[list[Mention]]
    unread: Mapping[str, str] = MappingProxyType({})


class Extractor(Protocol):
    """What finds entities in documents."""

    @property
    def name(self) -> str:
        """What the extractor is called, such as 'phrases'."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that decides what it finds, for the record; values are JSON."""

    def extract(self, documents: Iterable[Document], progress: Progress = silent) -> Extraction:
        """The mentions in each document, and the documents that could not be read."""


class Entity(NamedTuple):
    """A thing that documents are about; `name` is normalised."""

    name: str
    description: str

    @property
    def text(self) -> str:
        """What is embedded: the name and the description."""
        return f"{self.name}: {self.description}" if self.description else self.name


@dataclass(frozen=True)
class CorpusEntities:
    """The entities of a corpus, and which documents have them.

    Attributes
    ----------
    entities: by name.
    of_documents: document id → places of its entities in `entities`, ascending; documents without any have
        an empty tuple.
    left_out: reason → number of documents that have no entity.
    """

    entities: list[Entity]
    of_documents: dict[str, tuple[int, ...]]
    left_out: dict[str, int]


def entity_name(name: str) -> str:
    """The normalised name: lower case, words joined by one space, no hyphens or special characters."""
    return " ".join(words(name))


def singular(word: str) -> str:
    """The word without the ending of an English plural."""
    if len(word) <= SHORTEST_PLURAL or not word.endswith("s") or word.endswith(("is", "ss", "us")):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


def singular_name(name: str) -> str:
    """The normalised name with each word in the singular: equal ones name one entity."""
    return " ".join(map(singular, words(name)))


def find_entities(
    documents: Iterable[Document], extractor: Extractor, progress: Progress = silent
) -> CorpusEntities:
    """The entities of the documents; those with equal names, once normalised and in the singular, are one.

    Parameters
    ----------
    documents: each time in the same order, whichever; they are gone over several times.
    """
    mentions, unread = extractor.extract(documents, progress)
    ids = [document.document_id for document in documents]
    ordered = sorted(zip(ids, mentions, strict=True), key=itemgetter(0))
    found = [
        (document_id, singular_name(mention.name), mention)
        for document_id, mentioned in ordered
        for mention in mentioned
    ]
    heaviest: dict[str, Mention] = {}
    for _, name, mention in found:
        if name and (name not in heaviest or mention.weight > heaviest[name].weight):
            heaviest[name] = mention
    names = {name: entity_name(mention.name) for name, mention in heaviest.items()}
    places = {name: place for place, name in enumerate(sorted(names, key=names.__getitem__))}
    of_documents: dict[str, set[int]] = {document_id: set() for document_id, _ in ordered}
    for document_id, name, _ in found:
        if name:
            of_documents[document_id].add(places[name])
    without = Counter(unread.get(name, NO_ENTITY) for name, held in of_documents.items() if not held)
    return CorpusEntities(
        entities=[Entity(names[name], heaviest[name].description) for name in places],
        of_documents={document_id: tuple(sorted(held)) for document_id, held in of_documents.items()},
        left_out=dict(sorted(without.items())),
    )


def shortened(sentence: str) -> str:
    """The sentence, or its first words or letters and an ellipsis."""
    parts = sentence.split(" ")
    kept = " ".join(parts[:LONGEST_SENTENCE])[:LONGEST_DESCRIPTION].rstrip()
    return sentence if kept == sentence else f"{kept} …"
