"""Content words: the terms of lexical retrieval.

Stop words are only articles, pronouns, auxiliaries, prepositions, conjunctions and question words. Negations
(`not`, `without`) are content words, because a negation reverses a query. Numbers and single letters are
content words, because `5` and `c` name products and languages. Merely frequent words are content words,
because BM25 gives frequent words a low weight.

In scripts without spaces, a whole run of characters counts as one word, and hardly any query repeats the
whole run. So runs in scripts without spaces are also searched by grams (`curation.core.words`), which BM25
counts and weights apart from words.

A project may have a stemmer, a Snowball algorithm that reduces content words to stems (Porter 2001, Snowball:
a language for stemming algorithms).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from curation.core.errors import InputError
from curation.core.words import fold, is_unspaced, split_signs, split_whole_words
from curation.store import Cursor, get_setting, put_setting

STOP_WORDS = frozenset(
    "a an the this that these those i me my we us our you your he him his she her it its they them their am "
    "is are was were be been being do does did doing have has had having can could will would shall should "
    "may might must and or but if then than so as of at by for from in into on onto to with about what which "
    "who whom whose when where why how there here".split()
)

NO_STEMMER = "none"
GRAM = " "  # first character of a gram, which no word has and which sorts before all words
_SETTING = "stemmer"
_ASKS = re.compile(
    r"^[\"'(]*(who|whom|whose|what|what's|which|(where|when)(?! the)|why|how|is|are|was|were|do|does|did|can"
    r"|could|should|would|will)\b|\?\W*$"
)


def is_question(text: str) -> bool:
    """Tell whether a normalised query (`curation.core.characters.normalise_query`) is a question."""
    return _ASKS.search(text) is not None


def content_words(text: str) -> list[str]:
    """Cut a text into words without stop words, in order. Runs of scripts without spaces stay whole."""
    return [word for word in split_whole_words(text) if word not in STOP_WORDS]


def searched_terms(query: str, stemmer: str | None = None) -> list[str]:
    """List the search terms of a query: its content words, and the grams of runs in scripts without spaces.

    Parameters
    ----------
    stemmer: language of a Snowball stemmer for content words; None leaves content words unchanged.
    """
    return _terms(query, stemmer, single_signs=False)


def indexed_terms(document: str, stemmer: str | None = None) -> list[str]:
    """List the index terms of a document: the terms of `searched_terms`, and single characters of runs."""
    return _terms(document, stemmer, single_signs=True)


def is_gram(term: str) -> bool:
    """Tell whether a term is a gram, which begins with a space, unlike words."""
    return term.startswith(GRAM)


def project_stemmer(cursor: Cursor) -> str | None:
    """Read the language of the project's stemmer, or return None without a stemmer."""
    return get_setting(cursor, _SETTING) or None


def choose_stemmer(cursor: Cursor, language: str) -> None:
    """Set the project's stemmer; 'none' for no stemmer.

    Raises
    ------
    InputError: no stemmer has this name.
    """
    import snowballstemmer

    if language not in (NO_STEMMER, *snowballstemmer.algorithms()):
        known = ", ".join(sorted(snowballstemmer.algorithms()))
        raise InputError(f"There is no stemmer {language!r}; expected {NO_STEMMER} or one of {known}.")
    put_setting(cursor, _SETTING, "" if language == NO_STEMMER else language)


@lru_cache(maxsize=262_144)
def stemmed(language: str, word: str) -> str:
    """Reduce a folded word to its stem."""
    import snowballstemmer

    stem: str = snowballstemmer.stemmer(language).stemWord(word)
    return stem


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Remove the plural or verb ending of a word.

    The rules are the S-stemmer of Harman 1991 ("How effective is suffixing?"), extended by -ing and -ed.
    """
    word = fold(word)
    for ending, rest in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) + len(rest) >= 3 and not word.endswith("ss"):
            return _undouble(word.removesuffix(ending) + rest).removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


def _terms(text: str, stemmer: str | None, single_signs: bool) -> list[str]:
    content = content_words(text)
    grams = [] if text.isascii() else _grams(content, single_signs)
    return (content if stemmer is None else [stemmed(stemmer, word) for word in content]) + grams


def _grams(content: list[str], single_signs: bool) -> list[str]:
    grams: list[str] = []
    for run in filter(is_unspaced, content):
        single = split_signs(run)
        grams += map("".join, pairwise(single))
        if single_signs or len(single) == 1:
            grams += single
    return [f"{GRAM}{gram}" for gram in grams]


def _undouble(word: str) -> str:
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz"
    return word[:-1] if doubled else word
