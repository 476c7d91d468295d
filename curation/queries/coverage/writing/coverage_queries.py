"""Coverage queries: queries that a person or a language model wrote for coverage.

A coverage query is pooled, judged and evaluated as any query. The source of the query is 'written' for people
and 'synthetic' for models (`synthetic_queries`). The project also stores the writer, document, cluster and
style of a coverage query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from curation.core.digests import canonical_json, digest
from curation.core.errors import InputError
from curation.ingest.importers.queries import add_query
from curation.queries.coverage.writing.styles import STYLES
from curation.queries.requests import QUESTION_KINDS
from curation.store import Cursor, Query, append_rows, fetch, record_event, utc_now

GAP, UNANSWERABLE = "gap", "unanswerable"
PURPOSES = (GAP, UNANSWERABLE)
ORIGIN = "origin"
"""System name of candidates whose documents were the source of a written query."""
WrittenBy = Literal["written", "synthetic"]


class QueryOrigin(NamedTuple):
    """The origin of a coverage query: its purpose, writer, cluster, document and style.

    Attributes
    ----------
    purpose: 'gap' for a document that answers the query; 'unanswerable' for a topic that the corpus lacks.
    writer: name of an annotator or of a model.
    document_id, content_hash: the document that the writer saw, and its version.
    map_id, cluster: the coverage map and the cluster; None for a query that was written without a map.
    style: name of a style in `STYLES`, or of a kind in `QUESTION_KINDS`.
    detail: further facts for the audit, stored as JSON.
    """

    purpose: str
    writer: str
    map_id: str | None
    cluster: int | None
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
    map_id: str | None
    cluster: int | None
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
    if origin.purpose not in PURPOSES or origin.style not in (*STYLES, *QUESTION_KINDS):
        raise InputError(
            f"The purpose of a query for coverage is one of {', '.join(PURPOSES)}, and its style is one of "
            f"{', '.join([*STYLES, *QUESTION_KINDS])}; found {origin.purpose!r} and {origin.style!r}."
        )
    query = add_query(cursor, text, source=source)
    row: Sequence[Any] = [*origin[:-1], canonical_json(origin.detail), utc_now()]
    values = [query.query_id, *row]
    cursor.execute("INSERT INTO coverage_queries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    detail = {"query": query.query_id, **origin._asdict()}
    record_event(cursor, "coverage query", detail, actor or origin.writer)
    return query


def add_origin_candidates(cursor: Cursor, query_ids: Sequence[str]) -> None:
    """Make candidates of the documents that each query was written for, or that answer the query according to
    a model.

    An unanswerable query gets no candidate, because the document shown to its writer does not answer the
    query.
    """
    sql = """
        SELECT query_id, document_id, map_id FROM (
            SELECT query_id, purpose, map_id,
                   unnest([document_id] || coalesce(CAST(detail->'also' AS TEXT[]), [])) AS document_id
            FROM coverage_queries) c
        WHERE purpose = ? AND list_contains(?::TEXT[], query_id)
        AND NOT EXISTS (FROM candidates k WHERE k.query_id = c.query_id AND k.document_id = c.document_id)
        ORDER BY query_id, document_id
    """
    rows = cursor.execute(sql, [GAP, query_ids]).fetchall()
    names = ("query_id", "document_id")
    append_rows(cursor, "candidates", [row[:2] for row in rows], names)
    sources = [(*pair, digest(ORIGIN, map_id or "")) for *pair, map_id in rows]
    append_rows(cursor, "candidate_sources", sources, (*names, "pool_id"), system=ORIGIN)


def list_queries(cursor: Cursor) -> list[CoverageQuery]:
    """Read the coverage queries of all maps, in the order of writing."""
    sql = """
        SELECT c.query_id, q.text, q.source, c.purpose, c.writer, c.map_id, c.cluster, c.document_id,
               c.content_hash, c.style, c.detail, c.written_at
        FROM coverage_queries c JOIN queries q USING (query_id) ORDER BY c.rowid
    """
    return fetch(cursor, CoverageQuery, sql)
