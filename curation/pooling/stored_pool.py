"""Stored pools: each pool with its candidates and a report on the candidates and missing results."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from textwrap import shorten
from typing import Any, NamedTuple

from curation.core.digests import canonical_json
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.pooling.candidates import CandidateSource
from curation.pooling.relevance import Pair
from curation.pooling.systems import TOP
from curation.store import Cursor, Store, append, record_event, utc_now

MAX_IDS_KEPT = 3
"""Largest number of query ids that a report keeps for each reason why a system found nothing."""
MAX_TEXT_SHOWN = 60
"""Largest number of characters of a query's text in a sentence of a report."""


class SystemReport(NamedTuple):
    """The report of one system in a pool.

    Attributes
    ----------
    candidates: number of pairs that the system proposed.
    alone: number of pairs that no other system proposed.
    top: number of results within the first `TOP` and the depth, including pairs over the budget.
    unfilled: number of missing results within the depth, because the system found no more documents.
    no_hit: reason → number of queries for which the system found nothing.
    no_hit_ids: reason → ids of the first queries for which the system found nothing; older pools have no ids.
    """

    system: str
    candidates: int
    alone: int
    top: int
    unfilled: int
    no_hit: dict[str, int]
    no_hit_ids: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True)
class PoolReport:
    """The report of a pool that was built now or before.

    Attributes
    ----------
    queries: number of queries, including queries without any hit.
    candidates: number of (query, document) pairs, including random pairs.
    random_negatives: number of random pairs.
    added: number of pairs that became candidates with this call.
    built_before: the same pool was stored already, and nothing was added.
    left_out: reason → number of pairs or queries; sentences put the number before the reason.
    rank_bm25: number of lists of BM25 that were compared with rank-bm25, and of the documents compared.
    texts: query id → text, for queries named in the report because a system found nothing for them.
    """

    pool_id: str
    snapshot_id: str
    queries: int
    candidates: int
    random_negatives: int
    added: int
    built_before: bool
    systems: list[SystemReport]
    left_out: dict[str, int]
    rank_bm25: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """Count the pool's candidates, and the missing results by reason."""
        size = f"{pluralize(self.candidates, 'candidate')} for {pluralize(self.queries, 'query', 'queries')}"
        sentence = f"The pool has {size}, {self.random_negatives:,} of them random negatives."
        change = f"{self.added:,} are new to the project."
        if self.built_before:
            change = "The pool was built before from the same inputs; nothing was added."
        return [sentence, change, *self._comparison_with_rank_bm25(), *self.gaps]

    def _comparison_with_rank_bm25(self) -> Iterator[str]:
        if not self.rank_bm25.get("queries"):
            return
        queries, documents, corpus = (self.rank_bm25[name] for name in ("queries", "documents", "corpus"))
        sampled = f" of {corpus:,}, drawn at random" if documents < corpus else ""
        lists = pluralize(queries, "query", "queries")
        size = f"{pluralize(documents, 'document')}{sampled}"
        yield f"BM25 ranks {lists} as the library rank-bm25 does, in {size}."

    @property
    def tables(self) -> tuple[Table, ...]:
        """Show the numbers of candidates by system."""
        rows = tuple((system.system, system.candidates, system.alone) for system in self.systems)
        return (Table(f"Pool {self.pool_id[:8]}", ("System", "Candidates", "Alone"), rows),)

    @property
    def gaps(self) -> list[str]:
        """Count by reason the queries without results, and the missing results."""
        empty_lists = [
            f"{system.system} found nothing for {pluralize(count, 'query', 'queries')}"
            f"{self._query_texts(system.no_hit_ids.get(why, ()), count)}: {why}."
            for system in self.systems
            for why, count in system.no_hit.items()
        ]
        return [*empty_lists, *(f"{count:,} {why}." for why, count in self.left_out.items())]

    def _query_texts(self, query_ids: Sequence[str], count: int) -> str:
        """Write the shortened texts of the first queries in parentheses, or ''."""
        texts = [self.texts[query_id] for query_id in query_ids if query_id in self.texts]
        if not texts:
            return ""
        more = f" and {count - len(texts):,} more" if count > len(texts) else ""
        quotes = [f"“{shorten(text, MAX_TEXT_SHOWN, placeholder='…')}”" for text in texts]
        return f" ({', '.join(quotes)}{more})"


def read_last_pool(store: Store) -> PoolReport | None:
    """Read the report of the last pool, or return None without a pool. The number `added` is not stored, and
    is 0 in the report.
    """
    with store.reading() as cursor:
        rows = cursor.execute("SELECT pool_id FROM pools ORDER BY rowid DESC LIMIT 1").fetchall()
        return read_pool_report(cursor, rows[0][0]) if rows else None


def read_pool_report(cursor: Cursor, pool_id: str) -> PoolReport | None:
    """Read the report of a pool, or None if the project does not have the pool."""
    rows = cursor.execute("SELECT snapshot_id, report FROM pools WHERE pool_id = ?", [pool_id]).fetchall()
    if not rows:
        return None
    return _make_report(cursor, pool_id, rows[0][0], json.loads(rows[0][1]), 0, built_before=True)


def _make_report(
    cursor: Cursor, pool_id: str, snapshot_id: str, report: Mapping[str, Any], added: int, built_before: bool
) -> PoolReport:
    systems = [SystemReport(**system) for system in report["systems"]]
    counts = {name: report[name] for name in ("queries", "candidates", "random_negatives", "left_out")}
    ids = sorted({query_id for system in systems for ids in system.no_hit_ids.values() for query_id in ids})
    rows = cursor.execute("SELECT query_id, text FROM queries WHERE query_id IN (SELECT unnest(?))", [ids])
    return PoolReport(
        *(pool_id, snapshot_id),
        added=added,
        built_before=built_before,
        systems=systems,
        rank_bm25=report.get("rank_bm25") or {},
        texts=dict(rows.fetchall()),
        **counts,
    )


def store_pool(
    store: Store,
    pool_id: str,
    snapshot_id: str,
    parameters: Mapping[str, Any],
    report: dict[str, Any],
    sources: Sequence[CandidateSource],
    outside: Collection[Pair],
    author: str,
) -> PoolReport:
    """Store a pool that the project lacks, and return its report.

    Parameters
    ----------
    sources: proposals of pairs. Pairs in `outside` are outside the filter of their query, and become no
        candidates.
    """
    row = [pool_id, snapshot_id, canonical_json(parameters), canonical_json(report)]
    with store.transaction(appends=True) as cursor:
        stored_report = read_pool_report(cursor, pool_id)
        if stored_report is not None:
            return stored_report
        added = _append_pool(cursor, row, sources, outside)
        detail = {"pool": pool_id, **parameters, "candidates added": added}
        record_event(cursor, "pool", detail, author)
        return _make_report(cursor, pool_id, snapshot_id, report, added, built_before=False)


def _append_pool(
    cursor: Cursor, row: Sequence[str], sources: Sequence[CandidateSource], outside: Collection[Pair]
) -> int:
    """Append a pool and the sources of its candidates, and count the candidates that are new.

    Parameters
    ----------
    row: row of the table `pools` without the time; the first value is the pool's id.
    """
    columns = {name: [getattr(source, name) for source in sources] for name in CandidateSource._fields}
    query_ids, document_ids = [[pair[index] for pair in outside] for index in (0, 1)]
    cursor.execute("INSERT INTO pools VALUES (?, ?, ?, ?, ?)", [*row, utc_now()])
    append(cursor, "candidate_sources", {"pool_id": [row[0]] * len(sources), **columns})
    added = cursor.execute(
        """
        INSERT INTO candidates
        SELECT DISTINCT query_id, document_id FROM candidate_sources s
        WHERE pool_id = ? AND NOT EXISTS (
            FROM candidates c WHERE c.query_id = s.query_id AND c.document_id = s.document_id)
        AND (query_id, document_id) NOT IN (SELECT (unnest(?::TEXT[]), unnest(?::TEXT[])))
        ORDER BY query_id, document_id
        """,
        [row[0], query_ids, document_ids],
    ).fetchall()
    return int(added[0][0])


def report_systems(
    hit_counts: Mapping[str, Sequence[int]],
    empty: Mapping[str, Mapping[str, Sequence[str]]],
    proposals: Iterable[CandidateSource],
    max_results: int,
) -> list[SystemReport]:
    """Make the report of each system.

    Parameters
    ----------
    hit_counts: system → number of documents that the system found for each query.
    empty: system → reason → ids of the queries for which the system found nothing.
    proposals: proposals grouped by query.
    max_results: largest number of documents that a system could propose for a query.
    """
    top = min(max_results, TOP)
    candidates, alone = Counter[str](), Counter[str]()
    for _, proposals_of_query in groupby(proposals, key=attrgetter("query_id")):
        systems_of = defaultdict(set)
        for proposal in proposals_of_query:
            systems_of[proposal.document_id].add(proposal.system)
        for names in systems_of.values():
            candidates.update(names)
            alone.update(names if len(names) == 1 else ())
    return [
        SystemReport(
            name,
            candidates[name],
            alone[name],
            sum(min(top, count) for count in counts),
            sum(max(max_results - count, 0) for count in counts),
            {why: len(ids) for why, ids in empty[name].items()},
            {why: ids[:MAX_IDS_KEPT] for why, ids in empty[name].items()},
        )
        for name, counts in hit_counts.items()
    ]
