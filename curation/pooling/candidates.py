"""Candidates: the pairs that systems propose, each with every system, rank and score behind it.

A text that is a candidate under another id is proposed under that id, and not judged twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from curation.core.similarity.identical import StandIns
from curation.pooling.systems import SystemFound, SystemHits
from curation.store import Query

TOP = 10
"""How far down a system's list judgments are counted: nDCG@10 and the like look no further."""
AUDIT = "audit:"
"""Audited pairs are candidates of the system 'audit:' and their stratum (`negatives.audit`)."""


class CandidateSource(NamedTuple):
    """One row of candidate_sources, without its pool. Chance gives neither rank nor score.

    Attributes
    ----------
    passage_start, passage_end: the part of a longer document that matched, as in `retrieval.retriever.Hit`.
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
    no_hit_ids: reason → ids of the first of these; pools of older goldgrades have none.
    """

    system: str
    candidates: int
    alone: int
    top: int
    unfilled: int
    no_hit: dict[str, int]
    no_hit_ids: Mapping[str, Sequence[str]] = {}


class Union(NamedTuple):
    """The systems' proposals. `merged` pairs were pooled under the id of an identical document."""

    proposals: list[CandidateSource]
    merged: int


def unite(
    hitses: Sequence[SystemHits],
    queries: Sequence[Query],
    depth: int,
    stand_ins: StandIns,
) -> Union:
    """Each system's first `depth` hits, query by query: a pair once for a system, at its best rank."""
    proposals: list[CandidateSource] = []
    merged = set()
    for place, query in enumerate(queries):
        best: dict[tuple[str, str], CandidateSource] = {}
        for system in hitses:
            for rank, hit in enumerate(system.hits[place][:depth], 1):
                start, end = hit.passage or (None, None)
                ids = stand_ins.all_of(query.query_id, hit.document_id)
                for document_id in ids:
                    proposal = CandidateSource(
                        query.query_id, document_id, system.name, rank, hit.score, start, end
                    )
                    best.setdefault((document_id, system.name), proposal)
                if hit.document_id not in ids:
                    merged.add((query.query_id, hit.document_id))
        proposals += best.values()
    return Union(proposals, len(merged))


def system_reports(
    founds: Sequence[SystemFound], proposals: Iterable[CandidateSource], places: int
) -> list[SystemReport]:
    """One report a system; `places` is how many documents each could have proposed for a query.

    Parameters
    ----------
    proposals: those of a query one after the other.
    """
    top = min(places, TOP)
    candidates, alone = Counter[str](), Counter[str]()
    for _, of_query in groupby(proposals, key=attrgetter("query_id")):
        systems_of = defaultdict(set)
        for proposal in of_query:
            systems_of[proposal.document_id].add(proposal.system)
        for names in systems_of.values():
            candidates.update(names)
            alone.update(names if len(names) == 1 else ())
    return [
        SystemReport(
            system.name,
            candidates[system.name],
            alone[system.name],
            sum(min(top, filled) for filled in system.filled),
            sum(max(places - filled, 0) for filled in system.filled),
            system.no_hit,
            system.no_hit_ids,
        )
        for system in founds
    ]
