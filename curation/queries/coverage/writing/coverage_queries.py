"""Queries that were written for coverage, by a person or by a language model, and where each comes from.

A query is one of the project's like any other: it is pooled, judged and evaluated. Its source says who wrote
it, 'written' for people and 'synthetic' for models. The rows here add writer, document, cluster and style.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from curation.core.errors import InputError
from curation.core.text import canonical_json, digest
from curation.ingest.importers.written_query import add_query
from curation.queries.coverage.writing.styles import STYLES
from curation.store import Cursor, Query, append_rows, fetch, record_event, utc_now

GAP, UNANSWERABLE = "gap", "unanswerable"
PURPOSES = (GAP, UNANSWERABLE)
ORIGIN = "origin"
"""The system that proposes the document that a query was written for."""
WrittenBy = Literal["written", "synthetic"]


class QueryOrigin(NamedTuple):
    """Where a query that was written for coverage comes from.

    Attributes
    ----------
    purpose: 'gap', for a region without a query; or 'unanswerable', for a topic that the corpus lacks.
    writer: an annotator's name, or a model's.
    document_id, content_hash: the document that was shown, in the version that was.
    style: the name of one of `STYLES`.
    detail: what else is known of it, as JSON.
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
    """A query with its origin; `detail` is JSON."""

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
    """Add a query to the project's, marked with its source and where it comes from.

    Parameters
    ----------
    actor: who did it, where that is not the writer, as when somebody has a model write.

    Raises
    ------
    InputError: the text is empty or holds personal data; or purpose or style are unknown.
    RefusedError: the project holds the text already.
    """
    if origin.purpose not in PURPOSES or origin.style not in STYLES:
        raise InputError(
            f"The purpose of a query for coverage is one of {', '.join(PURPOSES)}, its style one of "
            f"{', '.join(STYLES)}; found {origin.purpose!r} and {origin.style!r}."
        )
    query = add_query(cursor, text, source=source)
    row: Sequence[Any] = [*origin[:-1], canonical_json(origin.detail), utc_now()]
    cursor.execute(
        "INSERT INTO coverage_queries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [query.query_id, *row],
    )
    detail = {"query": query.query_id, **origin._asdict()}
    record_event(cursor, "coverage query", detail, actor or origin.writer)
    return query


def propose_origins(cursor: Cursor, query_ids: Sequence[str]) -> None:
    """The document that each query was written for becomes a candidate to judge, if it is none yet.

    An unanswerable query was written for no document, so that it is not taken for pooled.
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


def coverage_queries(cursor: Cursor) -> list[CoverageQuery]:
    """The queries written for coverage, of any map, in the order of writing."""
    sql = """
        SELECT c.query_id, q.text, q.source, c.purpose, c.writer, c.map_id, c.cluster, c.document_id,
               c.content_hash, c.style, c.detail, c.written_at
        FROM coverage_queries c JOIN queries q USING (query_id) ORDER BY c.rowid
    """
    return fetch(cursor, CoverageQuery, sql)
