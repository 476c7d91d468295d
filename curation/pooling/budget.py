"""Which pairs of a pool are judged where people cannot judge all: the best ones within a budget.

The budget is spent evenly over the queries. Every query's candidates are put in order: by the best rank that
any system gave, then by how many systems proposed them, then by document id. The budget goes round: each
query's first candidate, each query's second, and so on. A query with few candidates leaves its turns to the
others, and the last round, for which the budget does not suffice, takes the queries in an order drawn by
seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from curation.core.digests import seeded
from curation.pooling.contributions import Pair
from curation.pooling.systems import CandidateSource


def spend(
    proposals: Sequence[CandidateSource], budget: int | None, seed: int
) -> tuple[list[CandidateSource], int]:
    """The proposals of at most `budget` pairs, and how many pairs are over it; None is no limit."""
    ranks: defaultdict[Pair, list[int]] = defaultdict(list)
    for proposal in proposals:
        ranks[proposal.query_id, proposal.document_id].append(proposal.rank or 0)
    if budget is None or len(ranks) <= budget:
        return list(proposals), 0
    chosen = set(_rounds(ranks, seed)[:budget])
    return [proposal for proposal in proposals if proposal[:2] in chosen], len(ranks) - budget


def _rounds(ranks: Mapping[Pair, list[int]], seed: int) -> list[Pair]:
    """All pairs in the order in which the budget is spent on them."""
    of_query: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(ranks, key=lambda pair: (min(ranks[pair]), -len(ranks[pair]), pair)):
        of_query[pair[0]].append(pair)
    turns = seeded(of_query, seed, key=lambda query_id: ["budget", query_id])
    rounds = max(map(len, of_query.values()))
    return [of_query[q][turn] for turn in range(rounds) for q in turns if turn < len(of_query[q])]
