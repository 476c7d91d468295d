"""The progress of query-writing tasks, by batch and writer and by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.reports.tables import Table
from curation.store import Cursor, fetch

_COUNTED = """count(*) FILTER (outcome IS NULL), count(*) FILTER (outcome = 'written'),
              count(*) FILTER (outcome = 'passed')"""
_FROM = "writing_tasks t JOIN writing_batches b USING (batch_id) LEFT JOIN writing_endings USING (task_id)"


class BatchProgress(NamedTuple):
    """One writer's progress in a batch of query-writing tasks."""

    batch_id: str
    kind: str
    seed: int
    author: str
    opened_at: datetime
    writer: str
    open: int
    written: int
    passed: int


def build_batch_table(progresses: Sequence[BatchProgress]) -> Table:
    """Show the batches of query-writing tasks with each writer's progress."""
    columns = ("Opened (UTC)", "For", "Writer", "To write", "Written", "Passed on")
    rows = (
        (progress.opened_at, progress.kind, progress.writer, progress.open, progress.written, progress.passed)
        for progress in progresses
    )
    return Table("Query-writing tasks", columns, tuple(rows))


def read_batches(cursor: Cursor) -> list[BatchProgress]:
    """Read each writer's progress in each batch of query-writing tasks, newest batch first."""
    sql = f"""
        SELECT b.batch_id, b.kind, b.seed, b.author, b.opened_at, t.writer, {_COUNTED} FROM {_FROM}
        GROUP BY b.rowid, b.batch_id, b.kind, b.seed, b.author, b.opened_at, t.writer
        ORDER BY b.rowid DESC, t.writer
    """  # noqa: S608  texts from above
    return fetch(cursor, BatchProgress, sql)


def count_tasks_by_cluster(cursor: Cursor, map_id: str) -> dict[int, tuple[int, ...]]:
    """Count the open, written and passed-on tasks of each cluster of a map."""
    sql = f"SELECT t.cluster, {_COUNTED} FROM {_FROM} WHERE b.map_id = ? GROUP BY t.cluster"  # noqa: S608
    return {number: tuple(counts) for number, *counts in cursor.execute(sql, [map_id]).fetchall()}
