"""Queries of the project by all that a file may call them: id, other id or text.

A file's id of a text that the project knows becomes another name of that query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal, Self

from curation.core.errors import InputError
from curation.core.text import alike, normalise_query
from curation.ingest.importers.personal_data import redact
from curation.store import Cursor, Query

PREFIXES = ("q-", "d-")
"""What exports put in front of queries' and documents' ids where one id is both."""
NamedBy = Literal["id", "text"]
_ID_COLUMN = re.compile(r"(.*[_\W])?(id|qid|queryid)", re.IGNORECASE)
_TEXT_COLUMN = re.compile(r"(.*[_\W])?((query_?)?text|user_query|question|(user_)?input)", re.IGNORECASE)
OTHER_IDS = "other_ids"
"""The field of a query's metadata with its ids in files, where it came into the project under its own."""


class KnownQueries:
    """Queries by all that a file may call them: id, other id or text.

    Parameters
    ----------
    metadata: query id → JSON, where a query has any.
    """

    def __init__(self, queries: Iterable[Query], metadata: Mapping[str, str]) -> None:
        self.metadata = metadata
        self._queries = {query.query_id: query for query in queries}
        self._by_text: dict[str, list[Query]] = {}
        self._by_other_id: dict[str, Query] = {}
        for query in self._queries.values():
            self._by_text.setdefault(query.normalised, []).append(query)
            for other in other_ids(metadata.get(query.query_id, "{}")):
                self._by_other_id.setdefault(other, query)

    @classmethod
    def read(cls, cursor: Cursor) -> Self:
        """All queries that the project has now."""
        columns = "query_id, text, normalised, source, information_need, metadata::TEXT"
        rows = cursor.execute(f"SELECT {columns} FROM queries ORDER BY query_id").fetchall()  # noqa: S608
        return cls([Query(*row[:5]) for row in rows], {row[0]: row[5] for row in rows})

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._queries

    def also_called(self, names: Mapping[str, Collection[str]]) -> Self:
        """The same queries, which files call by further ids: query id → these."""
        called = {
            query_id: json.dumps({OTHER_IDS: [*other_ids(self.metadata.get(query_id, "{}")), *further]})
            for query_id, further in names.items()
        }
        return type(self)(self._queries.values(), {**self.metadata, **called})

    def share_an_id(self, find: Callable[[Iterable[str]], Collection[str]]) -> bool:
        """Whether a query has the id of a document; `find` returns the given ids that documents have."""
        return bool(find(self._queries))

    def of_id(self, name: str) -> Query | None:
        """The query of that id, or which a file has called so."""
        return self._queries.get(name) or self._by_other_id.get(name)

    def alike(self, names: Collection[str]) -> dict[str, str]:
        """Each name that people would read as a query's id, or its other id → that id."""
        return alike(names, [*self._queries, *self._by_other_id])

    def of_text(self, normalised: str) -> list[Query]:
        """All queries of that normalised text, by id."""
        return self._by_text.get(normalised, [])

    def find(self, name: str, by: NamedBy | None = None) -> Query | None:
        """The query of that id or text; `by` None is either, and then `id:501` and `text:501` say which.

        Raises
        ------
        InputError: several queries have the text, or the name is one query's id and another's text.
        """
        of_id = None if by == "text" else self.of_id(name)
        if by == "id":
            return of_id
        query = self.of_text(normalise_query(redact(name).text))
        others = [query for query in query if query != of_id]
        if of_id is not None and others:
            raise InputError(
                f"{name!r} is the id of the query {of_id.text!r}, and the text of the query "
                f"{others[0].query_id!r}: write id:{name} or text:{name}"
            )
        if len(others) > 1:
            ids = ", ".join(query.query_id for query in query)
            raise InputError(f"several queries have the text {name!r} ({ids}): name one by its id")
        if of_id is None and not query and by is None and name.startswith(("id:", "text:")):
            kind, _, rest = name.partition(":")
            return self.find(rest.strip(), "id" if kind == "id" else "text")
        return of_id or (query[0] if query else None)


class QueryColumn:
    """A column of a file whose cells name queries: by ids or by texts, as its name says or its cells show.

    Attributes
    ----------
    by: what the column's name says that it holds; None if it says neither, as "query" does.
    """

    def __init__(self, known: KnownQueries, field: str | None, by: NamedBy | None = None) -> None:
        self.field = field
        self.by = by or named_by(field or "")
        self._known = known
        self._first: tuple[str, str, int] | None = None
        self._found: dict[str, Query] = {}

    def alike(self, names: Collection[str]) -> dict[str, str]:
        """As `KnownQueries.alike`."""
        return self._known.alike(names)

    def find(self, name: str, line: int) -> Query | None:
        """The query that a cell names, or None.

        Raises
        ------
        InputError: as `KnownQueries.find`; or this cell is found by its id and another by its text alone.
        """
        if name in self._found:
            return self._found[name]
        query = self._known.find(name, self.by)
        if query is None:
            return None
        if self.by is None:
            is_id = query == self._known.of_id(name)
            if is_id != (query in self._known.of_text(normalise_query(redact(name).text))):
                self._refuse_mixture("id" if is_id else "text", name, line)
        self._found[name] = query
        return query

    def take_text(self, name: str, line: int) -> None:
        """Note that a cell which names no query will be taken as a new one's text.

        Raises
        ------
        InputError: the column holds ids.
        """
        if self.by is None:
            self._refuse_mixture("text", name, line)

    def _refuse_mixture(self, kind: str, name: str, line: int) -> None:
        """A column of texts can hold one that is an id by chance; nothing tells which is meant."""
        self._first = self._first or (kind, name, line)
        if self._first[0] != kind:
            words = {"id": "is a query's id", "text": "can only be a text"}
            other, other_name, other_line = self._first
            raise InputError(
                f"{name!r} {words[kind]}, but {other_name!r} on line {other_line} {words[other]}: "
                f"write id:{name} or text:{name}, or call the column query_id or query_text"
            )


def named_by(field: str) -> NamedBy | None:
    """What a column of that name holds of queries, where the name says it: ids or texts."""
    if _ID_COLUMN.fullmatch(field):
        return "id"
    return "text" if _TEXT_COLUMN.fullmatch(field) else None


def query_id_named(cursor: Cursor, name: str) -> str:
    """The id of the query that somebody names by id or text; the name itself where no query has it.

    Raises
    ------
    InputError: as `KnownQueries.find`.
    """
    query = KnownQueries.read(cursor).find(name)
    return query.query_id if query else name


def other_ids(metadata: str) -> list[str]:
    """The ids that files gave to a query which has one of the project's own."""
    ids = json.loads(metadata).get(OTHER_IDS) if OTHER_IDS in metadata else None
    return [name for name in ids if isinstance(name, str)] if isinstance(ids, list) else []
