"""Styles of queries to write: how long, and in whose words.

People who are free in their style write whole questions. So each task draws one of six: a length of one or
two words, of three or four, or a natural question, with proper names or with generic terms. Each run of six
tasks has each style once, in an order by seed.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from curation.core.text import normalise_query, seeded
from curation.core.words import words
from curation.retrieval.terms import content_words, is_question, stem

_INSIDE_WORD = re.compile(r"(?<=\w)[-._](?=\w)")  # who writes "byte-compile" or "os.path" writes one word
_LENGTHS = (
    ("short", "1–2 words", 1, 2),
    ("medium", "3–4 words", 3, 4),
    ("question", "a natural question", 3, None),
)
_WORDINGS = (("names", "with proper names"), ("generic", "in generic terms, without proper names"))
_NAME = re.compile(r"(?<=\w )[A-Z]\w*[a-z]\w*|\w*[a-z][A-Z]\w*")


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
    """Whether a query has a proper name, by its and the document's capitals; None where that is open."""
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
        again = sum(one == other for one, other in pairwise(stems))
    return bool(stems) and not again
