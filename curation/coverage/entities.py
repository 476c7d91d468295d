"""Entities: what the documents are about, by name, with a description that needs no context.

An extractor reads documents and mentions entities in them. Mentions whose normalised names are equal are one
entity, described by its heaviest mention. The order of entities is that of their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from curation.progress import Progress, silent
from curation.store import Document
from curation.words import words

NO_ENTITY = "no entity was found in it"


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

    def extract(self, documents: Sequence[Document], progress: Progress = silent) -> Extraction:
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


def find_entities(
    documents: Sequence[Document], extractor: Extractor, progress: Progress = silent
) -> CorpusEntities:
    """The entities of the documents; those whose names are equal once normalised are one."""
    ordered = sorted(documents, key=lambda document: document.document_id)
    mentions, unread = extractor.extract(ordered, progress)
    found = [
        (document.document_id, entity_name(mention.name), mention)
        for document, mentioned in zip(ordered, mentions, strict=True)
        for mention in mentioned
    ]
    heaviest: dict[str, Mention] = {}
    for _, name, mention in found:
        if name and (name not in heaviest or mention.weight > heaviest[name].weight):
            heaviest[name] = mention
    places = {name: place for place, name in enumerate(sorted(heaviest))}
    of_documents: dict[str, set[int]] = {document.document_id: set() for document in ordered}
    for document_id, name, _ in found:
        if name:
            of_documents[document_id].add(places[name])
    without = Counter(unread.get(name, NO_ENTITY) for name, held in of_documents.items() if not held)
    return CorpusEntities(
        entities=[Entity(name, heaviest[name].description) for name in places],
        of_documents={document_id: tuple(sorted(held)) for document_id, held in of_documents.items()},
        left_out=dict(sorted(without.items())),
    )
