"""Answer tasks: found by name, closed and reopened; what becomes of each query, and how far writers are.

A closed task is in nobody's queue. An answer that was on screen then is kept and marked late; nothing is
changed or taken back there. What nobody wrote by then does not come, so a query without all its answers gets
an outcome or goes to a reviewer when its task closes.

The outcome of a query follows from the answers in force, the reviewer's decision and whether the task is
closed. A function that changes one of these compares the outcome before and after, in one transaction: a new
one is appended to the reference answers with the source 'people', and the tag `unanswerable` follows it. An
outcome that was taken back brings back the references that were in force when the task opened. Where a file
was imported since, its references stay until there is another outcome.
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
from curation.core.reports.page import BarCell, Table
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.text import pluralize
from curation.ingest.importers.query_tags import TagStatement, write_persons_tags
from curation.ingest.importers.reference_answers import PEOPLE, append_answers, references_of
from curation.labeling.answer_matching import (
    AGREED,
    DECIDED,
    DISPUTED,
    HOWS,
    UNANSWERABLE,
    AnswerOutcome,
    outcome_of,
)
from curation.people.annotators import require_author
from curation.people.seal_access import LEAVES_OUT, SEALED, closed_access
from curation.store import COMMAND_LINE, Cursor, Store, append_revision, record_event, utc_now

TAG = "unanswerable"
_DECIDED = "SELECT query_id, answers FROM current_answer_decisions WHERE task_id = ?"
_GIVEN = """
SELECT q.query_id, count(a.assignment_id), any_value(t.closed), any_value((t.parameters->>'bound')::DOUBLE),
       coalesce(list(s.answer ORDER BY a.writer) FILTER (s.answered), [])
FROM answer_task_queries q
JOIN answer_task_states t USING (task_id)
LEFT JOIN answer_assignments a ON a.task_id = q.task_id AND a.query_id = q.query_id
LEFT JOIN answer_states s USING (assignment_id)
WHERE q.task_id = $task AND ($all OR list_contains($queries::TEXT[], q.query_id))
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
"""Queries below which there is no share of agreement."""
_TEXTS = "SELECT query_id, text FROM answer_task_queries JOIN queries USING (query_id) WHERE task_id = ?"
_WRITERS = """
SELECT a.writer, count(*), count(*) FILTER (s.answered), count(*) FILTER (s.kind = 'unanswerable'),
       count(*) FILTER (s.answered AND s.late), max(s.written_at) FILTER (s.answered)
FROM answer_assignments a LEFT JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? GROUP BY a.writer ORDER BY a.writer
"""
_SAID = """
SELECT a.query_id, list(s.answer ORDER BY a.writer)
FROM answer_assignments a JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? AND s.answered GROUP BY a.query_id HAVING count(*) > 1 ORDER BY a.query_id
"""
STATES = {
    "waiting": "Waiting for writers",
    "unwritten": "Nobody answered",
    "agreed": "Writers agree",
    "single": "One writer",
    "unanswerable": "The corpus does not answer it",
    DISPUTED: "Waiting for a reviewer",
    DECIDED: "Decided",
    SEALED: "Done, and sealed",
}
"""What became of a query, as people read it."""


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


def task_table(tasks: Sequence[AnswerTask]) -> Table:
    """The answer tasks with their state."""
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
    """The task of that name.

    Raises
    ------
    NotFoundError: it does not exist; names those there are.
    """
    return find_named(list_answer_tasks(cursor), name, "answer task")


def set_answer_task(store: Store, name: str, closed: bool, author: str = COMMAND_LINE) -> AnswerTask:
    """Close a task, or open it again.

    Nobody is shown more of a closed task, and queries with answers missing go to a reviewer.

    Raises
    ------
    NotFoundError: there is no such task or author.
    RefusedError: it is closed, or open, already; or the author is no lead.
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


def outcomes(
    cursor: Cursor, task_id: str, query_ids: Sequence[str] | None = None
) -> dict[str, AnswerOutcome]:
    """Query id → outcome, of a task's queries or of some of them, by query id."""
    decided = dict(cursor.execute(_DECIDED, [task_id]).fetchall())
    outcome_of_query = {}
    for query_id, asked, closed, bound, given in cursor.execute(
        _GIVEN, {"task": task_id, "all": query_ids is None, "queries": list(query_ids or ())}
    ).fetchall():
        if query_id in decided:
            outcome_of_query[query_id] = AnswerOutcome(DECIDED, tuple(decided[query_id]))
        else:
            outcome_of_query[query_id] = outcome_of(given, asked, closed, bound)
    return outcome_of_query


@contextmanager
def update_references(
    cursor: Cursor, task_id: str, author: str, query_ids: Sequence[str] | None = None
) -> Iterator[None]:
    """Carry what is changed within over to the references of these queries, or of all of the task."""
    before = outcomes(cursor, task_id, query_ids)
    yield
    after = outcomes(cursor, task_id, query_ids)
    newest = {row[0] for row in cursor.execute(_NEWEST_TASK, [task_id]).fetchall()}
    for query_id, outcome in after.items():
        if query_id in newest and _stored(outcome) != _stored(before[query_id]):
            _carry_over(cursor, task_id, query_id, before[query_id], outcome, author)


def _stored(outcome: AnswerOutcome) -> tuple[str, ...] | None:
    """What the project keeps of an outcome: the references, or None while there is no outcome."""
    return outcome.answers if outcome.is_settled else None


def _carry_over(
    cursor: Cursor, task_id: str, query_id: str, before: AnswerOutcome, after: AnswerOutcome, author: str
) -> None:
    current = references_of(cursor, query_id)
    if after.is_settled:
        append_answers(cursor, {query_id: after.answers}, PEOPLE)
    elif current.source in (PEOPLE, None):
        revision = cursor.execute(_EARLIER, [task_id, query_id]).fetchall()[0][0]
        earlier = None if revision is None else references_of(cursor, query_id, revision)
        answers, source = (earlier.answers, earlier.source) if earlier else ((), None)
        append_answers(cursor, {query_id: answers}, source or PEOPLE)
    tagged = cursor.execute(_TAGGED, [query_id, TAG]).fetchone() is not None
    if tagged != after.is_unanswerable and (after.is_settled or before.is_unanswerable):
        write_persons_tags(cursor, [TagStatement(query_id, TAG, after.is_unanswerable)], author)
    detail = {"query_id": query_id, "how": after.how, "answers": len(after.answers)}
    record_event(cursor, "settle answers", detail, author)


class WriterProgress(NamedTuple):
    """One writer: queries given, answered, of those said not to be answered by the corpus, and late."""

    writer: str
    queries: int
    answered: int
    unanswerable: int
    late: int
    last_at: datetime | None


class TaskQuery(NamedTuple):
    """A query of a task, what became of it, and its references; of a sealed one that is done, 'sealed'."""

    query_id: str
    query: str
    how: str
    answers: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class AnswerTaskStatus:
    """How far a task is.

    Attributes
    ----------
    counts: waiting, unwritten, agreed, single, unanswerable, disputed, decided → number of queries.
    agreement: the share of queries with two answers or more on which all writers agree, by the rule, before
        any decision; from ten such queries on.
    agreeing: how many of these queries those are.
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
        """What the task is, and how far writers agree."""
        queries = f"{pluralize(self.agreement.n, 'query', 'queries')} with two answers"
        if self.agreement.value is None:
            agreement = f"In {self.agreeing:,} of {queries} all writers agree. {self.agreement.why}"
        else:
            agreement = (
                f"In {queries} the share on which all writers agree is {self.agreement.percent_text()}."
            )
        return [
            f"{self.task} is {'closed' if self.closed else 'open'}; opened {self.opened_at:%d %b %Y %H:%M} "
            "UTC, "
            f"{pluralize(self.parameters['overlap'], 'writer')} for each query. Answers agree from a token "
            "F1 of "
            f"{self.parameters['bound']:g}.",
            agreement,
        ]

    @property
    def tables(self) -> tuple[Table, Table]:
        """How far each writer is, and what became of the queries."""
        columns = ("Writer", "Done", "Queries", "Answered", "Without an answer", "Late")
        writers = tuple(
            (writer.writer, BarCell(writer.answered, writer.queries), *writer[1:5]) for writer in self.writers
        )
        counts = tuple((STATES[how], count) for how, count in self.counts.items() if count)
        return (
            Table("Writers", columns, writers),
            Table("What became of the queries", ("State", "Queries"), counts),
        )


def answer_task_status(store: Store, name: str) -> AnswerTaskStatus:
    """The status of the task of that name.

    Raises
    ------
    NotFoundError: it does not exist; names those there are.
    """
    with store.reading() as cursor:
        task = find_answer_task(cursor, name)
        outcome_of_query = outcomes(cursor, task.task_id)
        texts = dict(cursor.execute(_TEXTS, [task.task_id]).fetchall())
        writers = [WriterProgress(*row) for row in cursor.execute(_WRITERS, [task.task_id]).fetchall()]
        compared = cursor.execute(_SAID, [task.task_id]).fetchall()
        access = closed_access(cursor)
    times = Counter(outcome.how for outcome in outcome_of_query.values())
    bound = task.parameters["bound"]
    agreeing = sum(
        outcome_of(answers, len(answers), bound=bound).how in (AGREED, UNANSWERABLE)
        for _, answers in compared
    )
    return AnswerTaskStatus(
        name,
        task.opened_at,
        task.closed,
        task.parameters,
        {how: times[how] for how in HOWS},
        tuple(writers),
        share_estimate(agreeing, len(compared), MIN_QUERIES, f"There is a share from {MIN_QUERIES} queries."),
        agreeing,
        tuple(
            TaskQuery(query_id, texts[query_id], *_shown(outcome, access.shows(query_id)))
            for query_id, outcome in outcome_of_query.items()
        ),
    )


def _shown(outcome: AnswerOutcome, shown: bool) -> AnswerOutcome:
    """What became of a query; how a sealed one was decided stays where it is."""
    return outcome if shown or not outcome.is_settled else AnswerOutcome(SEALED, (), LEAVES_OUT)
