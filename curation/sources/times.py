"""Times as logs write them, as UTC.

Each form is known by its own shape, so that one file may mix them. A time that has no such shape is
unknown: it is never guessed.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

EPOCH = datetime(1970, 1, 1)  # UTC without a zone, as the database keeps it
_MICROSECOND = timedelta(microseconds=1)
_SINCE_EPOCH = {9: 1_000_000, 10: 1_000_000, 13: 1_000, 16: 1}  # digits → microseconds a unit


def parse_time(value: Any) -> datetime | None:
    """The time in UTC without a zone, or None if it cannot be read.

    Read are ISO 8601 with or without zone (without: UTC), `YYYY-MM-DD HH:MM:SS`, seconds, milliseconds and
    microseconds since 1970 by their number of digits, yymmddhhmmss, yyyymmdd, yyyymmddhhmmss, and times that
    the file holds as such. Two-digit years are those of POSIX: 69-99 are 19xx.
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
        return None


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
