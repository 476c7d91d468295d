"""Finding tags: the rules run on the queries in force, or on any texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from curation.errors import RefusedError
from curation.people.annotators import require_author
from curation.progress import Progress, silent
from curation.retrieval.embeddings import DEFAULT_MODEL
from curation.retrieval.word_counts import vocabulary
from curation.sampling.tags import rules
from curation.sampling.tags.misspellings import Spelling
from curation.sampling.tags.names import names_of
from curation.sampling.tags.stored_tags import (
    OF_CORPUS,
    RULE_TAGS,
    TAGS,
    TagStatement,
    append_statements,
    check_tags,
    is_new,
    tags_by_people,
    tags_in_force,
)
from curation.sources.queries import active_queries
from curation.statistics.arrays import Mask
from curation.store import COMMAND_LINE, Cursor, Query, Store, get_setting, record_event
from curation.store.documents import current_corpus, current_snapshot


@dataclass(frozen=True)
class TagsFound:
    """What the rules said of the queries in force.

    Attributes
    ----------
    queries: how many there are.
    tags: tag → how many have it now, by rule or person.
    changed: queries' tags that were added, removed or recorded for the first time.
    by_person: tags of the rules that a person set or removed; the person's statement overrides the rule.
    not_looked_for: tag → why its rule was not run; stored tags of that kind stay.
    """

    queries: int
    tags: dict[str, int]
    changed: int
    by_person: int
    not_looked_for: dict[str, str]


@dataclass(frozen=True)
class TrafficTags:
    """What the rules say of the traffic, of which nothing was drawn; nothing of it is stored.

    Attributes
    ----------
    queries, searches: distinct queries of the traffic, and how often they were asked.
    tags: tag → (queries, searches) that have it.
    not_looked_for: tag → why its rule was not run.
    """

    queries: int
    searches: int
    tags: dict[str, tuple[int, int]]
    not_looked_for: dict[str, str]


class _Lexicon(NamedTuple):
    spelling: Spelling
    names: frozenset[str]


def tag_texts(
    store: Store,
    tag: str,
    texts: Sequence[str],
    progress: Progress = silent,
    model: str = DEFAULT_MODEL,
) -> Mask:
    """Which of these normalised texts have a tag, shape (texts,): by rule, or because a person set it.

    A failure mode has no rule: only the tags that people set on known queries count.

    Raises
    ------
    InputError: there is no such tag.
    RefusedError: the tag's rule needs a corpus, and there is none; or the model cannot be loaded.
    NotFoundError: the model is written as a path, and there is no such folder.
    """
    check_tags([tag])
    with store.reading() as cursor:
        said = tags_by_people(cursor, tag)
    found = np.zeros(len(texts), bool)
    if tag in RULE_TAGS:
        found = _by_rule(store, tag, texts, progress, model)
    if said:
        for place, text in enumerate(texts):
            found[place] = said.get(text, found[place])
    return found


def find_tags(
    store: Store,
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
    dense: bool = True,
    author: str = COMMAND_LINE,
) -> TagsFound:
    """Run all rules on the queries in force and store what they find; known tags are not repeated.

    Parameters
    ----------
    dense: look for synonyms too, for which the corpus must be embedded once.
    author: who had them looked for, for the audit trail: a lead or the command line.

    Raises
    ------
    RefusedError: there are no queries, or queries or corpus changed meanwhile; or the author is no lead.
    NotFoundError, RefusedError: see `retrieval.embeddings.embed`.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        queries = queries_to_tag(cursor)
        snapshot = get_setting(cursor, "corpus")
    reasons = _not_looked_for(snapshot is not None, dense)
    texts = [query.normalised for query in queries]
    looked_for = [tag for tag in RULE_TAGS if tag not in reasons]
    said = [
        TagStatement(query.query_id, tag, bool(present))
        for tag in looked_for
        for query, present in zip(queries, _by_rule(store, tag, texts, progress, model), strict=True)
    ]
    with store.transaction(appends=True) as cursor:
        if active_queries(cursor) != queries or get_setting(cursor, "corpus") != snapshot:
            raise RefusedError(
                "Queries or corpus changed while the tags were looked for. Look for them again."
            )
        in_force = tags_in_force(cursor, by_person=False)
        new = [word for word in said if is_new(word, in_force, by_person=False)]
        append_statements(cursor, new, by_person=False, author=rules.VERSION)
        if new:
            detail = {"queries": len(queries), "changed": len(new), "not looked for": reasons}
            record_event(cursor, "tags find", detail, author)
        people = tags_in_force(cursor, by_person=True)
        counts = _counts(cursor, {query.query_id for query in queries})
    by_person = sum((word.query_id, word.tag) in people for word in said)
    return TagsFound(len(queries), counts, len(new), by_person, reasons)


def tags_of_traffic(
    store: Store, model: str = DEFAULT_MODEL, progress: Progress = silent, dense: bool = True
) -> TrafficTags:
    """Run all rules on the traffic, to see by which tags a sample can be stratified.

    A sample by `tag:NAME` draws from the same texts with the same rules, and needs no tags that are stored.

    Raises
    ------
    RefusedError: there is no traffic; or see `retrieval.embeddings.embed`.
    """
    with store.reading() as cursor:
        rows = cursor.execute(_TRAFFIC).fetchall()
        snapshot = get_setting(cursor, "corpus")
    if not rows:
        raise RefusedError(
            "There is no traffic to tag. Import a log of what people searched for.",
            command="`goldset import traffic PATH` does.",
        )
    texts, asked = [row[0] for row in rows], np.array([int(row[1]) for row in rows], np.int64)
    reasons = _not_looked_for(snapshot is not None, dense)
    found = {tag: tag_texts(store, tag, texts, progress, model) for tag in RULE_TAGS if tag not in reasons}
    counts = {tag: (int(mask.sum()), int(asked[mask].sum())) for tag, mask in found.items()}
    return TrafficTags(len(texts), int(asked.sum()), counts, reasons)


_TRAFFIC = """
SELECT normalised, sum(count) FROM traffic WHERE normalised <> '' GROUP BY normalised ORDER BY normalised
"""


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
            command="`goldset query add` writes one.",
        )
    return queries


def _not_looked_for(with_corpus: bool, dense: bool) -> dict[str, str]:
    if not with_corpus:
        why = "there is no corpus that could tell: import one"
        return {tag: why for tag in RULE_TAGS if tag in OF_CORPUS}
    return {} if dense else {"synonym": "it was asked to leave dense neighbours out"}


def _by_rule(store: Store, tag: str, texts: Sequence[str], progress: Progress, model: str) -> Mask:
    if tag in rules.PLAIN:
        rule = rules.PLAIN[tag]
        return np.fromiter(map(rule, texts), bool, len(texts))
    with store.reading() as cursor:
        snapshot = current_snapshot(cursor)
    if tag == "synonym":
        from curation.sampling.tags.synonyms import find_synonyms

        with store.reading() as cursor:
            documents = current_corpus(cursor)
        return find_synonyms(store, documents, texts, model, progress)
    lexicon = _lexicon(store, snapshot)
    corpus_rule: Callable[[str], bool] = (
        (lambda text: rules.is_entity(text, lexicon.names))
        if tag == "entity"
        else (lambda text: rules.is_misspelling(text, lexicon.spelling))
    )
    return np.fromiter(map(corpus_rule, texts), bool, len(texts))


@lru_cache(maxsize=1)
def _lexicon(store: Store, snapshot: str) -> _Lexicon:
    """Spellings and names of a corpus; cached for the next tag, as a snapshot never changes."""
    with store.reading() as cursor:
        documents = current_corpus(cursor)
    return _Lexicon(Spelling(vocabulary(store)), names_of(documents))


def _counts(cursor: Cursor, query_ids: Collection[str]) -> dict[str, int]:
    """How many of these queries have each tag, those that none has included."""
    counts = dict.fromkeys(TAGS, 0)
    for query_id, tag in cursor.execute("SELECT query_id, tag FROM current_query_tags").fetchall():
        if query_id in query_ids:
            counts[tag] += 1
    return counts
