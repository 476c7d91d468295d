"""Times with month names, clocks of twelve hours and zones by name, as programs and people write them.

These are the forms of Apache's logs, e-mail and HTTP headers, `date`, JavaScript, Java, Go, SQL Server and
spreadsheets in English. A zone is an offset, a name of the IANA database, or an abbreviation of one zone
alone. An abbreviation that several zones share, such as EST or IST, is named and never guessed.

A local time that occurs twice in its zone is the first of the two, and one that never occurs is after the
gap, as in Java and in JavaScript's Temporal ("compatible").
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

LONGEST = 100
"""Characters of a time."""
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_OFFSETS = {
    **{"UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2},
    **{"EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9, "HKT": 8, "SGT": 8, "AWST": 8, "NPT": 5.75},
    **{"ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13},
    **{"AKST": -9, "AKDT": -8, "HST": -10, "NST": -3.5, "NDT": -2.5, "PDT": -7, "MDT": -6},
}
"""Abbreviation of one zone alone → hours that it is ahead of UTC."""

_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? +)?"
_MONTH = r"(?P<month>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\.?"
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:[ \u202f\xa0]?(?P<half>[ap])\.?m\.?(?![a-z]))?"
)
_ZONE = (
    r"(?: ?(?P<offset>Z\b|(?:UTC|GMT)?[+-]\d{2}:?\d{2}|(?:UTC|GMT)?[+-]\d{1,2}))?"
    r"(?: ?(?P<name>[A-Z]{2,5})\b|(?: ?\((?:(?P<inner>[A-Z]{2,5})|[^()]*)\)))?"
    r"(?: ?\[!?(?P<bracketed>[A-Z][\w+-]*(?:/[\w+-]+)*)\]| ?(?P<area>[A-Z][\w+-]*(?:/[\w+-]+)+))?"
    r"(?:\[!?[a-z-]+=[\w-]+\])*"
)
_ZONE_PARTS = ("bracketed", "area", "name", "inner", "offset")
_AFTER_DATE = rf"(?:(?:[T:]|,? +(?:at +)?){_CLOCK})?{_ZONE}"
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_YEAR}(?P<sign>[-/.])(?P<month>\d{{1,2}})(?P=sign){_DAY}{_AFTER_DATE}",
        rf"{_WEEKDAY}{_DAY}[ /.-]+{_MONTH}[ /,-]+{_YEAR}{_AFTER_DATE}",
        rf"{_WEEKDAY}{_MONTH} +{_DAY},? +{_YEAR}{_AFTER_DATE}",
        rf"{_WEEKDAY}{_MONTH} +{_DAY} +{_CLOCK}{_ZONE} +{_YEAR}",
    )
]
_ZONE_AT_END = re.compile(rf"(?P<local>.*?\d(?: ?[ap]\.?m\.?)?){_ZONE}", re.IGNORECASE | re.DOTALL)


def parse_written(text: str) -> datetime | None:
    """The time, with its zone if it says one; None where it has none of the forms, or a zone in doubt."""
    found = _match(text)
    if found is None:
        return None
    zone = _zone(found)
    if zone is None and _says_a_zone(found):
        return None
    year, month, day, hour, minute, second, fraction, half = found.group(
        "year", "month", "day", "hour", "minute", "second", "fraction", "half"
    )
    number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].lower()) + 1
    hours = int(hour or 0)
    if half:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (half.lower() == "p")
    micro = int((fraction or "0").ljust(6, "0")[:6])
    try:
        return datetime(int(year), number, int(day), hours, int(minute or 0), int(second or 0), micro, zone)
    except ValueError:
        return None


def zone_in_doubt(text: str) -> str:
    """The zone that makes a time unreadable: an abbreviation of several zones, or an unknown name; or ''."""
    found = _match(text) or (_ZONE_AT_END.fullmatch(text) if len(text) <= LONGEST else None)
    if found is None or not _says_a_zone(found) or _zone(found) is not None:
        return ""
    return next(found[part] for part in _ZONE_PARTS if found[part])


def doubtful_zone(zone: str) -> str:
    """What is wrong with times of a zone that nobody, or not one zone alone, is called by."""
    return f"time in {zone}, which is the name of no zone or of several: write offsets such as +02:00"


def split_zone(text: str) -> tuple[str, tzinfo | None]:
    """A time without the zone at its end, and that zone; the text itself where it says no known one."""
    match = _ZONE_AT_END.fullmatch(text) if len(text) <= LONGEST else None
    zone = None if match is None else _zone(match)
    return (text, None) if match is None or zone is None else (match["local"], zone)


def _match(text: str) -> re.Match[str] | None:
    if len(text) > LONGEST:
        return None
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text  # Apache's logs
    return next((match for form in _FORMS if (match := form.fullmatch(bare.strip()))), None)


def _says_a_zone(found: re.Match[str]) -> bool:
    return any(found[part] for part in _ZONE_PARTS)


def _zone(found: re.Match[str]) -> tzinfo | None:
    """The zone that a time says; None where it says none that is known. Of several the offset counts."""
    if offset := found["offset"]:
        return _offset(offset.upper().removeprefix("UTC").removeprefix("GMT"))
    if area := found["area"] or found["bracketed"]:
        return _area(area)
    hours = _OFFSETS.get((found["name"] or found["inner"] or "").upper())
    return None if hours is None else timezone(timedelta(hours=hours))


def _offset(text: str) -> tzinfo | None:
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    ahead = timedelta(hours=hours, minutes=minutes) * (-1 if text[0] == "-" else 1)
    return timezone(ahead) if hours < 24 and minutes < 60 else None


@lru_cache(maxsize=1_000)
def _area(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # no such name, or one that is no file of the database
        return None
