"""Tags by rule: one small rule for each tag that a query's text shows, run on queries in force or on any
texts.

    question       begins like one, or ends in a question mark
    temporal       names a year, a date or a time, or what is latest, current or to come
    multi-intent   has two sentences, compares (`vs`), or begins with two kinds joined by "and"
    short, long    1 or 2 words; 6 and more (words as white space parts them, like strata by length)

Texts are normalised ones (`curation.core.characters.normalise_query`). What each tag means to a person, and
how often the rules agree, is in docs/tags.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from curation.core.errors import RefusedError
from curation.core.reports.page import Table
from curation.core.statistics.arrays import Mask
from curation.core.text import pluralize
from curation.ingest.importers.queries import active_queries
from curation.ingest.importers.query_tags import (
    BY_PEOPLE,
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
from curation.retrieval.terms import content_words, is_question
from curation.store import COMMAND_LINE, Cursor, Query, Store, record_event

PEOPLE_SET = f"Rules find {', '.join(RULE_TAGS)}. People set {', '.join(BY_PEOPLE)}, and tags of your own."
RULES_VERSION = "rules 1"
"""Who is the author of a rule's word: another wording of the rules gets another number."""
SHORT = 2
LONG = 6
"""Words up to which a query is short, and from which it is long."""
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

    @property
    def sentences(self) -> list[str]:
        """How many queries have which tag, and which tags rules do not look for."""
        counts = ", ".join(f"{tag} {count:,}" for tag, count in self.tags.items() if count)
        queries = pluralize(self.queries, "query", "queries")
        persons = f"For {pluralize(self.by_person, 'tag')} a person's statement overrides the rule."
        return [
            f"Tags of {queries}: {counts or 'none'}.",
            f"{pluralize(self.changed, 'tag')} changed.",
            *([persons] if self.by_person else []),
            PEOPLE_SET,
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Queries by tag."""
        rows = tuple((tag, count) for tag, count in self.tags.items() if tag in RULE_TAGS or count)
        return (Table(f"Tags of {pluralize(self.queries, 'query', 'queries')}", ("tag", "queries"), rows),)


def tag_texts(store: Store, tag: str, texts: Sequence[str]) -> Mask:
    """Which of these normalised texts have a tag, shape (texts,): by rule, or because a person set it.

    A tag without a rule is on the texts of known queries alone, where people set it.

    Raises
    ------
    InputError: there is no such tag.
    """
    with store.reading() as cursor:
        check_tags(cursor, [tag])
        by_people = tags_by_people(cursor, tag)
    mask = _by_rule(tag, texts) if tag in RULE_TAGS else np.zeros(len(texts), bool)
    if by_people:
        for index, text in enumerate(texts):
            mask[index] = by_people.get(text, mask[index])
    return mask


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
    statements = [
        TagStatement(query.query_id, tag, bool(present))
        for tag in RULE_TAGS
        for query, present in zip(queries, _by_rule(tag, texts), strict=True)
    ]
    with store.transaction(appends=True) as cursor:
        if active_queries(cursor) != queries:
            raise RefusedError("Queries changed while the tags were looked for. Look for them again.")
        in_force = tags_in_force(cursor, by_person=False)
        new = [word for word in statements if is_new(word, in_force, by_person=False)]
        append_statements(cursor, new, by_person=False, author=RULES_VERSION)
        if new:
            record_event(cursor, "tags find", {"queries": len(queries), "changed": len(new)}, author)
        people = tags_in_force(cursor, by_person=True)
        counts = _counts(cursor, {query.query_id for query in queries})
    by_person = sum((word.query_id, word.tag) in people for word in statements)
    return TagsFound(len(queries), counts, len(new), by_person)


def queries_to_tag(cursor: Cursor) -> list[Query]:
    """The queries in force.

    Raises
    ------
    RefusedError: there are no queries.
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


def is_temporal(text: str) -> bool:
    """Whether a query names a time, or asks for the latest."""
    return _TIME.search(text) is not None


def is_short(text: str) -> bool:
    """Whether a query has one or two words."""
    return len(text.split()) <= SHORT


def is_long(text: str) -> bool:
    """Whether a query has six words or more."""
    return len(text.split()) >= LONG


def is_multi_intent(text: str) -> bool:
    """Whether a query asks for two things or more."""
    if _COMPARED.search(text) or _TWO_KINDS.search(text):
        return True
    sentences = [content_words(sentence) for sentence in _SENTENCE_END.split(text)]
    return sum(len(sentence) >= 2 for sentence in sentences) >= 2


RULES: dict[str, Callable[[str], bool]] = {
    "question": is_question,
    "temporal": is_temporal,
    "multi-intent": is_multi_intent,
    "short": is_short,
    "long": is_long,
}
"""Tag → its rule."""
