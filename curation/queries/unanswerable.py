"""Unanswerable queries: queries that the corpus does not answer, according to people.

The newest answer of each annotator about a query counts. Answers in a pilot or an audit do not count. Answers
about a query also do not count if the round shows only control items of the query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from curation.core.reports.tables import Table
from curation.core.text import percent, pluralize
from curation.ingest.importers.query_tags import FAILURE_MODES, read_latest_tags
from curation.queries.coverage.writing.coverage_queries import UNANSWERABLE, CoverageQuery, list_queries
from curation.store import Cursor, get_setting

MIN_SHARE, MAX_SHARE = 0.05, 0.2
"""Bounds of the share of unanswerable queries that a gold set should have."""
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


class UnanswerableCheck(NamedTuple):
    """A query that was written as unanswerable, with annotators' answers on whether the corpus answers it.

    Attributes
    ----------
    candidates: number of candidates of the query; 0 if the query is not pooled yet.
    yes, partly, no: numbers of annotators' answers.
    """

    query_id: str
    text: str
    writer: str
    candidates: int
    yes: int
    partly: int
    no: int

    @property
    def verdict(self) -> str:
        """Return the verdict: 'not pooled', 'not judged', 'confirmed', 'answered' or 'undecided'."""
        asked = self.yes + self.partly + self.no
        if not asked:
            return "not judged" if self.candidates else "not pooled"
        if 2 * self.no == asked:
            return "undecided"
        return "confirmed" if 2 * self.no > asked else "answered"


def count_answers(cursor: Cursor) -> dict[str, tuple[int, int, int]]:
    """Count annotators' answers on whether the corpus answers each query: yes, partly and no. Queries without
    an answer are left out."""
    return {query_id: (yes, partly, no) for query_id, yes, partly, no in cursor.execute(_COUNTS).fetchall()}


def find_unanswered(cursor: Cursor) -> set[str]:
    """Find the queries that the corpus does not answer according to more than half of annotators' answers."""
    return {query_id for query_id, counts in count_answers(cursor).items() if 2 * counts[2] > sum(counts)}


def check_written_queries(cursor: Cursor) -> list[UnanswerableCheck]:
    """Check the queries that were written as unanswerable, in the order of writing.

    Queries written as unanswerable are pooled and judged like any other query. The annotators who judge the
    candidates of a query also answer whether the corpus answers the query, and the majority decides.
    """
    answers = count_answers(cursor)
    sql = "SELECT query_id, count(*) FROM candidates GROUP BY query_id"
    counts = Counter(dict(cursor.execute(sql).fetchall()))
    return [
        UnanswerableCheck(
            row.query_id, row.text, row.writer, counts[row.query_id], *answers.get(row.query_id, (0, 0, 0))
        )
        for row in list_queries(cursor)
        if row.purpose == UNANSWERABLE
    ]


def build_written_table(queries: Sequence[CoverageQuery], checks: Sequence[UnanswerableCheck]) -> Table:
    """Show the coverage queries with their sources, and the verdicts on unanswerable queries."""
    verdicts = {check.query_id: check.verdict for check in checks}
    rows = (
        (
            *(query.text, query.source, query.writer, query.cluster, query.document_id, query.style),
            verdicts.get(query.query_id, ""),
        )
        for query in queries
    )
    columns = ("query", "source", "writer", "region", "document", "style", "unanswerable")
    return Table(f"{pluralize(len(queries), 'query', 'queries')} written for coverage", columns, tuple(rows))


def is_usual_share(unanswerable: int, queries: int) -> bool:
    """Return whether 5 to 20 % of the queries are unanswerable, which is the usual share."""
    return MIN_SHARE * queries <= unanswerable <= MAX_SHARE * queries


def describe_share(unanswerable: int, queries: int, of: str = "") -> str:
    """Say how many queries are unanswerable, with advice if the share is unusual. `of` names the set of
    queries."""
    share = percent(unanswerable / max(1, queries))
    counts = f"{unanswerable:,} of {pluralize(queries, 'query', 'queries')}{of} ({share})"
    advice = (
        f"; {percent(MIN_SHARE)} to {percent(MAX_SHARE)} would show whether systems give no answer when "
        "they should, without hiding how well they find documents"
    )
    return f"{counts} are tagged unanswerable{'' if is_usual_share(unanswerable, queries) else advice}."


def count_unanswerable(cursor: Cursor) -> tuple[int, int] | None:
    """Count the unanswerable queries and all queries of the current sample.

    A query is unanswerable if it is tagged unanswerable, or if most annotators who were asked said that the
    corpus does not answer the query. A person's statement that a query is not unanswerable overrides the
    answers. Return None without a sample, or if nobody has tagged a failure mode or answered, because an
    unknown share is not zero.
    """
    sql = "SELECT query_id FROM sample_queries WHERE sample_id = ?"
    sample = {query_id for (query_id,) in cursor.execute(sql, [get_setting(cursor, "sample")]).fetchall()}
    statements = {**read_latest_tags(cursor, by_person=False), **read_latest_tags(cursor, by_person=True)}
    sample_tags = {pair: present for pair, present in statements.items() if pair[0] in sample}
    answers = count_answers(cursor)
    if sample.isdisjoint(answers) and not any(tag in FAILURE_MODES for _, tag in sample_tags):
        return None
    majority = find_unanswered(cursor)
    n_tagged = sum(sample_tags.get((query_id, UNANSWERABLE), query_id in majority) for query_id in sample)
    return n_tagged, len(sample)
