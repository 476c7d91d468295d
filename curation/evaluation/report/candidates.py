"""Report, candidates: what became of the runs' unjudged documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.reports.page import Section, Table
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.evaluation.to_pool import PooledRuns


def pooled_sections(pooled: PooledRuns | None) -> list[Section]:
    """What became of the runs' unjudged documents; none where nobody asked for candidates."""
    if pooled is None:
        return []
    sentences = [
        f"{pooled.pairs:,} unjudged pairs in all. The pool {pooled.pool.pool_id[:8]} added "
        f"{amount(pooled.pool.added, 'candidate')}; `goldgrade round open` shows those that nobody judged."
    ]
    if pooled.sealed:
        sentences.append(
            f"Queries of {', '.join(pooled.sealed)}, which is sealed and was evaluated, are pooled as well."
        )
    if pooled.sealed_left_out:
        queries = amount(pooled.sealed_left_out, "query", "queries")
        sentences.append(f"left out: {queries} of sealed parts that were not evaluated.")
    sentences += pooled.pool.gaps
    rows = tuple((name, pooled.returned[name], count) for name, count in pooled.unjudged.items())
    columns = ("run", "documents", "without a grade in the release")
    table = Table(f"In the first {pooled.depth:,} places", columns, rows)
    return [Section("Candidates", "\n".join(sentences), (), (table,))]
