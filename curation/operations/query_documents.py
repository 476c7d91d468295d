"""The documents of one query as a reviewer or lead sees them: with ranks, votes, grades and marks.

A `SealAccess` opens sealed queries. A document that the reader has still to grade is shown without ranks,
votes and grades, and is not counted, so that the reader stays blind. Only leads read the names of annotators
and the ranks of evaluated systems, because evaluations belong to their authors and to leads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.guides.guide import Guide, current_guide
from curation.ingest.filters import explain_exclusion, read_metadata_fields
from curation.labeling.consensus.consensus import PairConsensus, compute_query_consensus, derive_relevance
from curation.labeling.consensus.decisions import ReviewerDecision, read_query_decisions
from curation.labeling.consensus.votes import read_query_votes
from curation.negatives.hard_negatives import find_query_negatives, read_ranked
from curation.operations.query_facts import QueryFacts, read_facts, read_withheld_ids
from curation.people.seal_access import SealAccess, read_release_seals, resolve_access
from curation.pooling.contributions import RankedPair
from curation.retrieval import RUN_PREFIX
from curation.retrieval.engines.stored_engines import find_run_engines
from curation.store import Annotator, Cursor, Document, Query, Store, get_setting
from curation.store.documents import documents_by_hash, snapshot_versions

HARD_NEGATIVE_MARK = "hard negative"
JUDGE_FIRST_MARK = "judge first"
EVALUATED = " (evaluated)"
"""The ending of the name of a system whose run was uploaded for an evaluation."""
UNRANKED = 1_000_000
"""The rank that orders documents without a rank after all others."""
_POOL_RANKS = """
SELECT c.document_id, c.system, c.rank
FROM candidate_sources c LEFT JOIN pools p USING (pool_id)
WHERE c.query_id = ?
QUALIFY row_number() OVER (PARTITION BY c.document_id, c.system ORDER BY p.rowid DESC NULLS LAST) = 1
ORDER BY ALL
"""
_RUN_RANKS = """
SELECT l.document_id, l.system || ?, l.rank
FROM evaluation_lists l JOIN evaluations e USING (evaluation_id)
WHERE l.query_id = ?
QUALIFY e.rowid = max(e.rowid) OVER (PARTITION BY l.system)
ORDER BY ALL
"""


class QueryVote(NamedTuple):
    """An annotator's vote on a document.

    Attributes
    ----------
    annotator: name of the annotator; None for readers who may not read names.
    grade: None for cannot-tell.
    words: the reason and the note, or ''.
    same_text: whether the vote is about the version that was judged last.
    """

    annotator: str | None
    grade: int | None
    words: str
    flagged: bool
    same_text: bool


@dataclass(frozen=True)
class QueryDocument:
    """One candidate document of a query, with its ranks, votes and grade.

    Attributes
    ----------
    ranks: rank by system; None for a system without ranks, such as random negatives.
    is_withheld: whether the reader has still to grade the query: then ranks, pair and votes are empty.
    pair: the consensus; None if the document is not judged or its grades are sealed.
    mark: a mark that follows from ranks and grade, such as `HARD_NEGATIVE`; '' without a mark.
    decision: the newest decision of a reviewer; it counts only if the pair is adjudicated.
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
    is_sealed: whether votes and grades are not shown, because a release seals them.
    systems: names of the systems that ranked documents, sorted.
    """

    facts: QueryFacts
    guide: Guide
    is_sealed: bool
    systems: tuple[str, ...]
    documents: tuple[QueryDocument, ...]

    @property
    def open(self) -> tuple[QueryDocument, ...]:
        """Return the documents of the query whose ranks and votes the reader may see."""
        return tuple(document for document in self.documents if not document.is_withheld)

    @property
    def judged(self) -> tuple[PairConsensus, ...]:
        """Return the consensus on each judged document of the query."""
        return tuple(document.pair for document in self.open if document.pair is not None)

    @property
    def relevant(self) -> int:
        """Return the number of documents with a grade above the lowest grade of the scale."""
        return sum(pair.grade is not None and pair.grade > self.guide.values[0] for pair in self.judged)


def read_documents(
    store: Store, query_id: str, reader: Annotator, access: SealAccess | None = None
) -> QueryDocuments:
    """Read a query with its documents; without access to the seal, sealed votes and grades are left out.

    Raises
    ------
    RefusedError: the reader is neither reviewer nor lead.
    NotFoundError: the project has no such query.
    """
    is_lead = reader.role == "lead"
    with store.reading() as cursor:
        is_open = resolve_access(cursor, access).can_show(query_id)
        facts = read_facts(cursor, query_id, reader, with_answers=is_open)
        withheld = read_withheld_ids(cursor, query_id, reader.name)
        votes = read_query_votes(cursor, query_id)
        consensus = {pair.document_id: pair for pair in compute_query_consensus(cursor, votes, query_id)}
        shown_ids = consensus.keys() - withheld if is_open else ()
        pairs = {document_id: consensus[document_id] for document_id in shown_ids}
        ranks = _read_ranks(cursor, query_id, with_evaluated=is_open and is_lead)
        votes_of: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for vote in votes.rows.to_pylist():
            votes_of[vote["document_id"]].append(vote)
        documents = _read_texts(cursor, sorted({*ranks, *consensus}), votes_of)
        ranked, decisions = read_ranked(cursor, query_id), read_query_decisions(cursor, query_id)
        guide = current_guide(cursor)
    marks = _find_marks(facts, guide, ranked, pairs, documents)
    rows = []
    for document_id, document in documents.items():
        if document_id in withheld:
            rows.append(QueryDocument(document, {}, True, None, (), "", None))
            continue
        pair = pairs.get(document_id)
        shown_votes = _sort_votes(votes_of.get(document_id, ()), is_lead) if pair is not None else ()
        decision = decisions.get(document_id) if pair is not None else None
        mark = marks.get(document_id, "")
        shown_ranks = ranks.get(document_id, {})
        rows.append(QueryDocument(document, shown_ranks, False, pair, shown_votes, mark, decision))
    rows.sort(key=_sort_key)
    systems = {system for row in rows for system, rank in row.ranks.items() if rank is not None}
    return QueryDocuments(facts, guide, not is_open, tuple(sorted(systems)), tuple(rows))


def list_sealing_releases(store: Store, query_id: str) -> tuple[str, ...]:
    """List the releases that seal a query's votes and grades."""
    with store.reading() as cursor:
        return tuple(seal.name for seal in read_release_seals(cursor) if query_id in seal.queries)


def _read_ranks(cursor: Cursor, query_id: str, with_evaluated: bool) -> dict[str, dict[str, int | None]]:
    """Read the ranks of each document by system, from the newest pools and the newest evaluations.

    Evaluated ranks of a run, or of the engine that the run came from, have the name of the pooled run.
    """
    ranks: defaultdict[str, dict[str, int | None]] = defaultdict(dict)
    rows = cursor.execute(_POOL_RANKS, [query_id]).fetchall()
    pooled = {system.removeprefix(RUN_PREFIX): system for system in sorted({row[1] for row in rows})}
    engines = {engine: pooled[name] for name, engine in find_run_engines(cursor, pooled).items()}
    columns = {f"{name}{EVALUATED}": system for name, system in (engines | pooled).items()}
    if with_evaluated:
        rows += cursor.execute(_RUN_RANKS, [EVALUATED, query_id]).fetchall()
    for document_id, system, rank in rows:
        ranks[document_id].setdefault(columns.get(system, system), rank)
    return ranks


def _read_texts(
    cursor: Cursor, document_ids: Sequence[str], votes_of: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Document]:
    """Read the judged version of each document, or the current corpus's version of a document that nobody
    judged."""
    judged_rows = [row for rows in votes_of.values() for row in rows if row["same_text"]]
    judged = {row["document_id"]: row["content_hash"] for row in judged_rows}
    unjudged = [document_id for document_id in document_ids if document_id not in judged]
    hashes = judged | snapshot_versions(cursor, get_setting(cursor, "corpus"), unjudged)
    texts = documents_by_hash(cursor, hashes.values())
    known_ids = [document_id for document_id in document_ids if hashes.get(document_id) in texts]
    return {document_id: texts[hashes[document_id]] for document_id in known_ids}


def _find_marks(
    facts: QueryFacts,
    guide: Guide,
    ranked: Sequence[RankedPair],
    pairs: Mapping[str, PairConsensus],
    documents: Mapping[str, Document],
) -> dict[str, str]:
    """Find documents' marks from their ranks and from the pairs that may be shown."""
    reasons = {}
    for document_id, document in documents.items() if facts.filter else ():
        if reason := explain_exclusion(facts.filter, read_metadata_fields(document.metadata)):
            reasons[document_id] = reason
    if not pairs:
        return reasons
    query = Query(facts.query_id, facts.text, facts.normalised, facts.source)
    relevance = derive_relevance(list(pairs.values()), guide.values[0])
    relevance = relevance.with_outside((facts.query_id, document_id) for document_id in reasons)
    negatives = find_query_negatives(query, ranked, relevance, documents.values())
    marks = {row.document_id: HARD_NEGATIVE_MARK for row in negatives.negatives}
    marks |= {row.document_id: f"near-duplicate of {row.positive_id}" for row in negatives.near_duplicates}
    return marks | {row.document_id: JUDGE_FIRST_MARK for row in negatives.suspects} | reasons


def _sort_votes(rows: Sequence[Mapping[str, Any]], with_names: bool) -> tuple[QueryVote, ...]:
    """Make votes from a document's rows, highest grade first."""
    votes = []
    for row in rows:
        if row["annotator"] is not None:
            annotator = row["annotator"] if with_names else None
            words = ": ".join(filter(None, (row["reason"], row["note"])))
            votes.append(QueryVote(annotator, row["grade"], words, row["flagged"], row["same_text"]))

    def grade_then_words(vote: QueryVote) -> tuple[int, str]:
        return -1 if vote.grade is None else vote.grade, vote.words

    return tuple(sorted(votes, key=grade_then_words, reverse=True))


def _sort_key(query_document: QueryDocument) -> tuple[object, ...]:
    ranks = [rank for rank in query_document.ranks.values() if rank is not None]
    document_id = query_document.document.document_id
    return query_document.is_withheld, min(ranks, default=UNRANKED), -len(ranks), document_id
