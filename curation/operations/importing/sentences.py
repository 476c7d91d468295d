"""Sentences that the outcomes of several imports share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.core.text import amount, counted, listed
from curation.ingest.readers.lines import DIGITS, REPLACED_BY

SHOWN = 10
"""Names that a sentence lists."""


def fields_used(fields: Any, rest: str = "") -> str:
    """The columns that were read; `rest` says what became of the others."""
    used = ", ".join(f"{name} {column}" for name, column in fields.used.items())
    others = f"; {rest}" if rest else ""
    if not rest and fields.unused:
        others = f"; not used: {listed(fields.unused, SHOWN)}"
    return f"Fields used: {used}{others}."


def replaced(found: Mapping[str, int]) -> list[str]:
    """Sentences about what no database keeps: characters, bytes that are no text, and zones nobody knows."""
    digits = found.get(DIGITS, 0)
    ids = amount(digits, "id has", "ids have")
    said = [f"{ids} more than 15 digits. A spreadsheet keeps 15: the others may be wrong."] if digits else []
    found = {kind: count for kind, count in found.items() if kind != DIGITS}
    by = {kind: next(by for begin, by in REPLACED_BY.items() if kind.startswith(begin)) for kind in found}
    sentences = [f"Replaced: {count:,} × {kind}, by {by[kind]}." for kind, count in found.items()]
    return sentences + said


def withdrawn(items: int) -> list[str]:
    are = amount(items, "item of a round is", "items of rounds are")
    return [f"{are} outside the filter of the query now, and nobody is asked for them."] if items else []


def personal_data(found: Mapping[str, int], unit: str, what: str) -> list[str]:
    return [f"Personal data, {what}: {counted(count, unit)} with {kind}." for kind, count in found.items()]
