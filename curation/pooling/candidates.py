"""Candidates: the pairs that systems propose, each with every system, rank and score behind it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from curation.pooling.systems import SystemHits
from curation.similarity.identical import StandIns
from curation.store.rows import Query

TOP = 10
"""How far down a system's list judgments are counted: nDCG@10 and the like look no further."""


class CandidateSource(NamedTuple):
    """One row of candidate_sources, without its pool. Chance gives neither rank nor score.

    Attributes
    ----------
    passage_start, passage_end: the part of a longer document that matched; see `retrieval.Hit.passage`.
    """

    query_id: str
    document_id: str
    system: str
    rank: int | None
    score: float | None
    passage_start: int | None = None
    passage_end: int | None = None


class SystemReport(NamedTuple):
    """What one system brought to a pool.

    Attributes
    ----------
    candidates: pairs that it proposed.
    alone: of these, the pairs that no other system proposed.
    top: places that it filled within the first `TOP` and the depth, pooled or over the budget.
    unfilled: places within the depth that stayed empty, because it found no more.
    no_hit: reason → number of queries for which it found nothing.
    """

    system: str
    candidates: int
    alone: int
    top: int
    unfilled: int
    no_hit: dict[str, int]


class Union(NamedTuple):
    """The systems' proposals. `merged` pairs were pooled under the id of an identical document."""

    proposals: list[CandidateSource]
    merged: int


def unite(
    found: Sequence[SystemHits],
    queries: Sequence[Query],
    depth: int,
    stand_ins: StandIns,
) -> Union:
    """Each system's first `depth` hits: a pair once for a system, at its best rank."""
    best: dict[tuple[str, str, str], CandidateSource] = {}
    merged = set()
    for system in found:
        for query, hits in zip(queries, system.hits, strict=True):
            for rank, hit in enumerate(hits[:depth], 1):
                document_id = stand_ins.of(query.query_id, hit.document_id)
                start, end = hit.passage or (None, None)
                proposal = CandidateSource(
                    query.query_id, document_id, system.name, rank, hit.score, start, end
                )
                best.setdefault(proposal[:3], proposal)
                if document_id != hit.document_id:
                    merged.add((query.query_id, hit.document_id))
    return Union(list(best.values()), len(merged))


def system_reports(
    found: Sequence[SystemHits], proposals: Sequence[CandidateSource], places: int
) -> list[SystemReport]:
    """One report a system; `places` is how many documents each could have proposed for a query."""
    top = min(places, TOP)
    systems_of = defaultdict(set)
    for proposal in proposals:
        systems_of[proposal.query_id, proposal.document_id].add(proposal.system)
    candidates = Counter(name for names in systems_of.values() for name in names)
    alone = Counter(name for names in systems_of.values() if len(names) == 1 for name in names)
    return [
        SystemReport(
            system.name,
            candidates[system.name],
            alone[system.name],
            sum(min(top, len(hits)) for hits in system.hits),
            sum(max(places - len(hits), 0) for hits in system.hits),
            system.no_hit,
        )
        for system in found
    ]
