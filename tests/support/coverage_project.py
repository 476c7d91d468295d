"""A project of three topics whose entities have vectors by hand, so that its coverage needs no model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curation.core.digests import digest
from curation.core.request import DEFAULT_MODEL
from curation.queries.coverage.entities import find_entities
from curation.queries.coverage.gaps import CoverageGap
from curation.queries.coverage.report import find_coverage
from curation.queries.coverage.state import read_state
from curation.queries.requests import CoverageRequest
from curation.retrieval.embeddings import BFLOAT16
from curation.store import Store, append
from tests.support.pool_project import put_texts
from tests.support.projects import documents_in_force

TOPICS = {
    "tea": ["green tea leaves", "black tea leaves", "tea pot", "green tea pot", "black tea cup", "tea cup"],
    "ship": [
        "cargo ship",
        "ship engine",
        "cargo ship engine",
        "sailing ship",
        "sailing ship mast",
        "ship mast",
    ],
    "moon": ["full moon", "half moon", "full moon light", "half moon night", "moon light", "moon night"],
}
TEXTS = {f"{topic}{n}": f"{text}." for topic, held in TOPICS.items() for n, text in enumerate(held)}
QUERIES = {"q1": "green tea", "q2": "a hot drink", "q3": "sonnets"}
MEANINGS = {**{topic: place for place, topic in enumerate(TOPICS)}, "drink": 0}
EXTRA = len(TOPICS)


def vector(text: str) -> list[float]:
    """One axis for each topic, and a little of the text's own in the last; (0, …, 1): of no topic."""
    held = [place for word, place in MEANINGS.items() if word in text]
    found = np.zeros(EXTRA + 1)
    found[held] = 1
    found[EXTRA] = len(text) % 7 / 20 if held else 1
    return list(found / np.linalg.norm(found))


def put_vectors(store: Store, kind: str, texts: Sequence[str]) -> None:
    """Store vectors; documents' vectors in both precisions, so that the processor decides nothing."""
    names = [DEFAULT_MODEL, f"{DEFAULT_MODEL} in {BFLOAT16}"][: 2 if kind == "document" else 1]
    with store.transaction() as cursor:
        append(
            cursor,
            "embeddings",
            {
                "model": [name for name in names for _ in texts],
                "text_hash": [digest(kind, text) for text in texts] * len(names),
                "vector": [vector(text) for text in texts] * len(names),
            },
        )


def put_entity_vectors(store: Store) -> None:
    entities, _ = find_entities(documents_in_force(store))
    put_vectors(store, "document", [entity.text for entity in entities])


def fill(store: Store) -> Store:
    put_texts(store, store.path.parent, TEXTS, QUERIES)
    put_entity_vectors(store)
    put_vectors(store, "query", list(QUERIES.values()))
    return store


COARSE = CoverageRequest(seed=3, resolution=1.0)


def measured(store: Store) -> Store:
    """The project with a map in force: the tea is asked for, the ships and the moon are gaps."""
    find_coverage(fill(store), COARSE)
    return store


def gaps_of(store: Store) -> list[CoverageGap]:
    """The regions of the map in force that have no query."""
    with store.reading() as cursor:
        return read_state(cursor).gaps
