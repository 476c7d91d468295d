"""The budget of a pool: the best pairs for people to judge, spread evenly over the queries.

The candidates of each query are ordered by best rank in any system, then by number of systems that proposed
the candidate, then by document id. The budget is spent in rounds over the queries: first on each query's
first candidate, then on each query's second candidate, and so on. If a query has few candidates, the other
queries get the rest of its share of the budget. In the last round, the seed decides which queries get the
rest of the budget.
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
    """Choose the proposals of at most `budget` pairs (None: no limit), and count the other pairs."""
    ranks: defaultdict[Pair, list[int]] = defaultdict(list)
    for proposal in proposals:
        ranks[proposal.query_id, proposal.document_id].append(proposal.rank or 0)
    if budget is None or len(ranks) <= budget:
        return list(proposals), 0
    chosen = set(_order_by_turns(ranks, seed)[:budget])
    return [proposal for proposal in proposals if proposal[:2] in chosen], len(ranks) - budget


def _order_by_turns(ranks: Mapping[Pair, list[int]], seed: int) -> list[Pair]:
    """Order all pairs by the order in which the budget is spent."""
    of_query: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(ranks, key=lambda pair: (min(ranks[pair]), -len(ranks[pair]), pair)):
        of_query[pair[0]].append(pair)
    turns = seeded(of_query, seed, key=lambda query_id: ["budget", query_id])
    rounds = max(map(len, of_query.values()))
    return [of_query[q][turn] for turn in range(rounds) for q in turns if turn < len(of_query[q])]
