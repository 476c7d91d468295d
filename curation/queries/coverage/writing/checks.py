"""The checks of the text of a query that was written for coverage, in one of six styles.

A query's writer is warned of phrases copied from the document, of nearly equal queries, of a different style,
and of a text that is not about the document. The writer decides whether to keep the query. A query in the
document's own words tests whether a system finds words, not whether the system finds answers. A query that
nearly equals an earlier query adds nothing. A language model's query is refused for the same reasons, and
also if it has personal data or does not read as a query. docs/coverage.md measures how often each check is
wrong.

Without a given style, people write whole questions. So each query-writing task has one of six styles: one or
two words, three or four words, or a natural question, each with proper names or with generic terms. Every six
tasks have each style of query once, in an order by seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from curation.core.characters import isolate, normalise_query
from curation.core.digests import sort_by_seed
from curation.core.similarity.shingles import character_shingles, jaccard, list_essentials, reworded_shingles
from curation.core.words import LocatedWord, is_unspaced, locate_words, split_words
from curation.ingest.importers.personal_data import redact
from curation.queries.tag_rules import is_question
from curation.retrieval.stemming import strip_ending
from curation.retrieval.terms import STOP_WORDS, content_words, searched_terms
from curation.store import Document, Query

MIN_COSINE = 0.25
"""Smallest cosine at which a text that shares no word with a document counts as about the document."""
MIN_COPIED_WORDS = 3
"""Fewest words of a copied phrase. A whole title of two words counts too."""
MIN_LIKENESS = 0.65
"""Jaccard similarity of 3-grams at which two queries count as near-duplicates, as in splits."""
MAX_WARNINGS = 3
COPIED = "candidates with a phrase copied from the document"
ALIKE = "candidates that are nearly a query of the project"
OTHER_STYLE = "candidates of a different style: a different length, or a question instead of key words"
NO_SENSE = "candidates that do not read as a query: only stop words, or a repeated word"
PERSONAL = "candidates with personal data"
_INSIDE_WORD = re.compile(r"(?<=\w)[-._](?=\w)")  # "byte-compile" and "os.path" count as one word
_LENGTHS = (
    ("short", "1–2 words", 1, 2),
    ("medium", "3–4 words", 3, 4),
    ("question", "a natural question", 3, None),
)
_WORDINGS = (("names", "with proper names"), ("generic", "in generic terms, without proper names"))
_NAME = re.compile(r"(?<=\w )[A-Z]\w*[a-z]\w*|\w*[a-z][A-Z]\w*")


def shares_words(text: str, document: str) -> bool:
    """Tell whether a query and a document share a word or gram with the same strip_ending."""
    return not set(map(strip_ending, searched_terms(text))).isdisjoint(
        map(strip_ending, searched_terms(document))
    )


class TextWarnings(NamedTuple):
    """Warnings for a writer about a query's text.

    Attributes
    ----------
    copied: phrases of the query that are in the document's title or body.
    alike: texts of nearly equal queries, the nearest first.
    style: parts of the style that the query lacks; None if the query has the style.
    elsewhere: whether the query seems not to be about the document.
    """

    copied: tuple[str, ...]
    alike: tuple[str, ...]
    style: str | None
    elsewhere: bool = False

    @property
    def sentences(self) -> list[str]:
        """Write one sentence for each warning about a query."""
        sentences_found = [
            f"“{isolate(phrase)}” is copied from the document. Would a user know these words?"
            for phrase in self.copied
        ]
        equal = "The project has a nearly equal query"
        sentences_found += [f"{equal}: “{isolate(text)}”." for text in self.alike]
        if self.style is not None:
            sentences_found.append(f"This task asks for {self.style}.")
        if self.elsewhere:
            sentences_found.append(
                "The query does not seem to be about the document. Would its user want the document?"
            )
        return sentences_found


def check_text(
    text: str, title: str, body: str, style: QueryStyle, queries: Iterable[Query], elsewhere: bool = False
) -> TextWarnings:
    """Find the warnings for a query that was written for a document."""
    return TextWarnings(
        copied=tuple(find_copied_phrases(text, title, body)),
        alike=tuple(find_similar_queries(text, queries)[:MAX_WARNINGS]),
        style=", ".join(style.missed(text, body)) or None,
        elsewhere=elsewhere,
    )


def find_copied_phrases(text: str, title: str, body: str) -> list[str]:
    """Find the longest runs of words that the query shares with the document, in the query's spelling. A run
    of only stop words does not count.
    """
    query_words = _locate_words(text)
    title_words = [word.word for word in _locate_words(title)]
    body_words = [word.word for word in _locate_words(body)]
    runs = {*_word_runs(title_words, MIN_COPIED_WORDS), *_word_runs(body_words, MIN_COPIED_WORDS)}
    if len(title_words) == MIN_COPIED_WORDS - 1:
        runs.add(tuple(title_words))
    is_copied = [False] * len(query_words)
    for length in (MIN_COPIED_WORDS - 1, MIN_COPIED_WORDS):
        for start in range(len(query_words) - length + 1):
            run = tuple(word.word for word in query_words[start : start + length])
            if run in runs and not STOP_WORDS.issuperset(run):
                is_copied[start : start + length] = [True] * length
    return _join_copied_words(text, query_words, is_copied)


def find_similar_queries(text: str, queries: Iterable[Query]) -> list[str]:
    """List the texts of queries that nearly equal a text, as written or with reordered words."""
    normalised = normalise_query(text)
    shingles, reworded = character_shingles(normalised), reworded_shingles(text)
    query_essentials = list_essentials(text)
    similar = []
    for query in queries:
        likeness = jaccard(shingles, character_shingles(query.normalised))
        if likeness < MIN_LIKENESS and list_essentials(query.text) == query_essentials:
            likeness = max(likeness, jaccard(reworded, reworded_shingles(query.text)))
        if likeness >= MIN_LIKENESS:
            similar.append((-likeness, query.query_id, query.text))
    return [text for *_, text in sorted(similar)]


def _locate_words(text: str) -> list[LocatedWord]:
    """Locate the words of a text, or the grams in scripts without spaces."""
    return [word for word in locate_words(text) if not is_unspaced(word.word) or len(word.word) > 1]


def _word_runs(words_in_order: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words_in_order[start : start + size]) for start in range(len(words_in_order) - size + 1)}


def _join_copied_words(text: str, words: Sequence[LocatedWord], copied: Sequence[bool]) -> list[str]:
    """Return the text of each run of words copied from the document."""
    runs = groupby(zip(words, copied, strict=True), key=itemgetter(1))
    phrases = [[word for word, _ in run] for is_copied, run in runs if is_copied]
    return [text[phrase[0].start : phrase[-1].end] for phrase in phrases]


class QueryStyle(NamedTuple):
    """A style of written queries.

    Attributes
    ----------
    name: stored name of the style.
    length, wording: description of the style for the writer.
    fewest, most: bounds of the number of words; `most` is None for questions.
    """

    name: str
    length: str
    wording: str
    fewest: int
    most: int | None

    def holds(self, text: str) -> bool:
        """Tell whether a query has the style's number of words, and is a question exactly if the style asks
        for one.
        """
        count = len(split_words(_INSIDE_WORD.sub("", text)))
        asks = is_question(normalise_query(text))
        return self.fewest <= count and (asks if self.most is None else count <= self.most and not asks)

    def missed(self, text: str, body: str) -> list[str]:
        """List the parts of the style that a query for a document's body lacks."""
        length = self.length if self.most is None else f"{self.length} that are no question"
        missed = [] if self.holds(text) else [length]
        if has_names(text, body) is ("generic" in self.name):
            missed.append(self.wording)
        return missed


STYLES = {
    f"{length} {wording}": QueryStyle(f"{length} {wording}", long, worded, fewest, most)
    for length, long, fewest, most in _LENGTHS
    for wording, worded in _WORDINGS
}
"""Name of a style → style."""


def draw_styles(count: int, seed: int) -> list[str]:
    """Draw the style names of `count` tasks, in the order of the tasks."""
    names: list[str] = []
    for block in range(-(-count // len(STYLES))):
        names += sort_by_seed(STYLES, seed, lambda name, block=block: ("style", block, name))  # type: ignore[misc]
    return names[:count]


def has_names(text: str, body: str) -> bool | None:
    """Tell by capital letters whether a query has a proper name of the document, or None if unclear."""
    document_names = _NAME.findall(body)
    if len(document_names) > 0.2 * len(
        body.split()
    ):  # capitals do not mark names here, as in German and in headings
        return None
    if _NAME.search(text) or not set(split_words(" ".join(document_names))).isdisjoint(content_words(text)):
        return True
    return False if text == text.lower() else None


def reads_as_query(text: str, style: QueryStyle) -> bool:
    """Tell whether a text has a content word and repeats no word. A question may repeat a word later."""
    stems = [strip_ending(word) for word in content_words(text)]
    repetitions = len(stems) - len(set(stems))
    if style.most is None:
        repetitions = sum(first == other for first, other in pairwise(stems))
    return bool(stems) and not repetitions


def find_refusal(text: str, document: Document, style: QueryStyle, queries: Iterable[Query]) -> str | None:
    """Return the reason to refuse a language model's query for a document, or None.

    Parameters
    ----------
    queries: all queries of the project.
    """
    if not style.holds(text):
        return OTHER_STYLE
    if not reads_as_query(text, style):
        return NO_SENSE
    if redact(text).kinds:
        return PERSONAL
    if find_copied_phrases(text, document.title, document.body):
        return COPIED
    return ALIKE if find_similar_queries(text, queries) else None
