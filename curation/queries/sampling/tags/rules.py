"""Rules that find tags: one small rule for each tag that a query's text shows.

    question       begins like one, or ends in a question mark
    temporal       names a year, a date or a time, or what is latest, current or to come
    multi-intent   has two sentences, compares (`vs`), or begins with two kinds joined by "and"
    short, long    1 or 2 words; 6 and more (words as white space parts them, like strata by length)

Texts are normalised ones (`curation.core.text.normalise_query`). What each tag means to a person, and how
often the rules agree, is in docs/tags.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from curation.queries.sampling.strata import LONG, SHORT
from curation.retrieval.terms import content_words, is_question

VERSION = "rules 1"
"""Who is the author of a rule's word: another wording of the rules gets another number."""
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
