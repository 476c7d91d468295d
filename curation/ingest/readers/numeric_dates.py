"""Numeric dates such as 03/04/2026: month or day first, as somebody says for a whole file."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo
from typing import Any

from curation.core.errors import InputError
from curation.ingest.readers.times import utc_time
from curation.ingest.readers.written_times import split_zone

MONTH_FIRST, DAY_FIRST = "mdy", "dmy"
DATE_ORDERS = (MONTH_FIRST, DAY_FIRST)
ASK_FOR_ORDER = "Say which comes first: --date-order mdy (month, as in the US) or dmy (day)."
_NUMERIC_DATE = re.compile(
    r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})"
    r"(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?: ?([ap])\.?m\.?)?)?",
    re.IGNORECASE,
)


def check_date_order(order: str | None) -> None:
    """Refuse an order that there is not."""
    if order not in (None, *DATE_ORDERS):
        raise InputError(f"--date-order {order!r}: expected {' or '.join(DATE_ORDERS)}")


def is_numeric_date(value: Any) -> bool:
    """Whether a cell is a numeric date, with or without a time of day."""
    return isinstance(value, str) and _numeric(value.strip())[0] is not None


def _numeric(text: str) -> tuple[re.Match[str] | None, tzinfo | None]:
    match = _NUMERIC_DATE.fullmatch(text)
    if match is not None or _NUMERIC_DATE.match(text) is None:
        return match, None
    local, zone = split_zone(text)
    return _NUMERIC_DATE.fullmatch(local), zone


def numeric_date(text: str, order: str) -> datetime | None:
    """The time that a numeric date says in this order; None where the calendar has no such time."""
    found, zone = _numeric(text.strip())
    if found is None:
        return None
    first, _, second, year, hour, minute, clock_second, half = found.groups()
    month, day = (first, second) if order == MONTH_FIRST else (second, first)
    hours = int(hour or 0)
    if half and not 1 <= hours <= 12:
        return None
    if half:
        hours = hours % 12 + 12 * (half.lower() == "p")
    try:
        clock = (hours, int(minute or 0), int(clock_second or 0))
        return utc_time(datetime(int(year), int(month), int(day), *clock, tzinfo=zone))
    except ValueError:
        return None


def not_in_order(value: str, order: str) -> str:
    """What is wrong with a numeric date that has no reading in this order."""
    return f"the time {value!r} is no date with the {'month' if order == MONTH_FIRST else 'day'} first"
