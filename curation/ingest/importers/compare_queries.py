"""Queries of a file compared with the project: which are new, which change, which are known by another id.

An id belongs to one text. A file's id of a text that the project knows becomes another name of that query.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from curation.core.text import canonical_json
from curation.ingest.importers.queries import OTHER_IDS, KnownQueries, other_ids, query_id_of
from curation.ingest.readers.problems import Problems
from curation.store import Cursor, Query, append_rows

ONE_TEXT = "An id belongs to one text, and judgments may hang on it: give the query another id."
ONE_QUERY = "The same text would be judged twice: give these queries the project's ids, or leave them out."


class ImportedQuery(NamedTuple):
    """A query of a file, with what else its line says of it."""

    query: Query
    metadata: str
    line: int
    personal: frozenset[str] = frozenset()
    is_bare: bool = False
    answers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def has_own_id(self) -> bool:
        """Whether the id is the source's, not made from the text."""
        return self.query.query_id != query_id_of(self.query.normalised)

    def has_other_id_than(self, known: Query) -> bool:
        """Whether the source calls a known query by an id of its own."""
        return self.has_own_id and self.query.query_id != known.query_id


def compare_named(
    named: Iterable[tuple[Query, int]], known: KnownQueries, problems: Problems
) -> tuple[list[Query], dict[str, str]]:
    """The queries of a file of another kind that the project lacks; and its ids of others → the project's.

    Parameters
    ----------
    named: queries, and the lines that name them first.

    Raises
    ------
    InputError: an id has another text in the project, or a text has another source's id; or there were
        problems before.
    """
    rows = [ImportedQuery(query, "{}", line) for query, line in named]
    added, _, known_as = compare_queries(rows, known, problems)
    return [row.query for row in added], known_as


def add_other_ids(cursor: Cursor, known_as: Mapping[str, str]) -> None:
    """Store a file's ids of queries that the project knew by their text: the file's id → the project's."""
    known = KnownQueries.read(cursor)
    changed = []
    for other, query_id in known_as.items():
        query = known.of_id(query_id)
        if query is not None and known.of_id(other) is None:
            row = ImportedQuery(query._replace(query_id=other), "{}", 0)
            held = ImportedQuery(query, known.metadata[query_id], 0)
            changed.append(_updated(held, row))
    write_queries(cursor, [], changed)


def compare_queries(
    rows: Iterable[ImportedQuery], known: KnownQueries, problems: Problems
) -> tuple[list[ImportedQuery], list[ImportedQuery], dict[str, str]]:
    """Rows that are new, what is held with what other rows add to it, and the file's ids of the latter."""
    added, changed = list[ImportedQuery](), list[ImportedQuery]()
    known_as: dict[str, str] = {}
    taken: dict[str, ImportedQuery] = {}
    for row in rows:
        query = known.of_id(row.query.query_id) or _of_text(row, known, problems)
        if query is None:
            added.append(row)
            continue
        held = ImportedQuery(query, known.metadata[query.query_id], 0)
        first = taken.setdefault(query.query_id, row)
        if query.normalised != row.query.normalised:
            problems.add(row.line, clash(row.query, query, "in the project"), ONE_TEXT)
        elif first is not row:
            problems.add(row.line, _twin(row, [query], f" like {problems.unit} {first.line}"), ONE_QUERY)
        elif (updated := _updated(held, row)) != held:
            changed.append(updated)
        if row.has_other_id_than(query):
            known_as[row.query.query_id] = query.query_id
    problems.check()
    return added, changed, known_as


def _of_text(row: ImportedQuery, known: KnownQueries, problems: Problems) -> Query | None:
    """The project's query of a text whose id it does not know, if it is one and has no source's id."""
    found = known.of_text(row.query.normalised)
    if not found:
        return None
    if len(found) > 1 or (row.has_own_id and found[0].query_id != query_id_of(found[0].normalised)):
        problems.add(row.line, _twin(row, found), ONE_QUERY)
        return None
    return found[0]


def _twin(row: ImportedQuery, known: Iterable[Query], where: str = "") -> str:
    query, ids = row.query, ", ".join(repr(query.query_id) for query in known)
    return f"query {query.query_id!r} has the text {query.text!r}{where}, known as {ids} in the project"


def clash(query: Query, other: Query, where: str) -> str:
    """The sentence for two texts under one id."""
    return f"query {query.query_id!r} has the text {query.text!r}, but {other.text!r} {where}"


def _updated(known: ImportedQuery, row: ImportedQuery) -> ImportedQuery:
    """What is held, with what the file says of it; a file that leaves something unsaid takes nothing away."""
    source = "imported" if known.query.source == "traffic" else known.query.source
    need = row.query.information_need or known.query.information_need
    names = other_ids(known.metadata)
    if row.has_other_id_than(known.query) and row.query.query_id not in names:
        names.append(row.query.query_id)
    fields = {**json.loads(known.metadata), **json.loads(row.metadata)}
    metadata = canonical_json({**fields, OTHER_IDS: names} if names else fields)
    return ImportedQuery(known.query._replace(source=source, information_need=need), metadata, known.line)


def write_queries(cursor: Cursor, added: list[ImportedQuery], changed: list[ImportedQuery]) -> None:
    """Store new queries, and what has changed of known ones."""
    rows = [(*row.query, row.metadata) for row in added]
    append_rows(cursor, "queries", rows, (*Query._fields, "metadata"))
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
