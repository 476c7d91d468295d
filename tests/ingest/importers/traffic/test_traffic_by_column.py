"""The two ways of reading a log: by column gives what row by row gives."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.ingest.importers.traffic import log_columns
from curation.ingest.importers.traffic import traffic_import as traffic
from curation.ingest.readers import blocks
from curation.ingest.readers.blocks import NeedsRowReader
from curation.ingest.readers.fields import TrafficFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.time_columns import UNREAD, parse_times
from curation.ingest.readers.times import parse_time, to_microseconds
from tests.support import examples

ALL = TrafficFields("q", "t", "g", "s", "n", ("a", "b"))
NAMES = ("q", "t", "g", "s", "n", "a", "b")
FILE_SIGNS = st.sampled_from(
    [*'",;\t\n\r |aB1.', "\r\n", '""', "é", "\u00a0", "\x1c", "\ufeff", "\x00", "日"]
)


def texts_of(terms):
    values = terms.texts.to_pylist()
    return [None if code < 0 else values[code] for code in terms.rows.tolist()]


def told(found, records):
    columns = [texts_of(part) for part in (found.texts, found.segments, found.sessions, found.metadata)]
    numbers = [part.tolist() for part in (found.lines, found.times, found.counts)]
    return *columns, *numbers, found.empty, found.unreadable_time, records.replaced


def reading(read, path, layout, fields):
    """The columns of a log, or the sentences of its refusal."""
    try:
        records = Records(path, layout)
        return told(read(records, traffic.choose_columns(records, fields)), records)
    except InputError as error:
        return str(error)


def assert_both_ways_alike(path, layout, fields):
    by_row = reading(log_columns.read_by_row, path, layout, fields)
    assert reading(log_columns.read_log, path, layout, fields) == by_row


def is_by_column(path, layout=None, fields=TrafficFields("q")):
    """Whether the fast way takes the file to its end."""
    records = Records(path, layout)
    try:
        log_columns.read_by_block(records, fields)
    except NeedsRowReader:
        return False
    return True


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 16)


@pytest.mark.parametrize("format", ["csv", "tsv"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.lists(FILE_SIGNS, max_size=50).map("".join),
    header=st.sampled_from(["q\n", "q,t\n", "q\tt\r\n", "\ufeffq,t\n", '"q",t\n']),
)
@example(body='"a\nb",1\nc,2\n', header="q,t\n")
@example(body="a,1\n\n\ufeffb,2", header="q,t\n")
@example(body='a"b,1\n"c""d",2\r\n', header="q,t\n")
def test_any_text_is_read_alike(tmp_path, small_blocks, format, encoding, body, header):
    path = tmp_path / f"t.{format}"
    path.write_bytes((header + body).encode(encoding, "replace"))
    layout, fields = FileLayout(encoding=encoding), TrafficFields("q", "t" if "t" in header else None)
    assert_both_ways_alike(path, layout, fields)


CELLS = {
    "q": st.sampled_from(
        ["shoe", "Shoe", " hat ", "", " ", "\u00a0", 'a "b"', "c, d", "x\ny", "mail a@b.de", "é"]
    ),
    "t": st.sampled_from(
        [
            *(
                "2026-01-01T00:00:00",
                "2026-01-01 10:00:00.5Z",
                "1733832001",
                "never",
                "",
                " ",
                "970916105432",
            ),
            *("03/04/2026", "3.4.2026 1:05 pm", " 03-04-2026", "31/12/2026"),
        ]
    ),
    "g": st.sampled_from(["de", " de", "de ", "", "  ", "en"]),
    "s": st.sampled_from(["s1", "s2 ", " s1", "", "ß"]),
    "n": st.sampled_from(["1", "2", "3.0", " 4", "1", "1", "1", "0"]),
    "a": st.sampled_from(["", " ", "x", "x ", "y"]),
    "b": st.sampled_from(["", "z", "ü"]),
}


@pytest.mark.slow
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(*CELLS.values()), min_size=1, max_size=25),
    end=st.sampled_from(["\n", "\r\n"]),
    quote_all=st.booleans(),
    packed=st.booleans(),
    order=st.sampled_from([None, "mdy", "dmy"]),
)
def test_any_log_is_read_alike(tmp_path, small_blocks, rows, end, quote_all, packed, order):
    def cell(text):
        odd = quote_all or any(sign in text for sign in '",\n')
        return '"' + text.replace('"', '""') + '"' if odd else text

    content = end.join(",".join(map(cell, row)) for row in (NAMES, *rows)).encode()
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    fields = replace(ALL, date_order=order)
    assert_both_ways_alike(path, None, fields)


@pytest.mark.parametrize(
    ("name", "content", "fast"),
    [
        ("t.csv", "q,t\na,1\nb,2\n", True),
        ("t.csv", 'q,t\r\n"a, b",1\r\nc,2', True),
        ("t.csv", 'q,t\n"two\nlines",1\n\n\nc,2\n', True),
        ("t.csv", 'q,t\na"b,1\n', True),
        ("t.csv", "sep=;\nq;t\na;1\n", False),
        ("t.csv", "q\na\n\nb\n", True),
        ("t.tsv", 'q\tt\n"a\t1\n', True),
        ("t.csv", "q,t\na,1\nb\x00,2\n", False),
        ("t.csv", "q,t\na,1\nb\n", False),
        ("t.csv", b"q,t\na,1\n\xff,2\n", False),
        ("t.csv", 'q,t\n"a"b,1\n', False),
        ("t.csv", 'q,t\n"never closed,1\n', False),
    ],
)
def test_only_what_makes_the_reference_complain_or_replace_is_left_to_it(write, name, content, fast):
    path = write(name, content)
    try:
        Records(path)
    except InputError:
        return
    assert is_by_column(path) is fast
    assert_both_ways_alike(path, None, TrafficFields("q"))


PARQUET = {
    "q": (pa.string(), [*"ab", "\u00a0", None, " c ", ""]),
    "t": (pa.string(), ["2026-01-01T00:00:00", "1733832001", "never", None, "03/04/2026", ""]),
    "g": (pa.dictionary(pa.int8(), pa.string()), ["de", "de ", None, "en", "", "de"]),
    "s": (pa.int64(), [1, 1, 2, None, 3, 3]),
    "n": (pa.int32(), [1, 2, 3, 4, 5, 6]),
    "a": (pa.large_string(), ["x", None, "x ", "", "y", "é"]),
    "b": (pa.int8(), [None, 1, 2, 3, 4, 5]),
}
MOMENTS = [datetime(2026, 1, 2, 3, 4, 5, 6000), None, datetime(1969, 1, 1), *[datetime(2026, 1, 1)] * 3]
INFINITE = 2**63 - 1
ODD_MOMENTS = [1, INFINITE, -INFINITE, None, 253_402_300_800_000_000, -62_135_596_800_000_001]


@pytest.mark.parametrize("time", [None, pa.timestamp("ns"), pa.timestamp("s", "Europe/Berlin"), pa.date32()])
@pytest.mark.parametrize("order", [None, "mdy"])
def test_parquet_is_read_by_column_as_row_by_row(tmp_path, time, order):
    columns = {name: pa.array(values, kind) for name, (kind, values) in PARQUET.items()}
    if time is not None:
        columns["t"] = pa.array(MOMENTS, pa.timestamp("us")).cast(time, safe=False)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    fields = replace(ALL, date_order=order)
    assert is_by_column(path, None, fields)
    assert_both_ways_alike(path, None, fields)


@pytest.mark.parametrize("text", [pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view()])
@pytest.mark.parametrize(
    "time", [pa.timestamp("us"), pa.timestamp("us", "Mars/Phobos"), pa.timestamp("ns"), pa.timestamp("ms")]
)
def test_texts_of_any_form_and_times_beyond_the_calendar_are_read_alike(tmp_path, text, time):
    columns = {"q": pa.array(["a", "é", "c", "d", "e", "f"]).cast(text), "t": pa.array(ODD_MOMENTS, time)}
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    fields = TrafficFields("q", "t")
    assert is_by_column(path, None, fields)
    assert_both_ways_alike(path, None, fields)


@pytest.mark.parametrize(
    "columns",
    [
        {"q": pa.array(["a\0b"])},
        {"q": pa.array([1.5])},
        {"q": pa.array([b"\xff"])},
        {"q": pa.array(["a"]), "n": pa.array([0])},
    ],
)
def test_parquet_with_other_values_is_left_to_the_reference(tmp_path, columns):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    fields = TrafficFields(
        "q", *("t" if "t" in columns else None, None, None, "n" if "n" in columns else None)
    )
    assert not is_by_column(path, None, fields)
    assert_both_ways_alike(path, None, fields)


def test_a_file_without_a_header_and_one_with_semicolons_are_read_by_column(write):
    layout = FileLayout(columns=("q", "t"), header=False)
    assert is_by_column(write("a.csv", "a,1\nb,2\n"), layout)
    assert is_by_column(write("b.csv", "q;t\na;1\n"))


FORMS = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%dT%H:%M:%SZ"]
FORMS += ["%Y-%m-%dT%H:%M:%S+05:30", "%Y-%m-%dT%H:%M:%S.%f-08:00", "%Y%m%d%H%M%S", "%y%m%d%H%M%S", "%Y%m%d"]


def expected(texts):
    times = [parse_time(text) for text in texts]
    return [UNREAD if time is None else to_microseconds(time) for time in times]


@given(st.lists(st.tuples(st.datetimes(), st.sampled_from(FORMS)), max_size=20))
def test_times_of_every_usual_form_are_those_of_parse_time(drawn):
    texts = [time.strftime(form) for time, form in drawn]
    assert parse_times(pa.array(texts, pa.string()))[0].tolist() == expected(texts)


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(
    st.lists(
        st.one_of(
            st.text("0123456789", max_size=17),
            st.from_regex(
                r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{3}([0-9]{3})?)?"
                r"(Z| UTC|[+-][0-2][0-9]:[0-6][0-9])?",
                fullmatch=True,
            ),
            st.text("0123-:. TZ+é٣", max_size=33),
        ),
        max_size=20,
    )
)
def test_times_of_any_form_are_those_of_parse_time(texts):
    times, unread = parse_times(pa.array(texts, pa.string()))
    assert times.tolist() == expected(texts)
    assert unread.tolist() == [row for row, text in enumerate(texts) if text and parse_time(text) is None]


def test_the_sum_of_many_large_counts_is_exact():
    terms = log_columns.Terms(pa.array(["a"]), np.zeros(0, np.int32))
    counts = np.full(10_000_001, log_columns.MAX_COUNT)
    many = log_columns.Log(terms, terms, terms, terms, counts, counts, counts, 0, None)
    assert many.traffic == 10_000_001 * 10**12


def test_further_fields_that_are_empty_everywhere_are_none(write):
    path = write("t.csv", "q,a\nx,\ny, \nz,1\n")
    records = Records(path)
    found = log_columns.read_log(records, TrafficFields("q", metadata=("a",)))
    assert Counter(texts_of(found.metadata)) == {None: 2, '{"a":"1"}': 1}
