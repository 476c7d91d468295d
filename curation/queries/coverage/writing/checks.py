"""The styles that query writers are asked for, and the checks of what is written.

People are warned of copied phrases, of queries that are nearly the same, of another style, and of a text that
is not about the document; they decide. A query in the document's own words tests whether a system finds
words, not whether it finds answers. A query that the project nearly has adds nothing. A language model's
query is refused for the same reasons, for personal data, and where it does not read as a query.
docs/coverage.md measures how often each check is wrong.

People who are free in their style write whole questions. So each task draws one of six styles: one or two
words, three or four words, or a natural question, each with proper names or with generic terms. Each run of
six tasks has each style once, in an order by seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from curation.core.characters import isolated, normalise_query
from curation.core.digests import seeded
from curation.core.similarity.shingles import character_shingles, essentials, jaccard, reworded_shingles
from curation.core.words import LocatedWord, is_unspaced, located_words, words
from curation.ingest.importers.personal_data import redact
from curation.retrieval.terms import STOP_WORDS, content_words, is_question, searched_terms, stem
from curation.store import Document, Query

MIN_COSINE = 0.25  # the cosine from which a text that shares no word with a document is about it
MIN_COPIED_WORDS = 3
"""Words in a row from which a phrase counts as copied; a whole title counts from two on."""
MIN_LIKENESS = 0.65
"""Jaccard similarity of 3-grams from which two queries are nearly the same, as in splits."""
MAX_WARNINGS = 3
COPIED = "candidates with a phrase copied from the document"
ALIKE = "candidates that are nearly a query of the project"
OTHER_STYLE = "candidates of another style: another length, or a question for key words, or the reverse"
NO_SENSE = "candidates that do not read as a query: no word that says something, or one repeated"
PERSONAL = "candidates with personal data"
_INSIDE_WORD = re.compile(r"(?<=\w)[-._](?=\w)")  # who writes "byte-compile" or "os.path" writes one word
_LENGTHS = (
    ("short", "1–2 words", 1, 2),
    ("medium", "3–4 words", 3, 4),
    ("question", "a natural question", 3, None),
)
_WORDINGS = (("names", "with proper names"), ("generic", "in generic terms, without proper names"))
_NAME = re.compile(r"(?<=\w )[A-Z]\w*[a-z]\w*|\w*[a-z][A-Z]\w*")


def shares_words(text: str, document: str) -> bool:
    """Whether a query and a document have a word, or a gram, in common, by stem."""
    return not set(map(stem, searched_terms(text))).isdisjoint(map(stem, searched_terms(document)))


class TextWarnings(NamedTuple):
    """What a writer should look at again.

    Attributes
    ----------
    copied: phrases of the query that are in the document's title or text.
    alike: the texts of queries that are nearly the same, the nearest first.
    style: what of the style the query does not fit; None if it does.
    elsewhere: whether it seems not to be about the document.
    """

    copied: tuple[str, ...]
    alike: tuple[str, ...]
    style: str | None
    elsewhere: bool = False

    @property
    def sentences(self) -> list[str]:
        """One for each; none where there is nothing to warn of."""
        sentences_found = [
            f"“{isolated(phrase)}” is copied from the document. Would a user know these words?"
            for phrase in self.copied
        ]
        sentences_found += [
            f"The project has a query that is nearly the same: “{isolated(text)}”." for text in self.alike
        ]
        if self.style is not None:
            sentences_found.append(f"This task asks for {self.style}.")
        if self.elsewhere:
            sentences_found.append(
                "This does not seem to be about the document. Would a user who types it want this?"
            )
        return sentences_found


def check_text(
    text: str, title: str, body: str, style: QueryStyle, queries: Iterable[Query], elsewhere: bool = False
) -> TextWarnings:
    """What to warn of in a query written for a document, before it is stored."""
    return TextWarnings(
        copied=tuple(copied_phrases(text, title, body)),
        alike=tuple(alike_queries(text, queries)[:MAX_WARNINGS]),
        style=", ".join(style.missed(text, body)) or None,
        elsewhere=elsewhere,
    )


def copied_phrases(text: str, title: str, body: str) -> list[str]:
    """The longest runs of the query's words that the document has, as the query writes them.

    A run of stop words alone is no phrase.
    """
    located = _located(text)
    of_title = [word.word for word in _located(title)]
    runs = {
        *_runs(of_title, MIN_COPIED_WORDS),
        *_runs([word.word for word in _located(body)], MIN_COPIED_WORDS),
    }
    if len(of_title) == MIN_COPIED_WORDS - 1:
        runs.add(tuple(of_title))
    copied = [False] * len(located)
    for size in (MIN_COPIED_WORDS - 1, MIN_COPIED_WORDS):
        for start in range(len(located) - size + 1):
            run = tuple(word.word for word in located[start : start + size])
            if run in runs and not STOP_WORDS.issuperset(run):
                copied[start : start + size] = [True] * size
    return _joined(text, located, copied)


def alike_queries(text: str, queries: Iterable[Query]) -> list[str]:
    """The texts of the queries nearly the same as a text, as written or with its words in any order."""
    normalised = normalise_query(text)
    shingles, reworded, needed = character_shingles(normalised), reworded_shingles(text), essentials(text)
    near = []
    for query in queries:
        likeness = jaccard(shingles, character_shingles(query.normalised))
        if likeness < MIN_LIKENESS and essentials(query.text) == needed:
            likeness = max(likeness, jaccard(reworded, reworded_shingles(query.text)))
        if likeness >= MIN_LIKENESS:
            near.append((-likeness, query.query_id, query.text))
    return [text for *_, text in sorted(near)]


def _located(text: str) -> list[LocatedWord]:
    """The words where they are; of scripts without spaces the grams alone."""
    return [word for word in located_words(text) if not is_unspaced(word.word) or len(word.word) > 1]


def _runs(words_in_order: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words_in_order[start : start + size]) for start in range(len(words_in_order) - size + 1)}


def _joined(text: str, words: Sequence[LocatedWord], copied: Sequence[bool]) -> list[str]:
    """The text of each run of words that are copied."""
    runs = groupby(zip(words, copied, strict=True), key=itemgetter(1))
    phrases = [[word for word, _ in run] for is_copied, run in runs if is_copied]
    return [text[phrase[0].start : phrase[-1].end] for phrase in phrases]


class QueryStyle(NamedTuple):
    """A style of queries.

    Attributes
    ----------
    name: as it is stored.
    length, wording: what a writer reads.
    fewest, most: words of a query; `most` is None for any number.
    """

    name: str
    length: str
    wording: str
    fewest: int
    most: int | None

    def holds(self, text: str) -> bool:
        """Whether a query has the style's number of words, and is a question where that is the style."""
        count = len(words(_INSIDE_WORD.sub("", text)))
        asks = is_question(normalise_query(text))
        return self.fewest <= count and (asks if self.most is None else count <= self.most and not asks)

    def missed(self, text: str, body: str) -> list[str]:
        """What a query for a document's text lacks of the style."""
        length = self.length if self.most is None else f"{self.length} that are no question"
        missed = [] if self.holds(text) else [length]
        return missed + [self.wording] * (has_names(text, body) is ("generic" in self.name))


STYLES = {
    f"{length} {wording}": QueryStyle(f"{length} {wording}", long, worded, fewest, most)
    for length, long, fewest, most in _LENGTHS
    for wording, worded in _WORDINGS
}
"""Name → style."""


def draw_styles(count: int, seed: int) -> list[str]:
    """The names of the styles of so many tasks, in their order."""
    drawn: list[str] = []
    for block in range(-(-count // len(STYLES))):
        drawn += seeded(STYLES, seed, lambda name, block=block: ("style", block, name))  # type: ignore[misc]
    return drawn[:count]


def has_names(text: str, body: str) -> bool | None:
    """Whether a query has a proper name, by its and the document's capitals; None if that is open."""
    inside = _NAME.findall(body)
    if len(inside) > 0.2 * len(body.split()):  # these are not names alone, as in German and in headings
        return None
    if _NAME.search(text) or not set(words(" ".join(inside))).isdisjoint(content_words(text)):
        return True
    return False if text == text.lower() else None


def reads_as_query(text: str, style: QueryStyle) -> bool:
    """Whether a text has a word that says something, and repeats none: in a question none at once."""
    stems = [stem(word) for word in content_words(text)]
    again = len(stems) - len(set(stems))
    if style.most is None:
        again = sum(first == other for first, other in pairwise(stems))
    return bool(stems) and not again


def why_refused(text: str, document: Document, style: QueryStyle, queries: Iterable[Query]) -> str | None:
    """Why a language model's query for a document may not be taken; None if it may.

    Parameters
    ----------
    queries: all that the project has.
    """
    if not style.holds(text):
        return OTHER_STYLE
    if not reads_as_query(text, style):
        return NO_SENSE
    if redact(text).kinds:
        return PERSONAL
    if copied_phrases(text, document.title, document.body):
        return COPIED
    return ALIKE if alike_queries(text, queries) else None
