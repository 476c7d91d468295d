"""Imports of tags from a file with a query and its tags on each line.

A query is named by id or text. A cell has one or more tags, separated by commas, white space or bars; a minus
sign before a tag removes the tag from the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import InputError
from curation.ingest.importers import query_tags
from curation.ingest.importers.known_queries import KnownQueries, NamedBy, find_name_kind
from curation.ingest.importers.query_tags import TagChanges, TagStatement, write_persons_tags
from curation.ingest.importers.unknown_names import describe_similar_name
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import to_text
from curation.store import COMMAND_LINE, Store

QUERY_FIELDS = ("query", "query_id", "qid", "text", "_id", "id")
TAG_FIELDS = ("tag", "tags")
TagPair = tuple[str, str]
"""Query id and tag."""


class _Row(NamedTuple):
    line: int
    query_name: str
    tags: object


def import_tags(
    store: Store,
    path: Path,
    author: str = COMMAND_LINE,
    query_field: str | None = None,
    tag_field: str | None = None,
    layout: FileLayout | None = None,
) -> TagChanges:
    """Set or remove tags of many queries from a file.

    Parameters
    ----------
    query_field, tag_field: columns of the queries and of the tags; None finds a column by its usual names.

    Raises
    ------
    InputError: the file cannot be read or lacks a column, names unknown queries or tags, or contradicts
        itself; the error lists all problems, and nothing is written.
    """
    records = Records(path, layout)
    query_column = records.require_column("--map query", query_field, QUERY_FIELDS, "the queries", ids=True)
    tag_column = records.require_column("--map tag", tag_field, TAG_FIELDS, "the tags")
    query_key, tag_key = query_column or "", tag_column or ""
    name_kind = find_name_kind(query_key)
    rows = [
        _Row(record.line, to_text(record.fields.get(query_key)).strip(), record.fields.get(tag_key))
        for record in records
    ]
    statements: dict[TagPair, bool] = {}
    line_of: dict[TagPair, int] = {}
    with store.transaction(appends=True) as cursor:
        known_queries = KnownQueries.read(cursor)
        known_tags = query_tags.read_known_tags(cursor)
        for row in rows:
            query_id = _read_query_id(row, known_queries, name_kind, records) or row.query_name
            for tag, is_present in _read_tags(row, known_tags, records):
                first_line = line_of.setdefault((query_id, tag), row.line)
                if statements.setdefault((query_id, tag), is_present) != is_present:
                    contradiction = (
                        f"contradicts {records.unit} {first_line} about the tag {tag!r} of {row.query_name!r}"
                    )
                    records.problems.add(row.line, contradiction)
        records.problems.check()
        tag_statements = [TagStatement(*pair, is_present) for pair, is_present in statements.items()]
        return write_persons_tags(cursor, tag_statements, author)


def _read_query_id(row: _Row, known: KnownQueries, kind: NamedBy | None, records: Records) -> str | None:
    """Find the id of a row's query; return None and record a problem if the query is unknown."""
    name = row.query_name
    try:
        query = known.find(name, kind) if name else None
    except InputError as error:
        records.problems.add(row.line, error.problems[0])
        return None
    if query is None:
        suggestion = describe_similar_name(name, known.alike)
        problem = f"no query has the id or text {name!r}{suggestion}" if name else "no query is named"
        records.problems.add(row.line, problem, "`goldgrade tags` shows the current queries.")
        return None
    return query.query_id


def _read_tags(row: _Row, known: Sequence[str], records: Records) -> list[tuple[str, bool]]:
    """Read the known tags of a row, and whether the row sets or removes each; record unknown tags as
    problems."""
    cell = row.tags
    words = cell if isinstance(cell, list) else to_text(cell).replace(",", " ").replace("|", " ").split()
    statements = [(str(word).removeprefix("-"), not str(word).startswith("-")) for word in words]
    hint = f"{query_tags.describe_known_tags(known)} {query_tags.DECLARE}"
    for tag, _ in statements:
        if tag not in known:
            records.problems.add(row.line, query_tags.describe_unknown_tag(tag, known), hint)
    if not statements:
        records.problems.add(row.line, "no tag is named; expected at least one tag", hint)
    return [(tag, is_present) for tag, is_present in statements if tag in known]
