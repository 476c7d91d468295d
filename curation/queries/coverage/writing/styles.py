"""The six styles of queries written for coverage.

Without a given style, people write whole questions. So each query-writing task has one of six styles: one or
two words, three or four words, or a natural question, each with proper names or in generic terms. Every six
tasks have each style of query once, in an order by seed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from curation.core.characters import normalise_query
from curation.core.digests import sort_by_seed
from curation.core.words import split_words
from curation.queries.tag_rules import is_question
from curation.retrieval.terms import content_words

_INSIDE_WORD = re.compile(r"(?<=\w)[-._](?=\w)")  # "byte-compile" and "os.path" count as one word
_LENGTHS = (
    ("short", "1–2 words", 1, 2),
    ("medium", "3–4 words", 3, 4),
    ("question", "a natural question", 3, None),
)
_WORDINGS = (("names", "with proper names"), ("generic", "in generic terms, without proper names"))
_NAME = re.compile(r"(?<=\w )[A-Z]\w*[a-z]\w*|\w*[a-z][A-Z]\w*")


class QueryStyle(NamedTuple):
    """A style of query that a writer is asked for, such as a question or keywords.

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

    def matches(self, text: str) -> bool:
        """Return whether a query has the style's length, and is a question exactly if the style asks for
        questions."""
        count = len(split_words(_INSIDE_WORD.sub("", text)))
        asks = is_question(normalise_query(text))
        if self.most is None:
            return asks and self.fewest <= count
        return not asks and self.fewest <= count <= self.most

    def list_missing_parts(self, text: str, body: str) -> list[str]:
        """List the parts of the style that a query for a document's body lacks."""
        length = self.length if self.most is None else f"{self.length} that are not a question"
        missing = [] if self.matches(text) else [length]
        is_generic = "generic" in self.name
        if has_names(text, body) is is_generic:
            missing.append(self.wording)
        return missing


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
    """Return whether a query has a proper name, judged by capital letters; None if unclear."""
    document_names = _NAME.findall(body)
    if len(document_names) > 0.2 * len(body.split()):
        return None  # capitals do not mark names, as in German and in headings
    if _NAME.search(text) or not set(split_words(" ".join(document_names))).isdisjoint(content_words(text)):
        return True
    return False if text == text.lower() else None
