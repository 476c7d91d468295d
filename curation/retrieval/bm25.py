"""BM25 as rank-bm25's `BM25Okapi` defines it, on content words, at the speed of a sparse index.

score(d, q) = Σ over q's words w of  idf(w) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / mean |d|))
idf(w)      = ln((N − n + ½) / (n + ½))

with f the times w occurs in d, n the documents that hold w, k1 = 1.5 and b = 0.75; a word asked twice
counts twice (Robertson and Zaragoza 2009; Trotman, Puurula and Burgess 2014 on the variants). All of it
but the idf is precomputed for each word and document that holds it, as sparse columns (the idea of Lù,
BM25S, 2024); a search weighs and adds up the columns of the query's words.

One difference from rank-bm25: a word in half of the documents or more has no positive idf. rank-bm25
gives it a quarter of the average idf, more than many an informative word gets; here it counts nothing:
such a word is no content word *of this corpus*. For queries without one the scores are
rank-bm25's to the last digits of a double.

Grams of scripts without spaces (`terms.indexed_terms`) are a field of their own: |d| and mean |d| count only
them, over the documents that have any. So a Chinese name makes no English description longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.retrieval.retriever import Hit, best_hits
from curation.retrieval.terms import STOP_WORDS, content_words, is_gram, searched_terms
from curation.retrieval.word_counts import WordCounts, count_words, stored_word_counts
from curation.store import Document, Query, Store
from curation.text import digest
from curation.words import words

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

K1 = 1.5
B = 0.75
_BLOCK = 4_000_000  # weights that are worked out at once


class _Index(NamedTuple):
    """Word `w` scores `idf[w]` times `parts[starts[w]:starts[w + 1]]` in documents `rows[…]` of there."""

    word_number: dict[str, int]
    idf: NDArray[np.float64]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    parts: NDArray[np.float64]


class Bm25:
    """A retriever over title and body of documents; the index is made at the first search.

    With the store that holds the documents, words are counted once for a version of a document and kept
    (`word_counts`), and texts are not looked at again; without it they are counted each time.
    """

    name = "bm25"

    def __init__(
        self, documents: Sequence[Document], store: Store | None = None, stemmer: str | None = None
    ) -> None:
        self._stemmer = stemmer
        self._documents = sorted(documents, key=lambda document: document.document_id)
        self._ids = [document.document_id for document in self._documents]
        self._store = store
        self._made: _Index | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """See `Retriever.settings`; the stemmer only where there is one."""
        found = {"b": B, "formula": "okapi", "k1": K1, "stop_words": digest(sorted(STOP_WORDS))[:8]}
        return found if self._stemmer is None else found | {"stemmer": self._stemmer}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[list[Hit]]:
        """See `Retriever.search`."""
        index = self._index(progress)
        hits = []
        for done, query in enumerate(queries, 1):
            hits.append(self._search_one(index, query.text, depth))
            progress("bm25: search", done, len(queries))
        return hits

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        if not words(query.text):
            return "the query holds no word"
        if not content_words(query.text):
            return "the query holds stop words only"
        asked = searched_terms(query.text, self._stemmer)
        if not any(term in self._index().word_number for term in asked):
            return "no word of the query occurs in the corpus"
        return "every word of the query that occurs is in half of the documents or more"

    def _search_one(self, index: _Index, text: str, depth: int) -> list[Hit]:
        asked = searched_terms(text, self._stemmer)
        known = [index.word_number[term] for term in asked if term in index.word_number]
        numbers = [number for number in known if index.idf[number] > 0]
        if not numbers:
            return []
        columns = [slice(index.starts[number], index.starts[number + 1]) for number in numbers]
        scores = np.bincount(
            np.concatenate([index.rows[column] for column in columns]),
            np.concatenate(
                [index.idf[n] * index.parts[column] for n, column in zip(numbers, columns, strict=True)]
            ),
        )
        return best_hits(self._ids, scores, depth)

    def _index(self, progress: Progress = silent) -> _Index:
        if self._made is None:
            self._made = _weigh(self._counts(progress), len(self._documents))
        return self._made

    def _counts(self, progress: Progress) -> WordCounts:
        if self._store is None:
            texts = (document.text for document in self._documents)
            return count_words(texts, progress, len(self._documents), self._stemmer)
        hashes = [document.content_hash for document in self._documents]
        return stored_word_counts(self._store, hashes, progress, self._stemmer)


def _weigh(found: WordCounts, documents: int) -> _Index:
    """The index of a corpus from its counts; weighed by blocks, so that little more than it is in memory."""
    from scipy.sparse import csr_matrix

    by_document = csr_matrix(
        (found.counts, found.numbers, found.starts), shape=(len(found.rows), len(found.word_number))
    )
    grams = np.fromiter(map(is_gram, found.word_number), bool, len(found.word_number))
    penalties = _penalties(found, by_document, grams, documents)
    by_word = by_document.tocsc()
    del by_document
    rows = found.rows[by_word.indices]
    field = np.repeat(grams, np.diff(by_word.indptr)).astype(np.int8)
    parts = np.empty(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        counts = by_word.data[block]
        parts[block] = counts * (K1 + 1) / (counts + penalties[field[block], rows[block]])
    held_by = np.diff(by_word.indptr)
    idf = np.log((documents - held_by + 0.5) / (held_by + 0.5))
    return _Index(found.word_number, idf, by_word.indptr.astype(np.int64), rows, parts)


def _penalties(
    found: WordCounts, by_document: csr_matrix, grams: NDArray[np.bool_], documents: int
) -> NDArray[np.float64]:
    """K1 · (1 − b + b · |d| / mean |d|) of each document: of its words in row 0, of its grams in row 1."""
    lengths = np.zeros((2, documents))
    gram_lengths = by_document @ grams.astype(np.int64)
    lengths[0, found.rows] = by_document.sum(axis=1).A1 - gram_lengths
    lengths[1, found.rows] = gram_lengths
    means = [lengths[0].sum() / max(documents, 1), lengths[1].sum() / max(np.count_nonzero(lengths[1]), 1)]
    penalties: NDArray[np.float64] = K1 * (1 - B + B * lengths / np.maximum(means, 1e-9)[:, None])
    return penalties
