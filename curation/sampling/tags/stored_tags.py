"""Stored tags of queries: what rules found and what people set.

Rules and people both append to `query_tags` that a query has a tag or has it not. The latest statement of
each counts, and a person's overrides any rule's.

Of the tags there are, rules find some (`RULE_TAGS`), and only people set the others (`FAILURE_MODES`). A
query that a person writes is stored with the tags that they give it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.errors import InputError, NotFoundError
from curation.people.annotators import require_author
from curation.sampling.tags.answerable import answered_no, unanswerable
from curation.sources.queries import KnownQueries, active_queries
from curation.sources.query_import import add_query
from curation.sources.unknown_names import like_known
from curation.store import COMMAND_LINE, Cursor, Query, Store, append_rows, get_setting, record_event, utc_now

RULE_TAGS = (*"question entity misspelling temporal multi-intent synonym short long".split(),)
FAILURE_MODES = (*"single-hop multi-hop ambiguous out-of-domain adversarial unanswerable".split(),)
TAGS = RULE_TAGS + FAILURE_MODES
OF_CORPUS = frozenset({"entity", "misspelling", "synonym"})
"""Tags whose rule reads the corpus."""
KNOWN_TAGS = f"Tags: {', '.join(TAGS)}."


def check_tags(names: Iterable[str]) -> None:
    unknown = [unknown_tag(name) for name in dict.fromkeys(names) if name not in TAGS]
    if unknown:
        raise InputError(unknown, way_out=KNOWN_TAGS)


def unknown_tag(name: str) -> str:
    return f"there is no tag {name!r}"


class TaggedQuery(NamedTuple):
    """A query in force with its tags.

    stratum: of the current sample; None for a query that it did not draw.
    of_earlier_sample: an earlier sample drew it, and the current one did not.
    tags: tag → whether a person set it, in the order of `TAGS`.
    """

    query_id: str
    text: str
    stratum: str | None
    tags: dict[str, bool]
    of_earlier_sample: bool = False


@dataclass(frozen=True)
class TagsSet:
    """What a person changed: query id and tag of each change, and how many were set so before."""

    added: list[tuple[str, str]]
    removed: list[tuple[str, str]]
    unchanged: int


class TagStatement(NamedTuple):
    """That a query has a tag, or has it not."""

    query_id: str
    tag: str
    present: bool


class TagInForce(NamedTuple):
    """The statement in force on a query's tag."""

    present: bool
    by_person: bool
    author: str


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
    check_tags([*add, *remove])
    both = sorted(set(add) & set(remove))
    if both:
        raise InputError(f"{', '.join(map(repr, both))} cannot be added and removed at once.")
    if not add and not remove:
        raise InputError("No tag was named. Give at least one to add or to remove.")
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
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
    if tag is not None:
        check_tags([tag])
    with store.reading() as cursor:
        queries = active_queries(cursor)
        rows = cursor.execute("SELECT query_id, tag, by_person FROM current_query_tags").fetchall()
        sample_id = get_setting(cursor, "sample")
        drawn = cursor.execute("SELECT query_id, stratum, sample_id FROM sample_queries").fetchall()
    strata = {query_id: stratum for query_id, stratum, drawn_by in drawn if drawn_by == sample_id}
    earlier = {query_id for query_id, *_ in drawn} - set(strata)
    held: dict[str, dict[str, bool]] = {}
    for query_id, name, by_person in sorted(rows, key=lambda row: TAGS.index(row[1])):
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
                if tag == "unanswerable" and not said.present
            ],
            "asked": [row.query_id for row in unanswerable(cursor)],
        },
    ).fetchall()
    found, of, tagged, answered = rows[0]
    return (found, of) if tagged or answered else None


_LATEST = """
    SELECT query_id, tag, present, by_person, author FROM query_tags WHERE by_person = ?
    QUALIFY row_number() OVER (PARTITION BY query_id, tag ORDER BY revision DESC) = 1
"""


def tags_in_force(cursor: Cursor, by_person: bool) -> dict[tuple[str, str], TagInForce]:
    """The latest statement of the rules, or of people, on each query's tag."""
    rows = cursor.execute(_LATEST, [by_person]).fetchall()
    return {(query_id, tag): TagInForce(*rest) for query_id, tag, *rest in rows}


def tags_by_people(cursor: Cursor, tag: str) -> dict[str, bool]:
    """Normalised text → what people set; if two queries of one text differ, the text has the tag."""
    rows = cursor.execute(
        f"SELECT normalised, bool_or(present) FROM ({_LATEST}) JOIN queries USING (query_id) "  # noqa: S608
        "WHERE tag = ? GROUP BY normalised",
        [True, tag],
    ).fetchall()
    return dict(rows)


def is_new(word: TagStatement, in_force: Mapping[tuple[str, str], TagInForce], by_person: bool) -> bool:
    """Whether a statement changes anything. A rule's no is not stored if it never said yes."""
    last = in_force.get((word.query_id, word.tag))
    if last is None:
        return word.present or by_person
    return last.present != word.present


def write_persons_tags(cursor: Cursor, said: Sequence[TagStatement], author: str) -> TagsSet:
    in_force = tags_in_force(cursor, by_person=True)
    new = [word for word in said if is_new(word, in_force, by_person=True)]
    append_statements(cursor, new, by_person=True, author=author)
    added = [(word.query_id, word.tag) for word in new if word.present]
    removed = [(word.query_id, word.tag) for word in new if not word.present]
    if new:
        record_event(cursor, "tags set", {"added": added, "removed": removed}, author)
    return TagsSet(added, removed, len(said) - len(new))


def append_statements(cursor: Cursor, said: Sequence[TagStatement], by_person: bool, author: str) -> None:
    """Append statements, each as the next revision of its query's tag."""
    if not said:
        return
    rows = cursor.execute("SELECT query_id, tag, max(revision) FROM query_tags GROUP BY ALL").fetchall()
    revisions = {(query_id, tag): revision for query_id, tag, revision in rows}
    new = [
        (one.query_id, one.tag, revisions.get((one.query_id, one.tag), 0) + 1, one.present) for one in said
    ]
    names, by = ("query_id", "tag", "revision", "present"), {"by_person": by_person, "author": author}
    append_rows(cursor, "query_tags", new, names, **by, tagged_at=utc_now())


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
        raise NotFoundError(absent, command="`goldset tags list` shows those in force.")
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
