"""The documents of one query: who found them at which rank, what people said of them, and what that makes.

Sealed queries are read through a door. What the reader has still to grade is shown without ranks and without
what others said, and is in no count: like the queue of disputes, it would not leave them blind.
Only leads read who said what, and the lists of evaluated systems: evaluations are their authors' and leads'.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.guides.guide import Guide, current_guide
from curation.ingest.filters.query_filter import outside
from curation.ingest.filters.stored import fields_of
from curation.labeling.consensus.consensus import PairConsensus, query_consensus
from curation.labeling.consensus.decisions import ReviewerDecision, query_decisions
from curation.labeling.consensus.relevance import relevance_of_pairs
from curation.labeling.consensus.votes import Votes, read_query_votes
from curation.labeling.session.own_answers import withheld_pairs
from curation.negatives.hard_negatives import query_negatives, read_ranked
from curation.operations.query_facts.facts import QueryFacts, read_facts
from curation.people.seal_access import SealAccess, door_or_shut, release_seals
from curation.pooling.relevance import Ranked
from curation.store import Annotator, Cursor, Document, Query, Store, get_setting
from curation.store.documents import documents_by_hash, snapshot_versions

HARD_NEGATIVE = "hard negative"
JUDGE_FIRST = "judge first"
EVALUATED = " (evaluated)"
"""What the names of systems end with whose lists were uploaded to be scored."""

MOST = 1_000_000
"""The place, in the order of documents, of what no system ranked."""


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
    pair: the consensus; None where nobody judged it, or its grades are sealed.
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
        return tuple(one.pair for one in self.open if one.pair is not None)

    @property
    def relevant(self) -> int:
        """Documents with a grade above the scale's lowest."""
        return sum(pair.grade is not None and pair.grade > self.guide.values[0] for pair in self.judged)


def read_documents(
    store: Store, query_id: str, reader: Annotator, door: SealAccess | None = None
) -> QueryDocuments:
    """A query with its documents; without a door, what people said is left out where a release seals it.

    Raises
    ------
    RefusedError: the reader is neither reviewer nor lead.
    NotFoundError: the project has no such query.
    """
    with store.reading() as cursor:
        is_open = door_or_shut(cursor, door).shows(query_id)
        facts = read_facts(cursor, query_id, reader, with_answers=is_open)
        own = own_documents(cursor, query_id, reader.name)
        votes = read_query_votes(cursor, query_id)
        settled = {pair.document_id: pair for pair in query_consensus(cursor, votes, query_id)}
        found = _PairFacts(
            _places(cursor, query_id, with_evaluated=is_open and reader.role == "lead"),
            read_ranked(cursor, query_id),
            {name: pair for name, pair in settled.items() if is_open and name not in own},
            _by_document(votes),
            query_decisions(cursor, query_id),
            current_guide(cursor),
        )
        documents = _texts(cursor, found, settled)
    names = reader.role == "lead"
    marks = _marks(facts, found, documents)
    rows = [
        QueryDocument(document, {}, True, None, (), "", None)
        if name in own
        else _document(document, found, names, marks.get(name, ""))
        for name, document in documents.items()
    ]
    systems = {system for one in rows for system, rank in one.ranks.items() if rank is not None}
    return QueryDocuments(
        facts, found.guide, not is_open, tuple(sorted(systems)), tuple(sorted(rows, key=_order))
    )


def own_documents(cursor: Cursor, query_id: str, reader: str) -> set[str]:
    """The documents of a query that were given to somebody who has still items to grade."""
    sql = "SELECT 1 FROM presentations WHERE query_id = ? AND annotator = ? LIMIT 1"
    if not cursor.execute(sql, [query_id, reader]).fetchall():
        return set()
    return {document for query, document in withheld_pairs(cursor, reader) if query == query_id}


def sealed_by(store: Store, query_id: str) -> tuple[str, ...]:
    """The releases that seal what people said of a query."""
    with store.reading() as cursor:
        return tuple(seal.name for seal in release_seals(cursor) if query_id in seal.queries)


class _PairFacts(NamedTuple):
    """What was read of a query's documents; `pairs` are those that may be shown."""

    places: Mapping[str, Mapping[str, int | None]]
    ranked: Sequence[Ranked]
    pairs: Mapping[str, PairConsensus]
    said: Mapping[str, Sequence[Mapping[str, Any]]]
    decisions: Mapping[str, ReviewerDecision]
    guide: Guide


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


def _places(cursor: Cursor, query_id: str, with_evaluated: bool) -> dict[str, dict[str, int | None]]:
    """Document → system → its rank in the pool that counts, or in the newest evaluation."""
    found: defaultdict[str, dict[str, int | None]] = defaultdict(dict)
    rows = cursor.execute(_PLACES, [query_id]).fetchall()
    rows += cursor.execute(_EVALUATED, [EVALUATED, query_id]).fetchall() if with_evaluated else []
    for document_id, system, rank in rows:
        found[document_id][system] = rank
    return found


def _by_document(votes: Votes) -> dict[str, list[dict[str, Any]]]:
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in votes.rows.to_pylist():
        found[row["document_id"]].append(row)
    return found


def _texts(
    cursor: Cursor, pair_facts: _PairFacts, settled: Mapping[str, PairConsensus]
) -> dict[str, Document]:
    """The text of each document: that of now, or the one that was judged where nobody judged that of now."""
    names = sorted({*pair_facts.places, *settled})
    judged = {
        name: row["content_hash"]
        for name in pair_facts.said
        for row in pair_facts.said[name]
        if row["same_text"]
    }
    unjudged = [name for name in names if name not in judged]
    hashes = judged | snapshot_versions(cursor, get_setting(cursor, "corpus"), unjudged)
    texts = documents_by_hash(cursor, hashes.values())
    return {name: texts[hashes[name]] for name in names if hashes.get(name) in texts}


def _marks(facts: QueryFacts, pair_facts: _PairFacts, documents: Mapping[str, Document]) -> dict[str, str]:
    """What the places of documents and their grades together say, where a grade may be shown."""
    reasons = {
        name: reason
        for name, document in documents.items()
        if facts.filter and (reason := outside(facts.filter, fields_of(document.metadata)))
    }
    if not pair_facts.pairs:
        return reasons
    query = Query(facts.query_id, facts.text, facts.normalised, facts.source)
    relevance = relevance_of_pairs(list(pair_facts.pairs.values()), pair_facts.guide.values[0])
    relevance = relevance.with_outside((facts.query_id, name) for name in reasons)
    negatives = query_negatives(query, pair_facts.ranked, relevance, documents.values())
    marks = {negative.document_id: HARD_NEGATIVE for negative in negatives.negatives}
    marks |= {
        near_duplicate.document_id: f"near-duplicate of {near_duplicate.positive_id}"
        for near_duplicate in negatives.near_duplicates
    }
    return marks | {suspect.document_id: JUDGE_FIRST for suspect in negatives.suspects} | reasons


def _document(document: Document, pair_facts: _PairFacts, names: bool, mark: str) -> QueryDocument:
    name = document.document_id
    pair = pair_facts.pairs.get(name)
    votes = [
        QueryVote(
            row["annotator"] if names else None,
            row["grade"],
            ": ".join(filter(None, (row["reason"], row["note"]))),
            row["flagged"],
            row["same_text"],
        )
        for row in pair_facts.said.get(name, ())
        if pair is not None and row["annotator"] is not None
    ]
    said = sorted(votes, key=lambda one: (-1 if one.grade is None else one.grade, one.words), reverse=True)
    decision = pair_facts.decisions.get(name) if pair is not None else None
    return QueryDocument(document, pair_facts.places.get(name, {}), False, pair, tuple(said), mark, decision)


def _order(query_document: QueryDocument) -> tuple[object, ...]:
    ranks = [rank for rank in query_document.ranks.values() if rank is not None]
    return (
        query_document.is_withheld,
        min(ranks, default=MOST),
        -len(ranks),
        query_document.document.document_id,
    )
