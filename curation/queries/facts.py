"""What a query is: its words, what the person behind it needs, and where it comes from."""

from __future__ import annotations

from typing import NamedTuple

from curation.errors import NotFoundError
from curation.people.annotators import require_role
from curation.store import Annotator, Cursor, fetch

READERS = ("reviewer", "lead")
"""Who reads what is known of a query: annotators would learn what others said of their own items."""


class QueryFacts(NamedTuple):
    """A query as it was drawn, imported or written."""

    query_id: str
    text: str
    source: str
    information_need: str | None


def read_facts(cursor: Cursor, query_id: str, reader: Annotator) -> QueryFacts:
    """What a query is.

    Raises
    ------
    RefusedError: the reader is neither reviewer nor lead.
    NotFoundError: the project has no such query.
    """
    require_role(reader, *READERS)
    sql = f"SELECT {', '.join(QueryFacts._fields)} FROM queries WHERE query_id = ?"  # noqa: S608
    found = fetch(cursor, QueryFacts, sql, [query_id])
    if not found:
        raise NotFoundError(
            f"The project has no query with the id {query_id!r}. Open it from a row that names it, or copy "
            "the whole address again."
        )
    return found[0]
