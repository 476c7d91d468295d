"""The import of traffic logs."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.importers.traffic import traffic_import as traffic
from curation.ingest.importers.traffic.cleaning import CleaningRules
from curation.ingest.importers.traffic.known_rows import KNOWN
from curation.ingest.importers.traffic.logs import delete_log, stored_logs
from curation.ingest.importers.traffic.session_keys import keyed
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.columns import column_for, file_fields
from curation.ingest.readers.fields import TrafficFields
from curation.ingest.readers.formats import FileLayout
from curation.store import get_setting
from tests.support.command_line import invoke
from tests.support.projects import rows_of

EXCITE = FileLayout(columns=("session", "time", "query"), header=False)


def _rows(store, columns="line, text, normalised, time, segment, session, count"):
    with store.reading() as cursor:
        return cursor.execute(f"SELECT {columns} FROM traffic ORDER BY import_id, line").fetchall()


def _stored(store, session):
    with store.reading() as cursor:
        return next(keyed([session], get_setting(cursor, "session_key")))


def test_every_field_is_kept_and_texts_are_normalised(store, write):
    path = write("t.csv", "q,at,shop,who,n\nRed  SHOES,2024-12-10T12:00:00Z,de,u1,3\nhat,,,,1.0\n")
    result = import_traffic(store, path, TrafficFields("q", "at", "shop", "who", "n"))
    assert _rows(store) == [
        (2, "Red  SHOES", "red shoes", datetime(2024, 12, 10, 12), "de", _stored(store, "u1"), 3),
        (3, "hat", "hat", None, None, None, 1),
    ]
    assert (result.rows, result.traffic, result.queries, result.sessions, result.segments) == (2, 4, 2, 1, 1)
    assert (result.first, result.last, result.unknown_times) == (datetime(2024, 12, 10, 12),) * 2 + (1,)


def test_usual_names_are_found_and_explicit_ones_win(store, write):
    path = write("t.csv", "query,search_term,timestamp,session,count\na,b,2024-01-01,s,2\n")
    assert import_traffic(store, path).fields == TrafficFields("query", "timestamp", None, "session", "count")
    assert import_traffic(store, path, TrafficFields(query="search_term")).fields.query == "search_term"


def test_importing_the_same_log_again_changes_nothing_and_tells_the_same(store, write, contents):
    path = write("t.csv", "query,time\nA,2024-01-01\na,never\n,\n")
    first = import_traffic(store, path)
    before = contents()
    again = import_traffic(store, path)
    assert (first.is_new, again.is_new) == (True, False)
    assert (again.rows, again.queries, again.left_out) == (2, 1, {"empty query": 1})
    assert again.left_out == first.left_out
    assert contents() == before


def test_another_reading_of_the_same_file_is_another_import_and_said(store, write):
    path = write("t.csv", "query,time,n\na,2024-01-01,2\n")
    assert import_traffic(store, path).same_source == 0
    second = import_traffic(store, path, TrafficFields(count="n"))
    assert (second.is_new, second.same_source) == (True, 1)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_further_fields_are_kept_as_json_without_personal_data(store, write, name):
    records = [
        {"query": "a", "device": " phone ", "asker": "jo@example.com"},
        {"query": "b", "device": "", "asker": ""},
        {"query": "c", "device": "desk", "asker": ""},
    ]
    lines = ["query,device,asker", *(",".join(record.values()) for record in records)]
    path = write(name, records if name == "t.jsonl" else "\n".join(lines))
    fields = TrafficFields(metadata=("device", "asker", "device"))
    result = import_traffic(store, path, fields)
    assert _rows(store, "text, metadata") == [
        ("a", '{"asker":"[email]","device":"phone"}'),
        ("b", None),
        ("c", '{"device":"desk"}'),
    ]
    assert result.fields.metadata == ("asker", "device")
    assert not import_traffic(store, path, TrafficFields(metadata=("asker", "device"))).is_new
    assert import_traffic(store, path).import_id != result.import_id


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_personal_data_in_segments_and_further_fields_is_counted_too(store, write, name):
    records = [
        {"query": "mail jo@example.com", "segment": "de", "note": "jo@example.com"},
        {"query": "hat", "segment": "al@example.com", "note": "+49 30 901820"},
        {"query": "", "segment": "al@example.com", "note": ""},
    ]
    lines = ["query,segment,note", *(",".join(record.values()) for record in records)]
    path = write(name, records if name == "t.jsonl" else "\n".join(lines))
    result = import_traffic(store, path, TrafficFields(metadata=("note",)))
    assert result.personal == {"email": 2, "phone": 1}
    assert import_traffic(store, path, TrafficFields(metadata=("note",))).personal == result.personal


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        (TrafficFields(metadata=("user_id",)), "'user_id'"),
        (TrafficFields(session="visitor", metadata=("visitor", "user_id", "device")), "'user_id', 'visitor'"),
    ],
)
def test_a_field_that_tells_people_apart_is_no_further_field(store, write, contents, fields, named):
    before = contents()
    path = write("t.csv", "query,session,user_id,visitor,device\na,s1,jo,v1,phone\n")
    with pytest.raises(InputError, match=f"--metadata-field names {named}, which tells people apart"):
        import_traffic(store, path, fields)
    assert contents() == before


def test_an_unknown_further_field_is_refused_with_the_columns_there(store, write, contents):
    before = contents()
    with pytest.raises(InputError) as refused:
        import_traffic(store, write("t.csv", "query,device\na,b\n"), TrafficFields(metadata=("devise",)))
    for part in ("--metadata-field names 'devise'", "Did you mean 'device'?", "'query', 'device'"):
        assert part in str(refused.value)
    assert contents() == before


def test_an_import_without_further_fields_keeps_the_id_it_had_before_there_were_any(store, write):
    path = write("t.csv", "query\na\n")
    assert import_traffic(store, path).import_id == "ffc06ecb4cc8a0d6382be171ae02b436"


@pytest.mark.parametrize("rows", [1, 3])
def test_a_log_of_one_query_is_taken(store, write, rows):
    result = import_traffic(store, write("t.csv", "query\n" + "shoes\n" * rows))
    assert (result.rows, result.queries, result.sessions, result.left_out) == (rows, 1, 0, {})


def test_a_log_with_nothing_below_its_header_is_refused(store, write):
    with pytest.raises(InputError, match="holds no records"):
        import_traffic(store, write("t.csv", "query,time\n"))


def test_an_unreadable_time_is_unknown_and_shown(store, write):
    path = write("t.jsonl", [{"query": "a", "time": "last week"}, {"query": "b", "time": 1733832000}])
    result = import_traffic(store, path)
    assert (result.unknown_times, result.unreadable_time) == (1, "'last week' on line 1")
    assert [row[0] for row in _rows(store, "time")] == [None, datetime(2024, 12, 10, 12)]


US_LOG = "query,time\na,03/04/2026 1:05 PM\nb,2026-03-05T10:00:00\nc,last week\n"


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
@pytest.mark.parametrize(
    ("order", "first"), [("mdy", datetime(2026, 3, 4, 13, 5)), ("dmy", datetime(2026, 4, 3, 13, 5))]
)
def test_numeric_dates_are_read_in_the_order_that_is_said(store, write, name, order, first):
    """By column and row by row."""
    rows = [dict(zip(("query", "time"), line.split(","), strict=True)) for line in US_LOG.splitlines()[1:]]
    path = write(name, US_LOG if name == "t.csv" else rows)
    result = import_traffic(store, path, TrafficFields(date_order=order))
    assert [row[0] for row in _rows(store, "time")] == [first, datetime(2026, 3, 5, 10), None]
    assert (result.unknown_times, result.fields.date_order) == (1, order)
    assert result.unreadable_time.startswith("'last week'")
    assert not import_traffic(store, path, TrafficFields(date_order=order)).is_new


def test_numeric_dates_are_unknown_until_their_order_is_said(store, write):
    path = write("t.csv", US_LOG)
    assert import_traffic(store, path).unknown_times == 2
    told = invoke(["--project", str(store.path), "import", "traffic", str(write("u.csv", US_LOG + "d,\n"))])
    assert "such as '03/04/2026 1:05 PM' on line 2" in told.stdout
    assert "--date-order mdy" in told.stdout


def test_numeric_dates_that_their_order_does_not_allow_are_refused_with_their_lines(store, write):
    path = write("t.csv", "query,time\na,03/04/2026\nb,13/04/2026\nc,31/12/2026\n")
    with pytest.raises(InputError) as caught:
        import_traffic(store, path, TrafficFields(date_order="mdy"))
    assert "line 3: the time '13/04/2026' is no date with the month first" in str(caught.value)
    assert "line 4: the time '31/12/2026'" in str(caught.value)
    assert _rows(store, "time") == []
    with pytest.raises(InputError, match="--date-order 'ymd': expected mdy or dmy"):
        import_traffic(store, path, TrafficFields(date_order="ymd"))


def test_parquet_times_are_brought_to_utc(store, tmp_path):
    path = tmp_path / "t.parquet"
    zoned = pa.array([datetime(2024, 1, 1, 12)], pa.timestamp("us", tz="+02:00"))
    pq.write_table(pa.table({"query": ["a"], "time": zoned, "count": [2]}), path)
    import_traffic(store, path)
    assert _rows(store, "line, time, count") == [(1, datetime(2024, 1, 1, 12), 2)]


@pytest.mark.parametrize(
    ("name", "content", "fields", "sentences"),
    [
        (
            "t.csv",
            "query,count\na,1\nb,0\nc,-2\nd,many\ne,\nf,1.5\ng,inf\n",
            None,
            [f"line {line}: the count in 'count' is" for line in range(3, 9)]
            + ["'many'; expected a whole number"],
        ),
        ("t.csv", "asked,n\na,1\n", None, ["the queries: name it with --query-field", "'asked', 'n'"]),
        ("t.csv", "query\na\n", TrafficFields(time="tiem"), ["--time-field names 'tiem'"]),
        ("t.csv", "query,time\n,1\n ,2\n", None, ["no query could be taken from it: 2 empty query"]),
        ("t.csv", "", None, ["is empty"]),
        (".", None, None, ["is a folder; expected a file"]),
        ("t.jsonl", '{"query": "a"}\n{"query": \n', None, ["line 2: broken JSON"]),
        ("t.jsonl", '{"action_name": "click", "user_query": "a"}', None, ["log of events", "ubi_queries"]),
    ],
)
def test_bad_input_is_refused_in_sentences_and_changes_nothing(
    store, write, contents, tmp_path, name, content, fields, sentences
):
    before = contents()
    path = tmp_path if content is None else write(name, content)
    with pytest.raises(InputError) as refused:
        import_traffic(store, path, fields)
    for sentence in sentences:
        assert sentence in str(refused.value)
    assert contents() == before


@pytest.mark.slow
@pytest.mark.slow
def test_the_excite_log_is_imported_without_its_turned_pages_and_addresses(store, shared, contents):
    path = shared / "excite_log" / "excite-small.log"
    result = import_traffic(store, path, layout=EXCITE)
    assert (result.rows, result.sessions, result.unknown_times) == (2_241, 863, 0)
    assert (result.left_out, result.personal) == (
        {"empty query": 533, "nothing but personal data": 6, CleaningRules().repeat: 1_721},
        {"email": 6, "ip": 6},
    )
    assert (result.first, result.last) == (datetime(1997, 9, 16, 0, 10, 11), datetime(1997, 9, 17, 0, 9, 23))
    lines = path.read_text(encoding="utf-8").splitlines()
    for line, text, session in _rows(store, "line, text, session"):
        user, _, query = lines[line - 1].split("\t")
        assert session == _stored(store, user)
        assert text == query or "[ip]" in text
    before = contents()
    assert not import_traffic(store, path, layout=EXCITE).is_new
    assert contents() == before


def test_with_the_rules_off_every_query_of_the_excite_log_is_kept(store, shared):
    rules = CleaningRules(0, 0, 0, 0, 0)
    result = import_traffic(store, shared / "excite_log" / "excite-small.log", layout=EXCITE, rules=rules)
    assert result.left_out == {"empty query": 533, "nothing but personal data": 6}


def test_the_ubi_log_is_imported_as_it_is(store, shared):
    result = import_traffic(store, shared / "esci_us" / "ubi_queries.json.gz")
    assert result.fields == TrafficFields("user_query", "timestamp", "application", "client_id")
    assert (result.rows, result.segments) == (289, 2)
    assert result.left_out == {"empty query": 6, CleaningRules().repeat: 178}
    assert (result.unknown_times, result.first) == (0, datetime(2024, 12, 10, 0, 1, 29, 378_000))


def test_the_ubi_events_are_refused_with_the_file_to_take(store, shared):
    with pytest.raises(InputError, match="ubi_queries"):
        import_traffic(store, shared / "esci_us" / "ubi_events.json.gz")


@pytest.mark.parametrize("count", ["9e18", "1000000000001", "1e999999999", "nan", "-1"])
def test_a_count_beyond_what_can_be_added_up_is_refused_with_its_line(store, write, contents, count):
    before = contents()
    with pytest.raises(InputError) as refused:
        import_traffic(store, write("t.csv", f"query,count\na,1\nb,{count}\n"))
    assert (
        f"line 3: the count in 'count' is '{count}'; expected a whole number from 1 to 1,000,000,000,000"
        in str(refused.value)
    )
    assert "leave their rows out" in str(refused.value)
    assert contents() == before


def test_counts_keep_every_digit(store, write):
    path = write("t.jsonl", [{"query": "a", "count": 999_999_999_999}, {"query": "b", "count": "1e12"}])
    assert import_traffic(store, path).traffic == 1_999_999_999_999
    assert [row[0] for row in _rows(store, "count")] == [999_999_999_999, 1_000_000_000_000]


def test_logs_whose_sum_is_too_large_are_refused_and_change_nothing(store, write, contents, monkeypatch):
    import_traffic(store, write("one.csv", "query,count\na,6\n"))
    before = contents()
    monkeypatch.setattr(traffic, "LARGEST_TRAFFIC", 10)
    with pytest.raises(RefusedError, match="would sum to 11; at most 10"):
        import_traffic(store, write("two.csv", "query,count\nb,5\n"))
    assert contents() == before
    assert import_traffic(store, write("three.csv", "query,count\nb,4\n")).is_new


def test_a_log_exported_again_adds_its_new_rows_alone(store, write):
    rows = [
        "red,s1,2024-01-01T10:00",
        "red,s1,2024-01-01T12:00",
        "blue,,2024-01-02T10:00",
        "hat,s2,",
        "cap,,",
    ]
    first = import_traffic(store, write("t.csv", "\n".join(["query,session,time", *rows, ""])))
    more = [*rows, "blue,,2024-01-02T10:00", "red,s3,2024-01-03T10:00"]
    path = write("u.csv", "\n".join(["query,session,time", *more, ""]))
    again = import_traffic(store, path)
    assert (first.traffic, again.traffic, again.left_out) == (5, 3, {KNOWN: 4})
    new = rows_of(store, "SELECT text FROM traffic WHERE import_id = ? ORDER BY line", again.import_id)
    assert new == [("cap",), ("blue",), ("red",)]
    whole = import_traffic(store, path, rules=CleaningRules(known_rows=True))
    assert (whole.traffic, whole.left_out) == (7, {})


def test_a_log_that_is_known_whole_is_imported_without_a_row_and_a_deleted_one_can_come_again(store, write):
    text = "query,session\na,s1\nb,s2\n"
    first = import_traffic(store, write("t.csv", text))
    nothing = import_traffic(store, write("u.csv", text + "\n"))
    assert (nothing.rows, nothing.traffic, nothing.left_out) == (0, 0, {KNOWN: 2})
    with pytest.raises(NotFoundError, match=r"No log begins with 'x'. The project has \w{8} "):
        delete_log(store, "x")
    with pytest.raises(RefusedError, match=r"\(u.csv\) left out rows as known, which may be those of t.csv"):
        delete_log(store, first.import_id)
    delete_log(store, nothing.import_id)
    assert delete_log(store, first.import_id[:10], "exported twice").rows == 2
    assert import_traffic(store, write("u.csv", text + "\n")).rows == 2
    with store.reading() as cursor:
        assert [log.source for log in stored_logs(cursor)] == ["u.csv"]


@pytest.mark.parametrize("grown", ["word 3,,1", "word 3,2026-01-01,9"], ids=["no time", "another count"])
def test_a_log_that_has_grown_and_whose_rows_cannot_be_known_is_refused(store, write, grown):
    rows = [f"word {number},2026-01-01,{number + 1}" for number in range(12)]
    if ",," in grown:
        rows = [f"word {number},,1" for number in range(12)]
    text = "\n".join(["query,time,count", *rows, ""])
    import_traffic(store, write("t.csv", text))
    path = write("u.csv", text.replace(rows[3], grown) + "new,,1\n")
    with pytest.raises(RefusedError, match=r"the log \w{8} \(t.csv\), exported again: it has 12 of the 12"):
        import_traffic(store, path)
    assert import_traffic(store, path, rules=CleaningRules(known_rows=True)).rows == 13


def test_the_time_of_a_shop_s_report_of_searches_is_found():
    columns = ["Search term", "Searches", "Last searched"]
    assert {field.name: column_for(field, columns) for field in file_fields(TrafficFields)} == {
        "query": "Search term",
        "time": "Last searched",
        "segment": None,
        "session": None,
        "count": "Searches",
        "metadata": None,
    }
