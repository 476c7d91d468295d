"""The report of a pool: how many candidates it has, from which systems, and what was left out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

from curation.core.reports.page import ShareCell, Table
from curation.core.text import amount
from curation.pooling.candidates import SystemReport
from curation.pooling.pool_sample import (
    SampledBand,
)
from curation.retrieval.verify_bm25 import Bm25Sample
from curation.store import (
    Cursor,
    Store,
)

LONGEST = 60
"""Characters of a query that is named in a sentence."""


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
    sample: by band, where a random sample of the pool is judged; else empty.
    rank_bm25: how far BM25 was compared with rank-bm25; None without BM25, and in pools of older goldgrades.
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
    sample: tuple[SampledBand, ...] = ()
    rank_bm25: Bm25Sample | None = None
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """The pool's size, and what was left out of it, each with the reason."""
        return [
            f"{amount(self.candidates, 'candidate')} for {amount(self.queries, 'query', 'queries')}, "
            f"{self.random_negatives:,} of them random negatives.",
            *([str(self.rank_bm25)] if self.rank_bm25 and self.rank_bm25.queries else []),
            *self.gaps,
        ]

    @property
    def gaps(self) -> list[str]:
        """What was found for no query, and what was left out, each with the reason."""
        nothing = [
            f"{system.system} found nothing for {amount(count, 'query', 'queries')}"
            f"{self._named(system.no_hit_ids.get(why, ()), count)}: {why}."
            for system in self.systems
            for why, count in system.no_hit.items()
        ]
        return [*nothing, *(f"{count:,} {why}." for why, count in self.left_out.items())]

    def _named(self, query_ids: Sequence[str], count: int) -> str:
        """The first of so many queries, each cut to a length that a line has room for."""
        texts = [shorten(self.texts[one], LONGEST, placeholder="…") for one in query_ids if one in self.texts]
        more = f" and {count - len(texts):,} more" if texts and count > len(texts) else ""
        return f" ({', '.join(f'“{text}”' for text in texts)}{more})" if texts else ""


def sample_table(report: PoolReport) -> Table:
    """What was drawn of each band of ranks, where a sample of the pool is judged."""
    rows = tuple((one.ranks, one.pairs, one.drawn, ShareCell(one.share, 1)) for one in report.sample or ())
    return Table("A random sample of the pool is judged", ("Ranks", "Pooled pairs", "Drawn", "Share"), rows)


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


def _built_before(cursor: Cursor, pool_id: str) -> PoolReport | None:
    rows = cursor.execute("SELECT snapshot_id, report FROM pools WHERE pool_id = ?", [pool_id]).fetchall()
    if not rows:
        return None
    return _report(cursor, pool_id, rows[0][0], json.loads(rows[0][1]), 0, built_before=True)


def _report(
    cursor: Cursor, pool_id: str, snapshot_id: str, report: Mapping[str, Any], added: int, built_before: bool
) -> PoolReport:
    systems = [SystemReport(**system) for system in report["systems"]]
    counts = {name: report[name] for name in ("queries", "candidates", "random_negatives", "left_out")}
    sample = tuple(SampledBand(**band) for band in report.get("sample", ()))
    ids = sorted({one for system in systems for named in system.no_hit_ids.values() for one in named})
    found = cursor.execute("SELECT query_id, text FROM queries WHERE query_id IN (SELECT unnest(?))", [ids])
    compared = Bm25Sample(**report["rank_bm25"]) if "rank_bm25" in report else None
    return PoolReport(
        *(pool_id, snapshot_id),
        added=added,
        built_before=built_before,
        systems=systems,
        sample=sample,
        rank_bm25=compared,
        texts=dict(found.fetchall()),
        **counts,
    )
