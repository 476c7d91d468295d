"""Lookup of a project's queries by what files call them: an id, an alternative id or a text.

If a file has a different id for a query's text that the project knows, that id becomes an alternative id of
the query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal, NamedTuple, Self

from curation.core.characters import find_lookalikes, normalise_query
from curation.core.errors import InputError
from curation.ingest.importers.personal_data import redact
from curation.store import Cursor, Query

PREFIXES = ("q-", "d-")
"""Prefixes of query ids and document ids in an export, for use when a query and a document share an id."""
NamedBy = Literal["id", "text"]
_ID_COLUMN = re.compile(r"(.*[_\W])?(id|qid|queryid)", re.IGNORECASE)
_TEXT_COLUMN = re.compile(r"(.*[_\W])?((query_?)?text|user_query|question|(user_)?input)", re.IGNORECASE)
OTHER_IDS = "other_ids"
"""Field of a query's metadata that holds the alternative ids of the query."""


class QueryLookup(NamedTuple):
    """The result of a name lookup: query ids, problems with ambiguous names, and unknown names."""

    query_ids: list[str]
    problems: list[str]
    unknown: list[str]


class KnownQueries:
    """Queries of a project, found by id, alternative id or text.

    Parameters
    ----------
    metadata: JSON text by query id, for queries with metadata.
    """

    def __init__(self, queries: Iterable[Query], metadata: Mapping[str, str]) -> None:
        self.metadata = metadata
        self._queries = {query.query_id: query for query in queries}
        self._by_text: dict[str, list[Query]] = {}
        self._by_other_id: dict[str, Query] = {}
        for query in self._queries.values():
            self._by_text.setdefault(query.normalised, []).append(query)
            for other in read_other_ids(metadata.get(query.query_id, "{}")):
                self._by_other_id.setdefault(other, query)

    @classmethod
    def read(cls, cursor: Cursor) -> Self:
        """Return all current queries of the project."""
        columns = "query_id, text, normalised, source, information_need, metadata::TEXT"
        rows = cursor.execute(f"SELECT {columns} FROM queries ORDER BY query_id").fetchall()  # noqa: S608
        return cls([Query(*row[:5]) for row in rows], {row[0]: row[5] for row in rows})

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._queries

    def with_other_ids(self, names: Mapping[str, Collection[str]]) -> Self:
        """Return the queries with more alternative ids; `names` maps a query id to its new ids."""
        metadata = {
            query_id: json.dumps({OTHER_IDS: [*read_other_ids(self.metadata.get(query_id, "{}")), *further]})
            for query_id, further in names.items()
        }
        return type(self)(self._queries.values(), {**self.metadata, **metadata})

    def shares_id_with(self, find: Callable[[Iterable[str]], Collection[str]]) -> bool:
        """Return whether a query and a document have the same id; `find` returns document ids."""
        return bool(find(self._queries))

    def find_by_id(self, name: str) -> Query | None:
        """Return the query with this id or alternative id; None if no query has it."""
        return self._queries.get(name) or self._by_other_id.get(name)

    def alike(self, names: Collection[str]) -> dict[str, str]:
        """Map each unknown name that looks like a known query id to this known id."""
        return find_lookalikes(names, [*self._queries, *self._by_other_id])

    def find_by_text(self, normalised: str) -> list[Query]:
        """Return all queries with this normalized text, sorted by id."""
        return self._by_text.get(normalised, [])

    def find(self, name: str, by: NamedBy | None = None) -> Query | None:
        """Return the query with this id or text; if `by` is not given, a prefix such as `id:` or `text:`
        decides.

        Raises
        ------
        InputError: several queries have the text, or the name is the id of one query and the text of a
        different query.
        """
        query_by_id = None if by == "text" else self.find_by_id(name)
        if by == "id":
            return query_by_id
        queries_by_text = self.find_by_text(normalise_query(redact(name).text))
        other_queries = [query for query in queries_by_text if query != query_by_id]
        if query_by_id is not None and other_queries:
            raise InputError(
                f"{name!r} is the id of the query {query_by_id.text!r}, and the text of the query "
                f"{other_queries[0].query_id!r}: write id:{name} or text:{name}"
            )
        if len(other_queries) > 1:
            ids = ", ".join(query.query_id for query in queries_by_text)
            raise InputError(f"several queries have the text {name!r} ({ids}): use the id of one query")
        if query_by_id is None and not queries_by_text and by is None and name.startswith(("id:", "text:")):
            kind, _, name_without_prefix = name.partition(":")
            return self.find(name_without_prefix.strip(), "id" if kind == "id" else "text")
        return query_by_id or (queries_by_text[0] if queries_by_text else None)

    def find_each(self, names: Iterable[str]) -> QueryLookup:
        """Find the query that each of these names (ids or texts) stands for."""
        query_ids: dict[str, None] = {}
        problems: list[str] = []
        unknown: list[str] = []
        for name in dict.fromkeys(names):
            try:
                query = self.find(name)
            except InputError as error:
                problems += error.problems
                continue
            if query is None:
                unknown.append(name)
            else:
                query_ids[query.query_id] = None
        return QueryLookup(list(query_ids), problems, unknown)


class QueryColumn:
    """A column of a file that names queries by id or by text; the column's name or its cells decide which.

    Attributes
    ----------
    by: 'id' or 'text' if the column's name says so; None for a name such as "query".
    """

    def __init__(self, known: KnownQueries, field: str | None, by: NamedBy | None = None) -> None:
        self.field = field
        self.by = by or find_name_kind(field or "")
        self._known = known
        self._first: tuple[str, str, int] | None = None
        self._found: dict[str, Query] = {}

    def alike(self, names: Collection[str]) -> dict[str, str]:
        """Map unknown names to the known query ids that look like them; see `KnownQueries.alike`."""
        return self._known.alike(names)

    def find(self, name: str, line: int) -> Query | None:
        """Return the query that a cell names by id or text; None if it is unknown.

        Raises
        ------
        InputError: see `KnownQueries.find`; or the cell holds a query's id and a different cell of the column
        can only be a text.
        """
        if name in self._found:
            return self._found[name]
        query = self._known.find(name, self.by)
        if query is None:
            return None
        if self.by is None:
            is_id = query == self._known.find_by_id(name)
            if is_id != (query in self._known.find_by_text(normalise_query(redact(name).text))):
                self._refuse_mixture("id" if is_id else "text", name, line)
        self._found[name] = query
        return query

    def note_new_text(self, name: str, line: int) -> None:
        """Record that a cell without a known query is the text of a new query.

        Raises
        ------
        InputError: the column holds ids.
        """
        if self.by is None:
            self._refuse_mixture("text", name, line)

    def _refuse_mixture(self, kind: str, name: str, line: int) -> None:
        """Reject a column that mixes ids and texts of queries, because a text can coincide with an id."""
        self._first = self._first or (kind, name, line)
        if self._first[0] != kind:
            meaning = {"id": "is the id of a query", "text": "can only be the text of a query"}
            first_kind, first_name, first_line = self._first
            raise InputError(
                f"{name!r} {meaning[kind]}, but {first_name!r} on line {first_line} {meaning[first_kind]}: "
                f"write id:{name} or text:{name}, or call the column query_id or query_text"
            )


def find_name_kind(field: str) -> NamedBy | None:
    """Return 'id' or 'text' for a column of queries by the column's name; None if the name does not
    decide."""
    if _ID_COLUMN.fullmatch(field):
        return "id"
    return "text" if _TEXT_COLUMN.fullmatch(field) else None


def find_query_id(cursor: Cursor, name: str) -> str:
    """Return the id of the query that a person names by id or text; return an unknown name unchanged.

    Raises
    ------
    InputError: see `KnownQueries.find`.
    """
    query = KnownQueries.read(cursor).find(name)
    return query.query_id if query else name


def read_other_ids(metadata: str) -> list[str]:
    """Return the alternative ids in a query's metadata."""
    ids = json.loads(metadata).get(OTHER_IDS) if OTHER_IDS in metadata else None
    return [name for name in ids if isinstance(name, str)] if isinstance(ids, list) else []
