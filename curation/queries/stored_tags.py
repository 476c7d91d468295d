"""Tags that people set on queries.

`ingest.importers.query_tags` knows the possible tags, and stores people's statements about tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.ingest.importers import query_tags
from curation.ingest.importers.known_queries import KnownQueries, NamedBy, find_name_kind
from curation.ingest.importers.queries import add_query, read_active_queries
from curation.ingest.importers.query_tags import TagChanges, TagStatement, check_tags, write_persons_tags
from curation.ingest.importers.unknown_names import describe_similar_name
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import to_text
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Query, Store, get_setting, record_event

QUERY_FIELDS = ("query", "query_id", "qid", "text", "_id", "id")
TAG_FIELDS = ("tag", "tags")


class TaggedQuery(NamedTuple):
    """A current query with its tags.

    stratum: stratum of the query in the current sample; None for a query that the sample did not draw.
    of_earlier_sample: whether an earlier sample drew the query, and the current sample did not. tags: tag →
    whether a person set the tag, in the order of `read_known_tags`.
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
    """Set or remove tags of queries that are named by id or text. A person's tag overrides the rules. All
    tags are written, or no tag is written. A query that is named twice counts once.

    Parameters
    ----------
    author: name of the person who set the tags, whom the project need not know.
    actor: name for the audit trail: a lead or the command line.

    Raises
    ------
    InputError: a tag is unknown, a tag is added and removed at once, no tag or no query is named, or several
        queries have the same text.
    NotFoundError: no query has a name as its id or text; the error lists all such names.
    RefusedError: the actor is no lead.
    """
    contradictory = sorted(set(add) & set(remove))
    if contradictory:
        raise InputError(f"{', '.join(map(repr, contradictory))} cannot be added and removed at once.")
    if not add and not remove:
        raise InputError("No tag was named. Give at least one tag to add or to remove.")
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        check_tags(cursor, [*add, *remove])
        query_ids = _find_query_ids(cursor, [queries] if isinstance(queries, str) else queries)
        tag_words = dict.fromkeys([*((tag, True) for tag in add), *((tag, False) for tag in remove)])
        statements = [TagStatement(query_id, *word) for query_id in query_ids for word in tag_words]
        return write_persons_tags(cursor, statements, author)


def read_tagged_queries(store: Store, tag: str | None = None) -> list[TaggedQuery]:
    """Read the current queries with their tags, ordered by id. With `tag`, read only queries with the tag.

    Raises
    ------
    InputError: the tag is unknown.
    """
    with store.reading() as cursor:
        known_names = query_tags.read_known_tags(cursor)
        if tag is not None:
            check_tags(cursor, [tag])
        queries = read_active_queries(cursor)
        rows = cursor.execute("SELECT query_id, tag, by_person FROM current_query_tags").fetchall()
        sample_id = get_setting(cursor, "sample")
        sampled = cursor.execute("SELECT query_id, stratum, sample_id FROM sample_queries").fetchall()
    strata = {query_id: stratum for query_id, stratum, drawn_by in sampled if drawn_by == sample_id}
    earlier = {query_id for query_id, *_ in sampled} - set(strata)
    tags_of: dict[str, dict[str, bool]] = {}
    order = {name: number for number, name in enumerate(known_names)}
    for query_id, name, by_person in sorted(rows, key=lambda row: order.get(row[1], len(known_names))):
        tags_of.setdefault(query_id, {})[name] = by_person
    tagged = [
        TaggedQuery(
            query.query_id,
            query.text,
            strata.get(query.query_id),
            tags_of.get(query.query_id, {}),
            query.query_id in earlier,
        )
        for query in queries
    ]
    return [query for query in tagged if tag is None or tag in query.tags]


def build_tags_table(queries: Sequence[TaggedQuery]) -> Table:
    """Show the queries with their tags. A star marks tags that people set."""
    rows = tuple(
        (
            *(query.query_id, query.text, query.stratum),
            ", ".join(f"{name}*" if by_person else name for name, by_person in query.tags.items()),
        )
        for query in queries
    )
    columns = ("id", "query", "stratum", "tags (* by people)")
    return Table(pluralize(len(rows), "query", "queries"), columns, rows)


def _find_query_ids(cursor: Cursor, names: Sequence[str]) -> list[str]:
    """Find the ids of named queries, and refuse all unknown names at once."""
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
    RefusedError: the project has the text or the id already; or the actor is no lead.
    """
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        check_tags(cursor, tags)
        query = add_query(cursor, text, query_id, information_need)
        record_event(cursor, "query add", {"query": query.query_id}, author)
        statements = [TagStatement(query.query_id, tag, True) for tag in dict.fromkeys(tags)]
        write_persons_tags(cursor, statements, author)
    return query


def import_tags(
    store: Store,
    path: Path,
    author: str = COMMAND_LINE,
    query_field: str | None = None,
    tag_field: str | None = None,
    layout: FileLayout | None = None,
) -> TagChanges:
    """Set or remove tags of many queries from a file with a query and its tags on each line.

    In a file of tags, a query is named by id or text. A cell has one or more tags, separated by commas, white
    space or bars; a minus sign before a tag removes the tag from the query.

    Raises
    ------
    InputError: the file cannot be read or lacks a column, names unknown queries or tags, or contradicts
        itself; the error lists all problems, and nothing is written.
    """
    records = Records(path, layout)
    query_column = records.require_column("--map query", query_field, QUERY_FIELDS, "the queries", ids=True)
    tag_column = records.require_column("--map tag", tag_field, TAG_FIELDS, "the tags")
    lines = [
        (
            record.line,
            to_text(record.fields.get(query_column or "")).strip(),
            record.fields.get(tag_column or ""),
        )
        for record in records
    ]
    statements: dict[tuple[str, str], tuple[int, bool]] = {}
    with store.transaction(appends=True) as cursor:
        known, tags = KnownQueries.read(cursor), query_tags.read_known_tags(cursor)
        for line, name, cell in lines:
            query_id = _read_id(known, name, find_name_kind(query_column or ""), line, records)
            for tag, present in _read_tags(cell, tags, line, records):
                earlier = statements.setdefault((query_id or name, tag), (line, present))
                if earlier[1] != present:
                    records.problems.add(
                        line, f"says the opposite of {records.unit} {earlier[0]} on {tag!r} of {name!r}"
                    )
        records.problems.check()
        tag_statements = [TagStatement(*pair, present) for pair, (_, present) in statements.items()]
        return write_persons_tags(cursor, tag_statements, author)


def _read_id(known: KnownQueries, name: str, kind: NamedBy | None, line: int, records: Records) -> str | None:
    try:
        query = known.find(name, kind) if name else None
    except InputError as error:
        records.problems.add(line, error.problems[0])
        return None
    if query is None:
        suggestion = describe_similar_name(name, known.alike)
        records.problems.add(
            line,
            f"no query has the id or text {name!r}{suggestion}" if name else "no query is named",
            "`goldgrade tags` shows the current queries.",
        )
        return None
    return query.query_id


def _read_tags(cell: object, known: Sequence[str], line: int, records: Records) -> list[tuple[str, bool]]:
    words = cell if isinstance(cell, list) else to_text(cell).replace(",", " ").replace("|", " ").split()
    statements = [(str(part).removeprefix("-"), not str(part).startswith("-")) for part in words]
    hint = f"{query_tags.describe_known_tags(known)} {query_tags.DECLARE}"
    for tag, _ in statements:
        if tag not in known:
            records.problems.add(line, query_tags.describe_unknown_tag(tag, known), hint)
    if not statements:
        records.problems.add(line, "no tag is named; expected at least one tag", hint)
    return [(tag, present) for tag, present in statements if tag in known]
