"""Finding tags: the rules run on the queries in force, or on any texts.

Synonyms: queries that say in other words what the corpus holds.

An embedding finds the documents that mean what a query means. If they are near, yet hold few of the query's
content words, the query names the thing otherwise than the corpus does, and lexical retrieval alone will miss
it. Words match by stem; a query none of whose neighbours is near asks for what the corpus does not hold, and
is no synonym.

One small rule for each tag that a query's text shows, given what its words are to the corpus.

    question       begins like one, or ends in a question mark
    entity         holds a name of the corpus, a model name or an address of the web
    misspelling    a word unknown to the corpus is one slip from a frequent one
    temporal       names a year, a date or a time, or what is latest, current or to come
    multi-intent   has two sentences, compares (`vs`), or begins with two kinds joined by "and"
    short, long    1 or 2 words; 6 and more (words as white space parts them, like strata by length)

Texts are normalised ones (`curation.text.normalise_query`). The rule for synonyms needs documents and is
`sampling.tags.synonyms`'. What each tag means to a person, and how often the rules agree, is in docs/tags.md.

Names: which words of a corpus name a brand, a product, a person, a place or a work.

The corpus shows it, without a model, in three ways: what its fields of names hold (`NAME_FIELDS`),
words with a capital inside (iPhone), and words that running text writes with a capital. For the last only a
word between small ones counts, so that neither the start of a sentence nor a title in capitals says anything,
and neither does a word all in capitals (USB). A word that the corpus often writes small is no name.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.errors import RefusedError
from curation.people.annotators import require_author
from curation.progress import Progress, silent
from curation.retrieval import Dense
from curation.retrieval.embeddings import DEFAULT_MODEL
from curation.retrieval.index.stored import vocabulary
from curation.retrieval.terms import STOP_WORDS, content_words, is_question, stem
from curation.sampling.designs import LONG, SHORT
from curation.sampling.tags.misspellings import Spelling
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
from curation.store import COMMAND_LINE, Cursor, Document, Query, Store, get_setting, record_event
from curation.store.documents import StoredDocuments, current_corpus, current_snapshot, is_held
from curation.text import normalise_query
from curation.words import words

NAME_FIELDS = frozenset(
    "brand product_brand supplier manufacturer maker vendor publisher author authors artist".split()
)
"""Fields of a document, by their usual names, whose values are names."""
FEWEST = 3
"""Documents in which running text must write a word as a name."""
SMALL = 0.3
"""Documents that may write a name small, for each one in which running text writes it as a name …"""
SMALL_IN_FIELD = 1.5
"""… or that has it in a field."""

_SMALL = re.compile(r"(?<![\w.])[^\W\dA-Z_]{2,}(?!\w)")
_BETWEEN_SMALL = re.compile(r"(?<![\w.])[a-z]{2,},? ([A-Z][^\W\dA-Z_]+)(?=[,.]|['’]s|,? [a-z])")
_CAPITAL_INSIDE = re.compile(r"(?<![\w.])[A-Z]?[a-z]+[A-Z][A-Za-z]*(?!\w)")


def names_of(documents: Iterable[Document]) -> frozenset[str]:
    """The casefolded words, or words in a row joined by one space, that are names in these documents."""
    written: Counter[str] = Counter()
    small: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    for document in documents:
        capital = {*_BETWEEN_SMALL.findall(document.text), *_CAPITAL_INSIDE.findall(document.text)}
        written.update({word.casefold() for word in capital})
        small.update(set(_SMALL.findall(document.text)))
        fields.update(_field_names(document.metadata))
    names = {name for name, times in written.items() if times >= FEWEST} | set(fields)
    return frozenset(
        name
        for name in names - STOP_WORDS
        if small[name] <= max(SMALL * written[name], SMALL_IN_FIELD * fields[name])
    )


def _field_names(metadata: str) -> set[str]:
    values = [value for name, value in json.loads(metadata).items() if name.casefold() in NAME_FIELDS]
    return {" ".join(words(value)) for value in values if isinstance(value, str) and value.strip()}


VERSION = "rules 1"
"""Who is the author of a rule's word: another wording of the rules gets another number."""

_ADDRESS = re.compile(r"https?:|www\.|\w\.(com|org|net|edu|gov)\b")
_MODEL = re.compile(r"[^\W\d_]+\d\w*")
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
_LONGEST_NAME = 4


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


def is_misspelling(text: str, spelling: Spelling) -> bool:
    """Whether one of a query's words seems to mean a frequent word of the corpus; addresses mean none."""
    return not _ADDRESS.search(text) and any(spelling.meant(word) is not None for word in content_words(text))


def is_entity(text: str, names: Collection[str]) -> bool:
    """Whether a query names something: see `sampling.tags.names` for the names of a corpus."""
    if _ADDRESS.search(text):
        return True
    found = words(text)
    if any(map(_MODEL.fullmatch, found)):
        return True
    return any(
        " ".join(found[start:end]) in names
        for start in range(len(found))
        for end in range(start + 1, min(start + _LONGEST_NAME, len(found)) + 1)
    )


PLAIN: dict[str, Callable[[str], bool]] = {
    "question": is_question,
    "temporal": is_temporal,
    "multi-intent": is_multi_intent,
    "short": is_short,
    "long": is_long,
}
"""The rules that need nothing but the text."""


NEIGHBOURS = 5
"""How many documents are looked at, at most."""
NEAR = 0.5
"""The cosine from which on a document holds what is asked for; further ones do not count."""
OVERLAP = 0.6
"""Below this share of a query's stems in a neighbour, on average, the neighbours speak in other words."""


def find_synonyms(
    store: Store,
    texts: Sequence[str],
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
) -> NDArray[np.bool_]:
    """Whether each query says in other words what its dense neighbours hold, shape (texts,).

    Raises
    ------
    NotFoundError, RefusedError: see `retrieval.embeddings.embed`.
    """
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    queries = [Query(str(place), text, normalise_query(text), "written") for place, text in enumerate(texts)]
    hits = Dense(store, StoredDocuments(store, corpus.hashes), model).search(queries, NEIGHBOURS, progress)
    near_of = [[hit.document_id for hit in one if (hit.score or 0.0) >= NEAR] for one in hits]
    near_any = corpus.part(name for near in near_of for name in near)
    stems = {one.document_id: stems_of(one.text) for one in StoredDocuments(store, near_any.hashes)}
    found = np.zeros(len(texts), bool)
    for place, near in enumerate(near_of):
        held = [stems[name] for name in near]
        found[place] = bool(near) and overlap(texts[place], held) < OVERLAP
    return found


def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's words."""
    return frozenset(map(stem, words(text)))


def overlap(query: str, neighbours: Sequence[frozenset[str]]) -> float:
    """The mean share of a query's content words, by stem, that a neighbour holds; 1 without such words."""
    asked = {stem(word) for word in content_words(query)}
    if not asked or not neighbours:
        return 1.0
    return sum(len(asked & held) for held in neighbours) / (len(asked) * len(neighbours))


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
        snapshot, held = get_setting(cursor, "corpus"), is_held(cursor)
    reasons = _not_looked_for(snapshot is not None, held, dense)
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
        append_statements(cursor, new, by_person=False, author=VERSION)
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
        snapshot, held = get_setting(cursor, "corpus"), is_held(cursor)
    if not rows:
        raise RefusedError(
            "There is no traffic to tag. Import a log of what people searched for.",
            command="`goldset import traffic PATH` does.",
        )
    texts, asked = [row[0] for row in rows], np.array([int(row[1]) for row in rows], np.int64)
    reasons = _not_looked_for(snapshot is not None, held, dense)
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


def _not_looked_for(with_corpus: bool, held: bool, dense: bool) -> dict[str, str]:
    if held or not with_corpus:
        why = "there is no corpus that could tell: import one"
        if held:
            why = "only the whole corpus could tell, and the project has what engines brought of it"
        return {tag: why for tag in RULE_TAGS if tag in OF_CORPUS}
    return {} if dense else {"synonym": "it was asked to leave dense neighbours out"}


def _by_rule(store: Store, tag: str, texts: Sequence[str], progress: Progress, model: str) -> Mask:
    rule = PLAIN.get(tag)
    if rule is None:
        with store.reading() as cursor:
            snapshot = current_snapshot(cursor)
        if tag == "synonym":
            return find_synonyms(store, texts, model, progress)
        spelling, names = _lexicon(store, snapshot)
        entity, misspelling = partial(is_entity, names=names), partial(is_misspelling, spelling=spelling)
        rule = entity if tag == "entity" else misspelling
    return np.fromiter(map(rule, texts), bool, len(texts))


@lru_cache(maxsize=1)
def _lexicon(store: Store, snapshot: str) -> _Lexicon:
    """Spellings and names of a corpus; cached for the next tag, as a snapshot never changes."""
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    return _Lexicon(Spelling(vocabulary(store)), names_of(StoredDocuments(store, corpus.hashes)))


def _counts(cursor: Cursor, query_ids: Collection[str]) -> dict[str, int]:
    """How many of these queries have each tag, those that none has included."""
    counts = dict.fromkeys(TAGS, 0)
    for query_id, tag in cursor.execute("SELECT query_id, tag FROM current_query_tags").fetchall():
        if query_id in query_ids:
            counts[tag] += 1
    return counts
