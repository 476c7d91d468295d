"""What an import did, in figures and sentences, and the sentences that imports of several kinds have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from curation.core.text import counted, join_words, left_out_sentences, pluralize
from curation.ingest.readers.lines import DIGITS, REPLACED_BY

MAX_NAMES = 10
"""Names that a sentence lists."""


class ImportOutcome(NamedTuple):
    """What an import did, or would do.

    Attributes
    ----------
    changes: False where the project held all of it before.
    sentence: what it is in one sentence.
    unit: what the figures and what is left out count, such as 'documents'.
    figures: label → number, in order; the first is the headline.
    left_out: reason → number of records.
    remarks: further sentences.
    """

    changes: bool
    sentence: str
    unit: str
    figures: Mapping[str, int]
    left_out: Mapping[str, int]
    remarks: list[str]

    @property
    def sentences(self) -> list[str]:
        """All of it, a sentence each."""
        return [self.sentence, *left_out_sentences(self.left_out, self.unit), *self.remarks]


def known_sentence(known_as: Mapping[str, str]) -> str:
    """Which queries of a file the project knew under an id of its own."""
    pairs = [f"{theirs} is {ours}" for theirs, ours in known_as.items()]
    return (
        f"{len(pairs):,} of them the project knew by their text and keep its id: "
        f"{join_words(pairs, MAX_NAMES)}. Judgments that name them by either id are understood."
    )


def earlier_imports(number: int) -> str:
    """How many files of the same name the project has, as a part of a sentence."""
    singular, many = (
        "earlier import of a file of this name counts",
        "earlier imports of files of this name count",
    )
    return pluralize(number, singular, many)


def fields_used(fields: Any, rest: str = "") -> str:
    """The columns that were read; `rest` says what became of the others."""
    used = ", ".join(f"{name} {column}" for name, column in fields.used.items())
    others = f"; {rest}" if rest else ""
    if not rest and fields.unused:
        others = f"; not used: {join_words(fields.unused, MAX_NAMES)}"
    return f"Fields used: {used}{others}."


def replaced(counts: Mapping[str, int]) -> list[str]:
    """Sentences about what no database keeps: characters, bytes that are no text, and zones nobody knows."""
    digits = counts.get(DIGITS, 0)
    ids = pluralize(digits, "id has", "ids have")
    cut = [f"{ids} more than 15 digits. A spreadsheet keeps 15: the others may be wrong."] if digits else []
    counts = {kind: count for kind, count in counts.items() if kind != DIGITS}
    by = {kind: next(by for begin, by in REPLACED_BY.items() if kind.startswith(begin)) for kind in counts}
    sentences = [f"Replaced: {count:,} × {kind}, by {by[kind]}." for kind, count in counts.items()]
    return sentences + cut


def withdrawn(items: int) -> list[str]:
    """The sentence on items of rounds that an import withdrew."""
    are = pluralize(items, "item of a round is", "items of rounds are")
    return [f"{are} outside the filter of the query now, and nobody is asked for them."] if items else []


def personal_data(counts: Mapping[str, int], unit: str, what: str) -> list[str]:
    """Sentences on personal data, by kind."""
    return [f"Personal data, {what}: {counted(count, unit)} with {kind}." for kind, count in counts.items()]


def judgment_remarks(fields: Any, unread: Mapping[str, int]) -> list[str]:
    """Which columns of judgments were read, and what could not be read of judgments taken without it."""
    return [
        fields_used(fields),
        *(f"Taken without it: {count:,} × {what}." for what, count in unread.items()),
    ]
