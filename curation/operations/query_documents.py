"""A query's documents: who ranked them where, what people said of each, and what both say together.

Sealed queries are read by a `SealAccess`. What the reader has still to grade is shown without ranks and
without what others said, and is in no count: like the queue of disputes, it would not leave them blind. Only
leads read who said what, and the lists of evaluated systems: evaluations are their authors' and leads'.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.guides.guide import Guide, current_guide
from curation.ingest.filters import fields_of, outside
from curation.labeling.consensus.consensus import PairConsensus, query_consensus, relevance_of_pairs
from curation.labeling.consensus.decisions import ReviewerDecision, query_decisions
from curation.labeling.consensus.votes import Votes, read_query_votes
from curation.negatives.hard_negatives import query_negatives, read_ranked
from curation.operations.query_facts import QueryFacts, read_facts, withheld_documents
from curation.people.seal_access import SealAccess, access_or_closed, release_seals
from curation.pooling.contributions import Ranked
from curation.store import Annotator, Cursor, Document, Query, Store, get_setting
from curation.store.documents import documents_by_hash, snapshot_versions

HARD_NEGATIVE = "hard negative"
JUDGE_FIRST = "judge first"
EVALUATED = " (evaluated)"
"""What the names of systems end with whose lists were uploaded to be scored."""
UNRANKED_PLACE = 1_000_000
"""The place, in the order of documents, of what no system ranked."""
_PLACES = """
SELECT c.document_id, c.system, c.rank
FROM candidate_sources c LEFT JOIN pools p USING (pool_id)
WHERE c.query_id = ?
QUALIFY row_number() OVER (PARTITION BY c.document_id, c.system ORDER BY p.rowid DESC NULLS LAST) = 1
ORDER BY ALL
"""
_EVALUATED = """
SELECT l.document_id, l.system || ?, l.rank
FROM evaluation_lists l JOIN evaluations e USING (evaluation_id)
WHERE l.query_id = ?
QUALIFY e.rowid = max(e.rowid) OVER (PARTITION BY l.system)
ORDER BY ALL
"""


class QueryVote(NamedTuple):
    """What one annotator said of a document.

    Attributes
    ----------
    annotator: None for who may not read names.
    grade: None for cannot-tell.
    words: the reason and the note, or ''.
    same_text: it is about the version that was judged last.
    """

    annotator: str | None
    grade: int | None
    words: str
    flagged: bool
    same_text: bool


@dataclass(frozen=True)
class QueryDocument:
    """One candidate of a query.

    Attributes
    ----------
    ranks: system → rank; None for those that rank nothing, such as chance.
    is_withheld: the reader has still to grade their own items: ranks, pair and votes are empty.
    pair: the consensus; None if nobody judged it, or its grades are sealed.
    mark: what its places and its grade say together, or ''.
    decision: the newest, if any; it counts only where the pair is adjudicated.
    """

    document: Document
    ranks: Mapping[str, int | None]
    is_withheld: bool
    pair: PairConsensus | None
    votes: tuple[QueryVote, ...]
    mark: str
    decision: ReviewerDecision | None


@dataclass(frozen=True)
class QueryDocuments:
    """A query with all its documents, best ranked first.

    Attributes
    ----------
    is_sealed: what people said of it is not shown.
    systems: those that ranked documents, by name.
    """

    facts: QueryFacts
    guide: Guide
    is_sealed: bool
    systems: tuple[str, ...]
    documents: tuple[QueryDocument, ...]

    @property
    def open(self) -> tuple[QueryDocument, ...]:
        """The documents that the reader may know about."""
        return tuple(document for document in self.documents if not document.is_withheld)

    @property
    def judged(self) -> tuple[PairConsensus, ...]:
        """The consensus on those that were judged."""
        return tuple(document.pair for document in self.open if document.pair is not None)

    @property
    def relevant(self) -> int:
        """Documents with a grade above the scale's lowest."""
        return sum(pair.grade is not None and pair.grade > self.guide.values[0] for pair in self.judged)


def read_documents(
    store: Store, query_id: str, reader: Annotator, access: SealAccess | None = None
) -> QueryDocuments:
    """A query with its documents; without access, what people said is left out where a release seals it.

    Raises
    ------
    RefusedError: the reader is neither reviewer nor lead.
    NotFoundError: the project has no such query.
    """
    is_lead = reader.role == "lead"
    with store.reading() as cursor:
        is_open = access_or_closed(cursor, access).shows(query_id)
        facts = read_facts(cursor, query_id, reader, with_answers=is_open)
        withheld = withheld_documents(cursor, query_id, reader.name)
        votes = read_query_votes(cursor, query_id)
        consensus = {pair.document_id: pair for pair in query_consensus(cursor, votes, query_id)}
        pairs = {name: pair for name, pair in consensus.items() if is_open and name not in withheld}
        ranks = _ranks(cursor, query_id, with_evaluated=is_open and is_lead)
        votes_of = _by_document(votes)
        documents = _texts(cursor, sorted({*ranks, *consensus}), votes_of)
        ranked, decisions = read_ranked(cursor, query_id), query_decisions(cursor, query_id)
        guide = current_guide(cursor)
    marks = _marks(facts, guide, ranked, pairs, documents)
    rows = []
    for name, document in documents.items():
        if name in withheld:
            rows.append(QueryDocument(document, {}, True, None, (), "", None))
            continue
        pair = pairs.get(name)
        on_it = _votes(votes_of.get(name, ()), is_lead) if pair is not None else ()
        decision = decisions.get(name) if pair is not None else None
        mark = marks.get(name, "")
        rows.append(QueryDocument(document, ranks.get(name, {}), False, pair, on_it, mark, decision))
    systems = {system for row in rows for system, rank in row.ranks.items() if rank is not None}
    return QueryDocuments(facts, guide, not is_open, tuple(sorted(systems)), tuple(sorted(rows, key=_order)))


def sealed_by(store: Store, query_id: str) -> tuple[str, ...]:
    """The releases that seal what people said of a query."""
    with store.reading() as cursor:
        return tuple(seal.name for seal in release_seals(cursor) if query_id in seal.queries)


def _ranks(cursor: Cursor, query_id: str, with_evaluated: bool) -> dict[str, dict[str, int | None]]:
    """Document → system → its rank in the pool that counts, or in the newest evaluation."""
    ranks: defaultdict[str, dict[str, int | None]] = defaultdict(dict)
    rows = cursor.execute(_PLACES, [query_id]).fetchall()
    rows += cursor.execute(_EVALUATED, [EVALUATED, query_id]).fetchall() if with_evaluated else []
    for document_id, system, rank in rows:
        ranks[document_id][system] = rank
    return ranks


def _by_document(votes: Votes) -> dict[str, list[dict[str, Any]]]:
    votes_of: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in votes.rows.to_pylist():
        votes_of[row["document_id"]].append(row)
    return votes_of


def _texts(
    cursor: Cursor, names: Sequence[str], votes_of: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Document]:
    """The text that was judged of each document; where no vote is on it, the text that the corpus has now."""
    judged = {
        name: row["content_hash"] for name, rows in votes_of.items() for row in rows if row["same_text"]
    }
    unjudged = [name for name in names if name not in judged]
    hashes = judged | snapshot_versions(cursor, get_setting(cursor, "corpus"), unjudged)
    texts = documents_by_hash(cursor, hashes.values())
    return {name: texts[hashes[name]] for name in names if hashes.get(name) in texts}


def _marks(
    facts: QueryFacts,
    guide: Guide,
    ranked: Sequence[Ranked],
    pairs: Mapping[str, PairConsensus],
    documents: Mapping[str, Document],
) -> dict[str, str]:
    """What the ranks of documents and their grades together say; `pairs` are those that may be shown."""
    reasons = {
        name: reason
        for name, document in documents.items()
        if facts.filter and (reason := outside(facts.filter, fields_of(document.metadata)))
    }
    if not pairs:
        return reasons
    query = Query(facts.query_id, facts.text, facts.normalised, facts.source)
    relevance = relevance_of_pairs(list(pairs.values()), guide.values[0])
    relevance = relevance.with_outside((facts.query_id, name) for name in reasons)
    negatives = query_negatives(query, ranked, relevance, documents.values())
    marks = {negative.document_id: HARD_NEGATIVE for negative in negatives.negatives}
    marks |= {
        near_duplicate.document_id: f"near-duplicate of {near_duplicate.positive_id}"
        for near_duplicate in negatives.near_duplicates
    }
    return marks | {suspect.document_id: JUDGE_FIRST for suspect in negatives.suspects} | reasons


def _votes(rows: Sequence[Mapping[str, Any]], with_names: bool) -> tuple[QueryVote, ...]:
    """The votes on a document, the highest grade first."""
    votes = [
        QueryVote(
            row["annotator"] if with_names else None,
            row["grade"],
            ": ".join(filter(None, (row["reason"], row["note"]))),
            row["flagged"],
            row["same_text"],
        )
        for row in rows
        if row["annotator"] is not None
    ]

    def place(vote: QueryVote) -> tuple[int, str]:
        return -1 if vote.grade is None else vote.grade, vote.words

    return tuple(sorted(votes, key=place, reverse=True))


def _order(query_document: QueryDocument) -> tuple[object, ...]:
    ranks = [rank for rank in query_document.ranks.values() if rank is not None]
    return (
        query_document.is_withheld,
        min(ranks, default=UNRANKED_PLACE),
        -len(ranks),
        query_document.document.document_id,
    )
