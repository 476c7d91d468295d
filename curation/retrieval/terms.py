"""Content words: the terms of lexical retrieval.

The stop words are the words of asking and joining (articles, pronouns, auxiliaries, prepositions,
question words), and those only. Left in on purpose: negations (`not`, `without`), because they turn a
query round; numbers and single letters, because `5` and `c` name products and languages; and words that
are merely frequent, because BM25 weighs those down itself.

In scripts without spaces a run of signs is one word here, which hardly any query repeats. So such runs are
also searched by their grams (`curation.core.words`), which BM25 counts and weighs apart from words.

A project may have a stemmer, a Snowball algorithm that content words go through (M. F. Porter 2001, Snowball:
a language for stemming algorithms).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from curation.core.errors import InputError
from curation.core.words import fold, is_unspaced, signs, whole_words
from curation.store import Cursor, get_setting, put_setting

STOP_WORDS = frozenset(
    "a an the this that these those i me my we us our you your he him his she her it its they them their am "
    "is are was were be been being do does did doing have has had having can could will would shall should "
    "may might must and or but if then than so as of at by for from in into on onto to with about what which "
    "who whom whose when where why how there here".split()
)

NO_STEMMER = "none"
GRAM = " "
"""First character of a gram, which no word has and which sorts before all words."""
_SETTING = "stemmer"
_ASKS = re.compile(
    r"^[\"'(]*(who|whom|whose|what|what's|which|(where|when)(?! the)|why|how|is|are|was|were|do|does|did|can"
    r"|could|should|would|will)\b|\?\W*$"
)


def is_question(text: str) -> bool:
    """Check whether a normalised query (`curation.core.characters.normalise_query`) is a question."""
    return _ASKS.search(text) is not None


def content_words(text: str) -> list[str]:
    """Cut a text into words without stop words, in order; runs of scripts without spaces are whole."""
    return [word for word in whole_words(text) if word not in STOP_WORDS]


def searched_terms(query: str, stemmer: str | None = None) -> list[str]:
    """List the search terms of a query: its content words, and the grams of its runs without spaces.

    Parameters
    ----------
    stemmer: the language of a Snowball stemmer that content words go through; None: they stay as they are.
    """
    return _terms(query, stemmer, single_signs=False)


def indexed_terms(document: str, stemmer: str | None = None) -> list[str]:
    """List the index terms of a document: as `searched_terms`, and each single sign of runs without
    spaces.
    """
    return _terms(document, stemmer, single_signs=True)


def is_gram(term: str) -> bool:
    """Check whether a term is a gram, which begins with a space, unlike words."""
    return term.startswith(GRAM)


def _terms(text: str, stemmer: str | None, single_signs: bool) -> list[str]:
    content = content_words(text)
    grams = [] if text.isascii() else _grams(content, single_signs)
    return (content if stemmer is None else [stemmed(stemmer, word) for word in content]) + grams


def _grams(content: list[str], single_signs: bool) -> list[str]:
    grams: list[str] = []
    for run in filter(is_unspaced, content):
        single = signs(run)
        grams += map("".join, pairwise(single))
        if single_signs or len(single) == 1:
            grams += single
    return [f"{GRAM}{gram}" for gram in grams]


def project_stemmer(cursor: Cursor) -> str | None:
    """Read the language of the project's stemmer; None without a stemmer."""
    return get_setting(cursor, _SETTING) or None


def choose_stemmer(cursor: Cursor, language: str) -> None:
    """Set the project's stemmer; 'none' for no stemmer.

    Raises
    ------
    InputError: there is no stemmer of that name.
    """
    import snowballstemmer

    if language not in (NO_STEMMER, *snowballstemmer.algorithms()):
        known = ", ".join(sorted(snowballstemmer.algorithms()))
        raise InputError(f"There is no stemmer {language!r}; expected {NO_STEMMER} or one of {known}.")
    put_setting(cursor, _SETTING, "" if language == NO_STEMMER else language)


@lru_cache(maxsize=262_144)
def stemmed(language: str, word: str) -> str:
    """Stem a folded word."""
    import snowballstemmer

    stem: str = snowballstemmer.stemmer(language).stemWord(word)
    return stem


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Remove the plural or verb ending of a word.

    The S-stemmer of Harman 1991 ("How effective is suffixing?"), extended by -ing and -ed.
    """
    word = fold(word)
    for ending, rest in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) + len(rest) >= 3 and not word.endswith("ss"):
            return _undouble(word.removesuffix(ending) + rest).removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


def _undouble(word: str) -> str:
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz"
    return word[:-1] if doubled else word
