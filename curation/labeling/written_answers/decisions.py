"""Decisions on written answers: which of them are references, what the reviewer merges, and why.

A decision is appended with the next revision; the latest one counts, whatever is written later. A screen
names the revision that its reviewer saw: of two reviewers, the second learns what the first decided. A
reviewer who wrote one of a query's answers does not decide it: another one does, or the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.errors import NotFoundError, RefusedError, refuse_problems
from curation.core.text import LONGEST_NOTE, isolated
from curation.labeling.written_answers.matching import normalised_answer
from curation.labeling.written_answers.outcomes import settle_query
from curation.labeling.written_answers.tasks import find_answer_task
from curation.labeling.written_answers.writing import answer_problems
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, fetch, record_event, utc_now

REVIEWERS = ("reviewer", "lead")
_INSERT = "INSERT INTO answer_decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

_WRITTEN = """
SELECT s.answer FROM answer_assignments a JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? AND a.query_id = ? AND s.kind = 'answer'
"""

_ASKED = "SELECT query_id FROM answer_assignments WHERE task_id = ? AND writer = ?"

_READY = """
SELECT count(*), count(*) FILTER (s.answered), any_value(t.closed)
FROM answer_assignments a JOIN answer_task_states t USING (task_id)
LEFT JOIN answer_states s USING (assignment_id) WHERE a.task_id = ? AND a.query_id = ? HAVING count(*) > 0
"""


class AnswerRuling(NamedTuple):
    """What is to be decided of a query.

    Attributes
    ----------
    picked: written answers that become references.
    merged: one more that the reviewer wrote; '' without any.
    unanswerable: the corpus does not answer the query; then there are no answers.
    """

    picked: Sequence[str] = ()
    merged: str = ""
    unanswerable: bool = False
    reason: str = ""

    @property
    def answers(self) -> tuple[str, ...]:
        """The references, each once."""
        found: dict[str, str] = {}
        for text in (*self.picked, *([" ".join(self.merged.split())] if self.merged.strip() else [])):
            found.setdefault(normalised_answer(text), text)
        return tuple(found.values())


class AnswerDecision(NamedTuple):
    """A reviewer's decision; no answers: the corpus does not answer the query."""

    query_id: str
    revision: int
    answers: tuple[str, ...]
    merged: str | None
    reason: str
    reviewer: str
    decided_at: datetime

    def repeats(self, ruling: AnswerRuling, reviewer: str) -> bool:
        """Whether the same reviewer has decided the same already."""
        said = (self.answers, self.reason, self.reviewer)
        return said == (ruling.answers, ruling.reason.strip(), reviewer)


class DecidedAnswers(NamedTuple):
    """A current decision with its task and the query's text."""

    decision: AnswerDecision
    task: str
    query: str


def decide_answers(
    store: Store,
    task_name: str,
    query_id: str,
    ruling: AnswerRuling,
    reviewer: str = COMMAND_LINE,
    seen: int | None = None,
) -> AnswerDecision:
    """Decide which answers of a query are references; the same decision once more changes nothing.

    Parameters
    ----------
    seen: how many decisions the query had when the reviewer saw it; None skips that check.

    Raises
    ------
    InputError: nothing or too much is chosen, an answer that nobody wrote, or no reason; all at once.
    NotFoundError: there is no such task or reviewer, or nobody has answered the query in it.
    RefusedError: it is not the reviewer's to decide, they wrote one of the answers, writers are still at it,
        or it was decided since they saw it.
    """
    with store.transaction(appends=True) as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        task = find_answer_task(cursor, task_name)
        _refuse_not_ready(cursor, task.task_id, task_name, query_id)
        wrote(cursor, task.task_id, reviewer, refuse=query_id)
        written = {row[0] for row in cursor.execute(_WRITTEN, [task.task_id, query_id]).fetchall()}
        refuse_problems(_problems(ruling, written))
        before = current_answer_decision(cursor, task.task_id, query_id)
        if before is not None and before.repeats(ruling, reviewer):
            return before
        if before is not None and seen not in (None, before.revision + 1):
            raise RefusedError(answers_overtaken(before))
        decision = AnswerDecision(
            query_id,
            before.revision + 1 if before else 0,
            ruling.answers,
            " ".join(ruling.merged.split()) or None,
            ruling.reason.strip(),
            reviewer,
            utc_now(),
        )
        with settle_query(cursor, task.task_id, query_id, reviewer):
            cursor.execute(_INSERT, [task.task_id, *decision])
        detail = {"task": task_name, "query_id": query_id, "answers": len(decision.answers)}
        record_event(cursor, "decide answers", {**detail, "revision": decision.revision}, reviewer)
    return decision


def current_answer_decision(cursor: Cursor, task_id: str, query_id: str) -> AnswerDecision | None:
    """The decision in force on a query of a task, or None."""
    sql = f"SELECT {_COLUMNS} FROM current_answer_decisions WHERE task_id = ? AND query_id = ?"  # noqa: S608
    decisions = fetch(cursor, AnswerDecision, sql, [task_id, query_id])
    return decisions[0]._replace(answers=tuple(decisions[0].answers)) if decisions else None


def recent_answer_decisions(store: Store, reviewer: str, limit: int = 10) -> list[DecidedAnswers]:
    """The reviewer's own current decisions, newest first."""
    with store.reading() as cursor:
        rows = cursor.execute(_RECENT, [reviewer, limit]).fetchall()
    return [
        DecidedAnswers(AnswerDecision(*row[:-2])._replace(answers=tuple(row[2])), *row[-2:]) for row in rows
    ]


def answers_overtaken(decision: AnswerDecision) -> str:
    """The sentence for a reviewer who had a query on screen when somebody else decided it."""
    what = " / ".join(map(isolated, decision.answers)) or "that the corpus does not answer it"
    return (
        f"{decision.reviewer} decided this query while you had it open: {what}, because "
        f"“{isolated(decision.reason)}”. Your decision was not saved. Look at it again, and decide once more "
        "if you disagree."
    )


def unanswered(query_id: str, task_name: str) -> NotFoundError:
    """The error for a query that nobody has answered."""
    return NotFoundError(f"Nobody has answered the query {query_id!r} in the answer task {task_name!r}.")


def wrote(cursor: Cursor, task_id: str, reviewer: str, refuse: str | None = None) -> set[str]:
    """The queries of a task that a reviewer was asked to write for.

    Raises
    ------
    RefusedError: `refuse` is one of them.
    """
    found = {row[0] for row in cursor.execute(_ASKED, [task_id, reviewer]).fetchall()}
    if refuse in found:
        raise RefusedError(
            "You were asked to write an answer to this query yourself. Another reviewer decides it."
        )
    return found


def _refuse_not_ready(cursor: Cursor, task_id: str, task_name: str, query_id: str) -> None:
    rows = cursor.execute(_READY, [task_id, query_id]).fetchall()
    if not rows or not rows[0][1]:
        raise unanswered(query_id, task_name)
    asked, written, closed = rows[0]
    if written < asked and not closed:
        raise RefusedError(
            f"{written} of {asked} writers have answered this query. Wait for the others, or close the task."
        )


def _problems(ruling: AnswerRuling, written: set[str]) -> list[str]:
    problems = []
    if ruling.unanswerable and ruling.answers:
        problems.append("Choose answers, or say that the corpus does not answer the query; not both.")
    if not ruling.unanswerable and not ruling.answers:
        problems.append("Choose an answer, write one, or say that the corpus does not answer the query.")
    forms = {normalised_answer(text) for text in written}
    unknown = [text for text in ruling.picked if normalised_answer(text) not in forms]
    problems += [f"nobody wrote the answer {text!r}" for text in unknown]
    if ruling.merged.strip():
        problems += answer_problems(" ".join(ruling.merged.split()))
    if not ruling.reason.strip():
        problems.append("A decision needs a reason.")
    if len(ruling.reason) > LONGEST_NOTE:
        problems.append(f"A reason has at most {LONGEST_NOTE:,} characters, this one {len(ruling.reason):,}.")
    return problems


_COLUMNS = ", ".join(AnswerDecision._fields)


_RECENT = f"""
SELECT {", ".join(f"c.{name}" for name in AnswerDecision._fields)}, t.name, q.text
FROM current_answer_decisions c JOIN answer_tasks t USING (task_id) JOIN queries q USING (query_id)
WHERE c.reviewer = ? ORDER BY c.written DESC LIMIT ?
"""  # noqa: S608
