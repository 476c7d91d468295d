"""Finding tags: the rules run on the queries in force, or on any texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from curation.core.errors import RefusedError
from curation.core.statistics.arrays import Mask
from curation.ingest.importers.queries import active_queries
from curation.ingest.importers.query_tags import (
    RULE_TAGS,
    TagStatement,
    append_statements,
    check_tags,
    is_new,
    known_tags,
    tags_by_people,
    tags_in_force,
)
from curation.people.annotators import require_author
from curation.queries.sampling.tags.rules import RULES, VERSION
from curation.store import COMMAND_LINE, Cursor, Query, Store, record_event

_TRAFFIC = """
SELECT normalised, sum(count) FROM traffic WHERE normalised <> '' GROUP BY normalised ORDER BY normalised
"""


@dataclass(frozen=True)
class TagsFound:
    """What the rules said of the queries in force.

    Attributes
    ----------
    queries: how many there are.
    tags: tag → how many have it now, by rule or person.
    changed: queries' tags that were added, removed or recorded for the first time.
    by_person: tags of the rules that a person set or removed; the person's statement overrides the rule.
    """

    queries: int
    tags: dict[str, int]
    changed: int
    by_person: int


@dataclass(frozen=True)
class TrafficTags:
    """What the rules say of the traffic, of which nothing was drawn; nothing of it is stored.

    Attributes
    ----------
    queries, searches: distinct queries of the traffic, and how often they were asked.
    tags: tag → (queries, searches) that have it.
    """

    queries: int
    searches: int
    tags: dict[str, tuple[int, int]]


def tag_texts(store: Store, tag: str, texts: Sequence[str]) -> Mask:
    """Which of these normalised texts have a tag, shape (texts,): by rule, or because a person set it.

    A tag without a rule is on the texts of known queries alone, where people set it.

    Raises
    ------
    InputError: there is no such tag.
    """
    with store.reading() as cursor:
        check_tags(cursor, [tag])
        said = tags_by_people(cursor, tag)
    found = _by_rule(tag, texts) if tag in RULE_TAGS else np.zeros(len(texts), bool)
    if said:
        for place, text in enumerate(texts):
            found[place] = said.get(text, found[place])
    return found


def find_tags(store: Store, author: str = COMMAND_LINE) -> TagsFound:
    """Run all rules on the queries in force and store what they find; known tags are not repeated.

    Parameters
    ----------
    author: who had them looked for, for the audit trail: a lead or the command line.

    Raises
    ------
    RefusedError: there are no queries, or they changed meanwhile; or the author is no lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        queries = queries_to_tag(cursor)
    texts = [query.normalised for query in queries]
    said = [
        TagStatement(query.query_id, tag, bool(present))
        for tag in RULE_TAGS
        for query, present in zip(queries, _by_rule(tag, texts), strict=True)
    ]
    with store.transaction(appends=True) as cursor:
        if active_queries(cursor) != queries:
            raise RefusedError("Queries changed while the tags were looked for. Look for them again.")
        in_force = tags_in_force(cursor, by_person=False)
        new = [word for word in said if is_new(word, in_force, by_person=False)]
        append_statements(cursor, new, by_person=False, author=VERSION)
        if new:
            record_event(cursor, "tags find", {"queries": len(queries), "changed": len(new)}, author)
        people = tags_in_force(cursor, by_person=True)
        counts = _counts(cursor, {query.query_id for query in queries})
    by_person = sum((word.query_id, word.tag) in people for word in said)
    return TagsFound(len(queries), counts, len(new), by_person)


def tags_of_traffic(store: Store) -> TrafficTags:
    """Run all rules on the traffic, to see by which tags a sample can be stratified.

    A sample by `tag:NAME` draws from the same texts with the same rules, and needs no tags that are stored.

    Raises
    ------
    RefusedError: there is no traffic.
    """
    with store.reading() as cursor:
        rows = cursor.execute(_TRAFFIC).fetchall()
    if not rows:
        raise RefusedError(
            "There is no traffic to tag. Import a log of what people searched for.",
            command="`goldgrade import traffic PATH` does.",
        )
    texts, asked = [row[0] for row in rows], np.array([int(row[1]) for row in rows], np.int64)
    found = {tag: tag_texts(store, tag, texts) for tag in RULE_TAGS}
    counts = {tag: (int(mask.sum()), int(asked[mask].sum())) for tag, mask in found.items()}
    return TrafficTags(len(texts), int(asked.sum()), counts)


def queries_to_tag(cursor: Cursor) -> list[Query]:
    """The queries in force.

    Raises
    ------
    RefusedError: there are none.
    """
    queries = active_queries(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to tag yet. Draw a sample, import queries, or write one.",
            command="`goldgrade query add` writes one.",
        )
    return queries


def _by_rule(tag: str, texts: Sequence[str]) -> Mask:
    return np.fromiter(map(RULES[tag], texts), bool, len(texts))


def _counts(cursor: Cursor, query_ids: Collection[str]) -> dict[str, int]:
    """How many of these queries have each tag, those that none has included."""
    counts = dict.fromkeys(known_tags(cursor), 0)
    for query_id, tag in cursor.execute("SELECT query_id, tag FROM current_query_tags").fetchall():
        if query_id in query_ids:
            counts[tag] = counts.get(tag, 0) + 1
    return counts
