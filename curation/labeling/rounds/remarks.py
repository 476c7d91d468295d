"""Remarks: what a round holds besides grades: cannot tell, flags, and whether the corpus answers a query.

They name annotators, and are for the lead.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.labeling.rounds.rounds import find_round
from curation.people.seal_access import closed_access
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
    """An item on which somebody could not tell, or set a flag; grade is None if they could not tell."""

    query_id: str
    query: str
    document_id: str
    title: str
    annotator: str
    grade: int | None
    reason: str | None
    note: str | None
    flagged: bool


def remarks(store: Store, round_name: str) -> tuple[list[AnnotatorRemark], int]:
    """Current cannot-tells and flagged answers of a round, newest first, and how many more a release seals.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        rows = fetch(cursor, AnnotatorRemark, _REMARKS, [find_round(cursor, round_name).round_id])
        access = closed_access(cursor)
    shown = [row for row in rows if access.shows(row.query_id)]
    return shown, len(rows) - len(shown)


def query_answer_counts(store: Store, round_name: str) -> list[tuple[str, str, int, int, int]]:
    """Query id, text, and how many annotators of a round say yes, partly or no of it, the most noes first.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        return cursor.execute(_QUERY_ANSWERS, [find_round(cursor, round_name).round_id]).fetchall()
