"""A check of BM25 against rank-bm25, an independent implementation of the formula.

Building a pool compares the BM25 lists of a few queries with rank-bm25's lists. Both BM25 implementations get
the same tokens: words for one comparison, and grams for another. rank-bm25 gets Lucene's idf, which is the
rule of `curation.retrieval.bm25`, computed from rank-bm25's own counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import isclose, log1p
from random import Random
from typing import Any

import numpy as np

from curation.core.errors import RefusedError
from curation.core.progress import Progress
from curation.retrieval.analyzer import read_analyzer
from curation.retrieval.bm25 import B, Bm25
from curation.retrieval.postings import K1
from curation.retrieval.retriever import Hit, find_best_hits
from curation.retrieval.stored_index import find_index_folder
from curation.retrieval.terms import indexed_terms, is_gram, searched_terms
from curation.store import Query, Store
from curation.store.documents import Corpus, StoredDocuments

MAX_QUERIES = 3
MAX_DOCUMENTS = 10_000
"""Number of documents above which the check samples the corpus and indexes the sample again."""
DEPTH = 10


def compare_with_rank_bm25(
    store: Store, corpus: Corpus, queries: Sequence[Query], bm25: Bm25, seed: int, progress: Progress
) -> dict[str, int]:
    """Compare the lists of some queries, drawn by seed, with rank-bm25's lists.

    Returns
    -------
    The numbers of compared queries ('queries'), compared documents ('documents') and documents of the corpus
    ('corpus').

    Raises
    ------
    RefusedError: a list differs, so no pool may be built with the index.
    """
    random = Random(seed)  # noqa: S311  no secret
    answerable = [row for row, query in enumerate(queries) if bm25.has_hits(query)]
    sampled_rows = sorted(random.sample(answerable, min(MAX_QUERIES, len(answerable))))
    compared_queries = [queries[row] for row in sampled_rows]
    corpus_sample = corpus
    if compared_queries:
        with store.reading() as cursor:
            analyzer = read_analyzer(cursor)
        if len(corpus.ids) > MAX_DOCUMENTS:
            corpus_sample = corpus.part(random.sample(corpus.ids, MAX_DOCUMENTS))
            bm25 = Bm25.from_store(store, corpus_sample, analyzer)
        terms = {
            document.document_id: indexed_terms(document.text, analyzer)
            for document in StoredDocuments(store, corpus_sample.hashes)
        }
        lists = bm25.search(compared_queries, DEPTH)
        for done, (query, hits) in enumerate(zip(compared_queries, lists, strict=True), 1):
            scores = _score_by_rank_bm25(terms, searched_terms(query.text, analyzer))
            _refuse_difference(query, hits, scores, store)
            progress("checking BM25", done, len(compared_queries))
    return {"queries": len(compared_queries), "documents": len(corpus_sample.ids), "corpus": len(corpus.ids)}


def _score_by_rank_bm25(terms: Mapping[str, Sequence[str]], query_terms: Collection[str]) -> dict[str, float]:
    """Compute rank-bm25's score of each document, by document id in order."""
    from rank_bm25 import BM25Okapi

    ids = sorted(terms)
    scores = np.zeros(len(ids))
    for is_gram_field in (False, True):
        field = [
            [
                term if term in query_terms else ""
                for term in terms[document_id]
                if is_gram(term) is is_gram_field
            ]
            for document_id in ids
        ]
        if any(field):
            reference: Any = BM25Okapi(field, k1=K1, b=B)
            reference.idf = _compute_lucene_idf(reference.doc_freqs)
            if is_gram_field:
                reference.avgdl *= len(field) / sum(map(bool, field))
            scores += reference.get_scores([term for term in query_terms if is_gram(term) is is_gram_field])
    return dict(zip(ids, scores.tolist(), strict=True))


def _compute_lucene_idf(counts: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """Compute Lucene's idf of each term from the counts of terms in each document."""
    documents = Counter(term for terms in counts for term in terms)
    return {term: log1p((len(counts) - number + 0.5) / (number + 0.5)) for term, number in documents.items()}


def _refuse_difference(query: Query, hits: Sequence[Hit], scores: Mapping[str, float], store: Store) -> None:
    """Reject a list that differs from rank-bm25's. Documents with nearly equal scores may change places."""
    expected = find_best_hits(list(scores), np.array(list(scores.values())), DEPTH)
    is_same = len(hits) == len(expected) and all(
        _is_close(hit.score, other.score) and _is_close(hit.score, scores.get(hit.document_id))
        for hit, other in zip(hits, expected, strict=True)
    )
    if not is_same:
        raise RefusedError(
            f"The BM25 index is wrong: for the query {query.text!r} ({query.query_id}) the index has "
            f"{_describe_first(hits)}, and rank-bm25 has {_describe_first(expected)}. No pool was stored. "
            f"Delete the folder {find_index_folder(store.path)}, so that goldgrade rebuilds the index, and "
            "report the difference."
        )


def _is_close(score: float | None, other: float | None) -> bool:
    return isclose(score or 0.0, other or 0.0, rel_tol=1e-9)


def _describe_first(hits: Sequence[Hit]) -> str:
    return ", ".join(f"{hit.document_id} {hit.score or 0.0:.6f}" for hit in hits[:3]) or "nothing"
