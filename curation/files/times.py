"""Times as logs write them, as UTC.

Each form is known by its own shape, so that one file may mix them. A time that has no such shape is
unknown: it is never guessed. A numeric date such as 03/04/2026 has two readings, month first, as in the US,
or day first: somebody says which for the whole file.

A log has millions of times, nearly all different and of one form. `parse_times` takes the usual forms of a
whole column together, digit by digit; what has another one goes to `parse_time`, which is the definition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.errors import InputError
from curation.files.written_times import parse_written, split_zone, zone_in_doubt

EPOCH = datetime(1970, 1, 1)  # UTC without a zone, as the database keeps it
_MICROSECOND = timedelta(microseconds=1)
_SINCE_EPOCH = {9: 1_000_000, 10: 1_000_000, 13: 1_000, 16: 1}  # digits → microseconds a unit

UNREAD = int(np.iinfo(np.int64).min)
Numbers = NDArray[np.int64]
Signs = NDArray[np.uint8]
_SECOND = 1_000_000
_ZONES = {"": 0, "Z": 1, " UTC": 4, "+00:00": 6}
_ISO = [
    (19 + (digits and digits + 1) + length, digits, zone)
    for digits in (0, 3, 6)
    for zone, length in _ZONES.items()
]
"""Length of a text, digits of its fraction, form of its zone."""

MONTH_FIRST, DAY_FIRST = "mdy", "dmy"
DATE_ORDERS = (MONTH_FIRST, DAY_FIRST)
ASK_FOR_ORDER = "Say which comes first: --date-order mdy (month, as in the US) or dmy (day)."

_NUMERIC_DATE = re.compile(
    r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})"
    r"(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?: ?([ap])\.?m\.?)?)?",
    re.IGNORECASE,
)

UNITS = {"s": 1_000, "ms": 1}
"""Unit of a duration → its milliseconds."""
Found = TypeVar("Found")
UNREADABLE_TIME = "unreadable time"
NO_TIME = "Write times as 2026-03-31 14:05, or leave them out with --time-field ''."
UNREADABLE_DURATION = "unreadable duration"

_NAMED_UNIT = re.compile(r"(?:^|[_ -])(?:(ms|msec|millis|milliseconds)|(s|sec|secs|seconds))$", re.IGNORECASE)


def parse_time(value: Any) -> datetime | None:
    """The time in UTC without a zone, or None if it cannot be read.

    Read are ISO 8601 with or without zone (without: UTC), `YYYY-MM-DD HH:MM:SS`, seconds, milliseconds and
    microseconds since 1970 by their number of digits, yymmddhhmmss, yyyymmdd, yyyymmddhhmmss, the forms of
    `files.written_times`, and times that the file holds as such. Two-digit years are those of POSIX: 69-99
    are 19xx.
    """
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, datetime):
        return _utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_text(f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value))
    return None


def microseconds(time: datetime) -> int:
    """Microseconds since 1970 of a time that `parse_time` gave."""
    return (time - EPOCH) // _MICROSECOND


def _from_text(text: str) -> datetime | None:
    whole, _, fraction = text.partition(".")
    if whole.isdecimal() and whole.isascii() and (not fraction or fraction.isdecimal()):
        return _from_digits(whole, fraction)
    try:
        return _utc(datetime.fromisoformat(text.removesuffix(" UTC")))
    except ValueError:
        written = parse_written(text)
        return None if written is None else _utc(written)


def _from_digits(whole: str, fraction: str) -> datetime | None:
    unit = _SINCE_EPOCH.get(len(whole))
    if unit is not None:
        return (
            EPOCH + int(whole) * unit * _MICROSECOND + int(float(f"0.{fraction or 0}") * unit) * _MICROSECOND
        )
    if len(whole) not in (8, 12, 14) or fraction:
        return None
    if len(whole) == 12:
        whole = ("19" if whole >= "69" else "20") + whole
    try:
        return datetime.fromisoformat(f"{whole[:8]}T{whole[8:] or '00'}")
    except ValueError:
        return None


def _utc(time: datetime) -> datetime | None:
    if time.tzinfo is None:
        return time
    try:
        return time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # year 1 or 9999, pushed out of the calendar by its zone
        return None


def parse_times(texts: pa.StringArray) -> tuple[Numbers, Numbers]:
    """Microseconds since 1970 as of `parse_time`, shape (N,), UNREAD where it gives None or the text is ''.

    Also returned are the numbers of the texts that are not '' and could not be read, ascending.
    """
    offsets, signs = text_buffers(texts)
    lengths = np.diff(offsets)
    times = np.full(len(texts), UNREAD)
    for length in np.flatnonzero(np.bincount(np.minimum(lengths, 40), minlength=41)[:40]):
        rows = np.flatnonzero(lengths == length)
        columns = np.ascontiguousarray(signs[offsets[rows][:, None] + np.arange(length)].T)
        times[rows] = _of_length(columns)
    left = np.flatnonzero((times == UNREAD) & (lengths > 0))
    for row in left:
        time = parse_time(texts[row].as_py())
        times[row] = UNREAD if time is None else microseconds(time)
    return times, left[times[left] == UNREAD]


def text_buffers(texts: pa.StringArray) -> tuple[NDArray[np.int32], Signs]:
    """Where each text begins (and the last ends), shape (N + 1,), in the UTF-8 bytes of them all."""
    _, begins, signs = texts.buffers()
    if begins is None or not len(texts):
        return np.zeros(1, np.int32), np.empty(0, np.uint8)
    offsets = np.frombuffer(begins, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return offsets, np.frombuffer(signs, np.uint8) if signs is not None else np.empty(0, np.uint8)


def _of_length(columns: Signs) -> Numbers:
    """The times of texts of one length, given by column, that have one of its usual forms; else UNREAD."""
    length, size = columns.shape
    times = np.full(size, UNREAD)
    for iso, digits, zone in _ISO:
        if iso == length:
            times = np.where(times == UNREAD, _iso(columns, digits, zone), times)
    if length in (8, 9, 10, 12, 13, 14, 16):
        times = np.where(times == UNREAD, _plain_digits(columns), times)
    return times


def _plain_digits(columns: Signs) -> Numbers:
    length = len(columns)
    are_digits = _all_digits(columns)
    unit = _SINCE_EPOCH.get(length)
    if unit is not None:
        return np.where(are_digits, _number(columns) * unit, UNREAD)
    years = _number(columns[: 2 if length == 12 else 4])
    if length == 12:
        years += np.where(years >= 69, 1900, 2000)
    at = 4 if length != 12 else 2
    clock = columns[at + 4 :] if length != 8 else np.full((6, columns.shape[1]), ord("0"), np.uint8)
    return _calendar(years, columns[at : at + 4], clock, are_digits)


def _iso(columns: Signs, digits: int, zone: str) -> Numbers:
    """Times such as 2024-12-10T12:00:01.250+02:00."""
    places = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]
    ok = (columns[4] == ord("-")) & (columns[7] == ord("-"))
    ok &= (columns[10] == ord("T")) | (columns[10] == ord(" "))
    ok &= (columns[13] == ord(":")) & (columns[16] == ord(":"))
    ok &= _all_digits(columns[places])
    fraction: Numbers | int = 0
    if digits:
        ok &= (columns[19] == ord(".")) & _all_digits(columns[20 : 20 + digits])
        fraction = _number(columns[20 : 20 + digits]) * 10 ** (6 - digits)
    shift, known = _zone(columns[19 + (digits and digits + 1) :], zone)
    years = _number(columns[:4])
    if zone == "+00:00":
        known &= (years > 1) & (years < 9999)  # the zone may push it out of the calendar
    times = _calendar(years, columns[[5, 6, 8, 9]], columns[[11, 12, 14, 15, 17, 18]], ok & known)
    return np.where(times == UNREAD, UNREAD, times + fraction - shift)


def _zone(columns: Signs, zone: str) -> tuple[Numbers, NDArray[np.bool_]]:
    """Microseconds by which a time is ahead of UTC, and whether its zone can be read."""
    size = columns.shape[1]
    if zone != "+00:00":
        signs = [column == ord(sign) for column, sign in zip(columns, zone, strict=True)]
        return np.zeros(size, np.int64), np.logical_and.reduce([np.ones(size, bool), *signs])
    ok = ((columns[0] == ord("+")) | (columns[0] == ord("-"))) & (columns[3] == ord(":"))
    hours, minutes = _number(columns[1:3]), _number(columns[4:6])
    ok &= _all_digits(columns[[1, 2, 4, 5]]) & (hours < 24) & (minutes < 60)
    ahead = (hours * 60 + minutes) * 60 * _SECOND
    return np.where(columns[0] == ord("-"), -ahead, ahead), ok


def _calendar(years: Numbers, day: Signs, clock: Signs, ok: NDArray[np.bool_]) -> Numbers:
    """Microseconds since 1970 of a year, mmdd and hhmmss; UNREAD where the calendar has no such time."""
    months, days = _number(day[:2]), _number(day[2:])
    hours, minutes, seconds = _number(clock[:2]), _number(clock[2:4]), _number(clock[4:])
    ok = ok & (years >= 1) & (months >= 1) & (months <= 12) & (days >= 1)
    ok &= (hours < 24) & (minutes < 60) & (seconds < 60)
    month = np.where(ok, (years - 1970) * 12 + months - 1, 0)
    start = month.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (month + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    ok &= days <= after - start
    total = (((start + days - 1) * 24 + hours) * 60 + minutes) * 60 + seconds
    return np.where(ok, total * _SECOND, UNREAD)


def _all_digits(columns: Signs) -> NDArray[np.bool_]:
    return np.asarray((columns - np.uint8(48) <= 9).all(axis=0))


def _number(columns: Signs) -> Numbers:
    """The numbers that columns of digits write; anything where they are none."""
    number = np.zeros(columns.shape[1], np.int64)
    for column in columns:
        number = number * 10 + (column.astype(np.int64) - 48)
    return number


def check_date_order(order: str | None) -> None:
    """Refuse an order that there is not."""
    if order not in (None, *DATE_ORDERS):
        raise InputError(f"--date-order {order!r}: expected {' or '.join(DATE_ORDERS)}")


def is_numeric_date(value: Any) -> bool:
    """Whether a cell is a numeric date, with or without a time of day."""
    return isinstance(value, str) and _numeric(value.strip())[0] is not None


def _numeric(text: str) -> tuple[re.Match[str] | None, tzinfo | None]:
    found = _NUMERIC_DATE.fullmatch(text)
    if found is not None or _NUMERIC_DATE.match(text) is None:
        return found, None
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
        return _utc(datetime(int(year), int(month), int(day), *clock, tzinfo=zone))
    except ValueError:
        return None


def not_in_order(value: str, order: str) -> str:
    """What is wrong with a numeric date that has no reading in this order."""
    return f"the time {value!r} is no date with the {'month' if order == MONTH_FIRST else 'day'} first"


def doubtful_zone(zone: str) -> str:
    """What is wrong with times of a zone that nobody, or not one zone alone, is called by."""
    return f"time in {zone}, which is the name of no zone or of several: write offsets such as +02:00"


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
