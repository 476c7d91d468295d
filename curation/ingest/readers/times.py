"""Times as logs write them, as UTC.

Each form is known by its own shape, so that one file may mix them. A time that has no such shape is
unknown: it is never guessed. `parse_time` is the definition. A log has millions of times, nearly all
different and of one form: `parse_times` has Arrow read the usual forms of a whole column together, and each
distinct other text is left to `parse_time`.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.arrow import ints_of, numbers
from curation.ingest.readers.written_times import parse_written

EPOCH = datetime(1970, 1, 1)  # UTC without a zone, as the database keeps it
UNREAD = int(np.iinfo(np.int64).min)
Numbers = NDArray[np.int64]
_MICROSECOND = timedelta(microseconds=1)
_SINCE_EPOCH = {9: 1_000_000, 10: 1_000_000, 13: 1_000, 16: 1}  # digits → microseconds a unit
_MONTH, _DAY, _HOUR, _SIXTY = "0[1-9]|1[0-2]", r"0[1-9]|[12]\d|3[01]", r"[01]\d|2[0-3]", r"[0-5]\d"
_LOCAL = rf"(?:19|20)\d\d-(?:{_MONTH})-(?:{_DAY})[T ](?:{_HOUR}):{_SIXTY}:{_SIXTY}(?:\.\d{{1,6}})?"
_COMPACT = rf"(?:{_MONTH})(?:0[1-9]|1\d|2[0-8])(?:{_HOUR}){_SIXTY}{_SIXTY}"  # days that each month has
_FORMS: tuple[tuple[str, str, str | None], ...] = (
    *((rf"\d{{{digits}}}", str(unit), None) for digits, unit in _SINCE_EPOCH.items()),
    (_LOCAL, "", None),
    (rf"{_LOCAL}(?:Z|[+-](?:{_HOUR}):{_SIXTY})", "", "UTC"),
    (rf"({_LOCAL}) UTC", r"\1", None),
    (rf"(?:19|20)\d\d{_COMPACT}", "%Y%m%d%H%M%S", None),
    (rf"\d\d{_COMPACT}", "%y%m%d%H%M%S", None),
)
"""Usual forms, how Arrow reads each (a unit, ISO 8601, a format of `strptime`), and the zone that it says."""


def parse_time(value: Any) -> datetime | None:
    """The time in UTC without a zone, or None if it cannot be read.

    Read are ISO 8601 with or without zone (without: UTC), `YYYY-MM-DD HH:MM:SS`, seconds, milliseconds and
    microseconds since 1970 by their number of digits, yymmddhhmmss, yyyymmdd, yyyymmddhhmmss, the forms of
    `ingest.readers.written_times`, and times that the file holds as such. Two-digit years are those of
    POSIX: 69-99 are 19xx.
    """
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, datetime):
        return utc_time(value)
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
        return utc_time(datetime.fromisoformat(text.removesuffix(" UTC")))
    except ValueError:
        written = parse_written(text)
        return None if written is None else utc_time(written)


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


def utc_time(time: datetime) -> datetime | None:
    """A time in UTC, without a zone; None where its zone pushes it out of the calendar."""
    if time.tzinfo is None:
        return time
    try:
        return time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # year 1 or 9999
        return None


def parse_times(texts: pa.StringArray) -> tuple[Numbers, Numbers]:
    """Microseconds since 1970 as of `parse_time`, shape (N,), UNREAD where it gives None or the text is ''.

    Also returned are the numbers of the texts that are not '' and could not be read, ascending.
    """
    times, left = np.full(len(texts), UNREAD), np.arange(len(texts))
    for pattern, iso, zone in _FORMS if len(texts) else ():
        some = texts.take(numbers(left)) if len(left) < len(texts) else texts
        fits = pc.match_substring_regex(some, f"^(?:{pattern})$").to_numpy(zero_copy_only=False)
        with suppress(pa.ArrowInvalid):  # a day that its month lacks: each text is read by itself
            times[left[fits]] = _of_form(some.filter(fits), pattern, iso, zone)
            left = left[~fits]
    others = texts.take(numbers(left)).dictionary_encode()
    read = [parse_time(text) for text in others.dictionary.to_pylist()]
    known = np.array([UNREAD if time is None else microseconds(time) for time in read], np.int64)
    times[left] = known[ints_of(others.indices)]
    return times, left[(times[left] == UNREAD) & (ints_of(pc.binary_length(texts))[left] > 0)]


def _of_form(texts: pa.StringArray, pattern: str, iso: str, zone: str | None) -> Numbers:
    """The times of texts that have one form."""
    if iso.isdecimal():
        return ints_of(texts.cast(pa.int64())) * int(iso)
    if iso.startswith("%"):
        return ints_of(pc.strptime(texts, iso, "us").cast(pa.int64()))
    if iso:
        texts = pc.replace_substring_regex(texts, f"^{pattern}$", iso)
    return ints_of(texts.cast(pa.timestamp("us", zone)).cast(pa.int64()))


def text_buffers(texts: pa.StringArray) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Where each text begins (and the last ends), shape (N + 1,), in the UTF-8 bytes of them all."""
    _, begins, signs = texts.buffers()
    if begins is None or not len(texts):
        return np.zeros(1, np.int32), np.empty(0, np.uint8)
    offsets = np.frombuffer(begins, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return offsets, np.frombuffer(signs, np.uint8) if signs is not None else np.empty(0, np.uint8)
