"""Candidates of a pool: the pairs that systems propose, and the best pairs within the pool's budget.

Every candidate keeps each system that proposed it, with rank and score. If the same text is a candidate under
another document id, the systems' proposals get that id, so that the text is not judged twice.

The candidates of each query are ordered by best rank in any system, then by number of systems that proposed
the candidate, then by document id. The budget is spent in rounds over the queries: first on each query's
first candidate, then on each query's second candidate, and so on. If a query has few candidates, the other
queries get the rest of its share of the budget. In the last round, the seed decides which queries get the
rest of the budget.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from curation.core.digests import sort_by_seed
from curation.core.similarity.identical_texts import Representatives
from curation.pooling.relevance import Pair
from curation.pooling.systems import SystemLists
from curation.store import Query


class CandidateSource(NamedTuple):
    """A row of the table candidate_sources, without the pool's id. Random pairs have neither rank nor score.

    Attributes
    ----------
    passage_start, passage_end: matching part of a long document, as in `retrieval.retriever.Hit`.
    """

    query_id: str
    document_id: str
    system: str
    rank: int | None = None
    score: float | None = None
    passage_start: int | None = None
    passage_end: int | None = None


def collect_candidates(
    lists: SystemLists, queries: Sequence[Query], depth: int, stand_ins: Representatives
) -> tuple[list[CandidateSource], int]:
    """Collect the first `depth` hits of each system, taking each pair once per system, at its best rank.

    Returns
    -------
    The proposals, and the number of pairs that got the id of an identical document.
    """
    proposals: list[CandidateSource] = []
    merged_pairs = set()
    for index, query in enumerate(queries):
        best_ranked: dict[tuple[str, str], CandidateSource] = {}
        for system, hits in lists.items():
            for rank, hit in enumerate(hits[index][:depth], 1):
                start, end = hit.passage or (None, None)
                ids = stand_ins.all_of(query.query_id, hit.document_id)
                for document_id in ids:
                    source = CandidateSource(query.query_id, document_id, system, rank, hit.score, start, end)
                    best_ranked.setdefault((document_id, system), source)
                if hit.document_id not in ids:
                    merged_pairs.add((query.query_id, hit.document_id))
        proposals += best_ranked.values()
    return proposals, len(merged_pairs)


def select_within_budget(
    proposals: Sequence[CandidateSource], budget: int | None, seed: int
) -> tuple[list[CandidateSource], int]:
    """Select the proposals of at most `budget` pairs (None: no limit), and count the other pairs."""
    ranks: defaultdict[Pair, list[int]] = defaultdict(list)
    for proposal in proposals:
        ranks[proposal.query_id, proposal.document_id].append(proposal.rank or 0)
    if budget is None or len(ranks) <= budget:
        return list(proposals), 0
    selected = set(_order_by_rounds(ranks, seed)[:budget])
    return [proposal for proposal in proposals if proposal[:2] in selected], len(ranks) - budget


def _order_by_rounds(ranks: Mapping[Pair, list[int]], seed: int) -> list[Pair]:
    """Order all pairs in the order in which the budget is spent: in rounds over the queries."""
    pairs_of: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(ranks, key=lambda pair: (min(ranks[pair]), -len(ranks[pair]), pair)):
        pairs_of[pair[0]].append(pair)
    query_ids = sort_by_seed(pairs_of, seed, key=lambda query_id: ["budget", query_id])
    rounds = zip_longest(*(pairs_of[query_id] for query_id in query_ids))
    return [pair for pairs_of_round in rounds for pair in pairs_of_round if pair is not None]
