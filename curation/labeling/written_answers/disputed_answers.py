"""Disputed answers as a reviewer reads them: what was said how often, by nobody's name, on what evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.ingest.filters.stored import NEED
from curation.ingest.importers.answers.reference_answers import StoredReferences, references_of
from curation.labeling.presentation.drawing import ReadDocument
from curation.labeling.written_answers.decisions import (
    REVIEWERS,
    AnswerDecision,
    current_answer_decision,
    unanswered,
    wrote,
)
from curation.labeling.written_answers.matching import normalised_answer
from curation.labeling.written_answers.outcomes import outcomes
from curation.labeling.written_answers.rule import DISPUTED, AnswerOutcome, distinct
from curation.labeling.written_answers.tasks import find_answer_task, list_answer_tasks
from curation.people.annotators import require_author
from curation.people.seal_access import SealAccess, door_or_shut
from curation.store import COMMAND_LINE, Store
from curation.store.documents import VERSION

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

_QUERY = f"SELECT text, {NEED} FROM queries q WHERE query_id = ?"  # noqa: S608

_SHOWN = f"""
SELECT e.document_id, d.title, d.body, d.url, d.published, d.metadata
FROM answer_evidence e JOIN {VERSION}
WHERE e.task_id = ? AND e.query_id = ?
"""  # noqa: S608


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


class AnswerVoice(NamedTuple):
    """An answer as its writers gave it; answers that are the same once normalised are one.

    text: None for "the corpus does not answer it".
    times: how many writers gave it.
    documents: places in `AnswerCase.evidence` of those that they ticked.
    """

    text: str | None
    times: int
    documents: tuple[int, ...]


class CitedDocument(NamedTuple):
    """A document that writers were shown, and how many of them ticked it."""

    cited: int
    title: str
    body: str
    url: str | None
    published: str | None
    metadata: str

    @property
    def document(self) -> ReadDocument:
        """What is drawn of it."""
        return ReadDocument(*self[1:])


@dataclass(frozen=True)
class AnswerCase:
    """A query of a task with all that a reviewer reads.

    Attributes
    ----------
    voices: the commonest first; what says that there is no answer comes last.
    references: those in force, and where they come from.
    """

    task: str
    query_id: str
    query: str
    information_need: str | None
    outcome: AnswerOutcome
    voices: tuple[AnswerVoice, ...]
    evidence: tuple[CitedDocument, ...]
    references: StoredReferences
    decision: AnswerDecision | None

    @property
    def revision(self) -> int:
        """How many decisions there were: what `decide_answers` takes as `seen`."""
        return self.decision.revision + 1 if self.decision else 0


def answer_disputes(store: Store, reviewer: str = COMMAND_LINE) -> AnswerDisputes:
    """The queries whose answers differ and that nobody has decided.

    Raises
    ------
    NotFoundError: the reviewer is unknown.
    RefusedError: it is not theirs to decide.
    """
    waiting, own = [], 0
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        for task in list_answer_tasks(cursor):
            mine = wrote(cursor, task.task_id, reviewer)
            for query_id, outcome in outcomes(cursor, task.task_id).items():
                if outcome.how != DISPUTED:
                    continue
                if query_id in mine:
                    own += 1
                    continue
                text, answers = cursor.execute(_ABOUT, [task.task_id, query_id, query_id]).fetchall()[0]
                waiting.append(DisputedAnswers(task.name, query_id, text, answers, outcome.why))
    return AnswerDisputes(tuple(waiting), own)


def answer_case(
    store: Store, task_name: str, query_id: str, reviewer: str = COMMAND_LINE, door: SealAccess | None = None
) -> AnswerCase:
    """What was written for a query, settled or not.

    Raises
    ------
    NotFoundError: there is no such task, the query is not in it, or nobody has answered it yet.
    RefusedError: the reviewer wrote one of the answers, it is not theirs to decide, or the door is shut for
        the query.
    """
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        door_or_shut(cursor, door).need(query_id)
        task = find_answer_task(cursor, task_name)
        outcome = outcomes(cursor, task.task_id, [query_id]).get(query_id)
        said = cursor.execute(_SAID, [task.task_id, query_id]).fetchall()
        if outcome is None or not said:
            raise unanswered(query_id, task_name)
        wrote(cursor, task.task_id, reviewer, refuse=query_id)
        query, need = cursor.execute(_QUERY, [query_id]).fetchall()[0]
        shown = cursor.execute(_SHOWN, [task.task_id, query_id]).fetchall()
        references = references_of(cursor, query_id)
        decision = current_answer_decision(cursor, task.task_id, query_id)
    cited = Counter(document for _, documents in said for document in documents)
    shown.sort(key=lambda row: (-cited[row[0]], row[0]))
    places = {row[0]: place for place, row in enumerate(shown)}
    return AnswerCase(
        task_name,
        query_id,
        query,
        need,
        outcome,
        _voices(said, places),
        tuple(CitedDocument(cited[row[0]], *row[1:]) for row in shown),
        references,
        decision,
    )


def _voices(said: Sequence[tuple[str | None, list[str]]], places: dict[str, int]) -> tuple[AnswerVoice, ...]:
    texts = [text for text, _ in said if text is not None]
    voices = []
    for form in distinct(texts):
        same = [
            d for text, d in said if text is not None and normalised_answer(text) == normalised_answer(form)
        ]
        ticked = {places[document] for documents in same for document in documents}
        voices.append(AnswerVoice(form, len(same), tuple(sorted(ticked))))
    silent = len(said) - len(texts)
    return (*voices, *([AnswerVoice(None, silent, ())] if silent else []))
