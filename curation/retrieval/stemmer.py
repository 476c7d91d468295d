"""The stemmer of a project: a Snowball algorithm that BM25's words go through; by default there is none.

M. F. Porter (2001), Snowball: a language for stemming algorithms.
"""

from __future__ import annotations

from functools import lru_cache

from curation.errors import InputError
from curation.store import Cursor, get_setting, put_setting

NONE = "none"
_SETTING = "stemmer"


def project_stemmer(cursor: Cursor) -> str | None:
    """The language of the project's stemmer; None where words stay as they are."""
    return get_setting(cursor, _SETTING) or None


def choose_stemmer(cursor: Cursor, language: str) -> None:
    """Make this the project's stemmer; 'none' for no stemmer.

    Raises
    ------
    InputError: there is no stemmer of that name.
    """
    import snowballstemmer

    if language not in (NONE, *snowballstemmer.algorithms()):
        known = ", ".join(sorted(snowballstemmer.algorithms()))
        raise InputError(
            f"--stemmer {language}: there is no such stemmer; expected {NONE} or one of {known}."
        )
    put_setting(cursor, _SETTING, "" if language == NONE else language)


@lru_cache(maxsize=262_144)
def stemmed(language: str, word: str) -> str:
    """The stem of a folded word."""
    import snowballstemmer

    found: str = snowballstemmer.stemmer(language).stemWord(word)
    return found
