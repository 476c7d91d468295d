"""Queries that a person writes, with the tags that they give them."""

from __future__ import annotations

from collections.abc import Sequence

from curation.people.annotators import require_author
from curation.sampling.tags.kinds import check_tags
from curation.sampling.tags.stored_tags import TagStatement, write_persons_tags
from curation.sources.query_import import add_query
from curation.store import Store, record_event
from curation.store.rows import Query
from curation.store.settings import COMMAND_LINE


def write_query(
    store: Store,
    text: str,
    query_id: str | None = None,
    information_need: str | None = None,
    tags: Sequence[str] = (),
    author: str = COMMAND_LINE,
    actor: str = COMMAND_LINE,
) -> Query:
    """Add a query that somebody wrote, with the tags that they give it.

    Parameters
    ----------
    author, actor: see `set_tags`.

    Raises
    ------
    InputError: there is no such tag; or see `sources.queries.add_query`.
    RefusedError: the project holds the text, or the id, already; or the actor is no lead.
    """
    check_tags(tags)
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        query = add_query(cursor, text, query_id, information_need)
        record_event(cursor, "query add", {"query": query.query_id}, author)
        write_persons_tags(
            cursor, [TagStatement(query.query_id, tag, True) for tag in dict.fromkeys(tags)], author
        )
    return query
