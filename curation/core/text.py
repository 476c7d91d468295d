"""Texts for people: numbers, shares, intervals, p values and lists in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

MAX_NOTE_LENGTH = 4_000
"""Characters of a note, a reason or a question that a person writes."""
TINY_P = "<\u00a00.001"
"""What is shown of a p that three decimals would show as nothing."""
_PLURAL = re.compile(r"\b\w{3,}s\b")


def pluralize(number: int, one: str, many: str = "") -> str:
    """A number of things in words: "1 query", "1,200 queries"; without `many`, `one` takes an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def counted(number: int, label: str) -> str:
    """A number with a label whose first plural becomes a singular for 1: "2 new queries", "1 new query"."""
    return f"{number:,} {_PLURAL.sub(_singular, label, count=1) if number == 1 else label}"


def _singular(plural: re.Match[str]) -> str:
    word = plural[0]
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


def left_out_sentences(left_out: Mapping[str, int], unit: str = "") -> list[str]:
    """What was left out, reason → number, a sentence each; `unit` is what is counted, if no reason has it."""
    return [
        f"Left out: {counted(number, unit)}: {why}." if unit else f"Left out: {why} ({number:,})."
        for why, number in left_out.items()
    ]


def percent(share: float | None, places: int = 0) -> str:
    """A share as people read it: "95 %", with a space that breaks no line; a dash where it is unknown."""
    return "–" if share is None else f"{100 * share:.{places}f}\u00a0%"


def points(share: float) -> str:
    """A difference of shares in percentage points: "12 points"."""
    return f"{100 * share:.0f}\u00a0points"


def decimal(value: float | None, places: int = 3, sign: str = "") -> str:
    """A number as people read it: "1,234.500", "−0.123"; a dash where it is unknown.

    sign: "+" puts a plus before positive numbers.
    """
    return "–" if value is None else f"{value:{sign},.{places}f}".replace("-", "\u2212")


def interval_text(low: float | None, high: float | None, places: int = 3, sign: str = "") -> str:
    """An interval as people read it: "0.100 to 0.200"; a dash without both ends."""
    known = low is not None and high is not None
    return f"{decimal(low, places, sign)} to {decimal(high, places, sign)}" if known else "–"


def join_words(names: Sequence[str], most: int = 5) -> str:
    """The first names for a sentence, and how many more there are: "ada, ben and 4 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def p_cell(p: float | None) -> float | str | None:
    """A p value for a table for people, where figures have three decimals: never 0.000."""
    return TINY_P if p is not None and p < 0.001 else p


def p_text(p: float | None) -> str:
    """A p value in a sentence: "0.012", "< 0.001"; a dash where it is unknown."""
    return TINY_P if p is not None and p < 0.001 else decimal(p)
