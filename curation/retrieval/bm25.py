"""BM25 as rank-bm25's `BM25Okapi` defines it, on content words, at the speed of a sparse index.

score(d, q) = Σ over q's words w of  idf(w) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / mean |d|))
idf(w)      = ln((N − n + ½) / (n + ½))

with f the times w occurs in d, n the documents that hold w, k1 = 1.5 and b = 0.75; a word asked twice
counts twice (Robertson and Zaragoza 2009; Trotman, Puurula and Burgess 2014 on the variants). `postings`
holds the counts by word, as sparse columns (the idea of Lù, BM25S, 2024), and searches them.

One difference from rank-bm25: a word in half of the documents or more has no positive idf. rank-bm25
gives it a quarter of the average idf, more than many an informative word gets; here it counts nothing:
such a word is no content word *of this corpus*. For queries without one the scores are
rank-bm25's to the last digits of a double.

Grams of scripts without spaces (`terms.indexed_terms`) are a field of their own: |d| and mean |d| count only
them, over the documents that have any. So a Chinese name makes no English description longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.retrieval.postings import K1, Postings, search_for
from curation.retrieval.retriever import Hits
from curation.retrieval.terms import STOP_WORDS, content_words, is_gram, searched_terms
from curation.retrieval.word_counts import CHUNK, WordCounts, count_words, stored_word_counts
from curation.store import Document, Query, Store
from curation.store.documents import Corpus
from curation.text import digest
from curation.words import words

B = 0.75
_BLOCK = 1_000  # queries that are searched for at once
_AT_ONCE = 4_000_000  # postings


class _Index(NamedTuple):
    word_number: dict[str, int]
    postings: Postings


class Bm25:
    """A retriever over title and body of documents; the index is made at the first search."""

    name = "bm25"

    def __init__(self, documents: Iterable[Document], stemmer: str | None = None) -> None:
        ordered = sorted(documents, key=lambda document: document.document_id)
        self._ids = [document.document_id for document in ordered]
        self._count: Callable[[Progress], WordCounts] = lambda progress: count_words(
            (document.text for document in ordered), progress, len(ordered), stemmer
        )
        self._stemmer = stemmer
        self._made: _Index | None = None

    @classmethod
    def stored(cls, store: Store, corpus: Corpus, stemmer: str | None = None) -> Bm25:
        """Over documents of a store: words are counted once for a version of a document and kept."""
        found = cls((), stemmer)
        found._ids = corpus.ids
        found._count = lambda progress: stored_word_counts(store, corpus.hashes, progress, stemmer)
        return found

    @property
    def settings(self) -> Mapping[str, Any]:
        """See `Retriever.settings`; the stemmer only where there is one."""
        found = {"b": B, "formula": "okapi", "k1": K1, "stop_words": digest(sorted(STOP_WORDS))[:8]}
        return found if self._stemmer is None else found | {"stemmer": self._stemmer}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[Hits]:
        """See `Retriever.search`."""
        index = self._index(progress)
        asked = [self._numbers(index, query.text) for query in queries]
        search = search_for(index.postings, asked)
        hits: list[Hits] = []
        for start in range(0, len(asked), _BLOCK):
            best = search(index.postings, asked[start : start + _BLOCK], depth)
            hits += [Hits(self._ids, rows, scores) for rows, scores in best]
            progress("bm25: search", len(hits), len(queries))
        return hits

    def finds(self, query: Query) -> bool:
        """Whether the query has a hit."""
        return bool(self._numbers(self._index(), query.text))

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        if not words(query.text):
            return "the query holds no word"
        if not content_words(query.text):
            return "the query holds stop words only"
        word_number, postings = self._index()
        found = map(word_number.get, searched_terms(query.text, self._stemmer))
        if not any(
            postings.starts[number] < postings.starts[number + 1] for number in found if number is not None
        ):
            return "no word of the query occurs in the corpus"
        return "every word of the query that occurs is in half of the documents or more"

    def _numbers(self, index: _Index, text: str) -> list[int]:
        """The query's words that the corpus has and that count, each as often as it is asked for."""
        found = map(index.word_number.get, searched_terms(text, self._stemmer))
        return [number for number in found if number is not None and index.postings.idf[number] > 0]

    def _index(self, progress: Progress = silent) -> _Index:
        if self._made is None:
            self._made = _weigh(self._count(progress), len(self._ids))
        return self._made


def _weigh(found: WordCounts, documents: int) -> _Index:
    """The index of a corpus from its counts."""
    from scipy.sparse import csr_matrix

    grams = np.fromiter(map(is_gram, found.word_number), bool, len(found.word_number))
    penalties = _penalties(found, grams, documents)
    word_number, row_of = found.word_number, found.rows
    by_word = csr_matrix((found.counts, found.numbers, found.starts), (len(row_of), len(grams))).tocsc()
    del found  # here and below the largest arrays: one of each at a time
    for block in np.array_split(by_word.indices, len(by_word.indices) // _AT_ONCE + 1):
        block[:] = row_of[block]
    held_by = np.diff(by_word.indptr)
    idf = np.where(held_by > 0, np.log((documents - held_by + 0.5) / (held_by + 0.5)), 0)
    postings = (by_word.indptr.astype(np.int64), by_word.indices, by_word.data)
    return _Index(word_number, Postings(idf, grams.view(np.uint8), *postings, penalties))


def _penalties(found: WordCounts, grams: NDArray[np.bool_], documents: int) -> NDArray[np.float64]:
    """K1 · (1 − b + b · |d| / mean |d|) of each document: of its words in row 0, of its grams in row 1."""
    lengths = np.zeros((2, documents))
    for first in range(0, len(found.rows), CHUNK):
        starts = found.starts[first : first + CHUNK + 1]
        held, any_word = slice(starts[0], starts[-1]), np.flatnonzero(np.diff(starts))
        rows, counts = found.rows[first : first + CHUNK][any_word], found.counts[held]
        for field, counted in enumerate(
            [counts, counts * grams[found.numbers[held]]] if grams.any() else [counts]
        ):
            lengths[field, rows] = np.add.reduceat(counted, starts[any_word] - starts[0], dtype=np.int64)
    lengths[0] -= lengths[1]
    means = [lengths[0].sum() / max(documents, 1), lengths[1].sum() / max(np.count_nonzero(lengths[1]), 1)]
    penalties: NDArray[np.float64] = K1 * (1 - B + B * lengths / np.maximum(means, 1e-9)[:, None])
    return penalties
