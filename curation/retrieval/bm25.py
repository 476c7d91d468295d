"""BM25 as rank-bm25's `BM25Okapi` defines it, on content words, at the speed of a sparse index.

score(d, q) = Σ over q's words w of  idf(w) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / mean |d|))
idf(w)      = ln((N − n + ½) / (n + ½))

with f the times w stands in d, n the documents that hold w, k1 = 1.5 and b = 0.75; a word asked twice
counts twice (Robertson and Zaragoza 2009; Trotman, Puurula and Burgess 2014 on the variants). bm25s
precomputes each word's part for each document as a sparse column (its `robertson` is this formula
without the constant k1 + 1); a search adds up the columns of the query's words.

One difference from rank-bm25: a word in half of the documents or more has no positive idf. rank-bm25
gives it a quarter of the average idf, more than many an informative word gets; here it counts nothing,
as in bm25s: such a word is no content word *of this corpus*. For queries without one the scores are
rank-bm25's to the last digits of a double.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.retrieval.retriever import Hit, best_hits
from curation.retrieval.terms import STOP_WORDS, content_words
from curation.store.rows import Document, Query
from curation.text import digest, words

K1 = 1.5
B = 0.75


class _Index(NamedTuple):
    """Word `w` scores `parts[starts[w]:starts[w + 1]]` in the documents `rows[starts[w]:starts[w + 1]]`."""

    word_number: dict[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    parts: NDArray[np.float64]


class Bm25:
    """A retriever over title and body of documents; the index is made at the first search."""

    name = "bm25"
    settings: ClassVar[Mapping[str, Any]] = {
        "b": B,
        "formula": "okapi",
        "k1": K1,
        "stop_words": digest(sorted(STOP_WORDS))[:8],
    }

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = sorted(documents, key=lambda document: document.document_id)
        self._ids = [document.document_id for document in self._documents]

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[list[Hit]]:
        """See `Retriever.search`."""
        hits = []
        for done, query in enumerate(queries, 1):
            hits.append(self._search_one(query.text, depth))
            progress("bm25: search", done, len(queries))
        return hits

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        if not words(query.text):
            return "the query holds no word"
        content = content_words(query.text)
        if not content:
            return "the query holds stop words only"
        if not any(word in self._index.word_number for word in content):
            return "no word of the query occurs in the corpus"
        return "every word of the query that occurs is in half of the documents or more"

    def _search_one(self, text: str, depth: int) -> list[Hit]:
        index = self._index
        numbers = [index.word_number[word] for word in content_words(text) if word in index.word_number]
        if not numbers:
            return []
        columns = [slice(index.starts[number], index.starts[number + 1]) for number in numbers]
        scores = np.bincount(
            np.concatenate([index.rows[column] for column in columns]),
            np.concatenate([index.parts[column] for column in columns]),
        )
        return best_hits(self._ids, scores, depth)

    @cached_property
    def _index(self) -> _Index:
        texts = [content_words(document.text) for document in self._documents]
        if not any(texts):
            return _Index({}, np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))
        import bm25s

        engine = bm25s.BM25(k1=K1, b=B, method="robertson", dtype="float64")
        engine.index(texts, show_progress=False)
        columns = engine.scores
        return _Index(engine.vocab_dict, columns["indptr"], columns["indices"], columns["data"] * (K1 + 1))
