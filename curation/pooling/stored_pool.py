"""Stored pools: a pool is appended with its candidates, and its report says what is in it and what is not."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

import pyarrow as pa

from curation.core.digests import canonical_json
from curation.core.reports.page import Table
from curation.core.text import pluralize
from curation.pooling.contributions import Pair
from curation.pooling.systems import CandidateSource, SystemReport
from curation.store import Cursor, Store, append, record_event, utc_now

MAX_TEXT_SHOWN = 60
"""Characters of a query that is named in a sentence."""
# A pool of random negatives alone has no rank at all: the types cannot be read off the values.
_SOURCES = pa.schema(
    {
        "pool_id": pa.string(),
        "query_id": pa.string(),
        "document_id": pa.string(),
        "system": pa.string(),
        "rank": pa.int32(),
        "score": pa.float64(),
        "passage_start": pa.int32(),
        "passage_end": pa.int32(),
    }
)


@dataclass(frozen=True)
class PoolReport:
    """A pool, whether it was built now or before.

    Attributes
    ----------
    queries: how many were searched for, those without any hit among them.
    candidates: (query, document) pairs of this pool, the random ones among them.
    random_negatives: pairs that were drawn at random.
    added: pairs that were no candidates before this call.
    built_before: this very pool was stored already; nothing was added.
    left_out: reason, written to be read after its number → number.
    rank_bm25: how many lists of BM25 were compared with rank-bm25, and in how many documents of the corpus.
    texts: of the queries for which a system found nothing, as far as their ids are kept.
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
        """The pool's size, and what was left out of it, each with the reason."""
        new = f"{self.added:,} are new to the project."
        return [
            f"The pool has {pluralize(self.candidates, 'candidate')} for "
            f"{pluralize(self.queries, 'query', 'queries')}, "
            f"{self.random_negatives:,} of them random negatives.",
            "It was built before from the same inputs; nothing was added." if self.built_before else new,
            *self._compared(),
            *self.gaps,
        ]

    def _compared(self) -> Iterator[str]:
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
        """What each system proposed."""
        rows = tuple((system.system, system.candidates, system.alone) for system in self.systems)
        return (Table(f"Pool {self.pool_id[:8]}", ("System", "Candidates", "Alone"), rows),)

    @property
    def gaps(self) -> list[str]:
        """What was found for no query, and what was left out, each with the reason."""
        nothing = [
            f"{system.system} found nothing for {pluralize(count, 'query', 'queries')}"
            f"{self._named(system.no_hit_ids.get(why, ()), count)}: {why}."
            for system in self.systems
            for why, count in system.no_hit.items()
        ]
        return [*nothing, *(f"{count:,} {why}." for why, count in self.left_out.items())]

    def _named(self, query_ids: Sequence[str], count: int) -> str:
        """The first of so many queries, each cut to a length that a line has room for."""
        texts = [
            shorten(self.texts[query_id], MAX_TEXT_SHOWN, placeholder="…")
            for query_id in query_ids
            if query_id in self.texts
        ]
        more = f" and {count - len(texts):,} more" if texts and count > len(texts) else ""
        return f" ({', '.join(f'“{text}”' for text in texts)}{more})" if texts else ""


def last_pool(store: Store) -> PoolReport | None:
    """The pool that was built last, as it was reported; None before the first. `added` is not kept: 0."""
    with store.reading() as cursor:
        rows = cursor.execute(
            "SELECT pool_id, snapshot_id, report FROM pools ORDER BY rowid DESC LIMIT 1"
        ).fetchall()
        if not rows:
            return None
        pool_id, snapshot_id, report = rows[0]
        return _report(cursor, pool_id, snapshot_id, json.loads(report), 0, built_before=True)


def built_before(cursor: Cursor, pool_id: str) -> PoolReport | None:
    rows = cursor.execute("SELECT snapshot_id, report FROM pools WHERE pool_id = ?", [pool_id]).fetchall()
    if not rows:
        return None
    return _report(cursor, pool_id, rows[0][0], json.loads(rows[0][1]), 0, built_before=True)


def _report(
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
    """Store a pool, unless the project has it; `row` is its id, snapshot, parameters and report."""
    pool_id, snapshot_id, parameters, report = row
    columns = {name: [getattr(proposal, name) for proposal in proposals] for name in CandidateSource._fields}
    sources = pa.table({"pool_id": [pool_id] * len(proposals), **columns}, schema=_SOURCES)
    texts = [pool_id, snapshot_id, canonical_json(parameters), canonical_json(report)]
    with store.transaction(appends=True) as cursor:
        before = built_before(cursor, pool_id)
        if before is not None:
            return before
        added = _append(cursor, texts, sources, outside)
        detail = {"pool": pool_id, **parameters, "candidates added": added}
        record_event(cursor, "pool", detail, author)
        return _report(cursor, pool_id, snapshot_id, report, added, built_before=False)


def _append(cursor: Cursor, row: Sequence[str], sources: pa.Table, outside: Collection[Pair]) -> int:
    """Append the pool and its candidates' sources, and those new candidates that people judge: how many."""
    left = [[pair[side] for pair in outside] for side in (0, 1)]
    cursor.execute("INSERT INTO pools VALUES (?, ?, ?, ?, ?)", [*row, utc_now()])
    append(cursor, "candidate_sources", dict(zip(sources.column_names, sources.columns, strict=True)))
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
