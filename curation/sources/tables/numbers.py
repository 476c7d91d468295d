"""Whole numbers as files write them: 3, 3.0 and 3e2, and no digit lost on the way."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

_LARGEST = 10**18  # what the database's 64 bits hold; a text like 1e999999999 is never written out


def whole_number(text: str) -> int | None:
    """The whole number that a text says, or None if it says none between -10¹⁸ and 10¹⁸."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not number.is_finite() or not -_LARGEST <= number <= _LARGEST or number != number.to_integral_value():
        return None
    return int(number)
