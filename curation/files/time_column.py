"""When and for how long somebody judged, as files of judgments say it.

A numeric date such as 03/04/2026 has two readings, and a duration has no unit of its own. Neither is
guessed: the file is refused until an option says what is meant. What cannot be read at all is counted, and
its judgment is taken without it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from curation.errors import InputError
from curation.files.times import (
    ASK_FOR_ORDER,
    check_date_order,
    is_numeric_date,
    not_in_order,
    numeric_date,
    parse_time,
)

UNITS = {"s": 1_000, "ms": 1}
"""Unit of a duration → its milliseconds."""
Found = TypeVar("Found")
UNREADABLE_TIME = "unreadable time"
UNREADABLE_DURATION = "unreadable duration"

_NAMED_UNIT = re.compile(r"(?:^|[_ -])(?:(ms|msec|millis|milliseconds)|(s|sec|secs|seconds))$", re.IGNORECASE)


class ImportedTimes:
    """Reads the times and durations of one file; `unread` is what could not be read → how often.

    Raises
    ------
    InputError: the order of dates is unknown, or nothing says the unit of durations.
    """

    def __init__(self, date_order: str | None, duration_field: str | None, duration_unit: str | None) -> None:
        check_date_order(date_order)
        self._order = date_order
        self._milliseconds = _milliseconds(duration_field, duration_unit)
        self.unread: Counter[str] = Counter()

    def time(self, value: Any, problem: Callable[[str, str], None]) -> datetime | None:
        """The time of a cell in UTC; `problem` is told of a numeric date that cannot be told apart."""
        if value is None or value == "":
            return None
        if not is_numeric_date(value):
            return self._counted(parse_time(value), UNREADABLE_TIME)
        if self._order is None:
            problem(f"the time {value!r} does not say whether the day or the month is first", ASK_FOR_ORDER)
            return None
        time = numeric_date(value, self._order)
        if time is None:
            problem(not_in_order(value, self._order), ASK_FOR_ORDER)
        return time

    def duration(self, value: Any) -> int | None:
        """The duration of a cell in milliseconds."""
        if value is None or value == "":
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = -1.0
        readable = 0 <= number < float("inf")
        return self._counted(round(number * self._milliseconds) if readable else None, UNREADABLE_DURATION)

    def _counted(self, found: Found | None, otherwise: str) -> Found | None:
        if found is None:
            self.unread[otherwise] += 1
        return found


def _milliseconds(field: str | None, unit: str | None) -> int:
    if unit is not None and unit not in UNITS:
        raise InputError(f"--duration-unit {unit!r}: expected {' or '.join(UNITS)}")
    if field is None or unit is not None:
        return UNITS[unit or "s"]
    named = _NAMED_UNIT.search(field)
    if named is None:
        raise InputError(
            f"nothing says the unit of the durations in {field!r}: add --duration-unit s (seconds) or ms"
        )
    return UNITS["ms" if named[1] else "s"]
