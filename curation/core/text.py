"""Numbers and lists as human-readable text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

MAX_NOTE_LENGTH = 4_000  # maximum length of a note, a reason or a question, in characters
TINY_P = "<\u00a00.001"  # replaces a p value that three decimals would round to 0
_PLURAL = re.compile(r"\b\w{3,}s\b")


def pluralize(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun: "1 query", "1,200 queries"; the default plural is `one` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def pluralize_label(number: int, label: str) -> str:
    """Write a number with a plural label, which becomes singular for 1: "2 new queries", "1 new query"."""
    return f"{number:,} {_PLURAL.sub(_singular, label, count=1) if number == 1 else label}"


def suggest(name: str, known: Iterable[str], ending: str = "") -> str:
    """Write the end of a sentence about an unknown name: "; did you mean 'bm25'?", or '' without a similar
    name. `ending` follows the similar name.
    """
    from difflib import get_close_matches

    similar = get_close_matches(name.casefold(), list(known), n=1, cutoff=0.6)
    return f"; did you mean {f'{similar[0]}{ending}'!r}?" if similar else ""


def describe_left_out(left_out: Mapping[str, int], unit: str = "") -> list[str]:
    """Write, for each reason, a sentence with the number left out; `unit` is the noun for reasons without
    one."""
    return [
        f"Left out: {pluralize_label(number, unit)}: {why}." if unit else f"Left out: {why} ({number:,})."
        for why, number in left_out.items()
    ]


def percent(share: float | None, places: int = 0) -> str:
    """Write a share as a percentage with a non-breaking space, such as "95 %"; a dash if it is unknown."""
    return "–" if share is None else f"{100 * share:.{places}f}\u00a0%"


def points(share: float) -> str:
    """Write a difference of shares in percentage points: "12 points"."""
    return f"{100 * share:.0f}\u00a0points"


def decimal(value: float | None, places: int = 3, sign: str = "") -> str:
    """Write a number in human-readable form: "1,234.500", "−0.123"; a dash if it is unknown.

    sign: "+" puts a plus before positive numbers.
    """
    return "–" if value is None else f"{value:{sign},.{places}f}".replace("-", "\u2212")


def interval_text(low: float | None, high: float | None, places: int = 3, sign: str = "") -> str:
    """Write an interval, such as "0.100 to 0.200"; a dash if an end is unknown."""
    known = low is not None and high is not None
    return f"{decimal(low, places, sign)} to {decimal(high, places, sign)}" if known else "–"


def join_names(names: Sequence[str], most: int = 5) -> str:
    """Join the first names, and say how many more there are: "ada, ben and 4 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def p_cell(p: float | None) -> float | str | None:
    """Make the table cell of a p value, which is never shown as 0.000."""
    return TINY_P if p is not None and p < 0.001 else p


def p_text(p: float | None) -> str:
    """Write a p value for a sentence: "0.012", "< 0.001"; a dash if it is unknown."""
    return TINY_P if p is not None and p < 0.001 else decimal(p)


def _singular(plural: re.Match[str]) -> str:
    word = plural[0]
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
