"""Conversion of a file's cells to texts, ids, whole numbers and JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from curation.core.digests import canonical_json

EXACT = 2**53
"""Limit below which doubles (in JSON, spreadsheets and Parquet) represent all whole numbers exactly."""
_MAX_NUMBER = 10**18  # fits into the database's 64 bits
_NO_VALUE = frozenset(
    "nan -nan null (null) none nil na n/a n.a. <na> nat #n/a #na #nv \\n - -- – — . #n/a n/a".split(" ")
)
"""Lower-cased words for an empty cell, as written by pandas, R, SQL, Excel, Stata and people."""


def to_text(value: Any) -> str:
    """Return a value as text: a list with one item per line, an object as JSON, a missing value as ''."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "\n".join(filter(None, map(to_text, value)))
    if isinstance(value, dict):
        return to_metadata_json(value)
    return str(_to_json_value(value))


def field_to_text(values: Mapping[str, Any], column: str | None) -> str:
    """Return the value in a record's column as text; '' if there is no column."""
    return "" if column is None else to_text(values.get(column))


class UnfitIdError(Exception):
    """Error: a value does not show how the id was originally written; the message describes the value."""


def to_id(value: Any) -> str:
    """Return an id as text; a whole number becomes digits without a decimal point.

    Raises
    ------
    UnfitIdError: the value is a truth value, a date or time, a fraction, or a number that is too large to be
    stored exactly.
    """
    if isinstance(value, bool):
        raise UnfitIdError("a Boolean value")
    if isinstance(value, datetime | date | time | timedelta):
        raise UnfitIdError("a date or a time")
    if isinstance(value, float | Decimal) and not math.isnan(value):
        is_whole = math.isfinite(value) and value == int(value)
        if not is_whole:
            raise UnfitIdError("a number that is not an integer")
        if isinstance(value, float) and abs(value) >= EXACT:
            raise UnfitIdError("a number with too many digits")
        return str(int(value))
    return to_text(value)


def to_metadata_json(fields: Mapping[str, Any]) -> str:
    """Return values as canonical JSON; dates become ISO texts, and NaN and infinity become null."""
    try:
        text = canonical_json(fields)
    except TypeError:
        return canonical_json(_to_json_value(fields))
    return canonical_json(_to_json_value(fields)) if "NaN" in text or "Infinity" in text else text


def _to_json_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _to_json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def parse_whole_number(text: str) -> int | None:
    """Parse a text as a whole number between -10¹⁸ and 10¹⁸; None for other texts."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    is_within = number.is_finite() and -_MAX_NUMBER <= number <= _MAX_NUMBER  # abs would overflow
    return int(number) if is_within and number == number.to_integral_value() else None


def is_missing_value(text: str) -> bool:
    """Return whether a cell is empty or holds a word for an empty cell: '', NaN, NULL, None, n/a, or a
    dash."""
    return not text or text.casefold() in _NO_VALUE
