"""Importing tags: a person's tags of many queries, from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from curation.core.errors import InputError
from curation.ingest.importers.queries import KnownQueries, NamedBy, named_by
from curation.ingest.importers.query_tags import (
    DECLARE,
    TagsSet,
    TagStatement,
    known_tags,
    tags_sentence,
    unknown_tag,
    write_persons_tags,
)
from curation.ingest.importers.unknown_names import like_known
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import text_of
from curation.store import COMMAND_LINE, Store

QUERY_FIELDS = ("query", "query_id", "qid", "text", "_id", "id")
TAG_FIELDS = ("tag", "tags")


def import_tags(
    store: Store,
    path: Path,
    author: str = COMMAND_LINE,
    query_field: str | None = None,
    tag_field: str | None = None,
    layout: FileLayout | None = None,
) -> TagsSet:
    """Set or remove tags of many queries from a file with a query and its tags on each line.

    A query is named by id or text; a cell holds one tag or several, parted by commas, white space or bars,
    each with a minus sign before it where the query does not have it.

    Raises
    ------
    InputError: the file cannot be read or lacks a column, names unknown queries or tags, or says yes and no
        of the same; all problems at once, and nothing is written.
    """
    records = Records(path, layout)
    of_query = records.need("--query-field", query_field, QUERY_FIELDS, "the queries", ids=True)
    of_tag = records.need("--tag-field", tag_field, TAG_FIELDS, "the tags")
    lines = [
        (record.line, text_of(record.fields.get(of_query or "")).strip(), record.fields.get(of_tag or ""))
        for record in records
    ]
    said: dict[tuple[str, str], tuple[int, bool]] = {}
    with store.transaction(appends=True) as cursor:
        known, tags = KnownQueries.read(cursor), known_tags(cursor)
        for line, name, cell in lines:
            query_id = _query_of(known, name, named_by(of_query or ""), line, records)
            for tag, present in _tags_of(cell, tags, line, records):
                first = said.setdefault((query_id or name, tag), (line, present))
                if first[1] != present:
                    records.problems.add(
                        line, f"says the opposite of {records.unit} {first[0]} on {tag!r} of {name!r}"
                    )
        records.problems.check()
        ordered = [TagStatement(query_id, tag, present) for (query_id, tag), (_, present) in said.items()]
        return write_persons_tags(cursor, ordered, author)


def _query_of(
    known: KnownQueries, name: str, named: NamedBy | None, line: int, records: Records
) -> str | None:
    try:
        found = known.find(name, named) if name else None
    except InputError as error:
        records.problems.add(line, error.problems[0])
        return None
    if found is None:
        like = like_known(name, known.alike)
        records.problems.add(
            line,
            f"no query has the id or text {name!r}{like}" if name else "no query is named",
            "`goldgrade tags list` shows the queries in force.",
        )
        return None
    return found.query_id


def _tags_of(cell: object, known: Sequence[str], line: int, records: Records) -> list[tuple[str, bool]]:
    parts = cell if isinstance(cell, list) else text_of(cell).replace(",", " ").replace("|", " ").split()
    found = [(str(part).removeprefix("-"), not str(part).startswith("-")) for part in parts]
    way_out = f"{tags_sentence(known)} {DECLARE}"
    for tag, _ in found:
        if tag not in known:
            records.problems.add(line, unknown_tag(tag, known), way_out)
    if not found:
        records.problems.add(line, "no tag is named; expected at least one", way_out)
    return [(tag, present) for tag, present in found if tag in known]
