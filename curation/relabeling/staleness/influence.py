"""Influence: how far a flip of a pair's grade would move a comparison of the known systems.

Known systems are the imported runs, and those that proposed candidates in the newest pool. A document at
rank r adds its gain times 1 / log2(r + 1) to DCG, and nothing beyond rank 10. So if a grade flips between
not relevant and relevant, the difference of two systems' DCG@10 on the query moves by the difference of
these discounts. The
influence is the largest over all pairs of systems: 1 where one has the document first and another does not
    return it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

from curation.relabeling.staleness.judged_pairs import Pair
from curation.store import Cursor

DEPTH = 10


def read_influence(cursor: Cursor) -> Mapping[Pair, float] | None:
    """Pair → influence, of the pairs that a system has in its first ten; None with fewer than two systems.

    With two systems or more, pairs that are not in it have no influence.
    """
    rows = cursor.execute(_RANKS, [DEPTH]).fetchall()
    systems = {system for system, *_ in rows}
    if len(systems) < 2:
        return None
    ranks: dict[Pair, dict[str, int]] = {}
    for system, query_id, document_id, rank in rows:
        ranks.setdefault((query_id, document_id), {})[system] = rank
    return {pair: influence_of(list(found.values()), len(systems)) for pair, found in ranks.items()}


def influence_of(ranks: list[int], systems: int) -> float:
    """The largest difference of discounts between two of so many systems; those without a rank have none."""
    discounts = [1 / log2(rank + 1) for rank in ranks]
    return max(discounts) - (min(discounts) if len(ranks) == systems else 0.0)


_RANKS = """
WITH newest AS (SELECT arg_max(pool_id, rowid) AS pool_id FROM pools),
ranked AS (
    SELECT 'run:' || r.name AS system, e.query_id, e.document_id, e.rank
    FROM run_entries e JOIN runs r USING (run_id)
    UNION ALL
    SELECT system, query_id, document_id, rank
    FROM candidate_sources JOIN newest USING (pool_id) WHERE rank IS NOT NULL)
SELECT system, query_id, document_id, min(rank) FROM ranked WHERE rank <= ? GROUP BY ALL ORDER BY ALL
"""
