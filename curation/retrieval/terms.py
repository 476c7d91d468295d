"""Content words: what lexical retrieval counts.

The stop words are the words of asking and joining (articles, pronouns, auxiliaries, prepositions,
question words), and those only. Left in on purpose: negations (`not`, `without`), because they turn a
query round; numbers and single letters, because `5` and `c` name products and languages; and words that
are merely frequent, because BM25 weighs those down itself.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from curation.text import words

STOP_WORDS = frozenset(
    "a an the this that these those "
    "i me my we us our you your he him his she her it its they them their "
    "am is are was were be been being do does did doing have has had having "
    "can could will would shall should may might must "
    "and or but if then than so as of at by for from in into on onto to with about "
    "what which who whom whose when where why how there here".split()
)


def content_words(text: str) -> list[str]:
    """The text's words, in order, without stop words."""
    return [word for word in words(text) if word not in STOP_WORDS]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its plural or verb ending.

    The S-stemmer of Harman 1991 ("How effective is suffixing?"), extended by -ing and -ed.
    """
    word = unicodedata.normalize("NFKC", word).casefold()
    for ending, rest in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) + len(rest) >= 3 and not word.endswith("ss"):
            return _undouble(word.removesuffix(ending) + rest).removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


def _undouble(word: str) -> str:
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz"
    return word[:-1] if doubled else word
