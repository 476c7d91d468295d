"""A check of BM25 against rank-bm25, an independent implementation of the formula.

Building a pool compares the BM25 lists of a few queries with rank-bm25's lists. Both BM25 implementations get
the same tokens: words for one comparison, and grams for another. An `epsilon` of 0 in rank-bm25 gives a word
in more than half of the documents an idf of 0, which is the rule of `curation.retrieval.bm25`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isclose
from random import Random
from typing import Any

import numpy as np

from curation.core.errors import RefusedError
from curation.core.progress import Progress
from curation.retrieval.bm25 import B, Bm25
from curation.retrieval.index import index_folder
from curation.retrieval.postings import K1
from curation.retrieval.retriever import Hit, best_hits
from curation.retrieval.terms import indexed_terms, is_gram, project_stemmer, searched_terms
from curation.store import Query, Store
from curation.store.documents import Corpus, StoredDocuments

QUERIES = 3
# Number of documents above which the check samples the corpus and indexes the sample again
MAX_DOCUMENTS = 10_000
DEPTH = 10


def compare_with_rank_bm25(
    store: Store, corpus: Corpus, queries: Sequence[Query], index: Bm25, seed: int, progress: Progress
) -> dict[str, int]:
    """Compare the lists of some queries, drawn by seed, with rank-bm25's lists.

    Return the numbers of compared queries, of compared documents, and of documents in the corpus.

    Raises
    ------
    RefusedError: a list differs, so no pool may be built with the index.
    """
    draw = Random(seed)  # noqa: S311  no secret
    answerable = [row for row, query in enumerate(queries) if index.finds(query)]
    drawn = [queries[row] for row in sorted(draw.sample(answerable, min(QUERIES, len(answerable))))]
    searched = corpus
    if drawn:
        with store.reading() as cursor:
            stemmer = project_stemmer(cursor)
        if len(corpus.ids) > MAX_DOCUMENTS:
            searched = corpus.part(draw.sample(corpus.ids, MAX_DOCUMENTS))
            index = Bm25.stored(store, searched, stemmer)
        terms = {
            document.document_id: indexed_terms(document.text, stemmer)
            for document in StoredDocuments(store, searched.hashes)
        }
        for done, (query, hits) in enumerate(zip(drawn, index.search(drawn, DEPTH), strict=True), 1):
            _refuse_difference(query, hits, _scores(terms, searched_terms(query.text, stemmer)), store)
            progress("bm25: compare with rank-bm25", done, len(drawn))
    return {"queries": len(drawn), "documents": len(searched.ids), "corpus": len(corpus.ids)}


def _scores(terms: Mapping[str, Sequence[str]], query_terms: Collection[str]) -> dict[str, float]:
    """Compute document id → rank-bm25's score, in the order of the ids."""
    from rank_bm25 import BM25Okapi

    ids = sorted(terms)
    scores = np.zeros(len(ids))
    for gram in (False, True):
        field = [
            [term if term in query_terms else "" for term in terms[key] if is_gram(term) is gram]
            for key in ids
        ]
        if any(field):
            reference: Any = BM25Okapi(field, k1=K1, b=B, epsilon=0.0)
            if gram:
                reference.avgdl *= len(field) / sum(map(bool, field))
            scores += reference.get_scores([term for term in query_terms if is_gram(term) is gram])
    return dict(zip(ids, scores.tolist(), strict=True))


def _refuse_difference(query: Query, hits: Sequence[Hit], scores: Mapping[str, float], store: Store) -> None:
    """Refuse a list that differs from rank-bm25's. Documents with nearly equal scores may change places."""
    expected = best_hits(list(scores), np.array(list(scores.values())), DEPTH)
    same = len(hits) == len(expected) and all(
        _equal(hit.score, other.score) and _equal(hit.score, scores.get(hit.document_id))
        for hit, other in zip(hits, expected, strict=True)
    )
    if not same:
        raise RefusedError(
            f"The BM25 index is wrong: for the query {query.text!r} ({query.query_id}) the index has "
            f"{_first(hits)}, and rank-bm25 has {_first(expected)}. No pool was stored. Delete the folder "
            f"{index_folder(store.path)}, so that the index is made again, and report the difference."
        )


def _equal(score: float | None, other: float | None) -> bool:
    return isclose(score or 0.0, other or 0.0, rel_tol=1e-9)


def _first(hits: Sequence[Hit]) -> str:
    return ", ".join(f"{hit.document_id} {hit.score or 0.0:.6f}" for hit in hits[:3]) or "nothing"
