"""Answer tasks, in which people write reference answers; a task is open or closed.

Writers' queues show no queries of a closed task. An answer that arrives after the closing, from a screen
opened earlier, is kept and marked late; answers can then no longer be changed or undone. When a task closes,
a query that lacks answers gets its outcome from the existing answers, or goes to a reviewer (`outcomes`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import RefusedError, find_named
from curation.core.reports.tables import Table
from curation.labeling.written_answers.outcomes import update_references
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, append_revision, record_event, utc_now


class AnswerTask(NamedTuple):
    """An answer task; `parameters` are the values with which the task was opened."""

    task_id: str
    name: str
    parameters: dict[str, Any]
    opened_at: datetime
    closed: bool


def list_answer_tasks(cursor: Cursor) -> list[AnswerTask]:
    """List all answer tasks, oldest first."""
    sql = "SELECT task_id, name, parameters, opened_at, closed FROM answer_task_states ORDER BY sequence"
    rows = cursor.execute(sql).fetchall()
    return [AnswerTask(row[0], row[1], json.loads(row[2]), row[3], row[4]) for row in rows]


def build_task_table(tasks: Sequence[AnswerTask]) -> Table:
    """Make a table of the answer tasks with their states."""
    columns = ("Name", "Opened (UTC)", "Writers", "Writers of a query", "State")
    rows = (
        (
            task.name,
            str(task.opened_at)[:16],
            ", ".join(task.parameters["writers"]),
            task.parameters["overlap"],
            "closed" if task.closed else "open",
        )
        for task in tasks
    )
    return Table("Answer tasks", columns, tuple(rows))


def find_answer_task(cursor: Cursor, name: str) -> AnswerTask:
    """Find the answer task with this name.

    Raises
    ------
    NotFoundError: no task has the name; the error lists the names of all tasks.
    """
    return find_named(list_answer_tasks(cursor), name, "answer task")


def set_answer_task_state(store: Store, name: str, closed: bool, author: str = COMMAND_LINE) -> AnswerTask:
    """Close or reopen an answer task.

    Writers see no more queries of a closed task, and queries that lack answers may go to a reviewer.

    Raises
    ------
    NotFoundError: the task or the author does not exist.
    RefusedError: the task is already closed, or already open; or the author is not a lead.
    """
    kind = "close" if closed else "reopen"
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, "lead")
        task = find_answer_task(cursor, name)
        if task.closed == closed:
            raise RefusedError(f"The answer task {name!r} is {'closed' if closed else 'open'} already.")
        with update_references(cursor, task.task_id, author):
            event = {"kind": kind, "author": author, "happened_at": utc_now()}
            append_revision(cursor, "answer_task_events", "task_id", task.task_id, **event)
        record_event(cursor, f"{kind} answer task", {"name": name}, author)
        return find_answer_task(cursor, name)
