"""Values of records as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from curation.core.text import canonical_json

EXACT = 2**53
"""Whole numbers below this one are all kept apart by the numbers of JSON, sheets and Parquet's doubles."""
_LARGEST = 10**18  # what the database's 64 bits hold; a text like 1e999999999 is never written out


def text_of(value: Any) -> str:
    """A field's value as text: lists have an item a line, objects are JSON, what is missing is ''."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "\n".join(filter(None, map(text_of, value)))
    if isinstance(value, dict):
        return metadata_json(value)
    return str(_plain(value))


class UnfitIdError(Exception):
    """A value has lost how the id was written; the message says what the value is."""


def id_text(value: Any) -> str:
    """The text of an id; whole numbers are integers, however they are stored.

    Raises
    ------
    UnfitIdError: a truth value, a date or time, a fraction, or a number too large to be exact.
    """
    if isinstance(value, bool):
        raise UnfitIdError("a truth value")
    if isinstance(value, datetime | date | time | timedelta):
        raise UnfitIdError("a date or a time")
    if isinstance(value, float | Decimal) and not math.isnan(value):
        whole = math.isfinite(value) and value == int(value)
        if not whole:
            raise UnfitIdError("a number that is not whole")
        if isinstance(value, float) and abs(value) >= EXACT:
            raise UnfitIdError("a number with more digits than are kept")
        return str(int(value))
    return text_of(value)


def metadata_json(fields: Mapping[str, Any]) -> str:
    """Fields as canonical JSON; dates are ISO texts, and what JSON cannot say (NaN, infinity) is null."""
    try:
        text = canonical_json(fields)
    except TypeError:
        return canonical_json(_plain(fields))
    return canonical_json(_plain(fields)) if "NaN" in text or "Infinity" in text else text


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def whole_number(text: str) -> int | None:
    """The whole number that a text says, or None if it says none between -10¹⁸ and 10¹⁸."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not number.is_finite() or not -_LARGEST <= number <= _LARGEST or number != number.to_integral_value():
        return None
    return int(number)
