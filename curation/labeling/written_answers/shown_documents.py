"""The documents that people or a language model read with a query when they write answers.

With `show="relevant"`, the documents of a query are those that people judged relevant; a query without such a
document, or whose grades a release seals, has the documents of its pool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from curation.core.digests import digest
from curation.ingest.filters import NEED
from curation.labeling.consensus.consensus import prepare_relevance
from curation.labeling.presentation.drawing import DocumentText
from curation.labeling.requests import RELEVANT
from curation.labeling.rounds.candidates import Candidate, CandidateRow, choose_candidates, read_candidates
from curation.people.seal_access import SealAccess
from curation.pooling.relevance import Relevance
from curation.store import Cursor
from curation.store.documents import VERSION

_RANKS = "SELECT query_id, document_id, min(rank) FROM candidate_sources GROUP BY ALL"
_SHOWN = f"""
SELECT e.document_id, d.title, d.body, d.url, d.published, d.metadata
FROM answer_evidence e JOIN {VERSION} WHERE e.task_id = ? AND e.query_id = ?
"""  # noqa: S608
_OPEN_PAIRS = """
SELECT DISTINCT p.query_id
FROM live_presentations p JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE NOT r.closed AND NOT coalesce(s.answered, false)
"""


class DocumentInputs(NamedTuple):
    """Stored data needed to choose the documents shown with each query.

    Attributes
    ----------
    candidates: all candidates of the project.
    active_queries: ids of the current queries.
    compute_relevance: function that computes the relevance of every judged pair; call it outside a lease.
    ranks: (query id, document id) → the best rank that a system gave.
    queries_in_queues: ids of the queries that an annotator still has to judge.
    """

    candidates: list[CandidateRow]
    active_queries: set[str]
    compute_relevance: Callable[[], Relevance]
    ranks: Mapping[tuple[str, str], int | None]
    queries_in_queues: frozenset[str]
    access: SealAccess


class ShownDocuments(NamedTuple):
    """The documents shown with each query.

    Attributes
    ----------
    by_query: query id → documents, best first.
    queries_with_relevant: ids of the queries whose documents are judged relevant.
    sealed_queries: ids of the queries shown with the pool's documents because a release seals their grades.
    """

    by_query: dict[str, list[Candidate]]
    queries_with_relevant: frozenset[str] = frozenset()
    sealed_queries: frozenset[str] = frozenset()


def read_document_inputs(cursor: Cursor, access: SealAccess) -> DocumentInputs:
    """Read the data needed by `choose_shown_documents`."""
    candidates, active_queries = read_candidates(cursor)
    return DocumentInputs(
        candidates=candidates,
        active_queries=active_queries,
        compute_relevance=prepare_relevance(cursor),
        ranks={(row[0], row[1]): row[2] for row in cursor.execute(_RANKS).fetchall()},
        queries_in_queues=frozenset(row[0] for row in cursor.execute(_OPEN_PAIRS).fetchall()),
        access=access,
    )


def choose_shown_documents(inputs: DocumentInputs, show: str, max_documents: int) -> ShownDocuments:
    """Choose at most `max_documents` documents for every query with candidates, without holding a lease.

    Parameters
    ----------
    show: 'relevant' or 'pool'.
    """
    ranked_by_query = _rank_candidates(inputs)
    if show != RELEVANT:
        pooled = {query_id: ranked[:max_documents] for query_id, ranked in ranked_by_query.items()}
        return ShownDocuments(pooled)
    relevance = inputs.compute_relevance()
    sealed_queries = inputs.access.closed.intersection(ranked_by_query)
    documents = {}
    queries_with_relevant = set()
    for query_id, ranked in ranked_by_query.items():
        relevant = [candidate for candidate in ranked if relevance.is_relevant(candidate.pair)]
        if relevant and query_id not in sealed_queries:
            queries_with_relevant.add(query_id)
            ranked = sorted(relevant, key=lambda candidate: -relevance.grades[candidate.pair])
        documents[query_id] = ranked[:max_documents]
    return ShownDocuments(documents, frozenset(queries_with_relevant), sealed_queries)


def read_query_text(cursor: Cursor, query_id: str) -> tuple[str, str | None]:
    """Read a query's text and information need."""
    sql = f"SELECT text, {NEED} FROM queries q WHERE query_id = ?"  # noqa: S608
    [(text, information_need)] = cursor.execute(sql, [query_id]).fetchall()
    return text, information_need


def read_shown_documents(cursor: Cursor, task_id: str, query_id: str) -> dict[str, DocumentText]:
    """Read the documents that an answer task shows with a query, by document id."""
    rows = cursor.execute(_SHOWN, [task_id, query_id]).fetchall()
    return {row[0]: DocumentText(*row[1:]) for row in rows}


def _rank_candidates(inputs: DocumentInputs) -> dict[str, list[Candidate]]:
    """Return each query's candidates, best rank first and candidates without a rank last."""

    def best_rank(candidate: Candidate) -> tuple[bool, int, str]:
        rank = inputs.ranks.get(candidate.pair)
        return rank is None, rank or 0, digest("evidence", *candidate.pair)

    candidates_by_query: dict[str, list[Candidate]] = {}
    candidates = choose_candidates(inputs.candidates, inputs.active_queries, again=True).candidates
    for candidate in sorted(candidates, key=best_rank):
        candidates_by_query.setdefault(candidate.query_id, []).append(candidate)
    return candidates_by_query
