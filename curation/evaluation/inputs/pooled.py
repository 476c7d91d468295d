"""What a release says of its pools: which pairs systems proposed, and whether a sample of them was judged.

The budget of a pool goes to the best ranked pairs, so what it leaves out is no random sample: estimates by
inclusion probability cannot be made of it. An audit is one, of all that was assumed to be not relevant, but
of all queries together: `goldset negatives audit` says what share of it is relevant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from curation.pooling.candidates import AUDIT, RANDOM
from curation.text import amount

Pair = tuple[str, str]


@dataclass(frozen=True)
class PooledPairs:
    """The (query id, document id) pairs of the evaluated queries that were put up for judgment.

    Attributes
    ----------
    ranks: pair → the best rank that a system gave it.
    random: drawn as easy negatives, and proposed by no system.
    audited: drawn by an audit.
    budgets: of the release's pools that had one.
    """

    ranks: Mapping[Pair, int]
    random: frozenset[Pair]
    audited: frozenset[Pair]
    budgets: tuple[int, ...]


def pooled_pairs(
    candidates: Iterable[Mapping[str, Any]], pools: Iterable[Mapping[str, Any]], queries: Collection[str]
) -> PooledPairs:
    """Read the rows of a release's parts 'candidates' and 'pools'."""
    ranks: dict[Pair, int] = {}
    random, audited = set(), set()
    for row in candidates:
        pair = (row["query_id"], row["document_id"])
        if pair[0] not in queries:
            continue
        if row["rank"] is not None:
            ranks[pair] = min(row["rank"], ranks.get(pair, row["rank"]))
        elif row["system"] == RANDOM:
            random.add(pair)
        elif row["system"].startswith(AUDIT):
            audited.add(pair)
    budgets = sorted(row["parameters"]["budget"] for row in pools if row["parameters"].get("budget"))
    return PooledPairs(ranks, frozenset(random - ranks.keys()), frozenset(audited), tuple(budgets))


def share_unjudged(pooled: PooledPairs, judged: Collection[Pair]) -> float | None:
    """The share of the pooled pairs that have no grade; None without a pool."""
    return len(pooled.ranks.keys() - set(judged)) / len(pooled.ranks) if pooled.ranks else None


def sample_sentence(pooled: PooledPairs, judged: Collection[Pair]) -> str:
    """Why AP and nDCG are not inferred from a random sample of the pool, in a sentence for people."""
    unjudged = len(pooled.ranks.keys() - set(judged))
    if not pooled.ranks:
        return "The release has no pool, so nothing can be inferred about pairs that were not judged."
    if not unjudged and not pooled.budgets:
        return "Every pair that the pools proposed has a grade: nothing is left to be inferred."
    if pooled.budgets:
        why = "A budget took the best ranked pairs of the pool, which is no random sample"
    else:
        why = f"{unjudged:,} of {len(pooled.ranks):,} pooled pairs have no grade, not left out by chance"
    own = "" if pooled.budgets else " If people judged a random sample of the pool, say down to which ranks."
    audit = (
        f" An audit drew {amount(len(pooled.audited), 'pair')} of all queries together; its "
        "report has the share of relevant ones."
        if pooled.audited
        else ""
    )
    return f"{why}, so AP and nDCG are not inferred from it.{own}{audit}"
