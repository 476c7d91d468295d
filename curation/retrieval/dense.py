"""Dense retrieval: documents by the cosine between their embedding and the query's, by brute force.

A blocked matrix product is exact and takes some milliseconds a query for 60,000 documents. Cosines are
rounded to six decimals before they are compared, so that the last digits of a matrix product, which
differ between machines, decide no rank. A cosine of zero or below is no hit, as in all retrievers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from curation.progress import Progress, silent
from curation.retrieval.embeddings import DEFAULT_MODEL, Vectors, embed, find_model
from curation.retrieval.retriever import Hit, best_hits
from curation.store import Store
from curation.store.rows import Document, Query
from curation.text import words

_CELLS = 8_000_000  # cosines that are held at once


class Dense:
    """A retriever over the embeddings of documents; they are computed, or read, at the first search.

    Documents without any text have no embedding and are never found.

    Raises
    ------
    NotFoundError: the model is written as a path, and there is no such folder.
    """

    name = "dense"

    def __init__(self, store: Store, documents: Sequence[Document], model: str = DEFAULT_MODEL) -> None:
        self._store = store
        self._model = model
        self._model_name = find_model(model).name
        found = [document for document in documents if document.text]
        self._documents = sorted(found, key=lambda document: document.document_id)
        self._ids = [document.document_id for document in self._documents]
        self._matrix: Vectors | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The model, and how documents and queries are compared."""
        return {"formula": "cosine", "model": self._model_name}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[list[Hit]]:
        """See `Retriever.search`.

        Raises
        ------
        RefusedError: the model cannot be loaded, or is not the one whose vectors are stored.
        """
        hits: list[list[Hit]] = [[] for _ in queries]
        asked = [place for place, query in enumerate(queries) if words(query.text)]
        if not asked or not self._documents:
            return hits
        documents = self._embed_documents(progress)
        texts = [queries[place].text for place in asked]
        vectors = embed(self._store, texts, "query", self._model, progress)
        block = max(1, _CELLS // len(documents))
        for start in range(0, len(asked), block):
            cosines = vectors[start : start + block] @ documents.T
            for place, row in zip(asked[start : start + block], cosines, strict=True):
                hits[place] = best_hits(self._ids, np.round(row.astype(np.float64), 6), depth)
            progress("dense: search", min(start + block, len(asked)), len(asked))
        return hits

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        if not words(query.text):
            return "the query holds no word"
        return "no document has a cosine above zero"

    def _embed_documents(self, progress: Progress) -> Vectors:
        if self._matrix is None:
            texts = [document.text for document in self._documents]
            self._matrix = embed(self._store, texts, "document", self._model, progress)
        return self._matrix
