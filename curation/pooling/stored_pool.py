"""Stored pools with their candidates, and reports that count the candidates and the missing results."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

from curation.core.digests import canonical_json
from curation.core.reports.page import Table
from curation.core.text import pluralize
from curation.pooling.contributions import Pair
from curation.pooling.systems import CandidateSource, SystemReport
from curation.store import Cursor, Store, append, record_event, utc_now

MAX_TEXT_SHOWN = 60
"""Largest number of characters of a query's text in a sentence of a report."""


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
        new = f"{self.added:,} are new to the project."
        return [
            f"The pool has {pluralize(self.candidates, 'candidate')} for "
            f"{pluralize(self.queries, 'query', 'queries')}, "
            f"{self.random_negatives:,} of them random negatives.",
            "The pool was built before from the same inputs; nothing was added."
            if self.built_before
            else new,
            *self._comparison_with_rank_bm25(),
            *self.gaps,
        ]

    def _comparison_with_rank_bm25(self) -> Iterator[str]:
        if not self.rank_bm25.get("queries"):
            return
        queries, documents, corpus = (self.rank_bm25[name] for name in ("queries", "documents", "corpus"))
        sampled = f" of {corpus:,}, drawn at random" if documents < corpus else ""
        yield (
            f"BM25 ranks {pluralize(queries, 'query', 'queries')} as the library rank-bm25 does, in "
            f"{pluralize(documents, 'document')}{sampled}."
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """Show the numbers of candidates by system."""
        rows = tuple((system.system, system.candidates, system.alone) for system in self.systems)
        return (Table(f"Pool {self.pool_id[:8]}", ("System", "Candidates", "Alone"), rows),)

    @property
    def gaps(self) -> list[str]:
        """Count by reason the queries without results, and the missing results."""
        nothing = [
            f"{system.system} found nothing for {pluralize(count, 'query', 'queries')}"
            f"{self._query_texts(system.no_hit_ids.get(why, ()), count)}: {why}."
            for system in self.systems
            for why, count in system.no_hit.items()
        ]
        return [*nothing, *(f"{count:,} {why}." for why, count in self.left_out.items())]

    def _query_texts(self, query_ids: Sequence[str], count: int) -> str:
        """Write the shortened texts of the first queries in parentheses, or ''."""
        texts = [
            shorten(self.texts[query_id], MAX_TEXT_SHOWN, placeholder="…")
            for query_id in query_ids
            if query_id in self.texts
        ]
        more = f" and {count - len(texts):,} more" if texts and count > len(texts) else ""
        return f" ({', '.join(f'“{text}”' for text in texts)}{more})" if texts else ""


def last_pool(store: Store) -> PoolReport | None:
    """Read the report of the last pool, or return None without a pool. The number `added` is not stored, and
    is 0 in the report.
    """
    with store.reading() as cursor:
        rows = cursor.execute("SELECT pool_id FROM pools ORDER BY rowid DESC LIMIT 1").fetchall()
        return built_before(cursor, rows[0][0]) if rows else None


def built_before(cursor: Cursor, pool_id: str) -> PoolReport | None:
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
    ids = sorted(
        {query_id for system in systems for named in system.no_hit_ids.values() for query_id in named}
    )
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


def keep_pool(
    store: Store,
    row: tuple[str, str, Mapping[str, Any], dict[str, Any]],
    proposals: Sequence[CandidateSource],
    outside: Mapping[Pair, str],
    author: str,
) -> PoolReport:
    """Store a pool that the project lacks. `row` is the pool's id, snapshot, parameters and report."""
    pool_id, snapshot_id, parameters, report = row
    sources = {name: [getattr(proposal, name) for proposal in proposals] for name in CandidateSource._fields}
    stored = [pool_id, snapshot_id, canonical_json(parameters), canonical_json(report)]
    with store.transaction(appends=True) as cursor:
        before = built_before(cursor, pool_id)
        if before is not None:
            return before
        added = _append_pool(cursor, stored, sources, outside)
        detail = {"pool": pool_id, **parameters, "candidates added": added}
        record_event(cursor, "pool", detail, author)
        return _make_report(cursor, pool_id, snapshot_id, report, added, built_before=False)


def _append_pool(
    cursor: Cursor, row: Sequence[str], sources: Mapping[str, list[Any]], outside: Collection[Pair]
) -> int:
    """Append a pool and the sources of its candidates, and count the candidates that are new."""
    left = [[pair[side] for pair in outside] for side in (0, 1)]
    cursor.execute("INSERT INTO pools VALUES (?, ?, ?, ?, ?)", [*row, utc_now()])
    append(cursor, "candidate_sources", {"pool_id": [row[0]] * len(sources["query_id"]), **sources})
    added = cursor.execute(
        """
        INSERT INTO candidates
        SELECT DISTINCT query_id, document_id FROM candidate_sources s
        WHERE pool_id = ? AND NOT EXISTS (
            FROM candidates c WHERE c.query_id = s.query_id AND c.document_id = s.document_id)
        AND (query_id, document_id) NOT IN (SELECT (unnest(?::TEXT[]), unnest(?::TEXT[])))
        ORDER BY query_id, document_id
        """,
        [row[0], *left],
    ).fetchall()
    return int(added[0][0])
