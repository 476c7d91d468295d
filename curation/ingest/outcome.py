"""The outcome of an import, worded the same way for all kinds of files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from curation.core.text import describe_left_out, join_names, pluralize, pluralize_label
from curation.ingest.readers.lines import DIGITS, REPLACED_BY

MAX_NAMES = 10
"""Greatest number of names in a sentence."""


class ImportOutcome(NamedTuple):
    """The outcome of an import or of a dry run.

    Attributes
    ----------
    changes: False if the project already had all content of the file.
    sentence: summary of the outcome.
    unit: noun for the counted records, such as 'documents'.
    figures: number for each label; the first number is the headline.
    left_out: number of records that were left out for each reason.
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
        """Return the outcome of the import as sentences, the summary first."""
        return [self.sentence, *describe_left_out(self.left_out, self.unit), *self.remarks]


def describe_fields(fields: Any, rest: str = "") -> str:
    """Return a sentence that lists the columns that were read; `rest` is the end of the sentence, about the
    other columns."""
    used_columns = ", ".join(f"{name} {column}" for name, column in fields.used.items())
    unused_clause = f"; {rest}" if rest else ""
    if not rest and fields.unused:
        unused_clause = f"; not used: {join_names(fields.unused, MAX_NAMES)}"
    return f"Fields used: {used_columns}{unused_clause}."


def describe_replaced(counts: Mapping[str, int]) -> list[str]:
    """Return sentences about replaced characters, bytes that are not text, and unknown time zones."""
    long_ids = counts.get(DIGITS, 0)
    ids = pluralize(long_ids, "id has", "ids have")
    doubt = f"{ids} more than 15 digits. A spreadsheet keeps 15 digits: further digits may be wrong."
    sentences = [
        f"Replaced: {count:,} × {kind}, by {replacement}."
        for kind, count in counts.items()
        for beginning, replacement in REPLACED_BY.items()
        if kind.startswith(beginning)
    ]
    return [*sentences, doubt] if long_ids else sentences


def describe_withdrawals(items: int) -> list[str]:
    """Return a sentence about items that an import withdrew from rounds; '' if there were none."""
    subject = pluralize(items, "item of a round is", "items of rounds are")
    sentence = f"{subject} now outside the filter of their query, so annotators no longer get them."
    return [sentence] if items else []


def describe_personal_data(counts: Mapping[str, int], unit: str, what: str) -> list[str]:
    """Return sentences about personal data, one per kind."""
    numbers = {kind: pluralize_label(count, unit) for kind, count in counts.items()}
    return [f"Personal data, {what}: {number} with {kind}." for kind, number in numbers.items()]


def describe_judgment_columns(fields: Any, unread: Mapping[str, int]) -> list[str]:
    """Return sentences about the judgment columns and about values that could not be read."""
    remarks = [f"Imported without it: {count:,} × {what}." for what, count in unread.items()]
    return [describe_fields(fields), *remarks]
