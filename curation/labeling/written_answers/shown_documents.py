"""The documents that are shown with a query, chosen when a task opens.

    relevant   those that people judged relevant, the highest grades first; of a query without any the pool's
    pool       the candidates that systems ranked highest, whatever was said of them

A writer who sees what is relevant learns what others said. So with `relevant` a query waits until it is in
nobody's queue any more. On screen every writer has an order of their own that says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from curation.core.text import digest
from curation.labeling.consensus.relevance import VotesOnScale, read_votes_on_scale, relevance_of
from curation.labeling.rounds.candidates import Candidate, CandidateRow, choose_candidates, read_candidates
from curation.people.seal_access import SealAccess
from curation.pooling.relevance import Relevance
from curation.store import (
    Cursor,
)

RELEVANT, POOL = SHOWS = ("relevant", "pool")

DOCUMENTS = 10
"""Documents shown with a query, where a task names no other number."""

_RANKS = "SELECT query_id, document_id, min(rank) FROM candidate_sources GROUP BY ALL"

_OPEN_PAIRS = """
SELECT DISTINCT p.query_id
FROM live_presentations p JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE NOT r.closed AND NOT coalesce(s.answered, false)
"""


class EvidenceInputs(NamedTuple):
    """What evidence is chosen from.

    Attributes
    ----------
    ranks: (query id, document id) → the best rank that a system gave.
    in_queues: queries that somebody is still to judge.
    """

    candidates: list[CandidateRow]
    active: set[str]
    votes: VotesOnScale
    ranks: Mapping[tuple[str, str], int | None]
    in_queues: frozenset[str]
    door: SealAccess


class ShownDocuments(NamedTuple):
    """Query id → documents, best first; `judged` are the queries that are shown with relevant ones.

    sealed: queries that are shown with the pool's documents, as which of them are relevant is sealed.
    """

    documents: dict[str, list[Candidate]]
    judged: frozenset[str]
    sealed: frozenset[str]


def read_evidence_inputs(cursor: Cursor, door: SealAccess) -> EvidenceInputs:
    candidates, active = read_candidates(cursor)
    ranks = {(row[0], row[1]): row[2] for row in cursor.execute(_RANKS).fetchall()}
    in_queues = frozenset(row[0] for row in cursor.execute(_OPEN_PAIRS).fetchall())
    return EvidenceInputs(candidates, active, read_votes_on_scale(cursor), ranks, in_queues, door)


def choose_evidence(inputs: EvidenceInputs, show: str, most: int) -> ShownDocuments:
    """The documents of every query that has candidates. Call it outside a lease."""
    relevance = relevance_of(inputs.votes)
    by_query: dict[str, list[Candidate]] = {}
    for candidate in choose_candidates(inputs.candidates, inputs.active, again=True).candidates:
        by_query.setdefault(candidate.query_id, []).append(candidate)
    documents, judged = {}, set()
    sealed = inputs.door.closed.intersection(by_query) if show == RELEVANT else frozenset()
    for query_id, candidates in by_query.items():
        as_judged = show == RELEVANT and query_id not in sealed
        relevant = (
            [candidate for candidate in candidates if relevance.is_relevant(candidate[:2])]
            if as_judged
            else []
        )
        if relevant:
            judged.add(query_id)
        ordered = sorted(relevant or candidates, key=lambda one: _rank_of(one, relevance, inputs, as_judged))
        documents[query_id] = ordered[:most]
    return ShownDocuments(documents, frozenset(judged), sealed)


def _rank_of(
    candidate: Candidate, relevance: Relevance, inputs: EvidenceInputs, as_judged: bool
) -> tuple[int, bool, int, str]:
    grade = relevance.grades.get(candidate[:2], relevance.lowest) if as_judged else 0
    rank = inputs.ranks.get(candidate[:2])
    return -grade, rank is None, rank or 0, digest("evidence", *candidate[:2])
