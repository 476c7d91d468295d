"""A query's filter: what a document's metadata must be for the document to be relevant at all.

A filter is an object: field of the documents' metadata → a value, or a list of values of which one must be
the document's; and `at`, a date or a time at which the document must be valid. A document is valid from
`valid_from` to `valid_to`, and a date alone is its whole day. What a document leaves unsaid rules nothing
out: one without `valid_to` is still valid, one without a product is about all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from curation.core.errors import InputError, refuse_problems
from curation.ingest.readers.nested.paths import object_of
from curation.ingest.readers.values import text_of

AT = "at"
VALID = VALID_FROM, VALID_TO = ("valid_from", "valid_to")
OUTSIDE = "outside the filter"
OUTDATED = "outdated but similar"
"""A document outside the filter is of this kind where its text is nearly that of a relevant one."""
WAY_OUT = (
    'Write a filter as {"product": "x", "version": ["1", "2"], "at": "2025-03-01"}: for each field of the '
    "documents' metadata a value or a list of values, and under at a date or a time. A column that is for "
    "something else needs another name, or is left out."
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{8}")
_LAST = timedelta(days=1) - timedelta(microseconds=1)

Filter = Mapping[str, Any]


def period(value: Any) -> tuple[datetime, datetime] | None:
    """The first and the last moment of the date or time that a cell says; None where it says none."""
    from curation.ingest.readers.times import (
        parse_time,  # with pyarrow, which is loaded before the file is taken
    )

    time = parse_time(value)
    if time is None:
        return None
    return time, time + _LAST if _DATE.fullmatch(text_of(value).strip()) else time


def checked_filter(value: Any) -> Filter:
    """The filter that a cell holds, an object or its JSON; {} takes a query's filter away.

    Raises
    ------
    InputError: it is none; all problems at once.
    """
    found = {} if value in ({}, "{}") else object_of(value)
    if found is None:
        raise InputError(f"the filter {text_of(value)!r} is no object")
    refuse_problems([problem for field, wanted in found.items() if (problem := _problem(field, wanted))])
    return dict(found)


def _problem(field: str, wanted: Any) -> str:
    if isinstance(wanted, Mapping) or field.startswith("$"):
        operators = [field] if field.startswith("$") else list(wanted)
        return f"the filter has the operator {', '.join(operators)!r}; there are values and lists of values"
    if not texts(wanted):
        return f"the filter has no value for {field!r}"
    if field == AT and (isinstance(wanted, list) or period(wanted) is None):
        return f"the filter has {text_of(wanted)!r} for at, which is no date and no time"
    return ""


def texts(value: Any) -> list[str]:
    """A value, or each of a list, as text; nothing where there is none."""
    values = value if isinstance(value, list) else [value]
    return [text for value in values if (text := text_of(value).strip())]


def in_words(wanted: Filter) -> str:
    """What an annotator reads of it; '' where it demands nothing."""
    demands = [f"with {field} {' or '.join(texts(wanted[field]))}" for field in sorted(wanted) if field != AT]
    demands += [f"valid at {text_of(wanted[AT])}"] if AT in wanted else []
    return f"Only documents {', '.join(demands)}." if demands else ""


def outside(wanted: Filter, metadata: Mapping[str, Any]) -> str | None:
    """Why a document is outside a filter; None where it is not."""
    for field in sorted(wanted):
        if field == AT:
            reason = _not_valid(wanted[AT], metadata)
        else:
            own, values = texts(metadata.get(field)), texts(wanted[field])
            differ = own and set(own).isdisjoint(values)
            reason = f"{field} is {', '.join(own)}, not {' or '.join(values)}" if differ else None
        if reason:
            return reason
    return None


def _not_valid(moment: Any, metadata: Mapping[str, Any]) -> str | None:
    at = period(moment)
    start, end = (period(metadata.get(name)) for name in VALID)
    if at and start and at[1] < start[0]:
        return f"valid from {text_of(metadata[VALID_FROM])}, after {text_of(moment)}"
    if at and end and end[1] < at[0]:
        return f"valid to {text_of(metadata[VALID_TO])}, before {text_of(moment)}"
    return None
