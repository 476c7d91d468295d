"""One small rule for each tag that a query's text shows, given what its words are to the corpus.

    question       begins like one, or ends in a question mark
    entity         holds a name of the corpus, a model name or an address of the web
    misspelling    a word unknown to the corpus is one slip from a frequent one
    temporal       names a year, a date or a time, or what is latest, current or to come
    multi-intent   has two sentences, compares (`vs`), or begins with two kinds joined by "and"
    short, long    1 or 2 words; 6 and more (words as white space parts them, like strata by length)

Texts are normalised ones (`curation.text.normalise_query`). The rule for synonyms needs documents and is
`sampling.tags.synonyms`'. What each tag means to a person, and how often the rules agree, is in docs/tags.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from curation.retrieval.terms import content_words
from curation.sampling.strata import LONG, SHORT
from curation.sampling.tags.misspellings import Spelling
from curation.words import words

VERSION = "rules 1"
"""Who is the author of a rule's word: another wording of the rules gets another number."""

_ASKS = re.compile(
    r"^[\"'(]*(who|whom|whose|what|what's|which|(where|when)(?! the)|why|how|is|are|was|were|do|does|did|can"
    r"|could|should|would|will)\b|\?\W*$"
)
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


def is_question(text: str) -> bool:
    """Whether a query is put as a question."""
    return _ASKS.search(text) is not None


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
