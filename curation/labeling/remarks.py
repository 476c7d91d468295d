"""What annotators said in a round besides grades: cannot tell, flags, and whether the corpus answers a query.

For the lead, who sees names: these are questions to talk about.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.labeling.rounds import find_round
from curation.store import Store, fetch


class Remark(NamedTuple):
    """An item on which somebody could not tell, or set a flag; grade is None where they could not tell."""

    query: str
    title: str
    annotator: str
    grade: int | None
    reason: str | None
    note: str | None
    flagged: bool
    said_at: datetime


class QueryVoices(NamedTuple):
    """What annotators say of one query: does the corpus answer it?"""

    query: str
    yes: int
    partly: int
    no: int


def remarks(store: Store, round_name: str) -> list[Remark]:
    """Current cannot-tells and flagged answers of a round, newest first.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        return fetch(cursor, Remark, _REMARKS, [find_round(cursor, round_name).round_id])


def query_voices(store: Store, round_name: str) -> list[QueryVoices]:
    """The answers about queries in a round, those most often answered with no first.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        return fetch(cursor, QueryVoices, _VOICES, [find_round(cursor, round_name).round_id])


_REMARKS = """
SELECT q.text, coalesce(nullif(d.title, ''), j.document_id), j.annotator, j.grade, j.reason, j.note,
       j.flagged, j.submitted_at
FROM current_judgments j JOIN queries q USING (query_id) JOIN documents d USING (content_hash)
WHERE j.round_id = ? AND (j.kind = 'cannot_tell' OR j.flagged)
ORDER BY j.submitted_at DESC, j.presentation_id
"""

_VOICES = """
SELECT q.text, count(*) FILTER (a.answer = 'yes') AS yes, count(*) FILTER (a.answer = 'partly') AS partly,
       count(*) FILTER (a.answer = 'no') AS no
FROM current_query_answers a JOIN queries q USING (query_id)
WHERE a.round_id = ?
GROUP BY a.query_id, q.text ORDER BY no DESC, partly DESC, q.text, a.query_id
"""
