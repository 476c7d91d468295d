"""The times and durations of one imported file: what could not be read is counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from curation.core.errors import InputError
from curation.ingest.readers.numeric_dates import (
    ASK_FOR_ORDER,
    check_date_order,
    is_numeric_date,
    not_in_order,
    numeric_date,
)
from curation.ingest.readers.times import parse_time
from curation.ingest.readers.written_times import doubtful_zone, zone_in_doubt

UNITS = {"s": 1_000, "ms": 1}
"""Unit of a duration → its milliseconds."""
UNREADABLE_TIME = "unreadable time"
NO_TIME = "Write times as 2026-03-31 14:05, or leave them out with --time-field ''."
UNREADABLE_DURATION = "unreadable duration"
_NAMED_UNIT = re.compile(r"(?:^|[_ -])(?:(ms|msec|millis|milliseconds)|(s|sec|secs|seconds))$", re.IGNORECASE)
Found = TypeVar("Found")


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
        self._read: set[str] = set()
        self._has_unread_time = False

    @property
    def no_time(self) -> bool:
        """Whether there were times, and none could be read."""
        return self._has_unread_time and UNREADABLE_TIME not in self._read

    def time(self, value: Any, problem: Callable[[str, str], None]) -> datetime | None:
        """The time of a cell in UTC; `problem` gets a numeric date that cannot be distinguished."""
        if value is None or value == "":
            return None
        if not is_numeric_date(value):
            time = parse_time(value)
            doubt = zone_in_doubt(value.strip()) if time is None and isinstance(value, str) else ""
            self._has_unread_time |= time is None
            return self._counted(time, doubtful_zone(doubt) if doubt else UNREADABLE_TIME)
        if self._order is None:
            problem(f"the time {value!r} does not say whether the day or the month is first", ASK_FOR_ORDER)
            return None
        time = numeric_date(value, self._order)
        if time is None:
            problem(not_in_order(value, self._order), ASK_FOR_ORDER)
        self._read.add(UNREADABLE_TIME)
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
        else:
            self._read.add(otherwise)
        return found


def _milliseconds(field: str | None, unit: str | None) -> int:
    if unit is not None and field is None:
        raise InputError("--duration-unit would change nothing: name the durations with --duration-field")
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
