"""Settling: what is written and decided about a query becomes its reference answers.

The outcome of a query follows from the answers in force, the reviewer's decision and whether the task is
closed. A function that changes one of these compares the outcome before and after, in one transaction: a new
one is appended to the reference answers with the source 'people', and the tag `unanswerable` follows it. An
outcome that was taken back brings back the references that were in force when the task opened. Where a file
was imported since, its references stay until there is another outcome.

Answer tasks: campaigns in which people write reference answers, found by name, closed and reopened.

A closed task is in nobody's queue. An answer that was on screen then is kept and marked late; nothing is
changed or taken back there. What nobody wrote by then does not come, so closing settles or disputes the rest.

The status of an answer task: how far writers are, what became of queries, and how far they agree.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from curation.answers.rule import (
    AGREED,
    DECIDED,
    DISPUTED,
    HOWS,
    UNANSWERABLE,
    AnswerOutcome,
    WrittenAnswer,
    outcome_of,
)
from curation.door import LEAVES_OUT, SEALED, shut_door
from curation.errors import RefusedError, find_named
from curation.people.annotators import require_author
from curation.reports.page import BarCell, Table
from curation.sources.answers.query_rows import PEOPLE
from curation.sources.answers.reference_answers import append_answers, references_of
from curation.sources.query_tags import TagStatement, write_persons_tags
from curation.statistics.intervals import wilson
from curation.store import COMMAND_LINE, Cursor, Store, record_event, utc_now
from curation.text import amount, percent

TAG = "unanswerable"


def outcomes(
    cursor: Cursor, task_id: str, query_ids: Sequence[str] | None = None
) -> dict[str, AnswerOutcome]:
    """Query id → outcome, of a task's queries or of some of them, by query id."""
    decided = dict(cursor.execute(_DECIDED, [task_id]).fetchall())
    found = {}
    for query_id, asked, closed, bound, given in cursor.execute(
        _GIVEN, {"task": task_id, "all": query_ids is None, "queries": list(query_ids or ())}
    ).fetchall():
        if query_id in decided:
            found[query_id] = AnswerOutcome(DECIDED, tuple(decided[query_id]))
        else:
            said = [WrittenAnswer(one[0], one[1], tuple(one[2])) for one in given]
            found[query_id] = outcome_of(said, asked, closed, bound)
    return found


@contextmanager
def settle_query(cursor: Cursor, task_id: str, query_id: str, author: str) -> Iterator[None]:
    """Carry what is changed within over to the query's references, in the same transaction."""
    with _settle(cursor, task_id, [query_id], author):
        yield


@contextmanager
def settle_task(cursor: Cursor, task_id: str, author: str) -> Iterator[None]:
    """The same for all queries of a task."""
    with _settle(cursor, task_id, None, author):
        yield


@contextmanager
def _settle(cursor: Cursor, task_id: str, query_ids: Sequence[str] | None, author: str) -> Iterator[None]:
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
        earlier = cursor.execute(_EARLIER, [task_id, query_id]).fetchall()[0][0]
        held = references_of(cursor, query_id, earlier) if earlier is not None else None
        append_answers(cursor, {query_id: held.answers if held else ()}, (held and held.source) or PEOPLE)
    tagged = cursor.execute(_TAGGED, [query_id, TAG]).fetchone() is not None
    if tagged != after.is_unanswerable and (after.is_settled or before.is_unanswerable):
        write_persons_tags(cursor, [TagStatement(query_id, TAG, after.is_unanswerable)], author)
    detail = {"query_id": query_id, "how": after.how, "answers": len(after.answers)}
    record_event(cursor, "settle answers", detail, author)


_DECIDED = "SELECT query_id, answers FROM current_answer_decisions WHERE task_id = ?"

_GIVEN = """
SELECT q.query_id, count(a.assignment_id), any_value(t.closed), any_value((t.parameters->>'bound')::DOUBLE),
       coalesce(list((a.writer, s.answer, s.documents) ORDER BY a.writer) FILTER (s.answered), [])
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


_INSERT_EVENT = """
INSERT INTO answer_task_events
SELECT ?, coalesce(max(revision) + 1, 0), ?, ?, ? FROM answer_task_events WHERE task_id = ?
"""


FEWEST = 10
"""Queries below which there is no share of agreement."""


class WriterProgress(NamedTuple):
    """One writer: queries given, answered, of those said not to be answered by the corpus, and late."""

    writer: str
    queries: int
    answered: int
    unanswerable: int
    late: int
    last_at: datetime | None


class AnswerAgreement(NamedTuple):
    """Queries that two writers or more have answered, and of how many all agree; a share from ten queries."""

    queries: int
    agree: int
    share: float | None
    low: float | None
    high: float | None


class TaskQuery(NamedTuple):
    """A query of a task, what became of it, and its references; of a sealed one that is settled, 'sealed'."""

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
    agreement: by the rule, before any decision.
    """

    task: str
    opened_at: datetime
    closed: bool
    parameters: dict[str, Any]
    counts: dict[str, int]
    writers: tuple[WriterProgress, ...]
    agreement: AnswerAgreement
    queries: tuple[TaskQuery, ...]


def answer_task_status(store: Store, name: str) -> AnswerTaskStatus:
    """The status of the task of that name.

    Raises
    ------
    NotFoundError: there is none; names those there are.
    """
    with store.reading() as cursor:
        task = find_answer_task(cursor, name)
        found = outcomes(cursor, task.task_id)
        texts = dict(cursor.execute(_TEXTS, [task.task_id]).fetchall())
        writers = [WriterProgress(*row) for row in cursor.execute(_WRITERS, [task.task_id]).fetchall()]
        said = cursor.execute(_SAID, [task.task_id]).fetchall()
        door = shut_door(cursor)
    times = Counter(outcome.how for outcome in found.values())
    return AnswerTaskStatus(
        name,
        task.opened_at,
        task.closed,
        task.parameters,
        {how: times[how] for how in HOWS},
        tuple(writers),
        _agreement(said, task.parameters["bound"]),
        tuple(
            TaskQuery(query_id, texts[query_id], *_shown(outcome, door.shows(query_id)))
            for query_id, outcome in found.items()
        ),
    )


def _shown(outcome: AnswerOutcome, shown: bool) -> AnswerOutcome:
    """What became of a query; how a sealed one was settled stays where it is."""
    return outcome if shown or not outcome.is_settled else AnswerOutcome(SEALED, (), LEAVES_OUT)


def _agreement(said: Sequence[tuple[str, list[str | None]]], bound: float) -> AnswerAgreement:
    agree = 0
    for _, answers in said:
        given = [WrittenAnswer(str(place), answer) for place, answer in enumerate(answers)]
        agree += outcome_of(given, len(given), bound=bound).how in (AGREED, UNANSWERABLE)
    if len(said) < FEWEST:
        return AnswerAgreement(len(said), agree, None, None, None)
    return AnswerAgreement(len(said), agree, agree / len(said), *wilson(agree, len(said)))


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
    SEALED: "Settled, and sealed",
}
"""What became of a query, as people read it."""


def status_tables(status: AnswerTaskStatus) -> tuple[Table, Table]:
    """How far each writer is, and what became of the queries."""
    columns = ("Writer", "Done", "Queries", "Answered", "Without an answer", "Late")
    writers = tuple((one.writer, BarCell(one.answered, one.queries), *one[1:5]) for one in status.writers)
    counts = tuple((STATES[how], count) for how, count in status.counts.items() if count)
    return (
        Table("Writers", columns, writers),
        Table("What became of the queries", ("State", "Queries"), counts),
    )


def agreement_sentence(found: AnswerAgreement) -> str:
    """In how many queries all writers agree, with the interval where there are enough."""
    queries = amount(found.queries, "query", "queries")
    if found.share is None:
        return (
            f"In {found.agree:,} of {queries} with two answers all writers agree. There is a share from "
            f"{FEWEST} queries."
        )
    return (
        f"All writers agree in {percent(found.share)} of {queries} with two answers (95 % interval "
        f"{percent(found.low)} to {percent(found.high)})."
    )
