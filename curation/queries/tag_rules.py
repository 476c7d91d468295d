"""Rules that tag queries by their text.

A query is tagged question if it begins like a question or ends in a question mark. A query is tagged
temporal if it names a year, date or time, or asks for the latest, current or coming things. A query is tagged
multi-intent if it has two sentences, compares (`vs`), or begins with two kinds joined by "and". A query is
tagged short with at most 2 words, and long with at least 6 words (separated by white space).

Tag rules read normalised texts. docs/tags.md explains the meaning of each tag, and how often the rules agree
with people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from curation.core.errors import RefusedError
from curation.core.reports.tables import Table
from curation.core.statistics.arrays import Mask
from curation.core.text import pluralize
from curation.ingest.importers import query_tags
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.importers.query_tags import BY_PEOPLE, RULE_TAGS, TagStatement, changes_tag, check_tags
from curation.people.annotators import require_author
from curation.retrieval.terms import content_words
from curation.store import COMMAND_LINE, Cursor, Query, Store, record_event

_ASKS = re.compile(
    r"^[\"'(]*(who|whom|whose|what|what's|which|(where|when)(?! the)|why|how|is|are|was|were|do|does|did|can"
    r"|could|should|would|will)\b|\?\W*$"
)
PEOPLE_SET = f"Rules find {', '.join(RULE_TAGS)}. People set {', '.join(BY_PEOPLE)}, and tags of your own."
RULES_VERSION = "rules 1"
"""Author of tags by rule. Changed rules get a new number in the author's name."""
SHORT = 2
LONG = 6
"""Largest number of words of a query tagged short, and smallest number of words of a query tagged long."""
_TIME = re.compile(
    r"\b(19\d\d|20[0-3]\d|\d{1,2}/\d{1,2}/\d{2,4}|class of \d\d)\b"
    r"|\b(january|february|april|june|july|august|september|october|november|december)\b"
    r"|\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|\b(today|tonight|tomorrow|yesterday|now|presently|current|currently)\b"
    r"|\b(latest|newest|recent|upcoming|future)\b"
    r"|\b(this|last|next|past) (night|week|weekend|month|year|season|century|decade)s?\b"
)
_SENTENCE_END = re.compile(r"(?<=\w\w\w\w)[.?!]\s+")
_COMPARED = re.compile(r"\s(vs\.?|versus)\s")
_TWO_KINDS = re.compile(r"^(\w+ )?\w+[^\Ws]s (and|&) (\w+ )?\w+[^\Ws]s\b")


@dataclass(frozen=True)
class TagsFound:
    """The tags of the current queries after the rules have run.

    Attributes
    ----------
    queries: number of current queries.
    tags: tag → number of queries with the tag, by rule or person.
    changed: number of tags that were added, removed or recorded for the first time.
    by_person: number of tags for which a person's statement overrides the rule.
    """

    queries: int
    tags: dict[str, int]
    changed: int
    by_person: int

    @property
    def sentences(self) -> list[str]:
        """Say how many queries have each tag, and which tags only people set."""
        counts = ", ".join(f"{tag} {count:,}" for tag, count in self.tags.items() if count)
        queries = pluralize(self.queries, "query", "queries")
        persons = f"People overrode the rules for {pluralize(self.by_person, 'tag')}."
        return [
            f"Tags of {queries}: {counts or 'none'}.",
            f"{pluralize(self.changed, 'tag')} changed.",
            *([persons] if self.by_person else []),
            PEOPLE_SET,
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table that counts the queries with each tag."""
        rows = tuple((tag, count) for tag, count in self.tags.items() if tag in RULE_TAGS or count)
        return (Table(f"Tags of {pluralize(self.queries, 'query', 'queries')}", ("tag", "queries"), rows),)


def match_tag(store: Store, tag: str, texts: Sequence[str]) -> Mask:
    """Find the normalized texts with a tag, by rule or by a person, as a mask of shape (texts,).

    A tag without a rule is only on texts of queries that people tagged.

    Raises
    ------
    InputError: the tag is unknown.
    """
    with store.reading() as cursor:
        check_tags(cursor, [tag])
        by_people = query_tags.read_tags_by_people(cursor, tag)
    mask = _apply_rule(tag, texts) if tag in RULE_TAGS else np.zeros(len(texts), bool)
    if by_people:
        for index, text in enumerate(texts):
            mask[index] = by_people.get(text, mask[index])
    return mask


def find_tags(store: Store, author: str = COMMAND_LINE) -> TagsFound:
    """Apply all rules to the current queries, and store the tags that have changed.

    Parameters
    ----------
    author: name for the audit trail: a lead or the command line.

    Raises
    ------
    RefusedError: there are no queries, queries changed meanwhile, or the author is not a lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        queries = read_queries_to_tag(cursor)
    texts = [query.normalised for query in queries]
    statements = [
        TagStatement(query.query_id, tag, bool(present))
        for tag in RULE_TAGS
        for query, present in zip(queries, _apply_rule(tag, texts), strict=True)
    ]
    with store.transaction(appends=True) as cursor:
        if read_active_queries(cursor) != queries:
            raise RefusedError("Queries changed while they were being tagged. Look for tags again.")
        stored = query_tags.read_latest_tags(cursor, by_person=False)
        changed = [statement for statement in statements if changes_tag(statement, stored, by_person=False)]
        query_tags.append_tags(cursor, changed, by_person=False, author=RULES_VERSION)
        if changed:
            record_event(cursor, "tags find", {"queries": len(queries), "changed": len(changed)}, author)
        people = query_tags.read_latest_tags(cursor, by_person=True)
        counts = _count_tags(cursor, {query.query_id for query in queries})
    by_person = sum((statement.query_id, statement.tag) in people for statement in statements)
    return TagsFound(len(queries), counts, len(changed), by_person)


def read_queries_to_tag(cursor: Cursor) -> list[Query]:
    """Read the current queries of the project.

    Raises
    ------
    RefusedError: there are no queries.
    """
    queries = read_active_queries(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to tag yet. Draw a sample, import queries, or write a query.",
            command="`goldgrade queries add` writes a query.",
        )
    return queries


def _apply_rule(tag: str, texts: Sequence[str]) -> Mask:
    return np.fromiter(map(RULES[tag], texts), bool, len(texts))


def _count_tags(cursor: Cursor, query_ids: Collection[str]) -> dict[str, int]:
    """Count the queries with each tag, with 0 for known tags without a query."""
    counts = dict.fromkeys(query_tags.read_known_tags(cursor), 0)
    for query_id, tag in cursor.execute("SELECT query_id, tag FROM current_query_tags").fetchall():
        if query_id in query_ids:
            counts[tag] = counts.get(tag, 0) + 1
    return counts


def _is_multi_intent(text: str) -> bool:
    """Return whether a query asks for two or more things."""
    if _COMPARED.search(text) or _TWO_KINDS.search(text):
        return True
    sentences = [content_words(sentence) for sentence in _SENTENCE_END.split(text)]
    return sum(len(sentence) >= 2 for sentence in sentences) >= 2


def is_question(text: str) -> bool:
    """Return whether a normalised query (`curation.core.characters.normalise_query`) is a question."""
    return _ASKS.search(text) is not None


RULES: dict[str, Callable[[str], bool]] = {
    "question": is_question,
    "temporal": lambda text: _TIME.search(text) is not None,
    "multi-intent": _is_multi_intent,
    "short": lambda text: len(text.split()) <= SHORT,
    "long": lambda text: len(text.split()) >= LONG,
}
"""Tag → rule that finds the tag in normalized texts."""
