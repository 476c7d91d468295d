"""Opening of an answer task, in which people write reference answers.

Each query goes to exactly `overlap` writers, as in rounds; the assignment is fixed before anybody writes. A
writer who sees the relevant documents learns annotators' grades. So with `show="relevant"` a query waits
until no annotator still has to judge documents of the query. Each writer sees the documents in a random
order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.digests import canonical_json, digest, sort_by_seed
from curation.core.errors import RefusedError, refuse_problems
from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, pluralize
from curation.ingest.filters import NEED
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.query_tags import check_tags
from curation.ingest.importers.reference_answers import read_reference_revisions
from curation.ingest.importers.unknown_names import describe_similar_name
from curation.labeling.consensus.consensus import prepare_relevance
from curation.labeling.presentation.drawing import DocumentText
from curation.labeling.requests import RELEVANT, AnswerTaskRequest
from curation.labeling.rounds.assignment import assign_queries
from curation.labeling.rounds.candidates import Candidate, CandidateRow, choose_candidates, read_candidates
from curation.labeling.rounds.rounds import refuse_unable_annotators
from curation.people.annotators import require_annotators, require_author
from curation.people.seal_access import SealAccess, unseal, withheld
from curation.pooling.relevance import Relevance
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Store,
    all_settings,
    append_rows,
    record_event,
    utc_now,
    write_if_unchanged,
)
from curation.store.documents import VERSION

_RANKS = "SELECT query_id, document_id, min(rank) FROM candidate_sources GROUP BY ALL"
_SHOWN = f"""
SELECT e.document_id, d.title, d.body, d.url, d.published, d.metadata
FROM answer_evidence e JOIN {VERSION} WHERE e.task_id = ? AND e.query_id = ?
"""  # noqa: S608
_OPEN_PAIRS = """
SELECT DISTINCT p.query_id
FROM live_presentations p JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE NOT r.closed AND NOT coalesce(s.answered, false)
"""
BUSY = "Other people changed the project while the answer task was planned. Try again."
HAS_REFERENCES = "the query has reference answers"
IN_TASK = "the query is in a different answer task"
OPEN_TASK = "the query is in an open answer task"
IN_QUEUE = "an annotator still has to judge documents of the query, and would learn what is relevant"
NO_DOCUMENT = "the query has no document to show: build a pool"
NOT_CURRENT = "the query is retired, or not in the current sample"
NOT_DRAWN = "the query was not drawn"
UNTAGGED = "the query does not have the tag"
_IN_TASKS = """
SELECT query_id, bool_and(closed) FROM answer_task_queries JOIN answer_task_states USING (task_id)
GROUP BY query_id
"""
ReasonByQuery = dict[str, str]
"""Query id → the reason to leave the query out of the task, or '' if there is no reason."""
ShownDocuments = tuple[dict[str, list[Candidate]], frozenset[str], frozenset[str]]
"""Three values: query id → documents, best first; the queries whose documents are judged relevant; the
queries shown with the pool's documents because a release seals their grades."""


class EvidenceInputs(NamedTuple):
    """Stored data for the choice of each query's documents.

    Attributes
    ----------
    ranks: (query id, document id) → the best rank that a system gave.
    in_queues: queries that an annotator still has to judge.
    """

    candidates: list[CandidateRow]
    active: set[str]
    relevance: Callable[[], Relevance]
    ranks: Mapping[tuple[str, str], int | None]
    in_queues: frozenset[str]
    access: SealAccess


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
        """Return sentences with the numbers of queries, answers to write and sealed queries, and of queries
        left out."""
        judged = pluralize(self.judged, "query is", "queries are")
        opened = (
            f"Opened the answer task {self.task}: {pluralize(self.queries, 'query', 'queries')}, "
            f"{pluralize(self.assignments, 'answer')} to write; {judged} shown with documents judged "
            "relevant."
        )
        sealed = [withheld(self.sealed, "query", "queries")] if self.sealed else []
        return [opened, *sealed, *describe_left_out(self.left_out, "queries")]

    @property
    def tables(self) -> tuple[Table, ...]:
        """List the writers with their numbers of queries."""
        return (Table("Queries by writer", ("Writer", "Queries"), tuple(self.per_writer.items())),)


_Planned = tuple[OpenedAnswerTask, Mapping[str, Sequence[Candidate]], Mapping[str, Sequence[str]]]
"""The opened task, the documents of each query, and the queries of each writer in their order."""


def read_evidence_inputs(cursor: Cursor, access: SealAccess) -> EvidenceInputs:
    """Read the data that `choose_evidence` needs."""
    candidates, active = read_candidates(cursor)
    ranks = {(row[0], row[1]): row[2] for row in cursor.execute(_RANKS).fetchall()}
    in_queues = frozenset(row[0] for row in cursor.execute(_OPEN_PAIRS).fetchall())
    return EvidenceInputs(candidates, active, prepare_relevance(cursor), ranks, in_queues, access)


def choose_evidence(inputs: EvidenceInputs, show: str, max_documents: int) -> ShownDocuments:
    """Choose at most `max_documents` documents for every query that has candidates. Call the function outside
    a lease."""
    relevance = inputs.relevance()

    def best_rank(candidate: Candidate) -> tuple[bool, int, str]:
        rank = inputs.ranks.get(candidate[:2])
        return rank is None, rank or 0, digest("evidence", *candidate[:2])

    candidates_by_query: dict[str, list[Candidate]] = {}
    candidates = choose_candidates(inputs.candidates, inputs.active, again=True).candidates
    for candidate in sorted(candidates, key=best_rank):
        candidates_by_query.setdefault(candidate.query_id, []).append(candidate)
    if show != RELEVANT:
        pooled = {query_id: ranked[:max_documents] for query_id, ranked in candidates_by_query.items()}
        return pooled, frozenset(), frozenset()
    sealed = inputs.access.closed.intersection(candidates_by_query)
    documents, with_relevant = {}, set()
    for query_id, ranked in candidates_by_query.items():
        relevant = [candidate for candidate in ranked if relevance.is_relevant(candidate[:2])]
        if relevant and query_id not in sealed:
            with_relevant.add(query_id)
            ranked = sorted(relevant, key=lambda candidate: -relevance.grades[candidate[:2]])
        documents[query_id] = ranked[:max_documents]
    return documents, frozenset(with_relevant), sealed


def read_shown_documents(
    cursor: Cursor, task_id: str, query_id: str
) -> tuple[str, str | None, dict[str, DocumentText]]:
    """Read the text and information need of a task's query, and the documents shown with the query, by id."""
    sql = f"SELECT text, {NEED} FROM queries q WHERE query_id = ?"  # noqa: S608
    query, information_need = cursor.execute(sql, [query_id]).fetchall()[0]
    rows = cursor.execute(_SHOWN, [task_id, query_id]).fetchall()
    return query, information_need, {row[0]: DocumentText(*row[1:]) for row in rows}


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

    def read(cursor: Cursor) -> tuple[EvidenceInputs, ReasonByQuery]:
        require_author(cursor, author, "lead")
        check_tags(cursor, [] if request.tag is None else [request.tag])
        refuse_unable_annotators(require_annotators(cursor, request.writers))
        if cursor.execute("SELECT 1 FROM answer_tasks WHERE name = ?", [request.name]).fetchone():
            raise RefusedError(f"An answer task {request.name!r} exists already. Choose another name.")
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


def find_first_reasons(query_ids: Iterable[str], reasons: Mapping[str, Collection[str]]) -> ReasonByQuery:
    """Find for each query id the first reason that holds for the query, or ''.

    Parameters
    ----------
    reasons: reason → ids of the queries for which the reason holds.
    """
    return {
        query_id: next((reason for reason, holds_for in reasons.items() if query_id in holds_for), "")
        for query_id in sorted(query_ids)
    }


def find_named_queries(known: KnownQueries, names: Sequence[str]) -> list[str]:
    """Find the ids of queries that are named by id or text, and refuse all unknown names at once."""
    query_ids, problems, unknown_names = known.find_each(names)
    for name in unknown_names:
        suggestion = describe_similar_name(name, known.alike)
        problems.append(f"no query has the id or text {name!r}{suggestion}")
    refuse_problems(problems)
    return query_ids


def _read_inputs(
    cursor: Cursor, request: AnswerTaskRequest, access: SealAccess
) -> tuple[EvidenceInputs, ReasonByQuery]:
    evidence = read_evidence_inputs(cursor, access)
    query_ids: Collection[str] = evidence.active
    if request.queries:
        query_ids = find_named_queries(KnownQueries.read(cursor), request.queries)
    tagged = cursor.execute("SELECT query_id FROM current_query_tags WHERE tag = ?", [request.tag]).fetchall()
    with_references = cursor.execute("SELECT query_id FROM current_reference_answers").fetchall()
    tasks = dict(cursor.execute(_IN_TASKS).fetchall())
    reasons = {
        NOT_CURRENT: set(query_ids) - evidence.active,
        UNTAGGED: set() if request.tag is None else set(query_ids) - {row[0] for row in tagged},
        OPEN_TASK: {query_id for query_id, closed in tasks.items() if not closed},
        HAS_REFERENCES: set() if request.again else {row[0] for row in with_references},
        IN_TASK: set() if request.again else set(tasks),
    }
    return evidence, find_first_reasons(query_ids, reasons)


def _plan_task(request: AnswerTaskRequest, inputs: EvidenceInputs, asked_queries: ReasonByQuery) -> _Planned:
    documents, with_relevant, sealed = choose_evidence(inputs, request.show, request.documents)
    queries, left_out = _choose_queries(request, inputs, asked_queries, documents)
    if not queries:
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in left_out.items())
        raise RefusedError(f"No query is left to write answers to ({reasons or 'no query was asked for'}).")
    queries_by_writer = assign_queries(
        [Candidate(query_id, "", "") for query_id in queries], request.writers, request.overlap, request.seed
    )
    order_by_writer = {
        writer: sort_by_seed(query_ids, request.seed, lambda query_id, writer=writer: (writer, query_id))  # type: ignore[misc]
        for writer, query_ids in queries_by_writer.items()
    }
    opened = OpenedAnswerTask(
        task=request.name,
        task_id=digest("answer task", _build_parameters(request), queries),
        queries=len(queries),
        assignments=sum(map(len, order_by_writer.values())),
        per_writer={writer: len(query_ids) for writer, query_ids in order_by_writer.items()},
        judged=len(with_relevant & set(queries)),
        sealed=len(sealed & set(queries)),
        left_out=left_out,
    )
    return opened, documents, order_by_writer


def _build_parameters(request: AnswerTaskRequest) -> dict[str, Any]:
    """Return the stored form of a request; the task's id is a hash of this form."""
    return vars(request) | {"queries": sorted(request.queries)}


def _choose_queries(
    request: AnswerTaskRequest,
    evidence: EvidenceInputs,
    left_out_reasons: ReasonByQuery,
    documents: Mapping[str, Sequence[Candidate]],
) -> tuple[list[str], dict[str, int]]:
    """Choose the queries, ordered by id, and count the queries that are left out by reason."""
    further_reasons = {
        NO_DOCUMENT: left_out_reasons.keys() - documents.keys(),
        IN_QUEUE: evidence.in_queues if request.show == RELEVANT else (),
    }
    reasons = {
        query_id: left_out_reasons[query_id] or why
        for query_id, why in find_first_reasons(left_out_reasons, further_reasons).items()
    }
    left_out = Counter(filter(None, reasons.values()))
    chosen = [query_id for query_id, reason in reasons.items() if not reason]
    if request.most is not None and request.most < len(chosen):
        left_out[NOT_DRAWN] = len(chosen) - request.most
        chosen = sorted(sort_by_seed(chosen, request.seed, str)[: request.most])
    return chosen, dict(left_out)


def _write_task(cursor: Cursor, request: AnswerTaskRequest, planned: _Planned, author: str) -> None:
    opened, documents, order_by_writer = planned
    task_id = opened.task_id
    parameters = _build_parameters(request)
    cursor.execute(
        "INSERT INTO answer_tasks SELECT ?, ?, ?, ?, coalesce(max(sequence), 0) + 1 FROM answer_tasks",
        [task_id, opened.task, canonical_json(parameters), utc_now()],
    )
    queries = sorted({query_id for query_ids in order_by_writer.values() for query_id in query_ids})
    reference_revisions = read_reference_revisions(cursor, queries)
    cursor.execute(
        "INSERT INTO answer_task_queries SELECT ?, unnest(?::TEXT[]), unnest(?::INTEGER[])",
        [task_id, queries, [reference_revisions.get(query_id) for query_id in queries]],
    )
    evidence = [document for query_id in queries for document in documents[query_id]]
    append_rows(cursor, "answer_evidence", evidence, task_id=task_id)
    rows = [
        (digest("answer", task_id, writer, query_id), query_id, writer, position)
        for writer, query_ids in order_by_writer.items()
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
