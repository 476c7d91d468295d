"""Times in a column of texts, parsed by Arrow in their usual forms.

A log has millions of times, nearly all different and of the same form. Arrow parses all texts of a column
that have the same usual form at once; `times.parse_time` parses the other texts.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.arrow import int_array, to_ints
from curation.ingest.readers.times import MICROSECONDS_PER_UNIT, parse_time, to_microseconds

UNREAD = int(np.iinfo(np.int64).min)
Numbers = NDArray[np.int64]
_MONTH, _DAY, _HOUR, _SIXTY = "0[1-9]|1[0-2]", r"0[1-9]|[12]\d|3[01]", r"[01]\d|2[0-3]", r"[0-5]\d"
_LOCAL = rf"(?:19|20)\d\d-(?:{_MONTH})-(?:{_DAY})[T ](?:{_HOUR}):{_SIXTY}:{_SIXTY}(?:\.\d{{1,6}})?"
_COMPACT = rf"(?:{_MONTH})(?:0[1-9]|1\d|2[0-8])(?:{_HOUR}){_SIXTY}{_SIXTY}"  # days that each month has
_FORMS: tuple[tuple[str, str, str | None], ...] = (
    *((rf"\d{{{digits}}}", str(unit), None) for digits, unit in MICROSECONDS_PER_UNIT.items()),
    (_LOCAL, "", None),
    (rf"{_LOCAL}(?:Z|[+-](?:{_HOUR}):{_SIXTY})", "", "UTC"),
    (rf"({_LOCAL}) UTC", r"\1", None),
    (rf"(?:19|20)\d\d{_COMPACT}", "%Y%m%d%H%M%S", None),
    (rf"\d\d{_COMPACT}", "%y%m%d%H%M%S", None),
)
"""Usual forms of times: the pattern, the way in which Arrow parses the form, and the time zone."""


def parse_times(texts: pa.StringArray) -> tuple[Numbers, Numbers]:
    """Return microseconds since 1970 as `parse_time` reads them, shape (N,), with UNREAD for unreadable
    texts. The second value has the ascending indexes of non-empty texts that could not be read.
    """
    times, remaining = np.full(len(texts), UNREAD), np.arange(len(texts))
    for pattern, iso, zone in _FORMS if len(texts) else ():
        remaining_texts = texts.take(int_array(remaining)) if len(remaining) < len(texts) else texts
        matches = pc.match_substring_regex(remaining_texts, f"^(?:{pattern})$").to_numpy(zero_copy_only=False)
        with suppress(pa.ArrowInvalid):  # a day that its month lacks: the texts are read one by one
            times[remaining[matches]] = _parse_form(remaining_texts.filter(matches), pattern, iso, zone)
            remaining = remaining[~matches]
    other_texts = texts.take(int_array(remaining)).dictionary_encode()
    parsed = [parse_time(text) for text in other_texts.dictionary.to_pylist()]
    distinct = np.array([UNREAD if time is None else to_microseconds(time) for time in parsed], np.int64)
    times[remaining] = distinct[to_ints(other_texts.indices)]
    return times, remaining[(times[remaining] == UNREAD) & (to_ints(pc.binary_length(texts))[remaining] > 0)]


def _parse_form(texts: pa.StringArray, pattern: str, iso: str, zone: str | None) -> Numbers:
    """Return the times of texts that all have the same form."""
    if iso.isdecimal():
        return to_ints(texts.cast(pa.int64())) * int(iso)
    if iso.startswith("%"):
        return to_ints(pc.strptime(texts, iso, "us").cast(pa.int64()))
    if iso:
        texts = pc.replace_substring_regex(texts, f"^{pattern}$", iso)
    return to_ints(texts.cast(pa.timestamp("us", zone)).cast(pa.int64()))
