"""Reviewers' decisions on queries' reference answers.

A decision is appended with the next revision; the latest decision counts, even if writers answer later. A
screen sends the revision that it shows: if two reviewers decide, the second is refused and sees the decision
of the first. A reviewer who was asked to answer a query cannot decide the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.characters import isolate
from curation.core.errors import NotFoundError, RefusedError, refuse_problems
from curation.core.text import MAX_NOTE_LENGTH
from curation.labeling.answer_matching import normalise_answer
from curation.labeling.written_answers.outcomes import update_references
from curation.labeling.written_answers.tasks import find_answer_task
from curation.labeling.written_answers.writing import find_answer_problems
from curation.people.annotators import REVIEWERS, require_author
from curation.store import COMMAND_LINE, Cursor, Store, fetch, record_event, utc_now

_INSERT = "INSERT INTO answer_decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ASSIGNED_QUERIES = "SELECT query_id FROM answer_assignments WHERE task_id = ? AND writer = ?"
_ANSWER_COUNTS = """
SELECT count(*), count(*) FILTER (s.answered), any_value(t.closed)
FROM answer_assignments a JOIN answer_task_states t USING (task_id)
LEFT JOIN answer_states s USING (assignment_id) WHERE a.task_id = ? AND a.query_id = ? HAVING count(*) > 0
"""
_ANSWERS = """
SELECT s.answer, s.documents FROM answer_assignments a JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? AND a.query_id = ? AND s.answered
ORDER BY s.answer, s.documents
"""


class AnswerRuling(NamedTuple):
    """A reviewer's choice of reference answers for a query.

    Attributes
    ----------
    picked: writers' answers that become reference answers.
    merged: a further reference answer that the reviewer wrote, or ''.
    unanswerable: whether the corpus does not answer the query, so that there are no reference answers.
    """

    picked: Sequence[str] = ()
    merged: str = ""
    unanswerable: bool = False
    reason: str = ""

    @property
    def answers(self) -> tuple[str, ...]:
        """Return the reference answers, without repetitions."""
        forms: dict[str, str] = {}
        for text in (*self.picked, *([" ".join(self.merged.split())] if self.merged.strip() else [])):
            forms.setdefault(normalise_answer(text), text)
        return tuple(forms.values())


class AnswerDecision(NamedTuple):
    """A stored decision of a reviewer; no answers means that the corpus does not answer the query."""

    query_id: str
    revision: int
    answers: tuple[str, ...]
    merged: str | None
    reason: str
    reviewer: str
    decided_at: datetime

    def repeats(self, ruling: AnswerRuling, reviewer: str) -> bool:
        """Return whether the same reviewer has already made the same decision."""
        before = (self.answers, self.reason, self.reviewer)
        return before == (ruling.answers, ruling.reason.strip(), reviewer)


_COLUMNS = ", ".join(AnswerDecision._fields)


_RECENT = f"""
SELECT {_COLUMNS}, t.name, q.text
FROM current_answer_decisions c JOIN answer_tasks t USING (task_id) JOIN queries q USING (query_id)
WHERE c.reviewer = ? ORDER BY c.written DESC LIMIT ?
"""  # noqa: S608


def decide_answers(
    store: Store,
    task_name: str,
    query_id: str,
    ruling: AnswerRuling,
    reviewer: str = COMMAND_LINE,
    seen_revision: int | None = None,
) -> AnswerDecision:
    """Decide which answers to a query are references; repeating a decision changes nothing.

    Parameters
    ----------
    seen_revision: number of decisions that the query had on the reviewer's screen; None skips the check.

    Raises
    ------
    InputError: no answer is chosen, the choices contradict each other, nobody wrote a chosen answer, or there
        is not a reason; the error lists all problems.
    NotFoundError: the task or the reviewer does not exist, or nobody has answered the query in the task.
    RefusedError: the person is not a reviewer or was asked to answer the query, writers are not done, or a
        different reviewer has decided meanwhile.
    """
    with store.transaction(appends=True) as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        task = find_answer_task(cursor, task_name)
        _refuse_not_ready(cursor, task.task_id, task_name, query_id)
        find_own_queries(cursor, task.task_id, reviewer, own_query=query_id)
        answers = read_written_answers(cursor, task.task_id, query_id)
        refuse_problems(_find_ruling_problems(ruling, [text for text, _ in answers if text is not None]))
        current_decision = read_answer_decision(cursor, task.task_id, query_id)
        if current_decision is not None and current_decision.repeats(ruling, reviewer):
            return current_decision
        if current_decision is not None and seen_revision not in (None, current_decision.revision + 1):
            raise RefusedError(describe_answer_overtaking(current_decision))
        revision = current_decision.revision + 1 if current_decision else 0
        merged, reason = " ".join(ruling.merged.split()) or None, ruling.reason.strip()
        decision = AnswerDecision(query_id, revision, ruling.answers, merged, reason, reviewer, utc_now())
        with update_references(cursor, task.task_id, reviewer, [query_id]):
            cursor.execute(_INSERT, [task.task_id, *decision])
        detail = {"task": task_name, "query_id": query_id, "answers": len(decision.answers)}
        record_event(cursor, "decide answers", {**detail, "revision": decision.revision}, reviewer)
    return decision


def read_answer_decision(cursor: Cursor, task_id: str, query_id: str) -> AnswerDecision | None:
    """Read the latest decision on a query of an answer task, or return None if there is no decision."""
    sql = f"SELECT {_COLUMNS} FROM current_answer_decisions WHERE task_id = ? AND query_id = ?"  # noqa: S608
    decisions = fetch(cursor, AnswerDecision, sql, [task_id, query_id])
    return decisions[0]._replace(answers=tuple(decisions[0].answers)) if decisions else None


def read_recent_answer_decisions(
    store: Store, reviewer: str, limit: int = 10
) -> list[tuple[AnswerDecision, str, str]]:
    """List the reviewer's current decisions, newest first, each with its task and its query's text."""
    with store.reading() as cursor:
        rows = cursor.execute(_RECENT, [reviewer, limit]).fetchall()
    return [(AnswerDecision(*row[:-2])._replace(answers=tuple(row[2])), *row[-2:]) for row in rows]


def describe_answer_overtaking(decision: AnswerDecision) -> str:
    """Return the message for a reviewer who had a query on screen when another reviewer decided it."""
    references = " / ".join(map(isolate, decision.answers)) or "that the corpus does not answer the query"
    return (
        f"{decision.reviewer} decided this query while you had it open: {references}, because "
        f"“{isolate(decision.reason)}”. Your decision was not saved. Look at the query again, and "
        "decide again if you disagree."
    )


def read_written_answers(cursor: Cursor, task_id: str, query_id: str) -> list[tuple[str | None, list[str]]]:
    """Read the answers to a query, each with the ids of the documents ticked by its writer.

    The answer is None for "the corpus does not answer the query". The order reveals no writer.
    """
    return cursor.execute(_ANSWERS, [task_id, query_id]).fetchall()


def unanswered_error(query_id: str, task_name: str) -> NotFoundError:
    """Return the error to raise for a query that nobody has answered."""
    return NotFoundError(f"Nobody has answered the query {query_id!r} in the answer task {task_name!r}.")


def find_own_queries(cursor: Cursor, task_id: str, reviewer: str, own_query: str | None = None) -> set[str]:
    """Find the queries of a task that a reviewer was asked to answer.

    Raises
    ------
    RefusedError: the reviewer was asked to answer the query `own_query`.
    """
    query_ids = {row[0] for row in cursor.execute(_ASSIGNED_QUERIES, [task_id, reviewer]).fetchall()}
    if own_query in query_ids:
        raise RefusedError("You answered this query, so another reviewer must decide it.")
    return query_ids


def _refuse_not_ready(cursor: Cursor, task_id: str, task_name: str, query_id: str) -> None:
    rows = cursor.execute(_ANSWER_COUNTS, [task_id, query_id]).fetchall()
    if not rows or not rows[0][1]:
        raise unanswered_error(query_id, task_name)
    writers, answered, closed = rows[0]
    if answered < writers and not closed:
        progress = f"{answered} of {writers} writers have answered this query."
        raise RefusedError(f"{progress} Wait for all writers, or close the task.")


def _find_ruling_problems(ruling: AnswerRuling, written_answers: Sequence[str]) -> list[str]:
    problems = []
    if ruling.unanswerable and ruling.answers:
        problems.append("Choose answers or say that the corpus does not answer the query, but not both.")
    if not ruling.unanswerable and not ruling.answers:
        problems.append("Choose an answer, write one, or say that the corpus does not answer the query.")
    normalised = {normalise_answer(text) for text in written_answers}
    unknown_answers = [text for text in ruling.picked if normalise_answer(text) not in normalised]
    problems += [f"no writer gave the answer {text!r}" for text in unknown_answers]
    if ruling.merged.strip():
        problems += find_answer_problems(" ".join(ruling.merged.split()))
    if not ruling.reason.strip():
        problems.append("A decision needs a reason.")
    if len(ruling.reason) > MAX_NOTE_LENGTH:
        length = len(ruling.reason)
        problems.append(f"A reason has at most {MAX_NOTE_LENGTH:,} characters; this reason has {length:,}.")
    return problems
