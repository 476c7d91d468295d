"""Annotators' remarks on the items and queries of a round.

Remarks name annotators, so only leads see remarks.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.labeling.rounds.rounds import find_round
from curation.people.seal_access import read_closed_access
from curation.store import Store, fetch
from curation.store.documents import VERSION

_REMARKS = f"""
SELECT query_id, q.text AS query, j.document_id, coalesce(nullif(d.title, ''), j.document_id) AS title,
       j.annotator, j.grade, j.reason, j.note, j.flagged
FROM current_judgments j JOIN queries q USING (query_id) JOIN {VERSION}
WHERE j.round_id = ? AND (j.kind = 'cannot_tell' OR j.flagged)
ORDER BY j.written DESC
"""  # noqa: S608
_QUERY_ANSWERS = """
SELECT query_id, q.text AS query, count(*) FILTER (a.answer = 'yes') AS yes,
       count(*) FILTER (a.answer = 'partly') AS partly, count(*) FILTER (a.answer = 'no') AS no
FROM current_query_answers a JOIN queries q USING (query_id)
WHERE a.round_id = ?
GROUP BY query_id, q.text ORDER BY no DESC, partly DESC, q.text, query_id
"""


class AnnotatorRemark(NamedTuple):
    """An item that an annotator flagged, or answered with cannot-tell (the grade is then None)."""

    query_id: str
    query: str
    document_id: str
    title: str
    annotator: str
    grade: int | None
    reason: str | None
    note: str | None
    flagged: bool


def list_remarks(store: Store, round_name: str) -> tuple[list[AnnotatorRemark], int]:
    """Read a round's cannot-tell and flagged answers, newest first, and count the sealed ones.

    Raises
    ------
    NotFoundError: the round is unknown.
    """
    with store.reading() as cursor:
        rows = fetch(cursor, AnnotatorRemark, _REMARKS, [find_round(cursor, round_name).round_id])
        access = read_closed_access(cursor)
    shown = [row for row in rows if access.can_show(row.query_id)]
    return shown, len(rows) - len(shown)


def count_query_answers(store: Store, round_name: str) -> list[tuple[str, str, int, int, int]]:
    """Count the annotators' answers (yes, partly, no) on whether the corpus answers each query, with the most
    "no" first.

    Return rows of query id, text, yes, partly and no.

    Raises
    ------
    NotFoundError: the round is unknown.
    """
    with store.reading() as cursor:
        return cursor.execute(_QUERY_ANSWERS, [find_round(cursor, round_name).round_id]).fetchall()
