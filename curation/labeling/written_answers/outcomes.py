"""Outcomes of queries: what is written and decided about a query becomes its reference answers.

The outcome of a query follows from the answers in force, the reviewer's decision and whether the task is
closed. A function that changes one of these compares the outcome before and after, in one transaction: a new
one is appended to the reference answers with the source 'people', and the tag `unanswerable` follows it. An
outcome that was taken back brings back the references that were in force when the task opened. Where a file
was imported since, its references stay until there is another outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from curation.ingest.importers.answers.query_rows import PEOPLE
from curation.ingest.importers.answers.reference_answers import append_answers, references_of
from curation.ingest.importers.query_tags import TagStatement, write_persons_tags
from curation.labeling.written_answers.rule import (
    DECIDED,
    AnswerOutcome,
    WrittenAnswer,
    outcome_of,
)
from curation.store import Cursor, record_event

TAG = "unanswerable"
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
