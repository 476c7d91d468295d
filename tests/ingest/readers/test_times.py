"""Times in logs."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.ingest.readers.times import (
    EPOCH,
    is_numeric_date,
    parse_numeric_date,
    parse_time,
    to_microseconds,
)

NOON = datetime(2024, 12, 10, 12, 0, 1)


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2024-12-10T12:00:01", NOON),
        ("2024-12-10 12:00:01", NOON),
        ("2024-12-10 12:00:01 UTC", NOON),
        ("2024-12-10T12:00:01Z", NOON),
        ("2024-12-10T14:00:01+02:00", NOON),
        ("2024-12-10T12:00:01.250+0000", NOON.replace(microsecond=250_000)),
        ("1733832001", NOON),
        (1733832001, NOON),
        (1733832001.25, NOON.replace(microsecond=250_000)),
        ("1733832001000", NOON),
        (1733832001250, NOON.replace(microsecond=250_000)),
        ("1733832001000000", NOON),
        ("241210120001", NOON),
        ("970916105432", datetime(1997, 9, 16, 10, 54, 32)),
        ("20241210120001", NOON),
        ("20241210", datetime(2024, 12, 10)),
        ("[10/Dec/2024:14:00:01 +0200]", NOON),
        ("10/Dec/2024:14:00:01 +0200", NOON),
        ("Tue, 10 Dec 2024 12:00:01 GMT", NOON),
        ("Tue Dec 10 12:00:01 2024", NOON),
        ("Tue Dec 10 13:00:01 CET 2024", NOON),
        ("2024-12-10T13:00:01[Europe/Berlin]", NOON),
        ("2024-12-10T13:00:01+01:00[Europe/Berlin]", NOON),
        ("Tue Dec 10 2024 14:00:01 GMT+0200 (Central European Summer Time)", NOON),
        ("Dec 10, 2024, 12:00:01 PM", NOON),
        ("10-Dec-2024 12:00", NOON.replace(second=0)),
        ("2024/12/10 2:00 p.m. +02:00", NOON.replace(second=0)),
        (date(2024, 12, 10), datetime(2024, 12, 10)),
        (datetime(2024, 12, 10, 13, 0, 1, tzinfo=timezone(timedelta(hours=1))), NOON),
    ],
)
def test_each_form_is_known_by_its_shape(value, time):
    assert parse_time(value) == time


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "10/12/2024",
        "241310120001",
        "20241301",
        "42",
        7,
        True,
        None,
        "0001-01-01T00:00+09:00",
        "2024-12-10 12:00:01 EST",
        "2024-12-10T12:00:01[Europe/Nowhere]",
        "Dec 32, 2024",
        "2024-12-10 13:30 PM",
        "a" * 9_000,
    ],
)
def test_what_has_no_known_shape_is_unknown(value):
    assert parse_time(value) is None


@pytest.mark.parametrize(
    ("order", "text", "time"),
    [
        ("mdy", "12/10/2024 12:00:01 PM", NOON),
        ("dmy", "10.12.2024 14:00:01 +0200", NOON),
        ("mdy", "12/31/2026 12:05:09 AM", datetime(2026, 12, 31, 0, 5, 9)),
        ("mdy", "1-2-2026, 1:05 p.m.", datetime(2026, 1, 2, 13, 5)),
        ("mdy", "13/02/2026", None),
    ],
)
def test_a_numeric_date_is_read_in_the_order_that_somebody_says(order, text, time):
    assert is_numeric_date(text)
    assert parse_numeric_date(text, order) == time
    assert not is_numeric_date(f"{text} of old")


@given(st.datetimes(min_value=datetime(1975, 1, 1), max_value=datetime(2060, 1, 1)))
def test_iso_texts_and_microseconds_come_back_as_they_were(time):
    assert parse_time(time.isoformat()) == time
    assert parse_time(time.replace(tzinfo=UTC).isoformat(" ")) == time
    assert EPOCH + timedelta(microseconds=to_microseconds(time)) == time
