"""Stored tags of queries: what people set, and the list of the queries in force with their tags.

A query that a person writes is stored with the tags that they give it. Which tags there are and how they are
stored is in `ingest.importers.query_tags`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError
from curation.ingest.importers.queries import KnownQueries, active_queries
from curation.ingest.importers.query_tags import (
    FAILURE_MODES,
    TagsSet,
    TagStatement,
    check_tags,
    known_tags,
    tags_in_force,
    write_persons_tags,
)
from curation.ingest.importers.unknown_names import like_known
from curation.ingest.importers.written_query import add_query
from curation.people.annotators import require_author
from curation.queries.sampling.tags.answerable import answered_no, unanswerable
from curation.store import COMMAND_LINE, Cursor, Query, Store, get_setting, record_event


class TaggedQuery(NamedTuple):
    """A query in force with its tags.

    stratum: of the current sample; None for a query that it did not draw.
    of_earlier_sample: an earlier sample drew it, and the current one did not.
    tags: tag → whether a person set it, in the order of `known_tags`.
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
) -> TagsSet:
    """Set or remove tags of one query or several, named by id or text; this overrides the rules.

    All or nothing is written; a query that is named twice counts once.

    Parameters
    ----------
    author: who set the tags; need not be known to the project.
    actor: who writes it down: a lead or the command line.

    Raises
    ------
    InputError: there is no such tag, one is added and removed at once, no tag or no query is named, or
        several queries have one text.
    NotFoundError: queries that nothing has the id or text of, all of them.
    RefusedError: the actor is no lead.
    """
    both = sorted(set(add) & set(remove))
    if both:
        raise InputError(f"{', '.join(map(repr, both))} cannot be added and removed at once.")
    if not add and not remove:
        raise InputError("No tag was named. Give at least one to add or to remove.")
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        check_tags(cursor, [*add, *remove])
        query_ids = _find_all(cursor, [queries] if isinstance(queries, str) else queries)
        words = dict.fromkeys([*((tag, True) for tag in add), *((tag, False) for tag in remove)])
        said = [TagStatement(query_id, *word) for query_id in query_ids for word in words]
        return write_persons_tags(cursor, said, author)


def tagged_queries(store: Store, tag: str | None = None) -> list[TaggedQuery]:
    """The queries in force by id, each with its tags; with `tag`, those that have it.

    Raises
    ------
    InputError: there is no such tag.
    """
    with store.reading() as cursor:
        known = known_tags(cursor)
        if tag is not None:
            check_tags(cursor, [tag])
        queries = active_queries(cursor)
        rows = cursor.execute("SELECT query_id, tag, by_person FROM current_query_tags").fetchall()
        sample_id = get_setting(cursor, "sample")
        drawn = cursor.execute("SELECT query_id, stratum, sample_id FROM sample_queries").fetchall()
    strata = {query_id: stratum for query_id, stratum, drawn_by in drawn if drawn_by == sample_id}
    earlier = {query_id for query_id, *_ in drawn} - set(strata)
    held: dict[str, dict[str, bool]] = {}
    place = {name: number for number, name in enumerate(known)}
    for query_id, name, by_person in sorted(rows, key=lambda row: place.get(row[1], len(known))):
        held.setdefault(query_id, {})[name] = by_person
    tagged = [
        TaggedQuery(
            query.query_id,
            query.text,
            strata.get(query.query_id),
            held.get(query.query_id, {}),
            query.query_id in earlier,
        )
        for query in queries
    ]
    return [query for query in tagged if tag is None or tag in query.tags]


def unanswerable_share(cursor: Cursor) -> tuple[int, int] | None:
    """Queries of the current sample that the corpus does not answer, of how many.

    Those are tagged unanswerable, or most annotators who were asked after their last document said no. A
    person's statement that a query is not unanswerable overrides those answers. None while nobody has tagged
    a failure mode or answered, or there is no sample: unknown is not zero.
    """
    rows = cursor.execute(
        """
        SELECT count(DISTINCT s.query_id) FILTER (
                   c.tag = 'unanswerable'
                   OR list_contains($answered_no, s.query_id) AND NOT list_contains($denied, s.query_id)),
               count(DISTINCT s.query_id),
               (SELECT count(*) FROM query_tags SEMI JOIN sample_queries d
                ON query_tags.query_id = d.query_id AND d.sample_id = $sample
                WHERE list_contains($modes, tag)),
               count(*) FILTER (list_contains($asked, s.query_id))
        FROM sample_queries s LEFT JOIN current_query_tags c USING (query_id) WHERE s.sample_id = $sample
        """,
        {
            "sample": get_setting(cursor, "sample"),
            "modes": list(FAILURE_MODES),
            "answered_no": sorted(answered_no(cursor)),
            "denied": [
                query_id
                for (query_id, tag), said in tags_in_force(cursor, by_person=True).items()
                if tag == "unanswerable" and not said
            ],
            "asked": [row.query_id for row in unanswerable(cursor)],
        },
    ).fetchall()
    found, of, tagged, answered = rows[0]
    return (found, of) if tagged or answered else None


def _find_all(cursor: Cursor, names: Sequence[str]) -> list[str]:
    """The ids of these queries, each once; refuses all at once what cannot be found."""
    if not names:
        raise InputError("No query was named. Give the id or text of at least one.")
    known = KnownQueries.read(cursor)
    found: dict[str, None] = {}
    unclear, missing = [], []
    for name in dict.fromkeys(names):
        try:
            query = known.find(name)
        except InputError as error:
            unclear += error.problems
            continue
        if query is None:
            missing.append(name)
        else:
            found[query.query_id] = None
    differing = ", ".join(f"{name!r}{like_known(name, known.alike)}" for name in missing)
    absent = f"No query has the id or text {differing}."
    if unclear:
        raise InputError([*unclear, *([absent] if missing else [])])
    if missing:
        raise NotFoundError(absent, command="`goldgrade tags list` shows those in force.")
    return list(found)


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
    InputError: there is no such tag; or see `ingest.importers.written_query.add_query`.
    RefusedError: the project holds the text, or the id, already; or the actor is no lead.
    """
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        check_tags(cursor, tags)
        query = add_query(cursor, text, query_id, information_need)
        record_event(cursor, "query add", {"query": query.query_id}, author)
        write_persons_tags(
            cursor, [TagStatement(query.query_id, tag, True) for tag in dict.fromkeys(tags)], author
        )
    return query
