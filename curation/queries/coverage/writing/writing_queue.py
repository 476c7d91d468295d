"""A writer's queue of query-writing tasks.

A query-writing task ends once, with a query or by passing the task on, so a repeated action changes nothing.
After a task is passed on, the writer gets a new task with the next document of the region. A query-writing
task waits while the corpus lacks the task's version of the document.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.core.characters import normalise_query
from curation.core.errors import CurationError, InputError, NotFoundError, RefusedError
from curation.core.request import DEFAULT_MODEL
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.personal_data import redact
from curation.ingest.importers.queries import read_active_queries
from curation.queries.coverage.stored_map import read_central_entities, read_cluster_documents
from curation.queries.coverage.writing import checks, coverage_queries
from curation.queries.coverage.writing.checks import TextWarnings, shares_words
from curation.queries.coverage.writing.coverage_queries import GAP, CoverageQuery, QueryOrigin, list_queries
from curation.queries.coverage.writing.styles import STYLES, QueryStyle
from curation.queries.coverage.writing.tasks import compute_task_id, list_unused, read_used
from curation.retrieval.embeddings import embed
from curation.store import Cursor, Document, Store, fetch, record_event, utc_now
from curation.store.documents import current_snapshot, documents_by_hash, snapshot_versions

MAX_ENTITIES = 12
"""Largest number of a region's entities that a writer sees."""


class _StoredTask(NamedTuple):
    task_id: str
    batch_id: str
    kind: str
    map_id: str
    seed: int
    writer: str
    cluster: int
    document_id: str
    content_hash: str
    style: str
    outcome: str | None
    query_id: str | None


class WritingTask(NamedTuple):
    """A query-writing task as the writer sees it.

    Attributes
    ----------
    kind: 'gap' for a query that the document answers; 'unanswerable' for a related query that no document of
        the corpus answers.
    entities: names of the most central entities of the document's region.
    """

    task_id: str
    kind: str
    entities: tuple[str, ...]
    document: Document
    style: QueryStyle


class WritingQueue(NamedTuple):
    """A writer's next task, task counts, and written queries.

    Attributes
    ----------
    task: the next task; None if no task is open.
    open, passed: numbers of open tasks and of tasks that were passed on.
    waiting: number of tasks whose document has changed or is no longer in the corpus.
    written: the writer's queries, newest first.
    """

    task: WritingTask | None
    open: int
    passed: int
    waiting: int
    written: list[CoverageQuery]


def has_writing_tasks(cursor: Cursor, writer: str | None = None) -> bool:
    """Return whether a writer was ever asked to write a query; None means any writer."""
    sql = "SELECT 1 FROM writing_tasks WHERE ? IS NULL OR writer = ? LIMIT 1"
    return bool(cursor.execute(sql, [writer, writer]).fetchall())


def read_writing_queue(cursor: Cursor, writer: str) -> WritingQueue:
    """Read a writer's queue of query-writing tasks. Tasks of earlier batches come first."""
    tasks = _read_tasks(cursor, "writer = ?", writer)
    unfinished = [task for task in tasks if task.outcome is None]
    documents = [task.document_id for task in unfinished]
    versions = snapshot_versions(cursor, current_snapshot(cursor), documents) if unfinished else {}
    ready = [task for task in unfinished if versions.get(task.document_id) == task.content_hash]
    return WritingQueue(
        task=_make_task_view(cursor, ready[0]) if ready else None,
        open=len(ready),
        passed=sum(task.outcome == "passed" for task in tasks),
        waiting=len(unfinished) - len(ready),
        written=[query for query in reversed(list_queries(cursor)) if query.writer == writer],
    )


def check_task_text(store: Store, task_id: str, text: str, writer: str) -> TextWarnings:
    """Find the warnings to show a writer before goldgrade stores the writer's query.

    Raises
    ------
    NotFoundError: the writer has no such task.
    InputError: the text is empty.
    """
    if not normalise_query(text):
        raise InputError("The query is empty: type what a user would ask.")
    with store.reading() as cursor:
        task = _read_own_task(cursor, task_id, writer)
        queries = [query for query in read_active_queries(cursor) if query.query_id != task.query_id]
        document = documents_by_hash(cursor, [task.content_hash])[task.content_hash]
    elsewhere = task.kind == GAP and not _is_about(store, text, document)
    return checks.check_text(text, document.title, document.body, STYLES[task.style], queries, elsewhere)


def _is_about(store: Store, text: str, document: Document) -> bool:
    """Return whether a text shares a word with the document, or is close to the document by embeddings."""
    if shares_words(text, document.text) or redact(text).kinds:  # personal data is refused, and not embedded
        return True
    with store.reading() as cursor:
        sql = "SELECT 1 FROM embeddings WHERE model = ? LIMIT 1"
        if not cursor.execute(sql, [DEFAULT_MODEL]).fetchall():
            return False
    try:
        [query_vector] = embed(store, [text], "query", ask_hub=False)
        [document_vector] = embed(store, [document.text], ask_hub=False)
    except CurationError:  # the model is not on this machine: words alone decide
        return False
    return float(query_vector @ document_vector) >= checks.MIN_COSINE


def write_task(store: Store, task_id: str, text: str, writer: str) -> str:
    """Store the query of a task, and return its id. The document of a task for a gap becomes a candidate to
    judge. Sending the same query for the same task again changes nothing.

    Raises
    ------
    NotFoundError: the writer has no such task.
    InputError: the text is empty or holds personal data, or the project has the query already.
    RefusedError: the task was passed on, or has a different query.
    """
    warnings = check_task_text(store, task_id, text, writer)
    with store.transaction() as cursor:
        task = _read_own_task(cursor, task_id, writer)
        equal_queries = KnownQueries.read(cursor).find_by_text(normalise_query(text))
        if task.outcome is not None:
            if task.query_id is not None and task.query_id in {query.query_id for query in equal_queries}:
                return task.query_id
            raise RefusedError("This task is already done. Continue with the next task.")
        if equal_queries:
            advice = "Write a different query that a user might ask."
            raise InputError(f"The project already has this query. {advice}")
        origin = QueryOrigin(
            purpose=task.kind,
            writer=writer,
            map_id=task.map_id,
            cluster=task.cluster,
            document_id=task.document_id,
            content_hash=task.content_hash,
            style=task.style,
            detail={"task": task_id, "warnings": warnings._asdict()},
        )
        query = coverage_queries.add_coverage_query(cursor, text, origin)
        coverage_queries.add_origin_candidates(cursor, [query.query_id])
        _end_task(cursor, task_id, "written", query.query_id)
    return query.query_id


def pass_task(store: Store, task_id: str, writer: str) -> bool:
    """Skip a task whose document no user would search for; return whether a new task replaces it.

    The new task has a different document of the region.


    Passing on a task again changes nothing.

    Raises
    ------
    NotFoundError: the writer has no such task.
    RefusedError: the query of the task is written.
    """
    with store.transaction() as cursor:
        task = _read_own_task(cursor, task_id, writer)
        if task.outcome == "written":
            raise RefusedError("This task already has its query. Continue with the next task.")
        if task.outcome == "passed":
            return True
        _end_task(cursor, task_id, "passed", None)
        next_document = _find_next_document(cursor, task)
        if next_document is not None:
            _append_task(cursor, task, *next_document)
        detail = {"task": task_id, "document": task.document_id, "next": next_document and next_document[0]}
        record_event(cursor, "pass writing task", detail, writer)
    return next_document is not None


def _find_next_document(cursor: Cursor, task: _StoredTask) -> tuple[str, str] | None:
    """Find the id and content hash of the next document in the task's region, or None."""
    region_documents = read_cluster_documents(cursor, task.map_id, task.cluster)
    versions = snapshot_versions(cursor, current_snapshot(cursor), region_documents)
    unused = list_unused(versions, read_used(cursor, task.kind), task.cluster, task.seed, task.kind)
    return (unused[0], versions[unused[0]]) if unused else None


def _append_task(cursor: Cursor, task: _StoredTask, document_id: str, content_hash: str) -> None:
    sql = "SELECT max(position) + 1 FROM writing_tasks WHERE batch_id = ?"
    [(position,)] = cursor.execute(sql, [task.batch_id]).fetchall()
    row = [compute_task_id(task.batch_id, position), task.batch_id, position, task.writer, task.cluster]
    row += [document_id, content_hash, task.style]
    cursor.execute("INSERT INTO writing_tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _end_task(cursor: Cursor, task_id: str, outcome: str, query_id: str | None) -> None:
    cursor.execute("INSERT INTO writing_endings VALUES (?, ?, ?, ?)", [task_id, outcome, query_id, utc_now()])


def _read_own_task(cursor: Cursor, task_id: str, writer: str) -> _StoredTask:
    tasks = _read_tasks(cursor, "task_id = ?", task_id)
    if not tasks or tasks[0].writer != writer:
        raise NotFoundError("You have no task with this id.")
    return tasks[0]


def _read_tasks(cursor: Cursor, condition: str, value: str) -> list[_StoredTask]:
    sql = f"""
        SELECT t.task_id, t.batch_id, b.kind, b.map_id, b.seed, t.writer, t.cluster, t.document_id,
               t.content_hash, t.style, e.outcome, e.query_id
        FROM writing_tasks t JOIN writing_batches b USING (batch_id)
        LEFT JOIN writing_endings e USING (task_id)
        WHERE {condition} ORDER BY b.rowid, t.position
    """  # noqa: S608  a condition from above
    return fetch(cursor, _StoredTask, sql, [value])


def _make_task_view(cursor: Cursor, task: _StoredTask) -> WritingTask:
    document = documents_by_hash(cursor, [task.content_hash])[task.content_hash]
    entities = read_central_entities(cursor, task.map_id, task.cluster, MAX_ENTITIES)
    return WritingTask(task.task_id, task.kind, entities, document, STYLES[task.style])
