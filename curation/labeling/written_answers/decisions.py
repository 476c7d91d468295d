"""Disputed answers as a reviewer reads them, and decisions: which are references, what is merged, and why.

A reviewer reads what was said how often, by nobody's name, on what documents. A decision is appended with the
next revision; the latest one counts, whatever is written later. A screen names the revision that its reviewer
saw: of two reviewers, the second learns what the first decided. A reviewer who wrote one of a query's answers
does not decide it: another one does, or the command line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from curation.core.characters import isolated
from curation.core.errors import NotFoundError, RefusedError, refuse_problems
from curation.core.reports.page import Table
from curation.core.text import MAX_NOTE_LENGTH, pluralize
from curation.ingest.importers.reference_answers import StoredReferences, references_of
from curation.labeling.answer_matching import DISPUTED, AnswerOutcome, distinct, normalised_answer
from curation.labeling.presentation.drawing import ReadDocument
from curation.labeling.written_answers.create_task import read_shown
from curation.labeling.written_answers.tasks import (
    find_answer_task,
    list_answer_tasks,
    outcomes,
    update_references,
)
from curation.labeling.written_answers.writing import answer_problems
from curation.people.annotators import require_author
from curation.people.seal_access import SealAccess, access_or_closed
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

_ABOUT = """
SELECT (SELECT text FROM queries WHERE query_id = $3), (
    SELECT count(*) FROM answer_assignments JOIN answer_states USING (assignment_id)
    WHERE task_id = $1 AND query_id = $2 AND answered)
"""


_SAID = """
SELECT s.answer, s.documents FROM answer_assignments a JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? AND a.query_id = ? AND s.answered
ORDER BY s.answer, s.documents
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
        forms: dict[str, str] = {}
        for text in (*self.picked, *([" ".join(self.merged.split())] if self.merged.strip() else [])):
            forms.setdefault(normalised_answer(text), text)
        return tuple(forms.values())


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
        before = (self.answers, self.reason, self.reviewer)
        return before == (ruling.answers, ruling.reason.strip(), reviewer)


_COLUMNS = ", ".join(AnswerDecision._fields)


_RECENT = f"""
SELECT {", ".join(f"c.{name}" for name in AnswerDecision._fields)}, t.name, q.text
FROM current_answer_decisions c JOIN answer_tasks t USING (task_id) JOIN queries q USING (query_id)
WHERE c.reviewer = ? ORDER BY c.written DESC LIMIT ?
"""  # noqa: S608


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
        with update_references(cursor, task.task_id, reviewer, [query_id]):
            cursor.execute(_INSERT, [task.task_id, *decision])
        detail = {"task": task_name, "query_id": query_id, "answers": len(decision.answers)}
        record_event(cursor, "decide answers", {**detail, "revision": decision.revision}, reviewer)
    return decision


def current_answer_decision(cursor: Cursor, task_id: str, query_id: str) -> AnswerDecision | None:
    """The decision in force on a query of a task, or None."""
    sql = f"SELECT {_COLUMNS} FROM current_answer_decisions WHERE task_id = ? AND query_id = ?"  # noqa: S608
    decisions = fetch(cursor, AnswerDecision, sql, [task_id, query_id])
    return decisions[0]._replace(answers=tuple(decisions[0].answers)) if decisions else None


def recent_answer_decisions(
    store: Store, reviewer: str, limit: int = 10
) -> list[tuple[AnswerDecision, str, str]]:
    """The reviewer's own current decisions, newest first, each with its task and the query's text."""
    with store.reading() as cursor:
        rows = cursor.execute(_RECENT, [reviewer, limit]).fetchall()
    return [(AnswerDecision(*row[:-2])._replace(answers=tuple(row[2])), *row[-2:]) for row in rows]


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
    query_ids = {row[0] for row in cursor.execute(_ASKED, [task_id, reviewer]).fetchall()}
    if refuse in query_ids:
        raise RefusedError(
            "You were asked to write an answer to this query yourself. Another reviewer decides it."
        )
    return query_ids


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
    if len(ruling.reason) > MAX_NOTE_LENGTH:
        problems.append(
            f"A reason has at most {MAX_NOTE_LENGTH:,} characters, this one {len(ruling.reason):,}."
        )
    return problems


class DisputedAnswers(NamedTuple):
    """A query whose answers differ, and in which way."""

    task: str
    query_id: str
    query: str
    answers: int
    why: str


@dataclass(frozen=True)
class AnswerDisputes:
    """Queries that wait for a reviewer, by task and query id; `own` wait for another one than who asks."""

    waiting: tuple[DisputedAnswers, ...]
    own: int

    @property
    def sentences(self) -> list[str]:
        """How many wait, and how many of them for another reviewer."""
        waiting = f"{pluralize(len(self.waiting), 'query waits', 'queries wait')} for a decision."
        others = f"{self.own:,} more wait for another reviewer, who was not asked to write there."
        return [waiting, *([others] if self.own else [])]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The queries that wait."""
        rows = ((row.task, row.query, row.query_id, row.answers, row.why) for row in self.waiting)
        return (Table("Disputed answers", ("Task", "Query", "Query id", "Answers", "Why"), tuple(rows)),)


class AnswerVoice(NamedTuple):
    """An answer as its writers gave it; answers that are the same once normalised are one.

    text: None for "the corpus does not answer it".
    times: how many writers gave it.
    documents: places in `AnswerCase.documents` of those that they ticked.
    """

    text: str | None
    times: int
    documents: tuple[int, ...]


@dataclass(frozen=True)
class AnswerCase:
    """A query of a task with all that a reviewer reads.

    Attributes
    ----------
    voices: the commonest first; what says that there is no answer comes last.
    documents, cited: what writers were shown, and how many of them ticked each.
    references: those in force, and where they come from.
    """

    task: str
    query_id: str
    query: str
    information_need: str | None
    outcome: AnswerOutcome
    voices: tuple[AnswerVoice, ...]
    documents: tuple[ReadDocument, ...]
    cited: tuple[int, ...]
    references: StoredReferences
    decision: AnswerDecision | None

    @property
    def revision(self) -> int:
        """How many decisions there were: what `decide_answers` takes as `seen`."""
        return self.decision.revision + 1 if self.decision else 0

    @property
    def sentences(self) -> list[str]:
        """What became of the query, and its reference answers."""
        state = f"State: {self.outcome.how}{f', {self.outcome.why}' if self.outcome.why else ''}."
        if not self.references.answers:
            return [state]
        answers = " / ".join(self.references.answers)
        return [state, f"Reference answers: {answers} (from {self.references.source})."]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The answers with how many gave each, and the documents that these ticked."""
        rows = (
            (
                voice.text or "the corpus does not answer it",
                voice.times,
                " · ".join(self.documents[index].title for index in voice.documents),
            )
            for voice in self.voices
        )
        return (Table(self.query, ("Answer", "Writers", "Documents"), tuple(rows), words=True),)


def answer_disputes(store: Store, reviewer: str = COMMAND_LINE) -> AnswerDisputes:
    """The queries whose answers differ and that nobody has decided.

    Raises
    ------
    NotFoundError: the reviewer is unknown.
    RefusedError: it is not theirs to decide.
    """
    waiting, own_queries = [], 0
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        for task in list_answer_tasks(cursor):
            mine = wrote(cursor, task.task_id, reviewer)
            for query_id, outcome in outcomes(cursor, task.task_id).items():
                if outcome.how != DISPUTED:
                    continue
                if query_id in mine:
                    own_queries += 1
                    continue
                text, answers = cursor.execute(_ABOUT, [task.task_id, query_id, query_id]).fetchall()[0]
                waiting.append(DisputedAnswers(task.name, query_id, text, answers, outcome.why))
    return AnswerDisputes(tuple(waiting), own_queries)


def answer_case(
    store: Store,
    task_name: str,
    query_id: str,
    reviewer: str = COMMAND_LINE,
    access: SealAccess | None = None,
) -> AnswerCase:
    """What was written for a query, whatever became of it.

    Raises
    ------
    NotFoundError: there is no such task, the query is not in it, or nobody has answered it yet.
    RefusedError: the reviewer wrote one of the answers, it is not theirs to decide, or the query is
        sealed.
    """
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        access_or_closed(cursor, access).need(query_id)
        task = find_answer_task(cursor, task_name)
        outcome = outcomes(cursor, task.task_id, [query_id]).get(query_id)
        answers = cursor.execute(_SAID, [task.task_id, query_id]).fetchall()
        if outcome is None or not answers:
            raise unanswered(query_id, task_name)
        wrote(cursor, task.task_id, reviewer, refuse=query_id)
        query, need, documents = read_shown(cursor, task.task_id, query_id)
        references = references_of(cursor, query_id)
        decision = current_answer_decision(cursor, task.task_id, query_id)
    cited = Counter(document for _, documents in answers for document in documents)
    shown = sorted(documents, key=lambda name: (-cited[name], name))
    places = {name: index for index, name in enumerate(shown)}
    return AnswerCase(
        task_name,
        query_id,
        query,
        need,
        outcome,
        _voices(answers, places),
        tuple(documents[name] for name in shown),
        tuple(cited[name] for name in shown),
        references,
        decision,
    )


def _voices(
    answers: Sequence[tuple[str | None, list[str]]], places: dict[str, int]
) -> tuple[AnswerVoice, ...]:
    texts = [text for text, _ in answers if text is not None]
    ticked: dict[str, list[list[str]]] = defaultdict(list)
    for text, documents in answers:
        if text is not None:
            ticked[normalised_answer(text)].append(documents)
    voices = []
    for form in distinct(texts):
        same = ticked[normalised_answer(form)]
        shown = {places[document] for documents in same for document in documents}
        voices.append(AnswerVoice(form, len(same), tuple(sorted(shown))))
    silent = len(answers) - len(texts)
    return (*voices, *([AnswerVoice(None, silent, ())] if silent else []))
