"""What a release says of its pools: which pairs systems proposed, and whether a sample of them was judged.

The budget of a pool goes to the best ranked pairs, so what it leaves out is no random sample: estimates by
inclusion probability cannot be made of it. An audit is one, of all that was assumed to be not relevant, but
of all queries together: `goldset negatives audit` says what share of it is relevant.

Where a release records a sample of its pool, it has strata of each query's pool, and what was drawn of them.
A pair that several pools hold is of the pool that was likeliest to have it judged: one that was judged whole
before one of which a sample was. Likelihoods are fixed by ranks and rates and not by the draw. So what was
drawn of a stratum is a random sample of it also where further pools were built later, before or after people
judged. Documents that the release's corpus does not have are left out, for the same reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.pooling.candidates import AUDIT, RANDOM
from curation.text import amount

Pair = tuple[str, str]
_Source = tuple[float, str, int, str, bool]
WHOLE = "pooled whole"


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


class PoolStratum(NamedTuple):
    """Documents of a query's pool that were equally likely to be drawn.

    Attributes
    ----------
    name: their ranks, or `WHOLE`.
    drawn: of the documents, those that people were to judge.
    """

    name: str
    documents: frozenset[str]
    drawn: frozenset[str]


RecordedSample = Mapping[str, tuple[PoolStratum, ...]]
"""Query id → strata, the likeliest first."""


def recorded_sample(
    drawn: Iterable[Mapping[str, Any]],
    candidates: Iterable[Mapping[str, Any]],
    pools: Iterable[Mapping[str, Any]],
    queries: Collection[str],
    documents: Collection[str],
) -> RecordedSample | None:
    """Read the rows of a release's parts 'pool_sample', 'candidates' and 'pools'; None without a sample.

    Parameters
    ----------
    queries: those that are evaluated. documents: ids of the release's corpus.
    """
    designs = {row["pool_id"]: row["parameters"].get("sample") for row in pools}
    sources: dict[Pair, _Source] = {}

    def offer(pair: Pair, source: _Source) -> None:
        if pair[1] in documents:
            sources[pair] = min(source, sources.get(pair, source))

    rows = [row for row in drawn if row["query_id"] in queries]
    for row in rows:
        name = _ranks(designs.get(row["pool_id"]), row["band"])
        for chosen in ("drawn", "not_drawn"):
            source = (-row["inclusion_probability"], row["pool_id"], row["band"], name, chosen == "drawn")
            for document_id in row[chosen]:
                offer((row["query_id"], document_id), source)
    whole = {pool_id for pool_id, design in designs.items() if design is None}
    for row in candidates:
        if row["query_id"] in queries and row["rank"] is not None and row["pool_id"] in whole:
            offer((row["query_id"], row["document_id"]), (-1.0, "", 0, WHOLE, True))
    return _strata(sources) if rows else None


def _strata(sources: Mapping[Pair, _Source]) -> RecordedSample:
    members: defaultdict[str, defaultdict[_Source, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (query_id, document_id), source in sources.items():
        members[query_id][source].append(document_id)
    found = {}
    for query_id, by_source in members.items():
        strata = []
        for key in sorted({source[:4] for source in by_source}):
            chosen = frozenset(by_source.get((*key, True), ()))
            strata.append(PoolStratum(key[3], chosen.union(by_source.get((*key, False), ())), chosen))
        found[query_id] = tuple(strata)
    return found


def _ranks(design: Mapping[str, Any] | None, band: int) -> str:
    if design is None:
        return f"band {band}"
    lasts = [0, *(last for last, _ in design["bands"])]
    return f"ranks {lasts[band - 1] + 1:,} to {lasts[band]:,}"
