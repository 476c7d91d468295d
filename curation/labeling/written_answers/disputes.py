"""Disputed answers: the queries of answer tasks on which writers disagree, for the reviewer to decide.

A reviewer sees each answer with the number of its writers and the documents that the writers ticked, but no
writer's name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.ingest.importers.reference_answers import StoredReferences, read_references
from curation.labeling.answer_matching import DISPUTED, AnswerOutcome, find_distinct_answers, normalise_answer
from curation.labeling.presentation.drawing import DocumentText
from curation.labeling.written_answers import decisions
from curation.labeling.written_answers.outcomes import compute_outcomes
from curation.labeling.written_answers.shown_documents import read_query_text, read_shown_documents
from curation.labeling.written_answers.tasks import find_answer_task, list_answer_tasks
from curation.people.annotators import REVIEWERS, require_author
from curation.people.seal_access import SealAccess, resolve_access
from curation.store import COMMAND_LINE, Store


class DisputedAnswers(NamedTuple):
    """A query whose answers differ, with the reason why they do not agree."""

    task: str
    query_id: str
    query: str
    answers: int
    why: str


@dataclass(frozen=True)
class AnswerDisputes:
    """The disputed queries of all open answer tasks, by task and query id.

    Attributes
    ----------
    waiting: queries that wait for the reviewer's decision.
    own: number of queries that the reviewer was asked to answer, and that a different reviewer must decide.
    """

    waiting: tuple[DisputedAnswers, ...]
    own: int

    @property
    def sentences(self) -> list[str]:
        """Return sentences that say how many queries wait for this reviewer and how many for another."""
        waiting = f"{pluralize(len(self.waiting), 'query waits', 'queries wait')} for a decision."
        others = (
            f"{self.own:,} more queries wait for a different reviewer, because you wrote answers to them."
        )
        return [waiting, *([others] if self.own else [])]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of the queries that wait for a decision."""
        rows = ((row.task, row.query, row.query_id, row.answers, row.why) for row in self.waiting)
        return (Table("Disputed answers", ("Task", "Query", "Query id", "Answers", "Why"), tuple(rows)),)


class DistinctAnswer(NamedTuple):
    """A distinct written answer with its writers and documents; answers with the same normalized text count
    as one.

    text: None for "the corpus does not answer the query".
    times: number of writers who gave the answer.
    documents: indexes in `AnswerCase.documents` of the documents that these writers ticked.
    """

    text: str | None
    times: int
    documents: tuple[int, ...]


@dataclass(frozen=True)
class AnswerCase:
    """A query of an answer task with everything that a reviewer reads before a decision.

    Attributes
    ----------
    voices: distinct answers, the most frequent first; "the corpus does not answer the query" comes last.
    documents: documents that the writers were shown.
    cited: number of writers who ticked each document.
    references: the current reference answers with their source.
    """

    task: str
    query_id: str
    query: str
    information_need: str | None
    outcome: AnswerOutcome
    voices: tuple[DistinctAnswer, ...]
    documents: tuple[DocumentText, ...]
    cited: tuple[int, ...]
    references: StoredReferences
    decision: decisions.AnswerDecision | None

    @property
    def revision(self) -> int:
        """Return the number of decisions on the query, which `decide_answers` takes as `seen_revision`."""
        return self.decision.revision + 1 if self.decision else 0

    @property
    def sentences(self) -> list[str]:
        """Return sentences with the query's state and reference answers."""
        state = f"State: {self.outcome.how}{f', {self.outcome.why}' if self.outcome.why else ''}."
        if not self.references.answers:
            return [state]
        answers = " / ".join(self.references.answers)
        return [state, f"Reference answers: {answers} (from {self.references.source})."]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of the answers, with each answer's number of writers and ticked documents."""
        rows = (
            (
                voice.text or "the corpus does not answer the query",
                voice.times,
                " · ".join(self.documents[index].title for index in voice.documents),
            )
            for voice in self.voices
        )
        return (Table(self.query, ("Answer", "Writers", "Documents"), tuple(rows), words=True),)


def find_answer_disputes(store: Store, reviewer: str = COMMAND_LINE) -> AnswerDisputes:
    """List the queries whose written answers differ and that no reviewer has decided yet.

    Raises
    ------
    NotFoundError: the reviewer is not in the project.
    RefusedError: the person is not a reviewer.
    """
    disputed = []
    own_queries = 0
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        for task in list_answer_tasks(cursor):
            assigned_queries = decisions.find_own_queries(cursor, task.task_id, reviewer)
            for query_id, outcome in compute_outcomes(cursor, task.task_id).items():
                if outcome.how != DISPUTED:
                    continue
                if query_id in assigned_queries:
                    own_queries += 1
                    continue
                text, _ = read_query_text(cursor, query_id)
                answers = decisions.read_written_answers(cursor, task.task_id, query_id)
                disputed.append(DisputedAnswers(task.name, query_id, text, len(answers), outcome.why))
    return AnswerDisputes(tuple(disputed), own_queries)


def read_answer_case(
    store: Store, task_name: str, query_id: str, reviewer: str, access: SealAccess | None = None
) -> AnswerCase:
    """Read the answers to a query, decided or not.

    Raises
    ------
    NotFoundError: the task does not exist, the query is not in the task, or nobody has answered the query.
    RefusedError: the person is not a reviewer, or was asked to answer the query, or the query is sealed.
    """
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        resolve_access(cursor, access).require_open(query_id)
        task = find_answer_task(cursor, task_name)
        outcome = compute_outcomes(cursor, task.task_id, [query_id]).get(query_id)
        answers = decisions.read_written_answers(cursor, task.task_id, query_id)
        if outcome is None or not answers:
            raise decisions.unanswered_error(query_id, task_name)
        decisions.find_own_queries(cursor, task.task_id, reviewer, own_query=query_id)
        query, information_need = read_query_text(cursor, query_id)
        documents = read_shown_documents(cursor, task.task_id, query_id)
        references = read_references(cursor, query_id)
        decision = decisions.read_answer_decision(cursor, task.task_id, query_id)
    citation_counts = Counter(document for _, documents in answers for document in documents)
    document_ids = sorted(documents, key=lambda name: (-citation_counts[name], name))
    indexes = {name: index for index, name in enumerate(document_ids)}
    voices = _count_distinct_answers(answers, indexes)
    shown = tuple(documents[name] for name in document_ids)
    cited = tuple(citation_counts[name] for name in document_ids)
    return AnswerCase(
        task_name, query_id, query, information_need, outcome, voices, shown, cited, references, decision
    )


def _count_distinct_answers(
    answers: Sequence[tuple[str | None, list[str]]], indexes: dict[str, int]
) -> tuple[DistinctAnswer, ...]:
    texts = [text for text, _ in answers if text is not None]
    documents_by_answer: dict[str, list[list[str]]] = defaultdict(list)
    for text, documents in answers:
        if text is not None:
            documents_by_answer[normalise_answer(text)].append(documents)
    distinct = []
    for spelling in find_distinct_answers(texts):
        ticks = documents_by_answer[normalise_answer(spelling)]
        cited = {indexes[document] for documents in ticks for document in documents}
        distinct.append(DistinctAnswer(spelling, len(ticks), tuple(sorted(cited))))
    unanswerable_count = len(answers) - len(texts)
    if unanswerable_count:
        distinct.append(DistinctAnswer(None, unanswerable_count, ()))
    return tuple(distinct)
