"""Synonyms: queries that say in other words what the corpus holds.

An embedding finds the documents that mean what a query means. If they are near, yet hold few of the query's
content words, the query names the thing otherwise than the corpus does, and lexical retrieval alone will miss
it. Words match by stem; a query none of whose neighbours is near asks for what the corpus does not hold, and
is no synonym.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.retrieval import Dense
from curation.retrieval.embeddings import DEFAULT_MODEL
from curation.retrieval.terms import content_words, stem
from curation.store import Document, Query, Store
from curation.text import normalise_query
from curation.words import words

NEIGHBOURS = 5
"""How many documents are looked at, at most."""
NEAR = 0.5
"""The cosine from which on a document holds what is asked for; further ones do not count."""
OVERLAP = 0.6
"""Below this share of a query's stems in a neighbour, on average, the neighbours speak in other words."""


def find_synonyms(
    store: Store,
    documents: Sequence[Document],
    texts: Sequence[str],
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
) -> NDArray[np.bool_]:
    """Whether each query says in other words what its dense neighbours hold, shape (texts,).

    Raises
    ------
    NotFoundError, RefusedError: see `retrieval.embeddings.embed`.
    """
    queries = [Query(str(place), text, normalise_query(text), "written") for place, text in enumerate(texts)]
    by_id = {document.document_id: document for document in documents}
    hits = Dense(store, documents, model).search(queries, NEIGHBOURS, progress)
    found = np.zeros(len(texts), bool)
    for place, proposed in enumerate(hits):
        near = [hit.document_id for hit in proposed if (hit.score or 0.0) >= NEAR]
        held = [stems_of(by_id[document_id].text) for document_id in near]
        found[place] = bool(near) and overlap(texts[place], held) < OVERLAP
    return found


def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's words."""
    return frozenset(map(stem, words(text)))


def overlap(query: str, neighbours: Sequence[frozenset[str]]) -> float:
    """The mean share of a query's content words, by stem, that a neighbour holds; 1 without such words."""
    asked = {stem(word) for word in content_words(query)}
    if not asked or not neighbours:
        return 1.0
    return sum(len(asked & held) for held in neighbours) / (len(asked) * len(neighbours))
