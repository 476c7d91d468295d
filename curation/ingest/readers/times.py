"""Times in cells of imported files, parsed as UTC.

The form of a time is recognized from its characters, so that a file may mix forms. A time of unknown form is
treated as unreadable and never guessed. Numeric dates such as 03/04/2026 are parsed with the month or the day
first, as a person states for a whole file. `time_columns` parses whole columns of times in the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from curation.core.errors import InputError

EPOCH = datetime(1970, 1, 1)  # UTC without a zone, as the database keeps it
_MICROSECOND = timedelta(microseconds=1)
MICROSECONDS_PER_UNIT = {9: 1_000_000, 10: 1_000_000, 13: 1_000, 16: 1}  # digits → microseconds a unit
MONTH_FIRST, DAY_FIRST = "mdy", "dmy"
DATE_ORDERS = (MONTH_FIRST, DAY_FIRST)
ASK_FOR_ORDER = "State whether month or day comes first: --date-order mdy (month, as in the US) or dmy (day)."
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?(?![a-z]))?"
)
_HOURS_AHEAD = {"Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3}
"""Hours ahead of UTC for each abbreviation of a time zone that is unambiguous."""
_ZONE = (
    rf"(?: ?(?P<zone>(?:UTC|GMT)?[+-]\d{{2}}:?\d{{2}}|{'|'.join(_HOURS_AHEAD)}))?"
    r"(?: ?\[?(?P<area>[A-Z]\w+(?:/[\w+-]+)+)\]?)?(?: \([^()]*\))?"
)
_AFTER_DATE = rf"(?:(?:[T:]|[ ,]+){_CLOCK})?{_ZONE}"
_NUMERIC_DATE = re.compile(rf"(\d{{1,2}})([/.-])(\d{{1,2}})\2(?P<year>\d{{4}}){_AFTER_DATE}", re.IGNORECASE)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?"
_NAMED_MONTH = rf"(?P<month>(?:{'|'.join(_MONTHS)})[a-z]*)\.?"
_DAY_OF_MONTH, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>\d{4})"
_WRITTEN_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\[?{_WEEKDAY}{_DAY_OF_MONTH}[ /-]{_NAMED_MONTH}[ /-]{_YEAR}{_AFTER_DATE}\]?",
        rf"{_WEEKDAY}{_NAMED_MONTH} +{_DAY_OF_MONTH},? +{_YEAR}{_AFTER_DATE}",
        rf"{_WEEKDAY}{_NAMED_MONTH} +{_DAY_OF_MONTH} +{_CLOCK}{_ZONE} +{_YEAR}",
        rf"{_YEAR}(?P<sign>[-/.])(?P<month>\d{{1,2}})(?P=sign){_DAY_OF_MONTH}{_AFTER_DATE}",
    )
]
"""Patterns of dates with a month's name, as in Apache's logs and e-mail, or with the year first."""
MAX_TIME_LENGTH = 100
UNREADABLE_TIME = "unreadable time"
NO_TIME = "Write times as 2026-03-31 14:05, or leave them out with --map time=."


def parse_time(value: Any) -> datetime | None:
    """Return the time in UTC without a zone, or None if the value cannot be read.

    Known forms are ISO 8601 with or without zone (UTC if a zone is missing), `YYYY-MM-DD HH:MM:SS`, seconds,
    milliseconds and microseconds since 1970 by their number of digits, yymmddhhmmss, yyyymmdd,
    yyyymmddhhmmss, dates with the name of a month, and values with a type of time. Two-digit years are read
    as in POSIX: 69-99 are 19xx.
    """
    if isinstance(value, str):
        return _parse_text(value.strip())
    if isinstance(value, datetime):
        return to_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _parse_text(f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value))
    return None


def to_microseconds(time: datetime) -> int:
    """Return a time that `parse_time` reads as microseconds since 1970."""
    return (time - EPOCH) // _MICROSECOND


def _parse_text(text: str) -> datetime | None:
    digits, _, fraction = text.partition(".")
    if digits.isdecimal() and digits.isascii() and (not fraction or fraction.isdecimal()):
        return _parse_digits(digits, fraction)
    try:
        return to_utc(datetime.fromisoformat(text.removesuffix(" UTC")))
    except ValueError:
        return _parse_written_time(text)


def _parse_written_time(text: str) -> datetime | None:
    forms = _WRITTEN_FORMS if len(text) <= MAX_TIME_LENGTH else []
    match = next((match for form in forms if (match := form.fullmatch(text))), None)
    if match is None:
        return None
    month = match["month"]
    number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].lower()) + 1
    return _make_time(match, number, int(match["day"]))


def _make_time(match: re.Match[str], month: int, day: int) -> datetime | None:
    """Return the UTC time of a match with a date, a time of day and a zone; None for an impossible time."""
    hour, half_of_day = int(match["hour"] or 0), match["half"]
    if half_of_day and not 1 <= hour <= 12:
        return None
    if half_of_day:
        hour = hour % 12 + 12 * (half_of_day.lower() == "p")
    microseconds = int((match["fraction"] or "").ljust(6, "0")[:6])
    clock = (hour, int(match["minute"] or 0), int(match["second"] or 0), microseconds)
    try:
        time = datetime(int(match["year"]), month, day, *clock)
        return to_utc(time.replace(tzinfo=_find_zone(match["zone"] or "", match["area"] or "")))
    except (ValueError, KeyError):  # no such day, or no such zone
        return None


def _find_zone(text: str, area: str) -> tzinfo:
    """Return the time zone of a matched time: its offset, otherwise its named zone, otherwise UTC."""
    if area and not text:
        return ZoneInfo(area)
    if text.upper() in _HOURS_AHEAD:
        return timezone(timedelta(hours=_HOURS_AHEAD[text.upper()]))
    digits = re.sub(r"\D", "", text)
    ahead = timedelta(hours=int(digits[:2] or 0), minutes=int(digits[2:] or 0))
    return timezone(-ahead if "-" in text else ahead)


def _parse_digits(digits: str, fraction: str) -> datetime | None:
    unit = MICROSECONDS_PER_UNIT.get(len(digits))
    if unit is not None:
        microseconds = int(digits) * unit + int(float(f"0.{fraction or 0}") * unit)
        return EPOCH + microseconds * _MICROSECOND
    if len(digits) not in (8, 12, 14) or fraction:
        return None
    if len(digits) == 12:
        digits = ("19" if digits >= "69" else "20") + digits
    try:
        return datetime.fromisoformat(f"{digits[:8]}T{digits[8:] or '00'}")
    except ValueError:
        return None


def to_utc(time: datetime) -> datetime | None:
    """Convert a time to UTC and remove its zone; return None if the result is outside the calendar."""
    if time.tzinfo is None:
        return time
    try:
        return time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # year 1 or 9999
        return None


def check_date_order(order: str | None) -> None:
    """Reject an unknown order of day and month in dates."""
    if order not in (None, *DATE_ORDERS):
        raise InputError(f"--date-order {order!r}: expected {' or '.join(DATE_ORDERS)}")


def is_numeric_date(value: Any) -> bool:
    """Return whether a cell is a numeric date, with or without a time of day."""
    return isinstance(value, str) and _NUMERIC_DATE.fullmatch(value.strip()) is not None


def parse_numeric_date(text: str, order: str) -> datetime | None:
    """Return a numeric date's time, reading day and month in this order; None if the date is impossible."""
    match = _NUMERIC_DATE.fullmatch(text.strip())
    if match is None:
        return None
    first, second = int(match[1]), int(match[3])
    return _make_time(match, first, second) if order == MONTH_FIRST else _make_time(match, second, first)


def describe_wrong_order(value: str, order: str) -> str:
    """Return the problem with a numeric date that cannot be read in the given order of day and month."""
    return f"the time {value!r} is not a date with the {'month' if order == MONTH_FIRST else 'day'} first"


class ImportedTimes:
    """A reader of a file's times; `unread` counts unreadable times.

    Raises
    ------
    InputError: the order of day and month is unknown.
    """

    def __init__(self, date_order: str | None) -> None:
        check_date_order(date_order)
        self._order = date_order
        self.unread: Counter[str] = Counter()
        self._has_read = False

    @property
    def has_no_time(self) -> bool:
        """Return whether the file has times, but none could be read."""
        return bool(self.unread) and not self._has_read

    def time(self, value: Any, problem: Callable[[str, str], None]) -> datetime | None:
        """Return the time in a cell as UTC; call the function `problem` for an ambiguous numeric date."""
        if value is None or value == "":
            return None
        if not is_numeric_date(value):
            time = parse_time(value)
            self._has_read |= time is not None
            self.unread[UNREADABLE_TIME] += time is None
            return time
        if self._order is None:
            problem(f"the time {value!r} does not say whether the day or the month is first", ASK_FOR_ORDER)
            return None
        time = parse_numeric_date(value, self._order)
        if time is None:
            problem(describe_wrong_order(value, self._order), ASK_FOR_ORDER)
        self._has_read = True
        return time
