"""A check of the BM25 index against rank-bm25, a plain implementation of the same formula by other people.

Both get the same tokens (`terms.indexed_terms`): words, and in a second reference grams, whose mean length is
that of the documents that have any. rank-bm25's `epsilon` of 0 gives a word in more than half of the
documents an idf of 0, which is the rule of `bm25`. Lists agree if they are equally long, if the scores at
each rank and of each document are equal to nine digits, and if documents with equal scores are in the order
of their ids.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from math import inf, isclose
from random import Random
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import amount
from curation.ingest.importers.queries import active_queries
from curation.retrieval.bm25 import B, Bm25
from curation.retrieval.index.stored import index_folder
from curation.retrieval.postings import K1
from curation.retrieval.retriever import Hit, best_hits
from curation.retrieval.terms import indexed_terms, is_gram, project_stemmer, searched_terms
from curation.store import Document, Query, Store
from curation.store.documents import Corpus, StoredDocuments, current_corpus

QUERIES = 3
DOCUMENTS = 10_000
SECONDS = 10
"""What each pool compares by itself: queries, in at most so many documents and about so many seconds."""
_DEPTH = 10
_DIGITS = 1e-9


class Bm25Difference(NamedTuple):
    """A query whose list differs: document ids and scores, best first, of the index and of rank-bm25."""

    query_id: str
    text: str
    found: list[tuple[str, float]]
    expected: list[tuple[str, float]]


class Bm25Check(NamedTuple):
    """What the comparison found.

    Attributes
    ----------
    queries: how many were compared, to `depth` documents each.
    agree: how many of them have the same list.
    largest_difference: of the scores that index and rank-bm25 give a document of the lists.
    differing: the other queries, by query id.
    """

    queries: int
    depth: int
    agree: int
    largest_difference: float
    differing: list[Bm25Difference]


class Bm25Sample(NamedTuple):
    """What a pool compared by itself, and found equal.

    Attributes
    ----------
    queries: how many lists were compared, to depth 10.
    documents: in how many documents; where these are not the whole `corpus`, in a random sample of it.
    """

    queries: int
    documents: int
    corpus: int

    def __str__(self) -> str:
        searched = amount(self.documents, "document")
        if self.documents < self.corpus:
            searched += f" of {self.corpus:,}, drawn at random"
        ranked = amount(self.queries, "query", "queries")
        return f"Checked: BM25 ranks {ranked} as the library rank-bm25 does, in {searched}."


class _Scores(Protocol):
    def get_scores(self, query: list[str]) -> NDArray[np.float64]: ...


def verify_bm25(store: Store, queries: int, depth: int, seed: int, progress: Progress = silent) -> Bm25Check:
    """Compare the index's first `depth` documents with rank-bm25's, for so many queries drawn at random.

    Raises
    ------
    InputError: a number of queries or a depth below 1.
    RefusedError: there is no corpus.
    """
    if queries < 1 or depth < 1:
        raise InputError(
            f"{amount(queries, 'query', 'queries')} to depth {depth} were to be verified; expected at "
            "least 1."
        )
    with store.reading() as cursor:
        corpus, asked = current_corpus(cursor), active_queries(cursor)
        stemmer = project_stemmer(cursor)
    asked.sort(key=lambda query: query.query_id)
    drawn = Random(seed).sample(asked, min(queries, len(asked)))  # noqa: S311  no secret
    drawn.sort(key=lambda query: query.query_id)
    hits = Bm25.stored(store, corpus, stemmer).search(drawn, depth, progress)
    texts = StoredDocuments(store, corpus.hashes)
    return compare_with_rank_bm25(texts, drawn, hits, depth, progress, stemmer)


def check_sample(
    store: Store,
    corpus: Corpus,
    queries: Sequence[Query],
    index: Bm25,
    seed: int,
    progress: Progress = silent,
) -> Bm25Sample:
    """Compare some of the lists that a pool is made of; a large corpus is sampled and indexed again.

    Raises
    ------
    RefusedError: a list differs.
    """
    draw = Random(seed)  # noqa: S311  no secret
    answered = [place for place, query in enumerate(queries) if index.finds(query)]
    drawn = [queries[place] for place in sorted(draw.sample(answered, min(QUERIES, len(answered))))]
    with store.reading() as cursor:
        stemmer = project_stemmer(cursor)
    documents, searched = len(corpus.ids), corpus
    if not drawn:
        return Bm25Sample(0, documents, documents)
    if documents > DOCUMENTS:
        searched = corpus.part(draw.sample(corpus.ids, DOCUMENTS))
        index = Bm25.stored(store, searched, stemmer)
    ranked, texts = index.search(drawn, _DEPTH), StoredDocuments(store, searched.hashes)
    check = compare_with_rank_bm25(texts, drawn, ranked, _DEPTH, progress, stemmer, SECONDS)
    if check.differing:
        first = check.differing[0]
        raise RefusedError(
            f"The BM25 index is wrong: for the query {first.text!r} ({first.query_id}) it has "
            f"{_shown(first.found)}, and rank-bm25 {_shown(first.expected)}. No pool was stored. Delete "
            f"the folder {index_folder(store.path)}, so that it is made again, and report the difference.",
        )
    return Bm25Sample(check.queries, len(searched.ids), documents)


def compare_with_rank_bm25(
    documents: Iterable[Document],
    queries: Sequence[Query],
    hits: Sequence[Sequence[Hit]],
    depth: int,
    progress: Progress = silent,
    stemmer: str | None = None,
    seconds: float = inf,
) -> Bm25Check:
    """Compare the lists that an index found with those of rank-bm25.

    Parameters
    ----------
    stemmer: that of the index.
    seconds: after so many no further query is compared; one always is.
    """
    until = time.monotonic() + seconds
    asked = {term for query in queries for term in searched_terms(query.text, stemmer)}
    rows = sorted(
        (document.document_id, *_terms(indexed_terms(document.text, stemmer), asked))
        for document in documents
    )
    ids = [row[0] for row in rows]
    fields = ([row[1] for row in rows], False), ([row[2] for row in rows], True)
    references = [reference for terms, grams in fields if (reference := _rank_bm25(terms, grams))]
    largest, differing, done = 0.0, [], 0
    for done, (query, found) in enumerate(zip(queries, hits, strict=True), 1):
        scores = np.zeros(len(ids))
        for reference in references:
            scores += reference.get_scores(searched_terms(query.text, stemmer))
        score_of = dict(zip(ids, scores.tolist(), strict=True))
        expected = best_hits(ids, scores, depth)
        largest = max([largest, *(abs(_score(hit) - score_of.get(hit.document_id, 0.0)) for hit in found)])
        if not _agree(found, expected, score_of):
            differing.append(Bm25Difference(query.query_id, query.text, _listed(found), _listed(expected)))
        progress("bm25: compare with rank-bm25", done, len(queries))
        if time.monotonic() > until:
            break
    return Bm25Check(done, depth, done - len(differing), largest, differing)


def _terms(terms: Iterable[str], asked: Collection[str]) -> tuple[list[str], list[str]]:
    """A document's words and its grams; of those that no query asks for only the length counts: ''."""
    fields: tuple[list[str], list[str]] = ([], [])
    for term in terms:
        fields[is_gram(term)].append(term if term in asked else "")
    return fields


def _rank_bm25(terms: list[list[str]], grams: bool) -> _Scores | None:
    """The reference of words or grams; None for a corpus without any, which rank-bm25 divides by."""
    from rank_bm25 import BM25Okapi

    if not any(terms):
        return None
    reference = BM25Okapi(terms, k1=K1, b=B, epsilon=0.0)
    if grams:
        reference.avgdl *= len(terms) / sum(map(bool, terms))
    scores: _Scores = reference
    return scores


def _agree(hits: Sequence[Hit], expected: Sequence[Hit], score_of: dict[str, float]) -> bool:
    """Documents whose scores differ in the last digits may change places."""
    same_scores = len(hits) == len(expected) and all(
        _equal(_score(ours), _score(theirs)) and _equal(_score(ours), score_of.get(ours.document_id, 0.0))
        for ours, theirs in zip(hits, expected, strict=True)
    )
    in_order = list(hits) == sorted(hits, key=lambda hit: (-_score(hit), hit.document_id))
    return same_scores and in_order and len({hit.document_id for hit in hits}) == len(hits)


def _equal(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=_DIGITS)


def _score(hit: Hit) -> float:
    return hit.score or 0.0


def _shown(listed: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{document_id} {score:.6f}" for document_id, score in listed[:3]) or "nothing"


def _listed(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.document_id, _score(hit)) for hit in hits]
