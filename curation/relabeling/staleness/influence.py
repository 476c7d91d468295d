"""Influence: how far a flip of a pair's grade would move the comparison of the known systems.

Known systems are the imported runs, and those that proposed candidates in the newest pool. The comparison is
that of `evaluation` by its headline measure, nDCG@10, on the pair's query. A flip makes a relevant document
not relevant (the lowest grade of the scale) and any other one relevant (the highest). It moves the DCG of
each system that has the document in its first ten, and the ideal DCG of all. The influence is how far the
difference of two systems moves, the largest over all pairs of systems. A query without a relevant document
has no value in `evaluation`, and so no difference here.

The measure is computed in closed form for all flips of a query at once, as scoring each flip again takes the
engine long. A test shows that both give the same.

Of a query that a release seals no grade is looked at, because an influence would tell it: the flip is then
that of its only relevant document, and moves each system by 1 / log2(rank + 1).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log2
from typing import NamedTuple

import numpy as np

from curation.relabeling.staleness.judged_pairs import Pair
from curation.scoring.metrics.measures import Measure, measures_for
from curation.statistics.arrays import Floats
from curation.store import Cursor

DEPTH = 10
Ranks = Mapping[Pair, Mapping[str, int]]
"""Pair → system → rank, of what the systems have to the depth of the headline measures."""


class _Query(NamedTuple):
    """The judged documents of a query, J, and what S systems do with them.

    gains, flipped: of the grades as they are and of the flipped ones, shape (J,).
    discounts: 1 / log2(rank + 1), 0 where the system does not have the document, shape (J, S).
    """

    gains: Floats
    flipped: Floats
    discounts: Floats


def read_ranks(cursor: Cursor) -> Ranks:
    """What the known systems have in their first places."""
    ranks: dict[Pair, dict[str, int]] = {}
    for system, query_id, document_id, rank in cursor.execute(_RANKS, [DEPTH]).fetchall():
        ranks.setdefault((query_id, document_id), {})[system] = rank
    return ranks


def influence_of(
    grades: Mapping[Pair, int | None], ranks: Ranks, scale: Sequence[int]
) -> dict[Pair, float] | None:
    """The influence of each pair, a movement by more than 1 as 1; None with fewer than two systems.

    Parameters
    ----------
    grades: of all judged pairs; None: judged and without a grade, or not to be looked at.
    """
    measure = measures_for(scale)[0]
    systems = sorted({system for found in ranks.values() for system in found})
    if len(systems) < 2:
        return None
    queries: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(grades):
        queries[pair[0]].append(pair)
    found: dict[Pair, float] = {}
    for members in queries.values():
        query = _Query(
            gains=_gains([grades[pair] for pair in members], measure),
            flipped=_gains([_flipped(grades[pair], scale) for pair in members], measure),
            discounts=np.array(
                [[_discount(ranks.get(pair, {}).get(s)) for s in systems] for pair in members]
            ),
        )
        moved = np.minimum(_moved(query, DEPTH), 1.0)
        found.update(zip(members, moved.tolist(), strict=True))
    return found


def _flipped(grade: int | None, scale: Sequence[int]) -> int:
    lowest, highest = min(scale), max(scale)
    return lowest if grade is not None and grade > lowest else highest


def _gains(grades: Sequence[int | None], measure: Measure) -> Floats:
    given = np.array([max(0, grade or 0) for grade in grades], np.float64)
    return np.exp2(given) - 1 if measure.kind == "ndcg_exp" else given


def _discount(rank: int | None) -> float:
    return 0.0 if rank is None else 1 / log2(rank + 1)


def _moved(query: _Query, depth: int) -> Floats:
    """How far each flip moves the difference of two systems at most, shape (J,)."""
    before = _ratio(query.gains @ query.discounts, _ideal(query.gains, depth))
    more = (query.flipped - query.gains)[:, None]
    after = _ratio(
        query.gains @ query.discounts + more * query.discounts, _ideal_flipped(query, depth)[:, None]
    )
    change = after - before
    moved: Floats = change.max(axis=1) - change.min(axis=1)
    return moved


def _ratio(dcg: Floats, ideal: Floats) -> Floats:
    """nDCG; 0 where nothing is relevant."""
    found: Floats = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=np.broadcast_to(ideal > 0, dcg.shape))
    return found


def _ideal(gains: Floats, depth: int) -> Floats:
    """DCG of the best order to a depth, over the last axis."""
    best = -np.sort(-gains, axis=-1)[..., :depth]
    ideal: Floats = best @ (1 / np.log2(np.arange(best.shape[-1]) + 2))
    return ideal


def _ideal_flipped(query: _Query, depth: int) -> Floats:
    """The ideal DCG after each flip, shape (J,): of the best of all other documents, and the flipped one."""
    order = np.argsort(-query.gains, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    best = np.zeros(depth + 1)
    best[: len(order)] = query.gains[order][: depth + 1]
    ranks = np.arange(depth)
    others = best[ranks + (ranks >= place[:, None])]
    return _ideal(np.column_stack([others, query.flipped]), depth)


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
