"""Does the corpus answer a query? The counts of what annotators said while judging.

Each annotator's newest answer counts once. Answers of a pilot or an audit do not count, nor do those about
queries of which a round shows nothing but control items.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.queries.coverage.writing.coverage_queries import UNANSWERABLE, coverage_queries
from curation.store import Cursor

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
        PARTITION BY a.annotator, a.query_id ORDER BY r.sequence DESC) = 1)
SELECT query_id, count(*) FILTER (answer = 'yes'), count(*) FILTER (answer = 'partly'),
       count(*) FILTER (answer = 'no')
FROM newest GROUP BY query_id ORDER BY query_id
"""


class AnswerCounts(NamedTuple):
    """What annotators say about one query, each annotator's newest answer once."""

    query_id: str
    yes: int
    partly: int
    no: int


class UnanswerableCheck(NamedTuple):
    """A query that was written as unanswerable.

    Attributes
    ----------
    candidates: documents that its pool proposed; 0: not pooled yet.
    said: what annotators say.
    """

    query_id: str
    text: str
    writer: str
    candidates: int
    said: AnswerCounts

    @property
    def verdict(self) -> str:
        """What is known: 'not pooled', 'not judged', 'confirmed', 'answered' or 'undecided'."""
        asked = self.said.yes + self.said.partly + self.said.no
        if not asked:
            return "not judged" if self.candidates else "not pooled"
        if 2 * self.said.no == asked:
            return "undecided"
        return "confirmed" if 2 * self.said.no > asked else "answered"


def unanswerable(cursor: Cursor) -> list[AnswerCounts]:
    """How often annotators answered yes, partly and no, by query; queries without an answer are not there."""
    return [AnswerCounts(*row) for row in cursor.execute(_COUNTS).fetchall()]


def answered_no(cursor: Cursor) -> set[str]:
    """The queries of which more than half of those who answered say that the corpus does not answer them."""
    return {row.query_id for row in unanswerable(cursor) if 2 * row.no > row.yes + row.partly + row.no}


def written_unanswerable(cursor: Cursor) -> list[UnanswerableCheck]:
    """The queries that were written as unanswerable, in the order of writing, and what checks them.

    They are retrieved and judged like others. Whether the corpus answers one is what most people say who
    judged its candidates.
    """
    said = {row.query_id: row for row in unanswerable(cursor)}
    counts = dict(cursor.execute("SELECT query_id, count(*) FROM candidates GROUP BY query_id").fetchall())
    return [
        UnanswerableCheck(
            query.query_id,
            query.text,
            query.writer,
            counts.get(query.query_id, 0),
            said.get(query.query_id, AnswerCounts(query.query_id, 0, 0, 0)),
        )
        for query in coverage_queries(cursor)
        if query.purpose == UNANSWERABLE
    ]
