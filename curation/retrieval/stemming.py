"""Stemming of words: by a Snowball algorithm, or by removing English endings.

See Porter 2001, Snowball: a language for stemming algorithms.
"""

from __future__ import annotations

from functools import lru_cache

from curation.core.words import fold


@lru_cache(maxsize=262_144)
def stem_word(language: str, word: str) -> str:
    """Reduce a word to its stem, so that "filters" and "filter" match."""
    import snowballstemmer

    stem: str = snowballstemmer.stemmer(language).stemWord(word)
    return stem


@lru_cache(maxsize=65_536)
def strip_ending(word: str) -> str:
    """Remove the plural or verb ending of a word.

    The rules are the S-stemmer of Harman 1991 ("How effective is suffixing?"), extended by -ing and -ed.
    """
    word = fold(word)
    for ending, replacement in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        stem = word.removesuffix(ending) + replacement
        if word.endswith(ending) and len(stem) >= 3 and not word.endswith("ss"):
            return _undouble_last_letter(stem).removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


def _undouble_last_letter(word: str) -> str:
    """Remove one of two equal letters at the end of a stem: the stem of "running" is "run"."""
    has_double = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz"
    return word[:-1] if has_double else word
