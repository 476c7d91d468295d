"""Answer tasks: campaigns in which people write reference answers, found by name, closed and reopened.

A closed task is in nobody's queue. An answer that was on screen then is kept and marked late; nothing is
changed or taken back there. What nobody wrote by then does not come, so closing settles or disputes the rest.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import RefusedError, find_named
from curation.labeling.written_answers.outcomes import settle_task
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, record_event, utc_now

_INSERT_EVENT = """
INSERT INTO answer_task_events
SELECT ?, coalesce(max(revision) + 1, 0), ?, ?, ? FROM answer_task_events WHERE task_id = ?
"""


class AnswerTask(NamedTuple):
    """A task as it is now; `parameters` are those that it was opened with."""

    task_id: str
    name: str
    parameters: dict[str, Any]
    opened_at: datetime
    closed: bool


def list_answer_tasks(cursor: Cursor) -> list[AnswerTask]:
    """All tasks, oldest first."""
    rows = cursor.execute(
        "SELECT task_id, name, parameters, opened_at, closed FROM answer_task_states ORDER BY sequence"
    ).fetchall()
    return [AnswerTask(row[0], row[1], json.loads(row[2]), row[3], row[4]) for row in rows]


def find_answer_task(cursor: Cursor, name: str) -> AnswerTask:
    """The task of that name.

    Raises
    ------
    NotFoundError: there is none; names those there are.
    """
    return find_named(list_answer_tasks(cursor), name, "answer task")


def close_answer_task(store: Store, name: str, author: str = COMMAND_LINE) -> AnswerTask:
    """Close a task: nobody is shown more of it, and queries with answers missing go to a reviewer.

    Raises
    ------
    NotFoundError: there is no such task or author.
    RefusedError: it is closed already, or the author is no lead.
    """
    return _change(store, name, "close", author)


def reopen_answer_task(store: Store, name: str, author: str = COMMAND_LINE) -> AnswerTask:
    """Open a closed task again; raises as `close_answer_task` does."""
    return _change(store, name, "reopen", author)


def _change(store: Store, name: str, kind: str, author: str) -> AnswerTask:
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, "lead")
        task = find_answer_task(cursor, name)
        if task.closed == (kind == "close"):
            raise RefusedError(f"The answer task {name!r} is {'closed' if task.closed else 'open'} already.")
        with settle_task(cursor, task.task_id, author):
            cursor.execute(_INSERT_EVENT, [task.task_id, kind, author, utc_now(), task.task_id])
        record_event(cursor, f"{kind} answer task", {"name": name}, author)
        return find_answer_task(cursor, name)
