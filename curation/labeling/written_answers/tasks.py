"""Answer tasks and the outcome of each of their queries.

Writers' queues show no queries of a closed task. An answer that arrives after the closing, from a screen
opened earlier, is kept and marked late; answers can then no longer be changed or undone. When a task closes,
a query that lacks answers gets its outcome from the existing answers, or goes to a reviewer.

The outcome of a query follows from the current answers, the reviewer's decision and whether the task is
closed. A function that changes an answer, a decision or the task's state compares the outcome before and
after, in one transaction. A new outcome is appended to the reference answers with the source 'people', and
sets or removes the tag `unanswerable`. If an outcome becomes open again, the references from before the task
return. If a file of references was imported since the task opened, the references of the file stay until
there is a new outcome.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import RefusedError, find_named
from curation.core.reports.tables import BarCell, Table
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.text import pluralize
from curation.ingest.importers.query_tags import TagStatement, write_persons_tags
from curation.ingest.importers.reference_answers import PEOPLE, append_answers, read_references
from curation.labeling.answer_matching import (
    AGREED,
    DECIDED,
    DISPUTED,
    OUTCOMES,
    UNANSWERABLE,
    AnswerOutcome,
    decide_outcome,
)
from curation.people.annotators import require_author
from curation.people.seal_access import LEAVES_OUT, SEALED, closed_access
from curation.store import COMMAND_LINE, Cursor, Store, append_revision, record_event, utc_now

TAG = "unanswerable"
_DECIDED = "SELECT query_id, answers FROM current_answer_decisions WHERE task_id = ?"
_ANSWERS = """
SELECT q.query_id, count(a.assignment_id), any_value(t.closed), any_value((t.parameters->>'bound')::DOUBLE),
       coalesce(list(s.answer ORDER BY a.writer) FILTER (s.answered), [])
FROM answer_task_queries q
JOIN answer_task_states t USING (task_id)
LEFT JOIN answer_assignments a ON a.task_id = q.task_id AND a.query_id = q.query_id
LEFT JOIN answer_states s USING (assignment_id)
WHERE q.task_id = $task AND ($queries::TEXT[] IS NULL OR list_contains($queries::TEXT[], q.query_id))
GROUP BY q.query_id ORDER BY q.query_id
"""
_NEWEST_TASK = """
SELECT q.query_id FROM answer_task_queries q JOIN answer_tasks t USING (task_id)
WHERE q.task_id = ? AND t.sequence = (
    SELECT max(o.sequence) FROM answer_tasks o JOIN answer_task_queries p USING (task_id)
    WHERE p.query_id = q.query_id)
"""
_TAGGED = "SELECT 1 FROM current_query_tags WHERE query_id = ? AND tag = ?"
_EARLIER = "SELECT earlier_reference FROM answer_task_queries WHERE task_id = ? AND query_id = ?"
MIN_QUERIES = 10
"""Least number of queries for which a share of agreement is shown."""
_TEXTS = "SELECT query_id, text FROM answer_task_queries JOIN queries USING (query_id) WHERE task_id = ?"
_WRITERS = """
SELECT a.writer, count(*), count(*) FILTER (s.answered), count(*) FILTER (s.kind = 'unanswerable'),
       count(*) FILTER (s.answered AND s.late), max(s.written_at) FILTER (s.answered)
FROM answer_assignments a LEFT JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? GROUP BY a.writer ORDER BY a.writer
"""
_ANSWERS_TO_COMPARE = """
SELECT a.query_id, list(s.answer ORDER BY a.writer)
FROM answer_assignments a JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? AND s.answered GROUP BY a.query_id HAVING count(*) > 1 ORDER BY a.query_id
"""
STATES = {
    "waiting": "Waiting for writers",
    "unwritten": "Nobody answered",
    "agreed": "Writers agree",
    "single": "One writer",
    "unanswerable": "The corpus does not answer the query",
    DISPUTED: "Waiting for a reviewer",
    DECIDED: "Decided",
    SEALED: "Done, and sealed",
}
"""State of a query → the words that people read."""


class AnswerTask(NamedTuple):
    """An answer task; `parameters` are the values that the task was opened with."""

    task_id: str
    name: str
    parameters: dict[str, Any]
    opened_at: datetime
    closed: bool


class WriterProgress(NamedTuple):
    """A writer's progress: numbers of queries assigned, answered, marked unanswerable and answered late."""

    writer: str
    queries: int
    answered: int
    unanswerable: int
    late: int
    last_at: datetime | None


class TaskQuery(NamedTuple):
    """A query of a task with its outcome and reference answers; a sealed query shows 'sealed'."""

    query_id: str
    query: str
    how: str
    answers: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class AnswerTaskStatus:
    """The progress of an answer task: queries by state, and writers' agreement.

    Attributes
    ----------
    counts: state → number of queries; the states are waiting, unwritten, agreed, single, unanswerable,
        disputed and decided.
    agreement: share of the queries with two or more answers on which all writers agree by the rule, before
        any decision; there is no share for fewer than ten such queries.
    agreeing: number of queries on which all writers agree.
    """

    task: str
    opened_at: datetime
    closed: bool
    parameters: dict[str, Any]
    counts: dict[str, int]
    writers: tuple[WriterProgress, ...]
    agreement: Estimate
    agreeing: int
    queries: tuple[TaskQuery, ...]

    @property
    def sentences(self) -> list[str]:
        """Describe the task, and how often its writers agree."""
        queries = f"{pluralize(self.agreement.n, 'query', 'queries')} with two answers"
        if self.agreement.value is None:
            agreement = f"All writers agree on {self.agreeing:,} of {queries}. {self.agreement.why}"
        else:
            agreement = f"All writers agree on {self.agreement.percent_text()} of {queries}."
        return [
            f"{self.task} is {'closed' if self.closed else 'open'}; opened {self.opened_at:%d %b %Y %H:%M} "
            f"UTC, {pluralize(self.parameters['overlap'], 'writer')} for each query. Two answers agree from "
            f"a token F1 of {self.parameters['bound']:g}.",
            agreement,
        ]

    @property
    def tables(self) -> tuple[Table, Table]:
        """Show the progress of each writer, and the number of queries in each state."""
        columns = ("Writer", "Done", "Queries", "Answered", "Without an answer", "Late")
        writers = tuple((row.writer, BarCell(row.answered, row.queries), *row[1:5]) for row in self.writers)
        counts = tuple((STATES[how], count) for how, count in self.counts.items() if count)
        return (Table("Writers", columns, writers), Table("Queries by state", ("State", "Queries"), counts))


def list_answer_tasks(cursor: Cursor) -> list[AnswerTask]:
    """List all answer tasks, oldest first."""
    rows = cursor.execute(
        "SELECT task_id, name, parameters, opened_at, closed FROM answer_task_states ORDER BY sequence"
    ).fetchall()
    return [AnswerTask(row[0], row[1], json.loads(row[2]), row[3], row[4]) for row in rows]


def build_task_table(tasks: Sequence[AnswerTask]) -> Table:
    """Show the answer tasks with their states in a table."""
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
    """Find the task with a name.

    Raises
    ------
    NotFoundError: no task has the name; the error lists the names of all tasks.
    """
    return find_named(list_answer_tasks(cursor), name, "answer task")


def set_answer_task_state(store: Store, name: str, closed: bool, author: str = COMMAND_LINE) -> AnswerTask:
    """Close a task, or open it again.

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


def compute_outcomes(
    cursor: Cursor, task_id: str, query_ids: Sequence[str] | None = None
) -> dict[str, AnswerOutcome]:
    """Compute the outcomes of all or some queries of a task, in the order of query ids."""
    decided_answers = dict(cursor.execute(_DECIDED, [task_id]).fetchall())
    parameters = {"task": task_id, "queries": None if query_ids is None else list(query_ids)}
    return {
        query_id: AnswerOutcome(DECIDED, tuple(decided_answers[query_id]))
        if query_id in decided_answers
        else decide_outcome(answers, writers, closed, bound)
        for query_id, writers, closed, bound, answers in cursor.execute(_ANSWERS, parameters).fetchall()
    }


@contextmanager
def update_references(
    cursor: Cursor, task_id: str, author: str, query_ids: Sequence[str] | None = None
) -> Iterator[None]:
    """Context manager: update the reference answers of all or some queries of a task after the block has
    changed outcomes.
    """
    old_outcomes = compute_outcomes(cursor, task_id, query_ids)
    yield
    new_outcomes = compute_outcomes(cursor, task_id, query_ids)
    newest = {row[0] for row in cursor.execute(_NEWEST_TASK, [task_id]).fetchall()}
    for query_id, outcome in new_outcomes.items():
        if query_id in newest and _settled_answers(outcome) != _settled_answers(old_outcomes[query_id]):
            _write_references(cursor, task_id, query_id, old_outcomes[query_id], outcome, author)


def read_answer_task_status(store: Store, name: str) -> AnswerTaskStatus:
    """Compute the progress of the task with a name.

    Raises
    ------
    NotFoundError: no task has the name; the error lists the names of all tasks.
    """
    with store.reading() as cursor:
        task = find_answer_task(cursor, name)
        outcome_of_query = compute_outcomes(cursor, task.task_id)
        texts = dict(cursor.execute(_TEXTS, [task.task_id]).fetchall())
        writers = [WriterProgress(*row) for row in cursor.execute(_WRITERS, [task.task_id]).fetchall()]
        answers_to_compare = cursor.execute(_ANSWERS_TO_COMPARE, [task.task_id]).fetchall()
        access = closed_access(cursor)
    outcome_counts = Counter(outcome.how for outcome in outcome_of_query.values())
    bound = task.parameters["bound"]
    agreeing = sum(
        decide_outcome(answers, len(answers), bound=bound).how in (AGREED, UNANSWERABLE)
        for _, answers in answers_to_compare
    )
    return AnswerTaskStatus(
        name,
        task.opened_at,
        task.closed,
        task.parameters,
        {how: outcome_counts[how] for how in OUTCOMES},
        tuple(writers),
        share_estimate(
            agreeing, len(answers_to_compare), MIN_QUERIES, f"A share needs at least {MIN_QUERIES} queries."
        ),
        agreeing,
        tuple(
            TaskQuery(
                query_id,
                texts[query_id],
                *(outcome if access.shows(query_id) else _hide_sealed_outcome(outcome)),
            )
            for query_id, outcome in outcome_of_query.items()
        ),
    )


def _settled_answers(outcome: AnswerOutcome) -> tuple[str, ...] | None:
    """Return the reference answers of a settled outcome, or None while the outcome is open."""
    return outcome.answers if outcome.is_settled else None


def _write_references(
    cursor: Cursor,
    task_id: str,
    query_id: str,
    old_outcome: AnswerOutcome,
    new_outcome: AnswerOutcome,
    author: str,
) -> None:
    current_references = read_references(cursor, query_id)
    if new_outcome.is_settled:
        append_answers(cursor, {query_id: new_outcome.answers}, PEOPLE)
    elif current_references.source in (PEOPLE, None):
        revision = cursor.execute(_EARLIER, [task_id, query_id]).fetchall()[0][0]
        earlier = None if revision is None else read_references(cursor, query_id, revision)
        answers, source = (earlier.answers, earlier.source) if earlier else ((), None)
        append_answers(cursor, {query_id: answers}, source or PEOPLE)
    is_tagged = cursor.execute(_TAGGED, [query_id, TAG]).fetchone() is not None
    if is_tagged != new_outcome.is_unanswerable and (new_outcome.is_settled or old_outcome.is_unanswerable):
        write_persons_tags(cursor, [TagStatement(query_id, TAG, new_outcome.is_unanswerable)], author)
    detail = {"query_id": query_id, "how": new_outcome.how, "answers": len(new_outcome.answers)}
    record_event(cursor, "settle answers", detail, author)


def _hide_sealed_outcome(outcome: AnswerOutcome) -> AnswerOutcome:
    """Hide the settled outcome of a sealed query."""
    return AnswerOutcome(SEALED, (), LEAVES_OUT) if outcome.is_settled else outcome
