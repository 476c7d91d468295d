"""Coverage queries: queries that a person or a language model wrote for coverage.

A coverage query is pooled, judged and evaluated as any query. The source of the query is 'written' for people
and 'synthetic' for models. The writer, document, cluster and style of a coverage query are stored too.

A synthetic query is withheld until it is drawn for judgment. A drawn query becomes a current query, and the
document that the query was written for becomes a candidate. The share that people judge is a share of all
synthetic queries of the project, rounded up. The share that people judge can be raised but not lowered, so a
drawn query stays drawn. The seed decides the order in which synthetic queries are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import Any, Literal, NamedTuple

from curation.core.digests import canonical_json, digest, sort_by_seed
from curation.core.errors import InputError
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.ingest.importers.queries import add_query
from curation.people.annotators import require_author
from curation.queries.coverage.writing.checks import STYLES
from curation.store import COMMAND_LINE, Cursor, Query, Store, append_rows, fetch, record_event, utc_now

GAP, UNANSWERABLE = "gap", "unanswerable"
PURPOSES = (GAP, UNANSWERABLE)
ORIGIN = "origin"
"""System name of candidates whose documents were the source of a written query."""
WrittenBy = Literal["written", "synthetic"]

_LATEST = """
    SELECT query_id, revision, drawn, share FROM synthetic_draws
    WHERE query_id NOT IN (SELECT query_id FROM retired_queries)
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1 ORDER BY query_id
"""
_ORIGINS = """
    WITH graded AS (
        SELECT c.query_id, count(j.grade) AS votes, count(*) FILTER (j.grade >= $relevant) AS good
        FROM coverage_queries c
        JOIN counted_judgments j ON j.query_id = c.query_id AND j.document_id = c.document_id
        GROUP BY c.query_id)
    SELECT c.writer, count(*) FILTER (w.query_id IS NULL), count(w.query_id),
           count(*) FILTER (w.query_id IS NULL AND g.votes > 0),
           count(*) FILTER (w.query_id IS NULL AND 2 * g.good > g.votes)
    FROM coverage_queries c JOIN queries q USING (query_id)
    LEFT JOIN withheld_queries w USING (query_id) LEFT JOIN graded g USING (query_id)
    WHERE q.source = 'synthetic' AND c.query_id NOT IN (SELECT query_id FROM retired_queries)
    GROUP BY c.writer ORDER BY c.writer
"""


class QueryOrigin(NamedTuple):
    """The origin of a coverage query: its purpose, writer, cluster, document and style.

    Attributes
    ----------
    purpose: 'gap' for a region without a query; 'unanswerable' for a topic that the corpus lacks.
    writer: name of an annotator or of a model.
    document_id, content_hash: the document that the writer saw, and its version.
    style: name of a style in `STYLES`.
    detail: further facts for the audit, stored as JSON.
    """

    purpose: str
    writer: str
    map_id: str
    cluster: int
    document_id: str
    content_hash: str
    style: str
    detail: Mapping[str, Any]


class CoverageQuery(NamedTuple):
    """A coverage query with its origin; `detail` is JSON."""

    query_id: str
    text: str
    source: str
    purpose: str
    writer: str
    map_id: str
    cluster: int
    document_id: str
    content_hash: str
    style: str
    detail: str
    written_at: datetime


def add_coverage_query(
    cursor: Cursor, text: str, origin: QueryOrigin, source: WrittenBy = "written", actor: str | None = None
) -> Query:
    """Add a coverage query to the project, with its source and origin.

    Parameters
    ----------
    actor: name for the audit trail; None is the writer. For a model's query, the actor is the person who ran
        the model.

    Raises
    ------
    InputError: the text is empty or holds personal data, or the purpose or the style is unknown.
    RefusedError: the project has the text already.
    """
    if origin.purpose not in PURPOSES or origin.style not in STYLES:
        raise InputError(
            f"The purpose of a query for coverage is one of {', '.join(PURPOSES)}, and its style is one of "
            f"{', '.join(STYLES)}; found {origin.purpose!r} and {origin.style!r}."
        )
    query = add_query(cursor, text, source=source)
    row: Sequence[Any] = [*origin[:-1], canonical_json(origin.detail), utc_now()]
    values = [query.query_id, *row]
    cursor.execute("INSERT INTO coverage_queries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    detail = {"query": query.query_id, **origin._asdict()}
    record_event(cursor, "coverage query", detail, actor or origin.writer)
    return query


def add_origin_candidates(cursor: Cursor, query_ids: Sequence[str]) -> None:
    """Add the document that each query was written for as a candidate, unless it is a candidate already.

    An unanswerable query gets no candidate, because the document shown to its writer does not answer the
    query.
    """
    sql = """
        SELECT query_id, document_id, map_id FROM coverage_queries c
        WHERE purpose = ? AND list_contains(?::TEXT[], query_id)
        AND NOT EXISTS (FROM candidates k WHERE k.query_id = c.query_id AND k.document_id = c.document_id)
        ORDER BY query_id
    """
    rows = cursor.execute(sql, [GAP, query_ids]).fetchall()
    names = ("query_id", "document_id")
    append_rows(cursor, "candidates", [row[:2] for row in rows], names)
    sources = [(*pair, digest(ORIGIN, map_id)) for *pair, map_id in rows]
    append_rows(cursor, "candidate_sources", sources, (*names, "pool_id"), system=ORIGIN)


def list_queries(cursor: Cursor) -> list[CoverageQuery]:
    """Read the coverage queries of all maps, in the order of writing."""
    sql = """
        SELECT c.query_id, q.text, q.source, c.purpose, c.writer, c.map_id, c.cluster, c.document_id,
               c.content_hash, c.style, c.detail, c.written_at
        FROM coverage_queries c JOIN queries q USING (query_id) ORDER BY c.rowid
    """
    return fetch(cursor, CoverageQuery, sql)


class JudgedShare(NamedTuple):
    """The numbers of synthetic queries and of synthetic queries that people judge.

    Attributes
    ----------
    share: share of queries to judge that was asked for last; None without synthetic queries.
    queries: number of synthetic queries that are not retired.
    drawn: number of drawn queries, which people judge.
    added: number of queries drawn by this call.
    """

    share: float | None
    queries: int
    drawn: int
    added: int = 0

    @property
    def sentences(self) -> list[str]:
        """Count the newly drawn synthetic queries, and the synthetic queries that people judge."""
        of = pluralize(self.queries, "synthetic query", "synthetic queries")
        new = [f"{pluralize(self.added, 'query', 'queries')} drawn."] if self.added else []
        return [*new, f"People judge {self.drawn:,} of {of}; the other queries are not shown to people."]


NOTHING_DRAWN = JudgedShare(None, 0, 0)


class JudgedOrigins(NamedTuple):
    """A model's synthetic queries, and the judgments of the documents that they were written for.

    Attributes
    ----------
    model: name of the model.
    queries, withheld: numbers of current queries and of withheld queries.
    judged: number of current queries whose document has a grade by a person.
    relevant: number of judged queries whose document most grades call relevant.
    share: relevant queries as a share of judged queries.
    """

    model: str
    queries: int
    withheld: int
    judged: int
    relevant: int
    share: Estimate


def check_share(share: float) -> None:
    """Refuse a share of judged queries that is not above 0, or is above 1."""
    if not 0 < share <= 1:
        raise InputError(
            f"The share of queries that people judge is {share:g}; expected a number above 0, 1 at most. "
            "Synthetic queries test nothing if nobody judges them."
        )


def withhold_query(cursor: Cursor, query_id: str, share: float, seed: int, author: str) -> None:
    """Withhold a new synthetic query, in the transaction that stores the query."""
    _append_draws(cursor, [(query_id, 0, False)], share, seed, author)


def draw_queries(store: Store, share: float, seed: int, author: str = COMMAND_LINE) -> JudgedShare:
    """Draw synthetic queries until people judge a share of all of them.

    Raises
    ------
    InputError: the share is not above 0, or is above 1.
    RefusedError: the author is no lead.
    """
    check_share(share)
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, "lead")
        rows = cursor.execute(_LATEST).fetchall()
        undrawn = [(query_id, revision) for query_id, revision, draws, _ in rows if not draws]
        missing = max(0, ceil(round(share * len(rows), 9)) - (len(rows) - len(undrawn)))
        newly_drawn = sorted(sort_by_seed(undrawn, seed, lambda row: ["judged share", row[0]])[:missing])
        if newly_drawn:
            add_origin_candidates(cursor, [query_id for query_id, _ in newly_drawn])
            draws = [(query_id, revision + 1, True) for query_id, revision in newly_drawn]
            _append_draws(cursor, draws, share, seed, author)
            detail = {"share": share, "seed": seed, "queries": [query_id for query_id, _ in newly_drawn]}
            record_event(cursor, "draw synthetic queries", detail, author)
    return JudgedShare(share, len(rows), len(rows) - len(undrawn) + len(newly_drawn), len(newly_drawn))


def read_judged_origins(store: Store) -> list[JudgedOrigins]:
    """Count the judged and the relevant documents of each model. Grades above the scale's lowest are
    relevant.
    """
    with store.reading() as cursor:
        relevant = current_guide(cursor).values[1]
        rows = cursor.execute(_ORIGINS, {"relevant": relevant}).fetchall()
    return [
        JudgedOrigins(
            model, queries, withheld, judged, relevant_count, share_estimate(relevant_count, judged)
        )
        for model, queries, withheld, judged, relevant_count in rows
    ]


def build_origins_table(origins: Sequence[JudgedOrigins]) -> Table:
    """Show each model's queries, and the judgments of the documents that the queries were written for."""
    columns = ("model", "current", "withheld", "document judged", "relevant", "share relevant, 95 %")
    rows = tuple((*origin[:5], origin.share.interval(2)) for origin in origins)
    return Table("Synthetic queries, and the documents that they were written for", columns, rows)


def _append_draws(
    cursor: Cursor, rows: Sequence[tuple[str, int, bool]], share: float, seed: int, author: str
) -> None:
    constants = {"share": share, "seed": seed, "author": author, "drawn_at": utc_now()}
    append_rows(cursor, "synthetic_draws", rows, ("query_id", "revision", "drawn"), **constants)
