"""BM25 over content words: the formula of the library rank-bm25 with Lucene's idf, on a sparse index.

score(d, q) = Σ over q's words w of idf(w) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / mean |d|))
idf(w) = ln(1 + (N − n + ½) / (n + ½))

In this formula, f is the number of times that the word w occurs in the document d, n is the number of
documents with w, N is the number of documents, k1 = 1.5 and b = 0.75. A word that the query repeats counts
each time (Robertson and Zaragoza 2009; Kamphuis, de Vries, Boytsov and Lin 2020 on the variants of BM25).

Lucene's idf falls with n and is always above zero, so a query whose words are in most documents, as in a
small FAQ, still has results. rank-bm25's own idf is below zero for a word in more than half of the documents.
rank-bm25 replaces a negative idf by a quarter of the average idf, which is more than many informative words
get. With Lucene's idf, scores equal the scores of rank-bm25 to the last digits of a double
(`curation.retrieval.bm25_check`), and k1 + 1 times the scores of bm25s with its method "lucene".

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
from curation.core.words import split_whole_words, split_words
from curation.retrieval.inverted_index import CorpusIndex, build_index, count_grams
from curation.retrieval.postings import K1, Postings, choose_search
from curation.retrieval.retriever import Hits
from curation.retrieval.stored_index import load_index
from curation.retrieval.terms import PLAIN, STOP_WORDS, Analyzer, content_words, searched_terms
from curation.retrieval.word_counts import count_words
from curation.store import Document, Query, Store
from curation.store.documents import Corpus

B = 0.75
_MAX_QUERIES = 1_000  # number of queries that are searched together
_MAX_TEXTS = 20_000  # number of texts in one Arrow array
LoadIndex = Callable[[Progress], CorpusIndex]


class Bm25:
    """A BM25 retriever over titles and bodies of documents. The first search builds or reads the index."""

    name = "bm25"

    def __init__(self, documents: Iterable[Document], analyzer: Analyzer = PLAIN) -> None:
        ordered = sorted(documents, key=lambda document: document.document_id)
        texts = [document.text for document in ordered]
        self._document_ids = [document.document_id for document in ordered]
        self._load_index: LoadIndex = lambda progress: _index_texts(texts, analyzer)
        self._analyzer = analyzer
        self._postings: Postings | None = None
        self._find_word: Callable[[str], int | None] = lambda word: None

    @classmethod
    def from_store(cls, store: Store, corpus: Corpus, analyzer: Analyzer = PLAIN) -> Bm25:
        """Make a BM25 retriever over a project's documents, with an index stored next to the project."""
        retriever = cls((), analyzer)
        retriever._document_ids = corpus.ids
        retriever._load_index = lambda progress: load_index(store, corpus.hashes, progress, analyzer)
        return retriever

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings of the retriever, with the project's stemmer and kept stop words, if any."""
        settings = {"b": B, "formula": "lucene", "k1": K1, "stop_words": digest(sorted(STOP_WORDS))[:8]}
        others = {"stemmer": self._analyzer.stemmer, "kept_words": sorted(self._analyzer.kept_words)}
        return settings | {name: value for name, value in others.items() if value}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[Hits]:
        """Search by BM25: find the best documents for each query (see `Retriever.search`)."""
        postings = self._load_postings(progress)
        query_words = [self._find_words(query.text) for query in queries]
        search = choose_search(postings, query_words)
        hits: list[Hits] = []
        for start in range(0, len(query_words), _MAX_QUERIES):
            best = search(postings, query_words[start : start + _MAX_QUERIES], depth)
            hits += [Hits(self._document_ids, rows, scores) for rows, scores in best]
            progress("searching with BM25", len(hits), len(queries))
        return hits

    def has_hits(self, query: Query) -> bool:
        """Return whether BM25 finds at least one document for a query."""
        return bool(self._find_words(query.text))

    def explain_no_hits(self, query: Query) -> str:
        """Explain why BM25 finds no document for a query (see `Retriever.explain_no_hits`)."""
        if not split_words(query.text):
            return "the query has no words"
        if not content_words(query.text, self._analyzer.stop_words):
            return "the query has only stop words"
        return "no word of the query occurs in the corpus"

    def list_lost_words(self, queries: Sequence[Query]) -> list[dict[str, Any]]:
        """List the queries in which BM25 ignores some words as stop words, shortest query first.

        Each query has its text ('query'), the text that is searched ('searched') and its 'stop_words'.
        """
        lost = []
        for text in sorted({query.text for query in queries}, key=lambda text: (len(text), text)):
            words, searched = split_whole_words(text), content_words(text, self._analyzer.stop_words)
            if 0 < len(searched) < len(words):
                dropped = sorted(self._analyzer.stop_words.intersection(words))
                lost.append({"query": text, "searched": " ".join(searched), "stop_words": dropped})
        return lost

    def _find_words(self, text: str) -> list[int]:
        """List the index numbers of the query's words that the corpus has, with repetitions."""
        self._load_postings()
        word_numbers = map(self._find_word, searched_terms(text, self._analyzer))
        return [number for number in word_numbers if number is not None]

    def _load_postings(self, progress: Progress = silent) -> Postings:
        if self._postings is None:
            index = self._load_index(progress)
            self._find_word = cache(partial(_find_word, index.words))
            self._postings = _weight_postings(index)
        return self._postings


def _index_texts(texts: Sequence[str], analyzer: Analyzer) -> CorpusIndex:
    """Build a BM25 index of texts that are not stored in a project."""
    chunks = (texts[start : start + _MAX_TEXTS] for start in range(0, len(texts), _MAX_TEXTS))
    batches = (pa.chunked_array([[f"{text}\n" for text in chunk]], pa.string()) for chunk in chunks)
    return build_index([count_words(batch, analyzer) for batch in batches], np.arange(len(texts)))


def _weight_postings(index: CorpusIndex) -> Postings:
    """Compute idf and length penalties from the counts of an index."""
    document_counts = np.diff(index.starts)
    documents = len(index.words_in)
    idf = np.log1p((documents - document_counts + 0.5) / (document_counts + 0.5))
    fields = (np.arange(len(index.words)) < count_grams(index.words)).view(np.uint8)
    lengths = np.stack([index.words_in, index.grams_in]).astype(np.float64)
    documents_of_field = np.maximum(np.array([documents, np.count_nonzero(lengths[1])]), 1)
    mean_lengths = np.maximum(lengths.sum(axis=1) / documents_of_field, 1e-9)
    penalties = K1 * (1 - B + B * lengths / mean_lengths[:, None])
    return Postings(idf, fields, index.starts, index.rows, index.counts, penalties)


def _find_word(words: pa.StringArray, word: str) -> int | None:
    """Find the index number of a word by bisection, without making Python strings of all words."""
    number = bisect_left(range(len(words)), word, key=lambda index: words[index].as_py())
    return number if number < len(words) and words[number].as_py() == word else None
