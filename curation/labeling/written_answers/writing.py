"""The queries that a writer answers, as the writer's screen reads and submits them.

The screen shows the query, documents in a random order for each writer, and the writer's own answer. The
screen shows no grade, rank, document id or answer of a different writer. Writers see the reference answers
only after the task is closed, when answers can no longer be changed. The screen names a document by its
position on screen.

The events of an assignment have revisions, like judgments. A screen sends the revision that it shows, so if
two tabs answer, the first answer is stored and the second is refused. Sending the same answer again changes
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.errors import InputError, NotFoundError, RefusedError, refuse_problems
from curation.guides.guide import current_guide
from curation.ingest.importers.personal_data import redact
from curation.ingest.readers.lines import clean_text
from curation.labeling.answer_matching import tokenize_answer
from curation.labeling.presentation.drawing import (
    NO_IMAGE_HOSTS,
    DocumentText,
    DrawnDocument,
    Hosts,
    draw_document,
)
from curation.labeling.presentation.markup import Node
from curation.labeling.written_answers.outcomes import update_references
from curation.labeling.written_answers.shown_documents import read_query_text, read_shown_documents
from curation.people.annotators import JUDGING_ROLES, require_author
from curation.store import Cursor, Store, utc_now

MAX_ANSWER_LENGTH = 1_000
"""Maximum characters of an answer: reference answers are short, because systems' answers are short."""
ANSWER, UNANSWERABLE, RETRACT = "answer", "unanswerable", "retract"
_QUEUE = """
SELECT a.assignment_id, coalesce(s.answered, false)
FROM answer_assignments a JOIN answer_task_states t USING (task_id)
LEFT JOIN answer_states s USING (assignment_id)
WHERE a.writer = ? AND NOT t.closed ORDER BY t.sequence, a.position
"""
_OWN_ASSIGNMENT = """
SELECT a.assignment_id, a.task_id, a.query_id, t.closed, coalesce(s.revision + 1, 0), s.kind,
       coalesce(s.answer, (
           SELECT arg_max(e.answer, e.revision) FROM answer_events e
           WHERE e.assignment_id = a.assignment_id AND s.kind = 'retract')), coalesce(s.documents, [])
FROM answer_assignments a JOIN answer_task_states t USING (task_id)
LEFT JOIN answer_states s USING (assignment_id)
WHERE a.assignment_id = ? AND a.writer = ?
"""
_DRAFT = """
SELECT documents FROM answer_drafts WHERE assignment_id = ? AND revision = ? ORDER BY number DESC LIMIT 1
"""
_SAVE_TICKS = """
INSERT INTO answer_drafts
SELECT ?, ?, coalesce(max(number) + 1, 0), ? FROM answer_drafts WHERE assignment_id = ? AND revision = ?
"""
_OWN_ANSWERS = """
SELECT a.assignment_id, s.revision + 1, q.text, s.answer, t.closed, r.answers
FROM answer_assignments a JOIN answer_states s USING (assignment_id)
JOIN answer_task_states t USING (task_id) JOIN queries q USING (query_id)
LEFT JOIN current_reference_answers r ON r.query_id = a.query_id AND r.source = 'people'
WHERE a.writer = ? AND s.answered ORDER BY s.written DESC LIMIT ?
"""


class WritingItem(NamedTuple):
    """A query that a writer must answer, as shown on the writer's screen.

    Attributes
    ----------
    revision: number of the assignment's events; a sent answer passes this number as `seen_revision`.
    answer: the writer's last answer, or ''.
    ticked: positions of the documents that the writer has ticked.
    written: whether the writer has already answered, and may change the answer.
    """

    assignment_id: str
    revision: int
    query: str
    information_need: str | None
    documents: tuple[DrawnDocument, ...]
    answer: str
    ticked: tuple[int, ...]
    written: bool


class OwnAnswer(NamedTuple):
    """An answer that the writer sent; `answer` is None for "the corpus does not answer the query".

    can_change: whether the task is open.
    references: the query's reference answers after the task is closed; None for an open task or an undecided
        query.
    """

    assignment_id: str
    revision: int
    query: str
    answer: str | None
    can_change: bool
    references: tuple[str, ...] | None


class _Assignment(NamedTuple):
    assignment_id: str
    task_id: str
    query_id: str
    closed: bool
    revision: int
    kind: str | None
    answer: str | None
    documents: list[str]

    @property
    def written(self) -> bool:
        return self.kind in (ANSWER, UNANSWERABLE)

    def is_repeated_by(self, kind: str, text: str | None, documents: Sequence[str]) -> bool:
        """Return whether a new answer repeats the assignment's last event."""
        is_same_answer = (text, list(documents)) == (self.answer, self.documents)
        return kind == self.kind and (kind != ANSWER or is_same_answer)


def has_answer_tasks(cursor: Cursor, writer: str | None = None) -> bool:
    """Return whether a writer was ever asked for an answer; None means any writer."""
    sql = "SELECT 1 FROM answer_assignments WHERE ? IS NULL OR writer = ? LIMIT 1"
    return bool(cursor.execute(sql, [writer, writer]).fetchall())


def read_writing_queue(store: Store, writer: str) -> tuple[list[str], int]:
    """List the writer's open assignments in order, and count the answered assignments in open tasks."""
    with store.reading() as cursor:
        rows = cursor.execute(_QUEUE, [writer]).fetchall()
    open_ids = [assignment_id for assignment_id, is_answered in rows if not is_answered]
    return open_ids, len(rows) - len(open_ids)


def read_writing_item(
    store: Store, writer: str, assignment_id: str, image_hosts: Hosts = NO_IMAGE_HOSTS
) -> WritingItem:
    """Read the query and the documents of an assignment, for the writer's screen.

    Raises
    ------
    NotFoundError: the writer has no such assignment.
    """
    with store.reading() as cursor:
        assignment = _read_assignment(cursor, writer, assignment_id)
        query, information_need = read_query_text(cursor, assignment.query_id)
        documents = _read_ordered_documents(cursor, assignment)
        draft = cursor.execute(_DRAFT, [assignment_id, assignment.revision]).fetchone()
        template = current_guide(cursor).presentation
    ticked_ids = set(draft[0] if draft else assignment.documents)
    drawn = [draw_document(text, query, template, image_hosts=image_hosts) for text in documents.values()]
    ticked = tuple(index for index, document_id in enumerate(documents) if document_id in ticked_ids)
    revision, answer = assignment.revision, assignment.answer or ""
    return WritingItem(
        assignment_id, revision, query, information_need, tuple(drawn), answer, ticked, assignment.written
    )


def draw_shown_document(
    store: Store, writer: str, assignment_id: str, index: int, image_hosts: Hosts = NO_IMAGE_HOSTS
) -> list[Node]:
    """Draw the whole body of a document on the writer's screen, with the query's words highlighted.

    Raises
    ------
    NotFoundError: the writer has no such assignment.
    """
    with store.reading() as cursor:
        assignment = _read_assignment(cursor, writer, assignment_id)
        template = current_guide(cursor).presentation
        query, _ = read_query_text(cursor, assignment.query_id)
        documents = _read_ordered_documents(cursor, assignment)
    document = list(documents.values())[index]
    return draw_document(document, query, template, longest=None, image_hosts=image_hosts).passage


def save_ticks(store: Store, writer: str, assignment_id: str, document_indexes: Sequence[int]) -> None:
    """Store which documents a writer has ticked for an answer that has not been sent yet.

    Raises
    ------
    NotFoundError: the writer has no such assignment.
    """
    with store.transaction(new_data_version=False) as cursor:  # no other screen shows the ticks
        assignment = _read_assignment(cursor, writer, assignment_id)
        shown_ids = list(_read_ordered_documents(cursor, assignment))
        document_ids = [shown_ids[index] for index in sorted(set(document_indexes))]
        event = [assignment_id, assignment.revision]
        cursor.execute(_SAVE_TICKS, [*event, document_ids, *event])


def write_answer(
    store: Store, writer: str, assignment_id: str, text: str, document_indexes: Sequence[int], seen: int
) -> None:
    """Store a writer's answer, with the positions of the documents that support the answer.

    Parameters
    ----------
    seen: the revision that was on screen.

    Raises
    ------
    InputError: the answer is empty, too long or holds personal data, or no document supports the answer.
    NotFoundError: the writer has no such assignment.
    RefusedError: the query was answered meanwhile in a different tab, or the task is closed and the query is
        already answered.
    """
    answer = " ".join(text.split())
    problems = find_answer_problems(answer)
    if not document_indexes:
        problems.append(
            "Tick the documents that support the answer. If no document supports it, say that the corpus "
            "does not answer the query."
        )
    refuse_problems(problems)
    _append_event(store, writer, assignment_id, ANSWER, answer, document_indexes, seen)


def mark_unanswerable(store: Store, writer: str, assignment_id: str, text: str, seen_revision: int) -> None:
    """Store the answer that the corpus does not answer the query; raise the same errors as `write_answer`.

    Parameters
    ----------
    text: the text in the answer field, which must be empty.
    """
    if text.strip():
        raise InputError(
            "You typed an answer. Send it, or empty the field to say that the corpus does not "
            "answer the query."
        )
    _append_event(store, writer, assignment_id, UNANSWERABLE, None, (), seen_revision)


def retract_answer(store: Store, writer: str, assignment_id: str, seen_revision: int) -> None:
    """Undo a writer's answer, so that the query is open for the writer again.

    Raises
    ------
    NotFoundError: the writer has no such assignment.
    RefusedError: the task is closed, there is no answer, or a different tab answered meanwhile.
    """
    _append_event(store, writer, assignment_id, RETRACT, None, (), seen_revision)


def list_own_answers(store: Store, writer: str, limit: int = 20) -> list[OwnAnswer]:
    """List the writer's last answers, newest first."""
    with store.reading() as cursor:
        rows = cursor.execute(_OWN_ANSWERS, [writer, limit]).fetchall()
    return [
        OwnAnswer(key, revision, query, answer, not closed, tuple(final) if closed and final else None)
        for key, revision, query, answer, closed, final in rows
    ]


def find_answer_problems(answer: str) -> list[str]:
    """List the problems of an answer's text, in one sentence each."""
    problems = [] if tokenize_answer(answer) else ["Write an answer in a few words."]
    if len(answer) > MAX_ANSWER_LENGTH:
        problems.append(
            f"An answer has at most {MAX_ANSWER_LENGTH:,} characters; this answer has {len(answer):,}."
        )
    kinds = ", ".join(sorted(redact(answer).kinds))
    if kinds:
        problems.append(
            f"The answer contains personal data ({kinds}), which goldgrade does not store. Remove it."
        )
    if clean_text(answer, Counter()) != answer:
        problems.append("The answer is not UTF-8 text.")
    return problems


def _append_event(
    store: Store,
    writer: str,
    assignment_id: str,
    kind: str,
    text: str | None,
    document_indexes: Sequence[int],
    seen_revision: int,
) -> None:
    with store.transaction(appends=True) as cursor:
        assignment = _read_assignment(cursor, writer, assignment_id)
        document_ids = assignment.documents
        if kind != RETRACT:
            shown_ids = list(_read_ordered_documents(cursor, assignment))
            document_ids = sorted(shown_ids[index] for index in set(document_indexes))
        if assignment.is_repeated_by(kind, text, document_ids):
            return
        _refuse_late_event(assignment, kind, seen_revision)
        with update_references(cursor, assignment.task_id, writer, [assignment.query_id]):
            answer = [kind, text, document_ids, assignment.closed, utc_now()]
            row = [assignment_id, assignment.revision, *answer]
            cursor.execute("INSERT INTO answer_events VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def _refuse_late_event(assignment: _Assignment, kind: str, seen_revision: int) -> None:
    if assignment.revision != seen_revision:
        raise RefusedError(
            "You already answered this query in another tab or window, and that answer counts. "
            "See your last answers."
        )
    if assignment.closed and (assignment.written or kind == RETRACT):
        raise RefusedError("The lead has closed this task, so you can no longer change its answers.")
    if kind == RETRACT and not assignment.written:
        raise RefusedError("There is no answer to undo.")


def _read_assignment(cursor: Cursor, writer: str, assignment_id: str) -> _Assignment:
    require_author(cursor, writer, *JUDGING_ROLES)
    row = cursor.execute(_OWN_ASSIGNMENT, [assignment_id, writer]).fetchone()
    if row is None:
        raise NotFoundError("You were not asked to answer this query.")
    return _Assignment(*row)


def _read_ordered_documents(cursor: Cursor, assignment: _Assignment) -> dict[str, DocumentText]:
    """Read the documents that the assignment shows, by id, in the order of the writer's screen."""
    documents = read_shown_documents(cursor, assignment.task_id, assignment.query_id)
    return dict(sorted(documents.items(), key=lambda entry: digest(assignment.assignment_id, entry[0])))
