"""The outcomes of an answer task's queries, and the reference answers that follow from them.

The outcome of a query follows from the current answers, the reviewer's decision and whether the task is
closed. A function that changes an answer, a decision or the task's state compares the outcome before and
after, in one transaction. A new outcome is appended to the reference answers with the source 'people', and
sets or removes the tag `unanswerable`. If an outcome becomes open again, the references from before the task
return. If a file of references was imported since the task opened, the references of the file stay until
there is a new outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from curation.ingest.importers.query_tags import TagStatement, write_persons_tags
from curation.ingest.importers.reference_answers import PEOPLE, append_answers, read_references
from curation.labeling.answer_matching import DECIDED, AnswerOutcome, decide_outcome
from curation.store import Cursor, record_event

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


def compute_outcomes(
    cursor: Cursor, task_id: str, query_ids: Sequence[str] | None = None
) -> dict[str, AnswerOutcome]:
    """Compute the outcomes of all or some of a task's queries, in the order of query ids."""
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
    """Update a task's reference answers after a `with` block that changes answers or decisions."""
    old_outcomes = compute_outcomes(cursor, task_id, query_ids)
    yield
    new_outcomes = compute_outcomes(cursor, task_id, query_ids)
    newest_queries = {row[0] for row in cursor.execute(_NEWEST_TASK, [task_id]).fetchall()}
    for query_id, new_outcome in new_outcomes.items():
        old_outcome = old_outcomes[query_id]
        is_changed = _get_settled_answers(new_outcome) != _get_settled_answers(old_outcome)
        if is_changed and query_id in newest_queries:
            _write_references(cursor, task_id, query_id, new_outcome, old_outcome.is_unanswerable, author)


def _get_settled_answers(outcome: AnswerOutcome) -> tuple[str, ...] | None:
    """Return the reference answers once the outcome is settled, or None while it is open."""
    return outcome.answers if outcome.is_settled else None


def _write_references(
    cursor: Cursor, task_id: str, query_id: str, outcome: AnswerOutcome, was_unanswerable: bool, author: str
) -> None:
    current_references = read_references(cursor, query_id)
    if outcome.is_settled:
        append_answers(cursor, {query_id: outcome.answers}, PEOPLE)
    elif current_references.source in (PEOPLE, None):
        [(revision,)] = cursor.execute(_EARLIER, [task_id, query_id]).fetchall()
        if revision is None:
            append_answers(cursor, {query_id: ()}, PEOPLE)
        else:
            references = read_references(cursor, query_id, revision)
            append_answers(cursor, {query_id: references.answers}, references.source or PEOPLE)
    is_tagged = cursor.execute(_TAGGED, [query_id, TAG]).fetchone() is not None
    if is_tagged != outcome.is_unanswerable and (outcome.is_settled or was_unanswerable):
        write_persons_tags(cursor, [TagStatement(query_id, TAG, outcome.is_unanswerable)], author)
    detail = {"query_id": query_id, "how": outcome.how, "answers": len(outcome.answers)}
    record_event(cursor, "settle answers", detail, author)
