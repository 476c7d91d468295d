"""The creation of an answer task, in which people write reference answers.

Each query goes to exactly `overlap` writers, as in rounds; the assignment is fixed before anybody writes. A
writer who sees the relevant documents learns annotators' grades. So with `show="relevant"` a query waits
until no annotator still has to judge documents of the query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curation.core.digests import canonical_json, digest, sort_by_seed
from curation.core.errors import RefusedError
from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, pluralize
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.query_tags import check_tags
from curation.ingest.importers.reference_answers import read_reference_revisions
from curation.labeling.requests import RELEVANT, AnswerTaskRequest
from curation.labeling.rounds.assignment import assign_queries
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.rounds import refuse_unable_annotators
from curation.labeling.written_answers import query_choice
from curation.labeling.written_answers.query_choice import IN_QUEUE, NOT_CURRENT, ReasonByQuery
from curation.labeling.written_answers.shown_documents import (
    DocumentInputs,
    ShownDocuments,
    choose_shown_documents,
    read_document_inputs,
)
from curation.people.annotators import require_annotators, require_author
from curation.people.seal_access import SealAccess, describe_withheld_pairs, unseal
from curation.store import COMMAND_LINE, Cursor, Store, all_settings, append_rows, record_event, utc_now
from curation.store.planned_writes import write_if_unchanged

BUSY = "Other people changed the project while the answer task was planned. Try again."
HAS_REFERENCES = "the query has reference answers"
IN_TASK = "the query is in a different answer task"
OPEN_TASK = "the query is in an open answer task"
NO_DOCUMENT = "the query has no document to show; build a pool"
NOT_DRAWN = "the query was not drawn"
UNTAGGED = "the query does not have the tag"
_IN_TASKS = """
SELECT query_id, bool_and(closed) FROM answer_task_queries JOIN answer_task_states USING (task_id)
GROUP BY query_id
"""


@dataclass(frozen=True)
class OpenedAnswerTask:
    """A new answer task, with its numbers of queries and answers to write.

    Attributes
    ----------
    per_writer: name → number of queries.
    judged: number of queries shown with documents that people judged relevant; all other queries are shown
        with the pool's documents.
    sealed: number of queries shown with the pool's documents because a release seals the relevant documents.
    left_out: reason → number of queries.
    """

    task: str
    task_id: str
    queries: int
    assignments: int
    per_writer: dict[str, int]
    judged: int
    sealed: int
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Return sentences with the numbers of queries, answers to write, sealed queries, and queries left
        out."""
        judged = pluralize(self.judged, "query is", "queries are")
        summary = (
            f"Opened the answer task {self.task}: {pluralize(self.queries, 'query', 'queries')}, "
            f"{pluralize(self.assignments, 'answer')} to write; {judged} shown with relevant documents."
        )
        sealed = [describe_withheld_pairs(self.sealed, "query", "queries")] if self.sealed else []
        return [summary, *sealed, *describe_left_out(self.left_out, "queries")]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of each writer's number of queries."""
        return (Table("Queries by writer", ("Writer", "Queries"), tuple(self.per_writer.items())),)


_TaskPlan = tuple[OpenedAnswerTask, Mapping[str, Sequence[Candidate]], Mapping[str, Sequence[str]]]
"""The opened task, the documents of each query, and the queries of each writer in their order."""


def open_answer_task(
    store: Store, request: AnswerTaskRequest, author: str = COMMAND_LINE, reason: str | None = None
) -> OpenedAnswerTask:
    """Open an answer task, in which people write reference answers.

    Parameters
    ----------
    reason: the reason to show writers the relevant documents of sealed queries; without a reason writers see
        the pool's documents.

    Raises
    ------
    InputError: the request's parts do not fit together, or a text names several queries.
    NotFoundError: a writer is not in the project.
    RefusedError: the name is taken, a writer cannot sign in, no query is left to write for, the project kept
        changing, or the author is not a lead.
    """
    request = request.checked()
    access = unseal(store, f"show writers of {request.name} what is relevant", reason, author)

    def read(cursor: Cursor) -> tuple[DocumentInputs, ReasonByQuery]:
        require_author(cursor, author, "lead")
        check_tags(cursor, [] if request.tag is None else [request.tag])
        refuse_unable_annotators(require_annotators(cursor, request.writers))
        if cursor.execute("SELECT 1 FROM answer_tasks WHERE name = ?", [request.name]).fetchone():
            raise RefusedError(f"An answer task {request.name!r} already exists. Choose another name.")
        return _read_inputs(cursor, request, access)

    opened, *_ = write_if_unchanged(
        store,
        fingerprint=_read_fingerprint,
        read=read,
        plan=lambda inputs: _plan_task(request, *inputs),
        write=lambda cursor, planned: _write_task(cursor, request, planned, author),
        busy=BUSY,
    )
    return opened


def _read_inputs(
    cursor: Cursor, request: AnswerTaskRequest, access: SealAccess
) -> tuple[DocumentInputs, ReasonByQuery]:
    inputs = read_document_inputs(cursor, access)
    query_ids: Collection[str] = inputs.active_queries
    if request.queries:
        query_ids = query_choice.find_named_queries(KnownQueries.read(cursor), request.queries)
    tagged = cursor.execute("SELECT query_id FROM current_query_tags WHERE tag = ?", [request.tag]).fetchall()
    with_references = cursor.execute("SELECT query_id FROM current_reference_answers").fetchall()
    tasks = dict(cursor.execute(_IN_TASKS).fetchall())
    reasons = {
        NOT_CURRENT: set(query_ids) - inputs.active_queries,
        UNTAGGED: set() if request.tag is None else set(query_ids) - {row[0] for row in tagged},
        OPEN_TASK: {query_id for query_id, closed in tasks.items() if not closed},
        HAS_REFERENCES: set() if request.again else {row[0] for row in with_references},
        IN_TASK: set() if request.again else set(tasks),
    }
    return inputs, query_choice.find_first_reasons(query_ids, reasons)


def _plan_task(request: AnswerTaskRequest, inputs: DocumentInputs, reasons: ReasonByQuery) -> _TaskPlan:
    shown = choose_shown_documents(inputs, request.show, request.documents)
    queries, left_out = _choose_queries(request, inputs, reasons, shown)
    if not queries:
        explanations = [f"{count:,}: {reason}" for reason, count in left_out.items()]
        explanation = "; ".join(explanations) or "no query was chosen"
        raise RefusedError(f"There are no queries to write answers for ({explanation}).")
    pairs = [Candidate(query_id, document_id="", content_hash="") for query_id in queries]
    assignment = assign_queries(pairs, request.writers, request.overlap, request.seed)
    queries_by_writer = {
        writer: sort_by_seed(query_ids, request.seed, lambda query_id, writer=writer: (writer, query_id))  # type: ignore[misc]
        for writer, query_ids in assignment.items()
    }
    opened = OpenedAnswerTask(
        task=request.name,
        task_id=digest("answer task", _build_parameters(request), queries),
        queries=len(queries),
        assignments=sum(map(len, queries_by_writer.values())),
        per_writer={writer: len(query_ids) for writer, query_ids in queries_by_writer.items()},
        judged=len(shown.queries_with_relevant.intersection(queries)),
        sealed=len(shown.sealed_queries.intersection(queries)),
        left_out=left_out,
    )
    return opened, shown.by_query, queries_by_writer


def _build_parameters(request: AnswerTaskRequest) -> dict[str, Any]:
    """Return the parameters under which an answer task is stored; the task's id is the parameters' hash."""
    return vars(request) | {"queries": sorted(request.queries)}


def _choose_queries(
    request: AnswerTaskRequest, inputs: DocumentInputs, reasons: ReasonByQuery, shown: ShownDocuments
) -> tuple[list[str], dict[str, int]]:
    """Choose the queries, ordered by id, and count the queries left out, by reason."""
    further_reasons = {
        NO_DOCUMENT: reasons.keys() - shown.by_query.keys(),
        IN_QUEUE: inputs.queries_in_queues if request.show == RELEVANT else (),
    }
    document_reasons = query_choice.find_first_reasons(reasons, further_reasons)
    reason_by_query = {query_id: reason or document_reasons[query_id] for query_id, reason in reasons.items()}
    left_out = Counter(filter(None, reason_by_query.values()))
    chosen = [query_id for query_id, reason in reason_by_query.items() if not reason]
    if request.most is not None and request.most < len(chosen):
        left_out[NOT_DRAWN] = len(chosen) - request.most
        chosen = sorted(sort_by_seed(chosen, request.seed, str)[: request.most])
    return chosen, dict(left_out)


def _write_task(cursor: Cursor, request: AnswerTaskRequest, planned: _TaskPlan, author: str) -> None:
    opened, documents, queries_by_writer = planned
    task_id = opened.task_id
    parameters = _build_parameters(request)
    sql = "INSERT INTO answer_tasks SELECT ?, ?, ?, ?, coalesce(max(sequence), 0) + 1 FROM answer_tasks"
    cursor.execute(sql, [task_id, opened.task, canonical_json(parameters), utc_now()])
    queries = sorted({query_id for query_ids in queries_by_writer.values() for query_id in query_ids})
    reference_revisions = read_reference_revisions(cursor, queries)
    sql = "INSERT INTO answer_task_queries SELECT ?, unnest(?::TEXT[]), unnest(?::INTEGER[])"
    cursor.execute(sql, [task_id, queries, [reference_revisions.get(query_id) for query_id in queries]])
    shown_documents = [document for query_id in queries for document in documents[query_id]]
    append_rows(cursor, "answer_evidence", shown_documents, task_id=task_id)
    rows = [
        (digest("answer", task_id, writer, query_id), query_id, writer, position)
        for writer, query_ids in queries_by_writer.items()
        for position, query_id in enumerate(query_ids)
    ]
    names = ("assignment_id", "query_id", "writer", "position")
    append_rows(cursor, "answer_assignments", rows, names, task_id=task_id)
    detail = {**parameters, "task": opened.task, "assignments": opened.assignments}
    record_event(cursor, "open answer task", detail, author)


def _read_fingerprint(cursor: Cursor) -> object:
    """Read settings and row counts, to detect changes while a task is planned."""
    counts = cursor.execute(
        """
        SELECT (SELECT count(*) FROM candidates), (SELECT count(*) FROM judgment_events),
               (SELECT count(*) FROM presentations), (SELECT count(*) FROM adjudications),
               (SELECT count(*) FROM query_tags), (SELECT count(*) FROM reference_answers),
               (SELECT count(*) FROM answer_tasks), (SELECT count(*) FROM answer_task_events)
        """
    ).fetchall()
    return counts, all_settings(cursor)
