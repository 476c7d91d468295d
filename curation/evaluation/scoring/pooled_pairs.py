"""Pooled pairs: the query-document pairs that a release's pools proposed for judgment.

The budget of a pool goes to the best ranked pairs. Where only a random sample of a pool was judged, the
release also has the pairs that the sample left out, which count as unjudged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from curation.evaluation.scoring.evidence import Pair
from curation.pooling import RANDOM


@dataclass(frozen=True)
class PooledPairs:
    """The (query id, document id) pairs of the evaluated queries proposed for judgment.

    Attributes
    ----------
    ranks: pair → the best rank that a system gave the pair.
    random: pairs that were drawn as easy negatives and that no system proposed.
    left_out: pairs that systems proposed and that a random sample of the pool left out.
    """

    ranks: Mapping[Pair, int]
    random: frozenset[Pair] = frozenset()
    left_out: frozenset[Pair] = frozenset()


def read_pooled_pairs(
    candidates: Iterable[Mapping[str, Any]], samples: Iterable[Mapping[str, Any]], queries: Collection[str]
) -> PooledPairs:
    """Read the pooled pairs from the rows of a release's parts 'candidates' and 'pool_sample'."""
    ranks: dict[Pair, int] = {}
    random = set()
    for row in candidates:
        pair = (row["query_id"], row["document_id"])
        if pair[0] not in queries:
            continue
        if row["rank"] is not None:
            ranks[pair] = min(row["rank"], ranks.get(pair, row["rank"]))
        elif row["system"] == RANDOM:
            random.add(pair)
    sampled = [row for row in samples if row["query_id"] in queries]
    left_out = {(row["query_id"], document_id) for row in sampled for document_id in row["not_drawn"]}
    return PooledPairs(ranks, frozenset(random - ranks.keys()), frozenset(left_out - ranks.keys()))


def compute_unjudged_share(pooled: PooledPairs, judged: Collection[Pair]) -> float | None:
    """Compute the share of proposed pairs that have no grade; None if there are no pools."""
    proposed = pooled.ranks.keys() | pooled.left_out
    return len(proposed.difference(judged)) / len(proposed) if proposed else None
