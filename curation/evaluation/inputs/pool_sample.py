"""The sample of a pool as a release records it: strata of each query's pool, and what was drawn of them.

Of each pair the pool counts that was likeliest to have it judged: a pool that was judged whole before one of
which a sample was. Likelihoods are fixed by ranks and rates and not by the draw. So what was drawn of a
stratum is a random sample of it also where further pools were built later, before or after people judged.
Documents that the release's corpus does not have are left out, for the same reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

Pair = tuple[str, str]
_Source = tuple[float, str, int, str, bool]

WHOLE = "pooled whole"


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
