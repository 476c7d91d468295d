"""Queries that a person adds to the project, with tags."""

from __future__ import annotations

from collections.abc import Sequence

from curation.ingest.importers.queries import add_query
from curation.ingest.importers.query_tags import TagStatement, check_tags, write_persons_tags
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Query, Store, record_event


def write_query(
    store: Store,
    text: str,
    query_id: str | None = None,
    information_need: str | None = None,
    tags: Sequence[str] = (),
    author: str = COMMAND_LINE,
    actor: str = COMMAND_LINE,
) -> Query:
    """Add a query that a person wrote, with tags.

    Parameters
    ----------
    author, actor: see `set_tags`.

    Raises
    ------
    InputError: a tag is unknown; or see `ingest.importers.queries.add_query`.
    RefusedError: the project has the text or the id already; or the actor is not a lead.
    """
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        check_tags(cursor, tags)
        query = add_query(cursor, text, query_id, information_need)
        record_event(cursor, "query add", {"query": query.query_id}, author)
        statements = [TagStatement(query.query_id, tag, True) for tag in dict.fromkeys(tags)]
        write_persons_tags(cursor, statements, author)
    return query
