"""The project's queries: found by id or text, and those that are to be judged.

A query has the id of its source, or one made from its normalised text. The same text from any source is then
the same query. If a file later gives such a text an id, the query keeps the id that its judgments name, and
the file's id becomes another name of it. Two queries of one text stay two only where one file has both.
"""

from __future__ import annotations

import json

from curation.errors import InputError
from curation.sources.redaction.personal_data import redact
from curation.store import Cursor, fetch, get_setting
from curation.store.rows import Query
from curation.text import digest, normalise_query

OTHER_IDS = "other_ids"
"""The field of a query's metadata with its ids in files, where it came into the project under its own."""


class KnownQueries:
    """The project's queries at one moment, by all that a file may call them: id, other id or text."""

    def __init__(self, cursor: Cursor) -> None:
        columns = "query_id, text, normalised, source, information_need, metadata::TEXT"
        found = cursor.execute(f"SELECT {columns} FROM queries ORDER BY query_id").fetchall()  # noqa: S608
        self.metadata = {row[0]: row[5] for row in found}
        self._queries = {row[0]: Query(*row[:5]) for row in found}
        self._by_text: dict[str, list[Query]] = {}
        self._by_other_id: dict[str, Query] = {}
        for query in self._queries.values():
            self._by_text.setdefault(query.normalised, []).append(query)
            for other in other_ids(self.metadata[query.query_id]):
                self._by_other_id.setdefault(other, query)

    def __contains__(self, query_id: str) -> bool:
        return query_id in self._queries

    def of_id(self, name: str) -> Query | None:
        """The query of that id, or which a file has called so."""
        return self._queries.get(name) or self._by_other_id.get(name)

    def of_text(self, normalised: str) -> list[Query]:
        """All queries of that normalised text, by id."""
        return self._by_text.get(normalised, [])

    def find(self, name: str) -> Query | None:
        """The query of that id or text.

        Raises
        ------
        InputError: several queries have the text.
        """
        known = self.of_id(name)
        if known is not None:
            return known
        found = self.of_text(normalise_query(redact(name).text))
        if len(found) > 1:
            ids = ", ".join(query.query_id for query in found)
            raise InputError(f"several queries have the text {name!r} ({ids}): name one by its id")
        return found[0] if found else None


def find_query(cursor: Cursor, name: str) -> Query | None:
    """The query of that id, other id or text; an id is looked up alone, which takes no time.

    Raises
    ------
    InputError: several queries have the text.
    """
    columns = "query_id, text, normalised, source, information_need"
    found = fetch(cursor, Query, f"SELECT {columns} FROM queries WHERE query_id = ?", [name])  # noqa: S608
    return found[0] if found else KnownQueries(cursor).find(name)


def query_id_of(normalised: str) -> str:
    """The id of a query whose source gives none: 'q' and twelve digits of its normalised text's hash."""
    return f"q{digest(normalised)[:12]}"


def other_ids(metadata: str) -> list[str]:
    """The ids that files gave to a query which has one of the project's own."""
    held = json.loads(metadata).get(OTHER_IDS) if OTHER_IDS in metadata else None
    return [name for name in held if isinstance(name, str)] if isinstance(held, list) else []


def active_queries(cursor: Cursor) -> list[Query]:
    """The queries to be judged or judged already, by query id.

    Those of the current sample, all imported and written ones, and those shown in a round that is neither
    pilot nor practice.
    """
    return fetch(
        cursor,
        Query,
        """
        SELECT query_id, text, normalised, source, information_need FROM queries
        WHERE source IN ('imported', 'written')
           OR query_id IN (SELECT query_id FROM sample_queries WHERE sample_id = ?)
           OR query_id IN (SELECT query_id FROM presentations JOIN rounds USING (round_id)
                           WHERE kind NOT IN ('pilot', 'practice'))
        ORDER BY query_id
        """,
        [get_setting(cursor, "sample")],
    )
