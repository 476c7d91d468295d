"""Times in logs."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.ingest.readers.times import EPOCH, microseconds, parse_time

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
    ],
)
def test_what_has_no_known_shape_is_unknown(value):
    assert parse_time(value) is None


@given(st.datetimes(min_value=datetime(1975, 1, 1), max_value=datetime(2060, 1, 1)))
def test_iso_texts_and_microseconds_come_back_as_they_were(time):
    assert parse_time(time.isoformat()) == time
    assert parse_time(time.replace(tzinfo=UTC).isoformat(" ")) == time
    assert EPOCH + timedelta(microseconds=microseconds(time)) == time
