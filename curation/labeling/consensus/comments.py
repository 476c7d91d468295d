"""Comments on a dispute: what reviewers and leads say to each other about a judged pair, oldest first.

They are appended, and never changed. No annotator reads them, and no reviewer who has still to grade the
pair: it would not leave them blind. A comment stays in the project; a release has the decision and its
reason.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.errors import InputError, RefusedError
from curation.core.text import LONGEST_NOTE
from curation.labeling.session.own_answers import withheld_pairs
from curation.people.annotators import require_author
from curation.store import Cursor, Store, fetch, record_event, utc_now

_JUDGED = "SELECT 1 FROM eligible_judgments WHERE query_id = ? AND document_id = ? LIMIT 1"

_COMMENTS = """
SELECT query_id, document_id, words, author, commented_at FROM dispute_comments
WHERE query_id = ? AND (?::TEXT IS NULL OR document_id = ?) ORDER BY rowid
"""


class Comment(NamedTuple):
    """What somebody said about a pair; times are UTC."""

    query_id: str
    document_id: str
    words: str
    author: str
    commented_at: datetime


def comments(cursor: Cursor, reader: str, query_id: str, document_id: str | None = None) -> list[Comment]:
    """The comments on a query's pairs, or on one of them, that a reviewer or lead may read, oldest first.

    A sealed query's are among them: who shows them asks a door.

    Raises
    ------
    NotFoundError: the project does not know the reader.
    RefusedError: the reader is neither reviewer nor lead.
    """
    require_author(cursor, reader, "reviewer", "lead")
    own = withheld_pairs(cursor, reader)
    found = fetch(cursor, Comment, _COMMENTS, [query_id, document_id, document_id])
    return [one for one in found if (one.query_id, one.document_id) not in own]


def add_comment(
    store: Store, query_id: str, document_id: str, words: str, author: str, client_key: str
) -> None:
    """Say something about a judged pair; what comes again with its key changes nothing.

    Raises
    ------
    InputError: the words or the key are missing or too long.
    NotFoundError: the project does not know the author.
    RefusedError: it is not the author's to comment, nobody has judged the pair, or they have it to grade.
    """
    said = words.strip()
    if not said or len(said) > LONGEST_NOTE:
        raise InputError(f"a comment has 1 to {LONGEST_NOTE:,} characters, this one has {len(said):,}")
    if not 8 <= len(client_key) <= 128:
        raise InputError("a client key has 8 to 128 characters")
    pair = (query_id, document_id)
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "reviewer", "lead")
        if not cursor.execute(_JUDGED, list(pair)).fetchone() or pair in withheld_pairs(cursor, author):
            raise RefusedError(
                "Nobody has judged this pair, or it is among yours and you have still to grade."
            )
        if cursor.execute("SELECT 1 FROM dispute_comments WHERE client_key = ?", [client_key]).fetchone():
            return
        row = [client_key, *pair, said, author, utc_now()]
        cursor.execute("INSERT INTO dispute_comments VALUES (?, ?, ?, ?, ?, ?)", row)
        record_event(
            cursor, "comment on a dispute", {"query_id": query_id, "document_id": document_id}, author
        )
