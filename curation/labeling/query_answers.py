"""Does the corpus answer the query? What annotators say after their last document of it.

An answer belongs to a round, an annotator and a query; a later one is a new revision. Answers of a pilot or
an audit, and those about queries of which a round shows nothing but known answers, are kept and not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from curation.store import Cursor, Store, utc_now

ANSWERS = ("yes", "partly", "no")
ASKED_IN = ("labeling", "pilot", "audit")
"""An audit asks like any other round, or it could be told from one."""


@dataclass(frozen=True)
class QueryOutcome:
    """What became of an answer.

    status: 'saved'; 'repeated' (this very answer was saved before); 'refused' (`message` says why).
    """

    presentation_id: str
    client_key: str
    status: str
    message: str = ""


class AnswerCounts(NamedTuple):
    """What annotators say about one query, each annotator's newest answer once."""

    query_id: str
    yes: int
    partly: int
    no: int


def answer_query(
    store: Store, annotator: str, presentation_id: str, answer: str, client_key: str
) -> QueryOutcome:
    """Say whether the corpus answers the query of one of the annotator's presentations."""
    with store.transaction(new_edition=False) as cursor:  # no desk holds these answers
        status, message = _judge(cursor, annotator, presentation_id, answer, client_key)
        if status == "saved":
            cursor.execute(_INSERT, [answer, client_key, utc_now(), presentation_id])
    return QueryOutcome(presentation_id, client_key, status, message)


def unanswerable(cursor: Cursor) -> list[AnswerCounts]:
    """How often annotators answered yes, partly and no, by query; queries without an answer are not there."""
    return [AnswerCounts(*row) for row in cursor.execute(_COUNTS).fetchall()]


def answered_no(cursor: Cursor) -> set[str]:
    """The queries of which more than half of those who answered say that the corpus does not answer them."""
    return {row.query_id for row in unanswerable(cursor) if 2 * row.no > row.yes + row.partly + row.no}


def _judge(
    cursor: Cursor, annotator: str, presentation_id: str, answer: str, client_key: str
) -> tuple[str, str]:
    found = cursor.execute(_FIND, [presentation_id, annotator]).fetchall()
    if not found:
        return "refused", "this item is not among your items"
    round_id, query_id, kind = found[0]
    used = cursor.execute(_USED, [client_key]).fetchall()
    if used:
        same = used[0] == (round_id, annotator, query_id)
        return ("repeated", "") if same else ("refused", "this action's key is already in use")
    if answer not in ANSWERS:
        return "refused", f"unknown answer {answer!r}; expected one of {', '.join(ANSWERS)}"
    if not 8 <= len(client_key) <= 128:
        return "refused", "a client key has 8 to 128 characters"
    if kind not in ASKED_IN:
        return "refused", "this round does not ask whether the corpus answers a query"
    return "saved", ""


_FIND = """
SELECT p.round_id, p.query_id, r.kind FROM live_presentations p JOIN rounds r USING (round_id)
WHERE p.presentation_id = ? AND p.annotator = ?
"""

_USED = "SELECT round_id, annotator, query_id FROM query_answers WHERE client_key = ?"

_INSERT = """
INSERT INTO query_answers
SELECT p.round_id, p.annotator, p.query_id,
       (SELECT count(*) FROM query_answers a
        WHERE a.round_id = p.round_id AND a.annotator = p.annotator AND a.query_id = p.query_id), ?, ?, ?
FROM presentations p WHERE p.presentation_id = ?
"""

_COUNTS = """
WITH newest AS (
    SELECT a.annotator, a.query_id, a.answer
    FROM current_query_answers a JOIN rounds r USING (round_id)
    WHERE r.kind = 'labeling' AND EXISTS (
        FROM presentations p
        WHERE p.round_id = a.round_id AND p.query_id = a.query_id AND NOT EXISTS (
            FROM known_answers k
            WHERE k.round_id = p.round_id AND k.query_id = p.query_id AND k.document_id = p.document_id))
    QUALIFY row_number() OVER (
        PARTITION BY a.annotator, a.query_id ORDER BY a.answered_at DESC, a.round_id) = 1)
SELECT query_id, count(*) FILTER (answer = 'yes'), count(*) FILTER (answer = 'partly'),
       count(*) FILTER (answer = 'no')
FROM newest GROUP BY query_id ORDER BY query_id
"""
