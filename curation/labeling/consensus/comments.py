"""Comments by reviewers and leads on a judged pair.

Comments are appended, and never changed. Annotators never see comments. A reviewer who still has to judge the
pair does not see its comments either, because the judgment must be blind. A release holds the decision and
its reason, but no comments.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.errors import InputError, RefusedError
from curation.core.text import MAX_NOTE_LENGTH
from curation.labeling.consensus.decisions import is_judged
from curation.labeling.rounds.withheld_answers import read_withheld_pairs
from curation.people.annotators import require_author
from curation.store import Cursor, Store, fetch, record_event, utc_now

_COMMENTS = """
SELECT query_id, document_id, words, author, commented_at FROM dispute_comments
WHERE query_id = ? AND (?::TEXT IS NULL OR document_id = ?) ORDER BY rowid
"""


class Comment(NamedTuple):
    """A comment on a pair; times are UTC."""

    query_id: str
    document_id: str
    words: str
    author: str
    commented_at: datetime


def list_comments(cursor: Cursor, user: str, query_id: str, document_id: str | None = None) -> list[Comment]:
    """Read the comments that a reviewer or lead may read on a query's pairs or on one pair, oldest first.

    The list includes comments on sealed queries: a function that shows the list must ask a `SealAccess`.

    Raises
    ------
    NotFoundError: the user is not in the project.
    RefusedError: the user is neither reviewer nor lead.
    """
    require_author(cursor, user, "reviewer", "lead")
    withheld = read_withheld_pairs(cursor, user)
    comments = fetch(cursor, Comment, _COMMENTS, [query_id, document_id, document_id])
    return [comment for comment in comments if (comment.query_id, comment.document_id) not in withheld]


def add_comment(store: Store, query_id: str, document_id: str, text: str, author: str, key: str) -> None:
    """Add a comment to a judged pair; sending it again with the same client `key` changes nothing.

    Raises
    ------
    InputError: the comment or the client key is missing or too long.
    NotFoundError: the author is not in the project.
    RefusedError: the author is neither reviewer nor lead, nobody has judged the pair, or the author still has
        to judge the pair.
    """
    text = text.strip()
    if not text or len(text) > MAX_NOTE_LENGTH:
        raise InputError(f"a comment has 1 to {MAX_NOTE_LENGTH:,} characters; this comment has {len(text):,}")
    if not 8 <= len(key) <= 128:
        raise InputError("a client key has 8 to 128 characters")
    pair = (query_id, document_id)
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "reviewer", "lead")
        if not is_judged(cursor, pair) or pair in read_withheld_pairs(cursor, author):
            raise RefusedError(
                "You cannot see this pair yet: nobody has judged it, or it is among your own open items."
            )
        if cursor.execute("SELECT 1 FROM dispute_comments WHERE client_key = ?", [key]).fetchone():
            return
        row = [key, *pair, text, author, utc_now()]
        cursor.execute("INSERT INTO dispute_comments VALUES (?, ?, ?, ?, ?, ?)", row)
        detail = {"query_id": query_id, "document_id": document_id}
        record_event(cursor, "comment on a dispute", detail, author)
