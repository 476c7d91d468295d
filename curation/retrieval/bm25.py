"""BM25 over content words, as `BM25Okapi` of the library rank-bm25 defines it, with a sparse index for speed.

score(d, q) = Σ over q's words w of  idf(w) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / mean |d|))
idf(w)      = ln((N − n + ½) / (n + ½))

In this formula, f is the number of times that the word w occurs in the document d, n is the number of
documents with w, k1 = 1.5 and b = 0.75. A word that the query repeats counts each time (Robertson and
Zaragoza 2009; Trotman, Puurula and Burgess 2014 on the variants of BM25).

A word in half of the documents or more has no positive idf, and adds nothing to a score. The library
rank-bm25 instead gives the word a quarter of the average idf, which is more than many informative words get.
For queries without such frequent words, scores equal the scores of rank-bm25 to the last digits of a double
(`curation.retrieval.bm25_check`).

Grams of scripts without spaces (`terms.indexed_terms`) are a separate field: its |d| and mean |d| count only
grams, over the documents with grams. So a Chinese name in an English document does not change the length of
the English text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from curation.core.digests import digest
from curation.core.progress import Progress, silent
from curation.core.words import split_words
from curation.retrieval.index import CHUNK, CorpusIndex, count_grams, merge, stored_index
from curation.retrieval.postings import K1, Postings, search_for
from curation.retrieval.retriever import Hits
from curation.retrieval.terms import STOP_WORDS, content_words, searched_terms
from curation.retrieval.word_counts import count_words
from curation.store import Document, Query, Store
from curation.store.documents import Corpus

B = 0.75
_BLOCK = 1_000  # queries that are searched for at once


class Bm25:
    """A BM25 retriever over titles and bodies of documents. The first search makes or maps the index."""

    name = "bm25"

    def __init__(self, documents: Iterable[Document], stemmer: str | None = None) -> None:
        ordered = sorted(documents, key=lambda document: document.document_id)
        self._ids = [document.document_id for document in ordered]
        self._read: Callable[[Progress], CorpusIndex] = lambda _: _count(
            [document.text for document in ordered], stemmer
        )
        self._stemmer = stemmer
        self._made: Postings | None = None
        self._number: Callable[[str], int | None] = lambda _: None

    @classmethod
    def stored(cls, store: Store, corpus: Corpus, stemmer: str | None = None) -> Bm25:
        """Make a BM25 retriever over a project's documents, with the index in a folder next to the project
        (`index`).
        """
        retriever = cls((), stemmer)
        retriever._ids = corpus.ids
        retriever._read = lambda progress: stored_index(store, corpus.hashes, progress, stemmer)
        return retriever

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the retriever (`Retriever.settings`), with the stemmer if the project has a stemmer."""
        settings = {"b": B, "formula": "okapi", "k1": K1, "stop_words": digest(sorted(STOP_WORDS))[:8]}
        return settings if self._stemmer is None else settings | {"stemmer": self._stemmer}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[Hits]:
        """See `Retriever.search`."""
        postings = self._postings(progress)
        word_numbers = [self._numbers(query.text) for query in queries]
        search = search_for(postings, word_numbers)
        hits: list[Hits] = []
        for start in range(0, len(word_numbers), _BLOCK):
            best = search(postings, word_numbers[start : start + _BLOCK], depth)
            hits += [Hits(self._ids, rows, scores) for rows, scores in best]
            progress("bm25: search", len(hits), len(queries))
        return hits

    def finds(self, query: Query) -> bool:
        """Check whether the query has a hit."""
        return bool(self._numbers(query.text))

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        if not split_words(query.text):
            return "the query holds no word"
        if not content_words(query.text):
            return "the query holds stop words only"
        self._postings()
        if all(self._number(term) is None for term in searched_terms(query.text, self._stemmer)):
            return "no word of the query occurs in the corpus"
        return "every word of the query that occurs is in half of the documents or more"

    def _numbers(self, text: str) -> list[int]:
        """List the numbers of the query's words with a positive idf, as often as the query has each word."""
        idf, numbers = self._postings().idf, map(self._number, searched_terms(text, self._stemmer))
        return [number for number in numbers if number is not None and idf[number] > 0]

    def _postings(self, progress: Progress = silent) -> Postings:
        if self._made is None:
            index = self._read(progress)
            self._number = cache(partial(_find, index.words))
            self._made = _weigh(index)
        return self._made


def _count(texts: Sequence[str], stemmer: str | None) -> CorpusIndex:
    """Make the index of texts that are not stored in a project."""
    chunks = (texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK))
    batches = (pa.chunked_array([[f"{text}\n" for text in chunk]], pa.string()) for chunk in chunks)
    return merge([count_words(chunk, stemmer) for chunk in batches], np.arange(len(texts)))


def _weigh(index: CorpusIndex) -> Postings:
    """Compute idf and length penalties from the counts of an index."""
    document_counts, documents = np.diff(index.starts), len(index.words_in)
    idf = np.log((documents - document_counts + 0.5) / (document_counts + 0.5))
    field = (np.arange(len(index.words)) < count_grams(index.words)).view(np.uint8)
    lengths = np.stack([index.words_in, index.grams_in]).astype(np.float64)
    fields = np.maximum(np.array([documents, np.count_nonzero(lengths[1])]), 1)
    penalties = K1 * (1 - B + B * lengths / np.maximum(lengths.sum(axis=1) / fields, 1e-9)[:, None])
    return Postings(idf, field, index.starts, index.rows, index.counts, penalties)


def _find(ordered: pa.StringArray, word: str) -> int | None:
    """Find a word among sorted words by bisection, without making Python strings of all words."""
    number = bisect_left(range(len(ordered)), word, key=lambda at: ordered[at].as_py())
    return number if number < len(ordered) and ordered[number].as_py() == word else None
