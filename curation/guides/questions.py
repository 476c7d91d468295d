"""Questions about the labeling guide, which people ask where the guide is unclear, and which a lead answers.

Reviewers and leads ask about a pair; annotators ask about the item on their screen or about the guide as a
whole. An answer is shown to everyone, or only to the person who asked. Annotators see questions and answers
without the names of people.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import digest
from curation.core.errors import InputError, NotFoundError
from curation.core.reports.tables import QueryName, Table
from curation.core.text import MAX_NOTE_LENGTH
from curation.guides.guide import current_guide
from curation.people.annotators import JUDGING_ROLES, require_author
from curation.store import COMMAND_LINE, Cursor, Store, append_revision, fetch, record_event, utc_now
from curation.store.documents import title_last_shown

_LATEST_ANSWERS = """
SELECT question_id, revision, words AS answer, everyone, author AS answered_by, answered_at, rowid AS written
FROM guide_answers QUALIFY revision = max(revision) OVER (PARTITION BY question_id)
"""
_SHOWN_PAIR = "SELECT 1 FROM presentations WHERE query_id = ? AND document_id = ? LIMIT 1"
_ANNOTATORS_ITEM = """
SELECT r.guide_hash, p.query_id, p.document_id FROM presentations p JOIN round_states r USING (round_id)
WHERE p.presentation_id = ? AND p.annotator = ?
"""
_QUESTIONS = f"""
SELECT g.question_id, g.guide_hash, v.title, g.guide_hash = (SELECT value FROM settings WHERE name = 'guide'),
       g.query_id, coalesce(q.text, g.query_id), g.document_id,
       CASE WHEN g.document_id IS NOT NULL THEN {title_last_shown("g")} END,
       g.words, g.author, g.asked_at, a.answer, a.everyone, a.answered_by, a.answered_at
FROM guide_questions g
JOIN guides v USING (guide_hash)
LEFT JOIN queries q USING (query_id)
LEFT JOIN ({_LATEST_ANSWERS}) a USING (question_id)
ORDER BY 4 DESC, g.rowid DESC
"""  # noqa: S608
_READABLE = f"""
SELECT g.question_id, coalesce(a.revision, -1), g.words, a.answer, g.author = ? AS mine,
       CASE WHEN g.author = ? THEN q.text END
FROM guide_questions g
LEFT JOIN queries q USING (query_id)
LEFT JOIN ({_LATEST_ANSWERS}) a USING (question_id)
WHERE g.author = ? OR a.everyone
ORDER BY a.written DESC NULLS LAST, g.rowid DESC
LIMIT 100
"""  # noqa: S608
Pair = tuple[str | None, str | None]
"""Query id and document id of a question; None for a question about the guide as a whole."""


class GuideQuestion(NamedTuple):
    """A question about the labeling guide, with the pair, the version of the guide, and the answer.

    Attributes
    ----------
    in_force: whether the question is about the current guide.
    query_id, query, document_id, title: None for a question about the guide as a whole.
    answer, everyone, answered_by, answered_at: None until a lead answers.
    """

    question_id: str
    guide_hash: str
    guide: str
    in_force: bool
    query_id: str | None
    query: str | None
    document_id: str | None
    title: str | None
    words: str
    author: str
    asked_at: datetime
    answer: str | None
    everyone: bool | None
    answered_by: str | None
    answered_at: datetime | None


class ReadableQuestion(NamedTuple):
    """A question about the guide for an annotator, without people's names or other annotators' pairs.

    Attributes
    ----------
    revision: revision of the answer, which increases with each change; -1 without an answer. mine: whether
    the annotator asked the question.
    query: query of the item about which the annotator asked; None for questions of other people.
    """

    question_id: str
    revision: int
    words: str
    answer: str | None
    mine: bool
    query: str | None


def ask_about_pair(
    store: Store, query_id: str, document_id: str, text: str, author: str = COMMAND_LINE
) -> str:
    """Store a question about the current guide and a pair; return its id, equal for equal words.

    Raises
    ------
    InputError: the text is missing or too long.
    NotFoundError: the author is unknown, or no round has shown the pair.
    RefusedError: the author is neither reviewer nor lead.
    """
    text = _check_words(text, "enter in a few words what the guide leaves unclear")
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "reviewer", "lead")
        if not cursor.execute(_SHOWN_PAIR, [query_id, document_id]).fetchall():
            raise NotFoundError(f"No round has shown document {document_id!r} for the query {query_id!r}.")
        guide = current_guide(cursor).guide_hash
        return _insert_question(cursor, guide, (query_id, document_id), text, author)


def ask_about_item(store: Store, annotator: str, words: str, presentation_id: str | None = None) -> str:
    """Store an annotator's question about one of the annotator's items, or about the guide as a whole.

    Raises
    ------
    InputError: the text is missing or too long.
    NotFoundError: the annotator is unknown, or does not have the item.
    RefusedError: the annotator's role does not judge.
    """
    words = _check_words(words, "enter in a few words what the guide leaves unclear")
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, annotator, *JUDGING_ROLES)
        subject: Any = (current_guide(cursor).guide_hash, None, None)
        if presentation_id is not None:
            subject = cursor.execute(_ANNOTATORS_ITEM, [presentation_id, annotator]).fetchone()
        if subject is None:
            raise NotFoundError("This item is not one of yours.")
        guide, *pair = subject
        return _insert_question(cursor, guide, tuple(pair), words, annotator)


def answer_question(
    store: Store, question_id: str, words: str, author: str = COMMAND_LINE, everyone: bool = True
) -> GuideQuestion:
    """Answer a question or change its answer; annotators see the new answer at once.

    Parameters
    ----------
    question_id: id of the question, or a unique beginning of the id. everyone: whether all annotators see
    question and answer; otherwise only the person who asked.

    Raises
    ------
    InputError: the text is missing or too long, or several ids have the beginning.
    NotFoundError: the question is unknown.
    RefusedError: the author is not a lead.
    """
    words = _check_words(words, "enter the answer in a few words", keep_lines=True)
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "lead")
        question = find_question(cursor, question_id)
        if (question.answer, question.everyone) != (words, everyone):
            detail = {"question": question.question_id, "everyone": everyone}
            answer = {"words": words, "everyone": everyone, "author": author, "answered_at": utc_now()}
            append_revision(cursor, "guide_answers", "question_id", question.question_id, **answer)
            changed = question.answer is not None
            record_event(cursor, "answer guide question", {**detail, "changed": changed}, author)
        return find_question(cursor, question.question_id)


def find_question(cursor: Cursor, prefix: str) -> GuideQuestion:
    """Return the question whose id begins with the given characters.

    Raises
    ------
    InputError: the ids of several questions begin with these characters. NotFoundError: no id begins with
    these characters.
    """
    questions = list_questions(cursor)
    matching = [question for question in questions if prefix and question.question_id.startswith(prefix)]
    if not matching:
        command = "`goldgrade guide show --questions` lists all questions."
        raise NotFoundError(f"There is no question {prefix!r} about the guide.", command=command)
    if len(matching) > 1:
        raise InputError(f"{len(matching):,} questions begin with {prefix!r}; give more characters of the id")
    return matching[0]


def list_questions(cursor: Cursor) -> list[GuideQuestion]:
    """Return all questions about guides: those about the current guide first, then newest first."""
    return fetch(cursor, GuideQuestion, _QUESTIONS)


def list_readable_questions(store: Store, annotator: str) -> list[ReadableQuestion]:
    """Return an annotator's questions and the questions answered for everyone, newest answers first."""
    return store.read(fetch, ReadableQuestion, _READABLE, [annotator] * 3)


def build_question_table(caption: str, questions: Sequence[GuideQuestion]) -> Table:
    """Return the table of questions about the guide, with answers."""
    rows = []
    for question in questions:
        ids = (question.query_id or "", question.document_id or "")
        pair = QueryName(question.query or "the whole guide", *ids)
        answer = question.answer or "not yet"
        question_id = question.question_id[:8]
        rows.append((pair, question.title or "", question.words, question.author, answer, question_id))
    columns = ("Query", "Document", "What is unclear", "Who", "Answer", "Id")
    return Table(caption, columns, tuple(rows), words=True)


def _check_words(words: str, advice: str, keep_lines: bool = False) -> str:
    """Strip a text and refuse an empty or too long one; line breaks stay only with `keep_lines`."""
    words = words.strip() if keep_lines else " ".join(words.split())
    if not words or len(words) > MAX_NOTE_LENGTH:
        raise InputError(f"{advice} (at most {MAX_NOTE_LENGTH:,} characters); found {len(words):,}")
    return words


def _insert_question(cursor: Cursor, guide: str, pair: Pair, words: str, author: str) -> str:
    question_id = digest("guide question", guide, *pair, words, author)
    row = [question_id, guide, *pair, words, author, utc_now()]
    sql = "INSERT INTO guide_questions VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
    if cursor.execute(sql, row).fetchall():
        detail = {"guide": guide, "query_id": pair[0], "document_id": pair[1]}
        record_event(cursor, "guide unclear", detail, author)
    return question_id
