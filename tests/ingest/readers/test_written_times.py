"""Times as programs and people write them, and zones that are named where they cannot be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.imported_times import ImportedTimes
from curation.ingest.readers.numeric_dates import is_numeric_date, numeric_date
from curation.ingest.readers.times import parse_time
from curation.ingest.readers.written_times import zone_in_doubt
from curation.store import Store

HALF_PAST_TWELVE = "2026-10-25 00:30:00"
WRITTEN = [
    ("2026-10-25 02:30:00 CEST", HALF_PAST_TWELVE),
    ("2026-10-25 02:30 MESZ", HALF_PAST_TWELVE),
    ("2026-10-25T02:30:00+02:00[Europe/Berlin]", HALF_PAST_TWELVE),
    ("2026-10-25T01:30:00[Europe/Berlin]", "2026-10-24 23:30:00"),
    ("2026-10-25T02:30:00[Europe/Berlin]", HALF_PAST_TWELVE),  # occurs twice: the first
    ("2026-03-29T02:30:00[Europe/Berlin]", "2026-03-29 01:30:00"),  # never occurs: after the gap
    ("2026-10-25T00:30:00Z[UTC]", HALF_PAST_TWELVE),
    ("2026-10-25T02:30:00+02:00[Europe/Berlin][u-ca=gregory]", HALF_PAST_TWELVE),
    ("2026-10-24 20:30:00 America/New_York", HALF_PAST_TWELVE),
    ("[25/Oct/2026:02:30:00 +0200]", HALF_PAST_TWELVE),
    ("25/Oct/2026:02:30:00 +0200", HALF_PAST_TWELVE),
    ("[10/Oct/2000:13:55:36 -0700]", "2000-10-10 20:55:36"),
    ("Sun, 25 Oct 2026 02:30:00 +0200", HALF_PAST_TWELVE),
    ("Sun, 25 Oct 2026 00:30:00 GMT", HALF_PAST_TWELVE),
    ("Sun Oct 25 00:30:00 2026", HALF_PAST_TWELVE),
    ("Sun Oct 25 02:30:00 CEST 2026", HALF_PAST_TWELVE),
    ("Sun Oct 25 2026 02:30:00 GMT+0200 (Central European Summer Time)", HALF_PAST_TWELVE),
    ("2026-10-25 02:30:00.0 +0200 CEST", HALF_PAST_TWELVE),
    ("2026-10-25 02:30 UTC+2", HALF_PAST_TWELVE),
    ("Oct 25 2026 12:30AM", HALF_PAST_TWELVE),
    ("Oct 25, 2026, 12:30 AM", HALF_PAST_TWELVE),
    ("October 25, 2026 at 12:30\u202fam", HALF_PAST_TWELVE),
    ("25-Oct-2026 00:30", HALF_PAST_TWELVE),
    ("2026/10/25 0:30", HALF_PAST_TWELVE),
    ("2026-10-25 12:30 a.m.", HALF_PAST_TWELVE),
]


@pytest.mark.parametrize(("text", "time"), WRITTEN)
def test_each_form_is_read(text: str, time: str) -> None:
    assert str(parse_time(text)) == time


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("2026-10-25 02:30:00 EST", "EST"),
        ("2026-10-25 02:30:00 IST", "IST"),
        ("Sun Oct 25 02:30:00 CST 2026", "CST"),
        ("Oct 25, 2026 2:30 PM BST", "BST"),
        ("10/25/2026 2:30 AM PST", "PST"),
        ("2026-10-25 02:30:00 Mars/Base", "Mars/Base"),
        ("2026-10-25T02:30:00[Europe/Nowhere]", "Europe/Nowhere"),
    ],
)
def test_a_zone_that_cannot_be_known_is_named(text: str, zone: str) -> None:
    assert parse_time(text) is None
    assert zone_in_doubt(text) == zone


@pytest.mark.parametrize(
    "text",
    ["2026-13-45", "Oct 32, 2026", "2026-10-25 13:30 PM", "25/10/26", "may be", "12:30 PM", "a" * 9_000],
)
def test_what_is_no_time_stays_unknown(text: str) -> None:
    assert (parse_time(text), zone_in_doubt(text)) == (None, "")


def test_a_numeric_date_may_have_a_zone() -> None:
    assert str(numeric_date("10/25/2026 2:30 AM CEST", "mdy")) == HALF_PAST_TWELVE
    assert str(numeric_date("25.10.2026 02:30 +0200", "dmy")) == HALF_PAST_TWELVE
    assert is_numeric_date("25.10.2026 02:30 +0200")
    assert not is_numeric_date("25.10.2026 of old")


def test_an_import_names_the_zone_of_times_that_it_cannot_read(
    store: Store, write: Callable[..., Path]
) -> None:
    log = import_traffic(
        store, write("log.csv", "query,time\ntea,2026-10-25 02:30 EST\nmug,2026-10-25 02:30\n")
    )
    assert log.unknown_times == 1
    assert "time in EST, which is the name of no zone or of several" in str(log.unreadable_time)
    times = ImportedTimes(None, None, None)
    assert times.time("2026-10-25 02:30 EST", lambda *_: None) is None
    assert times.no_time
    (named,) = Counter(times.unread)
    assert named.startswith("time in EST")
