"""Tags that people set on queries.

`ingest.importers.query_tags` knows the possible tags, and stores people's statements about tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.ingest.importers import query_tags
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.importers.query_tags import TagChanges, TagStatement, check_tags, write_persons_tags
from curation.ingest.importers.unknown_names import describe_similar_name
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, get_setting


class TaggedQuery(NamedTuple):
    """A current query with its tags.

    Attributes
    ----------
    stratum: stratum of the query in the current sample; 'synthetic' for a query that a language model wrote,
        None for other queries that the sample did not draw.
    tags: tag → whether a person set the tag, in the order of `read_known_tags`.
    of_earlier_sample: whether an earlier sample drew the query, and the current sample did not.
    """

    query_id: str
    text: str
    stratum: str | None
    tags: dict[str, bool]
    of_earlier_sample: bool = False


def set_tags(
    store: Store,
    queries: Sequence[str] | str,
    add: Sequence[str],
    remove: Sequence[str],
    author: str = COMMAND_LINE,
    actor: str = COMMAND_LINE,
) -> TagChanges:
    """Set or remove tags of queries that are named by id or text. A person's tag overrides the rules.

    All tags are written, or no tag is written. A query that is named twice counts once.

    Parameters
    ----------
    author: name of the person who set the tags, whom the project need not know.
    actor: name for the audit trail: a lead or the command line.

    Raises
    ------
    InputError: a tag is unknown, a tag is both added and removed, no tag or no query is named, or several
        queries have the same text.
    NotFoundError: no query has a name as its id or text; the error lists all such names.
    RefusedError: the actor is not a lead.
    """
    contradictory = sorted(set(add) & set(remove))
    if contradictory:
        raise InputError(f"{', '.join(map(repr, contradictory))} cannot be both added and removed.")
    if not add and not remove:
        raise InputError("No tag was named. Give at least one tag to add or to remove.")
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        check_tags(cursor, [*add, *remove])
        query_ids = _find_query_ids(cursor, [queries] if isinstance(queries, str) else queries)
        presence_of = dict.fromkeys(add, True) | dict.fromkeys(remove, False)
        statements = [TagStatement(query_id, *tag) for query_id in query_ids for tag in presence_of.items()]
        return write_persons_tags(cursor, statements, author)


def read_tagged_queries(store: Store, tag: str | None = None) -> list[TaggedQuery]:
    """Read the current queries with their tags, ordered by id. With `tag`, read only queries with the tag.

    Raises
    ------
    InputError: the tag is unknown.
    """
    with store.reading() as cursor:
        known_tags = query_tags.read_known_tags(cursor)
        if tag is not None:
            check_tags(cursor, [tag])
        queries = read_active_queries(cursor)
        rows = cursor.execute("SELECT query_id, tag, by_person FROM current_query_tags").fetchall()
        sample_id = get_setting(cursor, "sample")
        sample_rows = cursor.execute("SELECT query_id, stratum, sample_id FROM sample_queries").fetchall()
    stratum_of = {query_id: stratum for query_id, stratum, draw_id in sample_rows if draw_id == sample_id}
    earlier_ids = {query_id for query_id, *_ in sample_rows} - stratum_of.keys()
    tags_of: dict[str, dict[str, bool]] = {}
    rank_of = {name: rank for rank, name in enumerate(known_tags)}
    for query_id, name, by_person in sorted(rows, key=lambda row: rank_of.get(row[1], len(known_tags))):
        tags_of.setdefault(query_id, {})[name] = by_person
    tagged_queries = [
        TaggedQuery(
            query.query_id,
            query.text,
            stratum_of.get(query.query_id, "synthetic" if query.source == "synthetic" else None),
            tags_of.get(query.query_id, {}),
            query.query_id in earlier_ids,
        )
        for query in queries
    ]
    return [query for query in tagged_queries if tag is None or tag in query.tags]


def build_tags_table(queries: Sequence[TaggedQuery]) -> Table:
    """Show the queries with their tags. A star marks tags that people set."""
    rows = tuple((query.query_id, query.text, query.stratum, _list_tags(query)) for query in queries)
    columns = ("id", "query", "stratum", "tags (*: set by people)")
    return Table(pluralize(len(rows), "query", "queries"), columns, rows)


def _list_tags(query: TaggedQuery) -> str:
    return ", ".join(f"{name}*" if by_person else name for name, by_person in query.tags.items())


def _find_query_ids(cursor: Cursor, names: Sequence[str]) -> list[str]:
    """Find the ids of queries that are named by id or text; reject all unknown names together."""
    if not names:
        raise InputError("No query was named. Give the id or text of at least one query.")
    known = KnownQueries.read(cursor)
    query_ids, problems, unknown = known.find_each(names)
    unknown_list = ", ".join(f"{name!r}{describe_similar_name(name, known.alike)}" for name in unknown)
    unknown_problems = [f"No query has the id or text {unknown_list}."] if unknown else []
    if problems:
        raise InputError([*problems, *unknown_problems])
    if unknown_problems:
        raise NotFoundError(*unknown_problems, command="`goldgrade tags` shows the current queries.")
    return query_ids
