"""Dense retrieval: exact search for the documents with the highest cosine to the query embedding.

The search compares the query with all documents by a matrix product in blocks, which takes some milliseconds
a query for 60,000 documents. Cosines are rounded to six decimals before they are compared, so that the last
digits of a matrix product, which differ between machines, decide no rank. A cosine of zero or below is no
hit, as in all retrievers.

A document that is longer than the model's window is embedded in passages. The score of a long document is the
score of its best passage (MaxP: Dai and Callan, SIGIR 2019), and the hit names this passage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.core.request import DEFAULT_MODEL
from curation.core.spans import Span
from curation.core.words import split_words
from curation.retrieval.embedding_model import Vectors, find_model
from curation.retrieval.embeddings import embed
from curation.retrieval.passages import Cutter, cut_documents, find_cutter, passage_text
from curation.retrieval.retriever import Hits, find_best_hits
from curation.store import Document, Query, Store

_CELLS = 8_000_000  # number of cosines in memory at the same time


class _Passages(NamedTuple):
    """The passages of all documents in order. The passages of document `i` begin at `first[i]`."""

    vectors: Vectors
    first: NDArray[np.int64]
    spans: list[list[Span]]

    def find_best(self, row: int, cosines: NDArray[np.float64]) -> Span | None:
        """Find the best passage of a document, the first one if several have equal scores."""
        spans = self.spans[row]
        if len(spans) == 1:
            return None
        first = self.first[row]
        return spans[int(np.argmax(cosines[first : first + len(spans)]))]


class Dense:
    """A dense retriever over embeddings of documents' passages, which the first search computes or reads.

    Documents without any text have no embedding and are never found.

    Raises
    ------
    NotFoundError: the model is written as a path, and there is no such folder.
    """

    name = "dense"

    def __init__(self, store: Store, documents: Iterable[Document], model: str = DEFAULT_MODEL) -> None:
        self._store = store
        self._model = model
        self._model_name = find_model(model).name
        with_text = [document for document in documents if document.text]
        self._documents = sorted(with_text, key=lambda document: document.document_id)
        self._ids = [document.document_id for document in self._documents]
        self._query_vectors: dict[str, Vectors] = {}
        self._passages: _Passages | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings: the model, the cut into passages, and the comparison of vectors.

        Raises
        ------
        RefusedError: the model's window is unknown, because the model is not on this machine and cannot be
            loaded.
        """
        cutter = self._cutter
        passages = {"best": "max", "overlap": cutter.overlap, "window": cutter.window}
        return {"formula": "cosine", "model": self._model_name, "passages": passages}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[Hits]:
        """Search by embeddings: find the best documents for each query (see `Retriever.search`).

        Raises
        ------
        RefusedError: the model cannot be loaded, or the stored vectors are from another model.
        """
        hits = [find_best_hits((), np.zeros(0), depth) for _ in queries]
        rows = [number for number, query in enumerate(queries) if split_words(query.text)]
        if not rows or not self._documents:
            return hits
        passages = self._embed_passages(progress)
        vectors = self._embed_queries([queries[number].text for number in rows], progress)
        block = max(1, _CELLS // len(passages.vectors))
        for start in range(0, len(rows), block):
            cosines = vectors[start : start + block] @ passages.vectors.T
            for number, row in zip(rows[start : start + block], cosines, strict=True):
                hits[number] = self._find_best_hits(passages, np.round(row.astype(np.float64), 6), depth)
            progress("searching by meaning", min(start + block, len(rows)), len(rows))
        return hits

    def explain_no_hits(self, query: Query) -> str:
        """Explain why dense search finds no document for a query (see `Retriever.explain_no_hits`)."""
        if not split_words(query.text):
            return "the query has no words"
        return "no document has a cosine above zero"

    def _find_best_hits(self, passages: _Passages, cosines: NDArray[np.float64], depth: int) -> Hits:
        hits = find_best_hits(self._ids, np.maximum.reduceat(cosines, passages.first), depth)
        spans = {row: span for row in hits.rows.tolist() if (span := passages.find_best(row, cosines))}
        return Hits(self._ids, hits.rows, hits.scores, spans)

    def _embed_queries(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """Embed the texts of queries, and reuse vectors that are in memory."""
        new_texts = [text for text in dict.fromkeys(texts) if text not in self._query_vectors]
        if new_texts:
            vectors = embed(self._store, new_texts, "query", self._model, progress)
            self._query_vectors.update(zip(new_texts, vectors, strict=True))
        return np.stack([self._query_vectors[text] for text in texts])

    @cached_property
    def _cutter(self) -> Cutter:
        return find_cutter(self._model)

    def _embed_passages(self, progress: Progress) -> _Passages:
        if self._passages is None:
            spans = cut_documents(self._store, self._documents, self._cutter, progress)
            cuts = zip(self._documents, spans, strict=True)
            texts = [passage_text(document, span) for document, cut in cuts for span in cut]
            vectors = embed(self._store, texts, "document", self._model, progress)
            first = np.cumsum([0, *(len(cut) for cut in spans[:-1])])
            self._passages = _Passages(vectors, first, spans)
        return self._passages
