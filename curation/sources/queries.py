"""Queries that come from a file, and the queries that are to be judged.

A query has the id of its source, or one made from its normalised text: the same text, however often
and from wherever it comes, is then the same query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from curation.progress import Progress, silent
from curation.sources.problems import Problems
from curation.sources.records import Layout, Record, Records, beir_file, metadata_json, text_of
from curation.store import Cursor, Store, append, fetch, get_setting, record_event
from curation.store.rows import Query
from curation.text import digest, normalise_query

ID_FIELDS = ("_id", "id", "query_id", "qid", "query-id")
TEXT_FIELDS = ("text", "query", "query_text", "user_query", "question")
NEED_FIELDS = ("information_need", "narrative")
ONE_TEXT = "An id belongs to one text, and judgments may hang on it: give the query another id."


@dataclass(frozen=True)
class QueryFields:
    """The file's names for a query's fields; None is the usual name, if the file has it."""

    id: str | None = None
    text: str | None = None
    information_need: str | None = None


@dataclass(frozen=True)
class QueryImport:
    """What an import of queries did.

    Attributes
    ----------
    added: queries that the project did not hold.
    changed: queries with a new information need or other fields, or known from traffic until now.
    unchanged: queries that the project holds just so.
    replaced: unprintable characters that became U+FFFD, by kind.
    """

    queries: int
    added: int
    changed: int
    unchanged: int
    fields: QueryFields
    left_out: dict[str, int]
    replaced: dict[str, int]


class _Row(NamedTuple):
    query: Query
    metadata: str
    line: int


def query_id_of(normalised: str) -> str:
    """The id of a query whose source gives none: 'q' and twelve digits of its normalised text's hash."""
    return f"q{digest(normalised)[:12]}"


def active_queries(cursor: Cursor) -> list[Query]:
    """The queries to be judged or judged already, by query id.

    Those of the current sample, all imported and written ones, and whatever a round has shown.
    """
    return fetch(
        cursor,
        Query,
        """
        SELECT query_id, text, normalised, source, information_need FROM queries
        WHERE source IN ('imported', 'written')
           OR query_id IN (SELECT query_id FROM sample_queries WHERE sample_id = ?)
           OR query_id IN (SELECT query_id FROM presentations)
        ORDER BY query_id
        """,
        [get_setting(cursor, "sample")],
    )


def import_queries(
    store: Store,
    path: Path,
    fields: QueryFields | None = None,
    layout: Layout | None = None,
    progress: Progress = silent,
) -> QueryImport:
    """Take the queries of a BEIR folder, JSON lines, CSV, TSV or Parquet into the project.

    Raises
    ------
    InputError: the file cannot be read, a field is missing, or an id has another text elsewhere in the file
        or in the project.
    """
    records = Records(beir_file(path, "queries.jsonl"), layout, progress)
    used = _fields(records, fields or QueryFields())
    left_out: Counter[str] = Counter()
    rows = _read(records, used, left_out)
    if not rows:
        records.refuse_nothing_taken("query", left_out)
    with store.transaction() as cursor:
        added, changed = _compare(rows, _held(cursor, rows), records.problems)
        _write(cursor, added, changed)
        counts = {"added": len(added), "changed": len(changed), "unchanged": len(rows)}
        counts["unchanged"] -= len(added) + len(changed)
        if added or changed:
            record_event(cursor, "import queries", {"source": records.source, **counts})
    return QueryImport(len(rows), **counts, fields=used, left_out=dict(left_out), replaced=records.replaced)


def _fields(records: Records, asked: QueryFields) -> QueryFields:
    return QueryFields(
        id=records.field("--id-field", asked.id, ID_FIELDS),
        text=records.need("--text-field", asked.text, TEXT_FIELDS, "the query's text"),
        information_need=records.field("--information-need-field", asked.information_need, NEED_FIELDS),
    )


def _read(records: Records, fields: QueryFields, left_out: Counter[str]) -> list[_Row]:
    rows: dict[str, _Row] = {}
    for record in records:
        row = _row(record, fields)
        if not row.query.normalised:
            left_out["empty query"] += 1
        elif not row.query.query_id:
            left_out["no id"] += 1
        elif (first := rows.setdefault(row.query.query_id, row)) is not row:
            if first.query.normalised != row.query.normalised:
                records.problems.add(
                    record.line, _clash(row, first, f"on {records.unit} {first.line}"), ONE_TEXT
                )
            left_out["the same query again"] += 1
    return list(rows.values())


def _row(record: Record, fields: QueryFields) -> _Row:
    values = record.fields
    text = text_of(values.get(fields.text or "")).strip()
    normalised = normalise_query(text)
    query_id = query_id_of(normalised) if fields.id is None else text_of(values.get(fields.id)).strip()
    need = text_of(values.get(fields.information_need)).strip() if fields.information_need else ""
    used = {fields.id, fields.text, fields.information_need}
    rest = {name: value for name, value in values.items() if name not in used}
    return _Row(Query(query_id, text, normalised, "imported", need or None), metadata_json(rest), record.line)


def _held(cursor: Cursor, rows: Iterable[_Row]) -> dict[str, _Row]:
    found = cursor.execute(
        """
        SELECT query_id, text, normalised, source, information_need, metadata::TEXT FROM queries
        WHERE query_id IN (SELECT unnest(?::TEXT[]))
        """,
        [[row.query.query_id for row in rows]],
    ).fetchall()
    return {row[0]: _Row(Query(*row[:5]), row[5], 0) for row in found}


def _compare(
    rows: Iterable[_Row], held: dict[str, _Row], problems: Problems
) -> tuple[list[_Row], list[_Row]]:
    """The rows that are new, and what is held with what other rows add to it."""
    added, changed = [], []
    for row in rows:
        known = held.get(row.query.query_id)
        if known is None:
            added.append(row)
        elif known.query.normalised != row.query.normalised:
            problems.add(row.line, _clash(row, known, "in the project"), ONE_TEXT)
        elif (updated := _updated(known, row)) != known:
            changed.append(updated)
    problems.check()
    return added, changed


def _clash(row: _Row, other: _Row, where: str) -> str:
    query = row.query
    return f"query {query.query_id!r} has the text {query.text!r}, but {other.query.text!r} {where}"


def _updated(known: _Row, row: _Row) -> _Row:
    """What is held, with what the file says of it; a file that leaves something unsaid takes nothing away."""
    source = "imported" if known.query.source == "traffic" else known.query.source
    need = row.query.information_need or known.query.information_need
    metadata = known.metadata if row.metadata == "{}" else row.metadata
    return _Row(known.query._replace(source=source, information_need=need), metadata, known.line)


def _write(cursor: Cursor, added: list[_Row], changed: list[_Row]) -> None:
    if added:
        columns = dict(
            zip(Query._fields, map(list, zip(*(row.query for row in added), strict=True)), strict=True)
        )
        append(cursor, "queries", {**columns, "metadata": [row.metadata for row in added]})
    cursor.execute(
        """
        UPDATE queries SET source = new.source, information_need = new.need, metadata = new.metadata
        FROM (SELECT unnest(?::TEXT[]) AS query_id, unnest(?::TEXT[]) AS source,
                     unnest(?::TEXT[]) AS need, unnest(?::TEXT[]) AS metadata) AS new
        WHERE queries.query_id = new.query_id
        """,
        [
            [row.query.query_id for row in changed],
            [row.query.source for row in changed],
            [row.query.information_need for row in changed],
            [row.metadata for row in changed],
        ],
    )
