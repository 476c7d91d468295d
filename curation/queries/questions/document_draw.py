"""The draw of the documents for which a language model writes questions.

Each stratum of the corpus gives an equal number of documents, drawn at random by seed, so that the
probability of each document is known. Without strata all documents are one stratum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from curation.core.characters import normalise_query
from curation.core.digests import json_pointer, sort_by_seed
from curation.core.errors import InputError
from curation.core.statistics.stratified_sampling import allocate
from curation.core.text import pluralize
from curation.queries.coverage.clusters import NO_CLUSTER
from curation.queries.coverage.stored_map import read_current_map_id, read_map
from curation.queries.coverage.writing.synthetic_queries import check_share
from curation.queries.questions.kinds import MULTI_HOP
from curation.queries.questions.question_calls import QuestionAim, cut_document
from curation.queries.requests import QUESTION_KINDS, REGION, QuestionRequest
from curation.retrieval.bm25 import Bm25
from curation.store import Cursor, Document, Query, Store
from curation.store.documents import VERSION, StoredDocuments, current_corpus, current_snapshot, refuse_held

ALL = "all documents"
NO_VALUE = "no value"
NEIGHBOUR_LENGTH = 300
"""Number of characters of a document by which its nearest document is found."""


def check_request(cursor: Cursor, request: QuestionRequest | None) -> None:
    """Reject a request for questions if the corpus is incomplete, or the kinds, strata or share are unusable.

    Raises
    ------
    InputError: a kind or the share is out of bounds, or the field has no value or too many values.
    RefusedError: there is no corpus, or no coverage map for strata by region.
    """
    current_snapshot(cursor)
    refuse_held(cursor, "a draw of documents")
    if request is None:
        return
    check_share(request.share)
    unknown = [kind for kind in request.kinds if kind not in QUESTION_KINDS]
    if unknown or not request.kinds:
        found = ", ".join(map(repr, unknown)) or "none"
        raise InputError(f"Kinds of questions: found {found}; expected some of {', '.join(QUESTION_KINDS)}.")
    strata = len(_read_strata(cursor, request.strata))
    if strata > request.documents:
        drawn = pluralize(request.documents, "document")
        found = f"{request.strata!r} has {strata:,} values, which is more than the {drawn} to draw"
        raise InputError(f"{found}. Draw more documents, or name a field with fewer values.")


def draw_aims(store: Store, request: QuestionRequest) -> tuple[list[QuestionAim], Bm25]:
    """Draw the documents, each with its probability and the kinds of its questions.

    Returns also the BM25 retriever of the corpus.
    """
    with store.reading() as cursor:
        check_request(cursor, request)
        strata, corpus = _read_strata(cursor, request.strata), current_corpus(cursor)
    retriever = Bm25.from_store(store, corpus)
    populations = [len(ids) for ids in strata.values()]
    total = min(request.documents, sum(populations))
    sizes = allocate(total, populations, [1] * len(populations))
    drawn = {
        document_id: (stratum, size / len(ids))
        for (stratum, ids), size in zip(strata.items(), sizes, strict=True)
        for document_id in sort_by_seed(ids, request.seed, lambda name: ["questions", name])[:size]
    }
    order = sort_by_seed(drawn, request.seed, lambda name: ["order", name])
    kinds = _order_kinds(request)
    kinds_of = {name: tuple(next(kinds) for _ in range(request.per_document)) for name in order}
    versions = StoredDocuments(store, corpus.part(drawn).hashes)
    documents = {document.document_id: cut_document(document) for document in versions}
    hops = [documents[name] for name in order if MULTI_HOP in kinds_of[name]]
    neighbours = find_neighbours(store, hops, retriever)
    others = {hop.document_id: other for hop, other in zip(hops, neighbours, strict=True)}
    aims = []
    for name, all_kinds in kinds_of.items():
        other = others.get(name)
        possible = tuple(kind for kind in all_kinds if kind != MULTI_HOP or other)
        aims.append(QuestionAim(documents[name], other, possible, *drawn[name]))
    return aims, retriever


def find_neighbours(store: Store, documents: Sequence[Document], retriever: Bm25) -> list[Document | None]:
    """Find the document nearest to each document by BM25, other than itself, or None."""
    texts = [document.text[:NEIGHBOUR_LENGTH] for document in documents]
    hits = search_documents(store, texts, retriever, 2)
    return [
        next((hit for hit in found if hit.document_id != document.document_id), None)
        for document, found in zip(documents, hits, strict=True)
    ]


def search_documents(store: Store, texts: Sequence[str], retriever: Bm25, depth: int) -> list[list[Document]]:
    """Find BM25's first documents for each text, each cut to the beginning that the models read."""
    queries = [Query("", text, normalise_query(text), "synthetic") for text in texts]
    ids = [hits.document_ids for hits in retriever.search(queries, depth)]
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    versions = StoredDocuments(store, corpus.part(name for names in ids for name in names).hashes)
    documents = {document.document_id: cut_document(document) for document in versions}
    return [[documents[name] for name in names] for names in ids]


def _order_kinds(request: QuestionRequest) -> Iterator[str]:
    """Yield the kinds of questions in blocks; each block has each kind once, in random order by seed."""
    block = 0
    while True:
        yield from sort_by_seed(request.kinds, request.seed, lambda kind, block=block: ["kind", block, kind])  # type: ignore[misc]
        block += 1


def _read_strata(cursor: Cursor, field: str | None) -> dict[str, list[str]]:
    """Divide the corpus's document ids by a field or by region; a document in several regions counts in the
    largest region.

    Raises
    ------
    InputError: no document has the field.
    RefusedError: there is no coverage map of the current corpus.
    """
    ids = current_corpus(cursor).ids
    if field is None:
        return {ALL: ids}
    if field == REGION:
        clusters = read_map(cursor, read_current_map_id(cursor)).clusters
        stratum_of: dict[str, str] = {}
        for cluster in clusters:
            if cluster.is_region:
                stratum_of = dict.fromkeys(cluster.documents, cluster.name) | stratum_of
    else:
        sql = f"""SELECT s.document_id, d.metadata ->> ? FROM snapshot_documents s JOIN {VERSION}
            WHERE snapshot_id = ? AND coalesce(d.metadata ->> ?, '') <> ''"""  # noqa: S608  a join from code
        pointer = json_pointer(field)
        stratum_of = dict(cursor.execute(sql, [pointer, current_snapshot(cursor), pointer]).fetchall())
        if not stratum_of:
            raise InputError(
                f"No document has the field {field!r}; expected a field of the corpus, or {REGION}."
            )
    rest = NO_CLUSTER if field == REGION else NO_VALUE
    strata: dict[str, list[str]] = {}
    for name in ids:
        strata.setdefault(stratum_of.get(name, rest), []).append(name)
    return dict(sorted(strata.items()))
