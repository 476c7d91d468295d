"""How far query writing is: batch by batch, writer by writer, and for each region of the map in force."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.reports.page import Table
from curation.store import Cursor, fetch

_COUNTED = """count(*) FILTER (outcome IS NULL), count(*) FILTER (outcome = 'written'),
              count(*) FILTER (outcome = 'passed')"""
_FROM = (
    """writing_tasks t JOIN writing_batches b USING (batch_id) LEFT JOIN writing_endings USING (task_id)"""
)


class TaskCounts(NamedTuple):
    """Tasks by what became of them."""

    open: int
    written: int
    passed: int


class BatchProgress(NamedTuple):
    """A batch of query-writing tasks and one writer's part of it."""

    batch_id: str
    kind: str
    seed: int
    author: str
    opened_at: datetime
    writer: str
    open: int
    written: int
    passed: int


def batch_table(progresses: Sequence[BatchProgress]) -> Table:
    """The batches of tasks, and how far each writer is."""
    columns = ("Opened (UTC)", "For", "Writer", "To write", "Written", "Passed on")
    rows = (
        (progress.opened_at, progress.kind, progress.writer, progress.open, progress.written, progress.passed)
        for progress in progresses
    )
    return Table("Query-writing tasks", columns, tuple(rows))


def batches(cursor: Cursor) -> list[BatchProgress]:
    """Each writer's part of each batch, the newest batch first."""
    sql = f"""
        SELECT b.batch_id, b.kind, b.seed, b.author, b.opened_at, t.writer, {_COUNTED} FROM {_FROM}
        GROUP BY b.rowid, b.batch_id, b.kind, b.seed, b.author, b.opened_at, t.writer
        ORDER BY b.rowid DESC, t.writer
    """  # noqa: S608  texts from above
    return fetch(cursor, BatchProgress, sql)


def tasks_of_clusters(cursor: Cursor, map_id: str) -> dict[int, TaskCounts]:
    """Number of a cluster of a map → its tasks of both kinds; clusters without any are absent."""
    sql = f"SELECT t.cluster, {_COUNTED} FROM {_FROM} WHERE b.map_id = ? GROUP BY t.cluster"  # noqa: S608
    return {number: TaskCounts(*counts) for number, *counts in cursor.execute(sql, [map_id]).fetchall()}
