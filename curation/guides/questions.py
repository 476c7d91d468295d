"""Questions about the guide: where it is unclear, with its version, for whoever writes the next one."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.errors import InputError, NotFoundError
from curation.guides.guide import current_guide
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, fetch, record_event, utc_now
from curation.store.documents import title_last_shown
from curation.text import LONGEST_NOTE, digest


class GuideQuestion(NamedTuple):
    """What is unclear, at which pair, under which guide; `in_force` if that is the current guide."""

    question_id: str
    guide_hash: str
    guide: str
    in_force: bool
    query_id: str
    query: str
    document_id: str
    title: str
    words: str
    author: str
    asked_at: datetime


def ask_guide(store: Store, query_id: str, document_id: str, words: str, author: str = COMMAND_LINE) -> str:
    """Store that the guide in force is unclear at a pair; returns the question's id, equal for equal words.

    Raises
    ------
    InputError: the words are missing or too long.
    NotFoundError: the author is unknown, or no round has shown the pair.
    RefusedError: the author is neither reviewer nor lead.
    """
    said = " ".join(words.split())
    if not said or len(said) > LONGEST_NOTE:
        raise InputError(
            f"say in a few words what the guide leaves open (at most {LONGEST_NOTE:,} characters), "
            f"this has {len(said):,}"
        )
    with store.reading() as cursor:
        require_author(cursor, author, "reviewer", "lead")
    with store.transaction() as cursor:
        if not cursor.execute(_SHOWN, [query_id, document_id]).fetchall():
            raise NotFoundError(
                f"No round has shown the document {document_id!r} for the query {query_id!r}."
            )
        guide = current_guide(cursor).guide_hash
        question_id = digest("guide question", guide, query_id, document_id, said, author)
        row = [question_id, guide, query_id, document_id, said, author, utc_now()]
        new = cursor.execute(
            "INSERT INTO guide_questions VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1", row
        ).fetchall()
        if new:
            detail = {"guide": guide, "query_id": query_id, "document_id": document_id}
            record_event(cursor, "guide unclear", detail, author)
    return question_id


def guide_questions(cursor: Cursor) -> list[GuideQuestion]:
    """All questions, those about the guide in force first, the newest first."""
    return fetch(cursor, GuideQuestion, _QUESTIONS)


_SHOWN = "SELECT 1 FROM presentations WHERE query_id = ? AND document_id = ? LIMIT 1"

_QUESTIONS = f"""
SELECT g.question_id, g.guide_hash, v.title, g.guide_hash = (SELECT value FROM settings WHERE name = 'guide'),
       g.query_id, coalesce(q.text, g.query_id), g.document_id,
       {title_last_shown("g")},
       g.words, g.author, g.asked_at
FROM guide_questions g
JOIN guides v USING (guide_hash)
LEFT JOIN queries q USING (query_id)
ORDER BY 4 DESC, g.rowid DESC
"""  # noqa: S608
