"""The project's analyzer: the stemmer and the kept stop words with which BM25 cuts texts into terms."""

from __future__ import annotations

from collections.abc import Sequence

from curation.core.errors import InputError, refuse_problems
from curation.core.words import fold
from curation.retrieval.terms import STOP_WORDS, Analyzer
from curation.store import Cursor, get_setting, put_setting

NONE = "none"
"""The word that switches the stemmer off, and the kept stop words."""
_STEMMER, _KEPT_WORDS = "stemmer", "kept stop words"


def read_analyzer(cursor: Cursor) -> Analyzer:
    """Read the project's settings for stemming and kept stop words."""
    kept_words = frozenset((get_setting(cursor, _KEPT_WORDS) or "").split())
    return Analyzer(get_setting(cursor, _STEMMER) or None, kept_words)


def set_analyzer(cursor: Cursor, stemmer: str | None, kept_words: Sequence[str] | None) -> None:
    """Set the project's stemmer and the stop words that BM25 keeps; None changes nothing.

    Raises
    ------
    InputError: no stemmer has this name, or a word is not a stop word.
    """
    if stemmer is not None:
        _set_stemmer(cursor, stemmer)
    if kept_words is not None:
        words = {fold(word) for word in kept_words} - {NONE}
        unknown = sorted(words - STOP_WORDS)
        refuse_problems([f"{word!r} is not a stop word: BM25 searches for it anyway." for word in unknown])
        put_setting(cursor, _KEPT_WORDS, " ".join(sorted(words)))


def _set_stemmer(cursor: Cursor, language: str) -> None:
    import snowballstemmer

    if language not in (NONE, *snowballstemmer.algorithms()):
        known = ", ".join(sorted(snowballstemmer.algorithms()))
        raise InputError(f"There is no stemmer {language!r}; expected {NONE} or one of {known}.")
    put_setting(cursor, _STEMMER, "" if language == NONE else language)
