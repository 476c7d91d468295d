"""Names: which words of a corpus name a brand, a product, a person, a place or a work.

The corpus shows it, without a model, in three ways: what its fields of names hold (`NAME_FIELDS`),
words with a capital inside (iPhone), and words that running text writes with a capital. For the last only a
word between small ones counts, so that neither the start of a sentence nor a title in capitals says anything,
and neither does a word all in capitals (USB). A word that the corpus often writes small is no name.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable

from curation.retrieval.terms import STOP_WORDS
from curation.store import Document
from curation.words import words

NAME_FIELDS = frozenset(
    "brand product_brand supplier manufacturer maker vendor publisher author authors artist".split()
)
"""Fields of a document, by their usual names, whose values are names."""
FEWEST = 3
"""Documents in which running text must write a word as a name."""
SMALL = 0.3
"""Documents that may write a name small, for each one in which running text writes it as a name …"""
SMALL_IN_FIELD = 1.5
"""… or that has it in a field."""

_SMALL = re.compile(r"(?<![\w.])[^\W\dA-Z_]{2,}(?!\w)")
_BETWEEN_SMALL = re.compile(r"(?<![\w.])[a-z]{2,},? ([A-Z][^\W\dA-Z_]+)(?=[,.]|['’]s|,? [a-z])")
_CAPITAL_INSIDE = re.compile(r"(?<![\w.])[A-Z]?[a-z]+[A-Z][A-Za-z]*(?!\w)")


def names_of(documents: Iterable[Document]) -> frozenset[str]:
    """The casefolded words, or words in a row joined by one space, that are names in these documents."""
    written: Counter[str] = Counter()
    small: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    for document in documents:
        capital = {*_BETWEEN_SMALL.findall(document.text), *_CAPITAL_INSIDE.findall(document.text)}
        written.update({word.casefold() for word in capital})
        small.update(set(_SMALL.findall(document.text)))
        fields.update(_field_names(document.metadata))
    names = {name for name, times in written.items() if times >= FEWEST} | set(fields)
    return frozenset(
        name
        for name in names - STOP_WORDS
        if small[name] <= max(SMALL * written[name], SMALL_IN_FIELD * fields[name])
    )


def _field_names(metadata: str) -> set[str]:
    values = [value for name, value in json.loads(metadata).items() if name.casefold() in NAME_FIELDS]
    return {" ".join(words(value)) for value in values if isinstance(value, str) and value.strip()}
