"""The certificate's own definition of a shingle, so that a mistake in that of the search cannot hide.

A test checks that the two definitions agree on any text.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+")


def character_shingles(text: str) -> frozenset[str]:
    """Three letters in a row of the folded text; a shorter one is its own shingle, an empty one has none."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if len(folded) < 3:
        return frozenset([folded]) if folded else frozenset()
    return frozenset(map("".join, zip(folded, folded[1:], folded[2:], strict=False)))


def word_shingles(text: str) -> frozenset[str]:
    """Three words in a row; a shorter text is one shingle, a text without words has none."""
    found = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    if len(found) < 3:
        return frozenset([" ".join(found)]) if found else frozenset()
    return frozenset(map(" ".join, zip(found, found[1:], found[2:], strict=False)))
