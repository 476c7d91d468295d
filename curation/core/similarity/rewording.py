"""Texts whose punctuation and order of words do not count: "T-shirt, blue" and "blue t shirt".

Words are compared in the order of the alphabet, by the 3-grams of the text that they form. That would bring
"iphone 14 case" nearer to "iphone 13 case", because numbers come first. So texts are only compared where they
hold the same words with a digit, and the same signs after a word, as in c++ and c#.
"""

from __future__ import annotations

import re

from curation.core.similarity.shingles import Shingles, character_shingles
from curation.core.text import normalise_query
from curation.core.words import whole_words

NAME = "words in any order, same numbers"

_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_SIGNS = re.compile(r"(?<=\w)[+#]+(?![\w+#])")


def reworded_shingles(text: str) -> Shingles:
    """The 3-grams of the text's words in the order of the alphabet."""
    return character_shingles(" ".join(sorted(_words(text))))


def essentials(text: str) -> str:
    """What two texts must have in common: words with a digit, and each + or # that ends a word."""
    numbers = [word for word in _words(text) if any(map(str.isdigit, word))]
    return " ".join(sorted([*numbers, *_SIGNS.findall(normalise_query(text))]))


def _words(text: str) -> list[str]:
    return whole_words(_APOSTROPHE.sub("", text))
