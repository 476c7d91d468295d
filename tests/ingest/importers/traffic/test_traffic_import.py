"""The import of traffic logs."""

from __future__ import annotations

from datetime import datetime

import pytest

from curation.core.errors import NotFoundError, RefusedError
from curation.ingest.importers.traffic import stored_rows
from curation.ingest.importers.traffic.cleaning import CleaningRules
from curation.ingest.importers.traffic.known_rows import KNOWN
from curation.ingest.importers.traffic.stored_logs import delete_log, read_stored_logs
from curation.ingest.importers.traffic.stored_rows import hash_sessions
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import TrafficFields
from curation.store import get_setting
from tests.support.command_line import invoke
from tests.support.projects import all_rows, rows_of


def _rows(store, columns="line, text, normalised, time, segment, session, count"):
    return rows_of(store, f"SELECT {columns} FROM traffic ORDER BY import_id, line")


def _stored(store, session):
    with store.reading() as cursor:
        return next(hash_sessions([session], get_setting(cursor, "session_key")))


def test_every_field_is_kept_and_texts_are_normalised(store, write):
    path = write("t.csv", "q,at,shop,who,n\nRed  SHOES,2024-12-10T12:00:00Z,de,u1,3\nhat,,,,1.0\n")
    result = import_traffic(store, path, TrafficFields("q", "at", "shop", "who", "n"))
    assert _rows(store) == [
        (2, "Red  SHOES", "red shoes", datetime(2024, 12, 10, 12), "de", _stored(store, "u1"), 3),
        (3, "hat", "hat", None, None, None, 1),
    ]
    assert (result.rows, result.traffic, result.queries, result.sessions, result.segments) == (2, 4, 2, 1, 1)
    assert (result.first, result.last, result.unknown_times) == (datetime(2024, 12, 10, 12),) * 2 + (1,)


def test_another_reading_or_cleaning_of_the_same_file_is_another_import_and_said(store, write):
    path = write("t.csv", "query,time,n\nmail a@b.com,2024-01-01,2\n")
    assert import_traffic(store, path).same_source == 0
    second = import_traffic(store, path, TrafficFields(count="n"))
    assert (second.is_new, second.same_source) == (True, 1)
    third = import_traffic(store, path, rules=CleaningRules(words=9))
    assert (third.is_new, third.same_source) == (True, 2)


def test_further_fields_are_kept_as_json_without_personal_data(store, write):
    records = [
        {"query": "a", "device": " phone ", "asker": "jo@example.com"},
        {"query": "b", "device": "", "asker": ""},
        {"query": "c", "device": "desk", "asker": ""},
    ]
    path = write("t.jsonl", records)
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


def test_personal_data_in_segments_and_further_fields_is_counted_too(store, write):
    records = [
        {"query": "mail jo@example.com", "segment": "de", "note": "jo@example.com"},
        {"query": "hat", "segment": "al@example.com", "note": "+49 30 901820"},
        {"query": "", "segment": "al@example.com", "note": ""},
    ]
    path = write("t.jsonl", records)
    result = import_traffic(store, path, TrafficFields(metadata=("note",)))
    assert result.personal == {"email": 2, "phone": 1}
    again = import_traffic(store, path, TrafficFields(metadata=("note",)))
    assert (again.personal, again.left_out) == (result.personal, {"empty query": 1})


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        (TrafficFields(metadata=("user_id",)), "'user_id'"),
        (TrafficFields(session="visitor", metadata=("visitor", "user_id", "device")), "'user_id', 'visitor'"),
    ],
)
def test_a_field_that_tells_people_apart_is_no_further_field(write, refused, fields, named):
    path = write("t.csv", "query,session,user_id,visitor,device\na,s1,jo,v1,phone\n")
    message = str(refused(import_traffic, path, fields))
    assert f"--map metadata names {named}, which identifies people" in message


def test_an_import_without_further_fields_keeps_the_id_it_had_before_there_were_any(store, write):
    path = write("t.csv", "query\na\n")
    assert import_traffic(store, path).import_id == "ffc06ecb4cc8a0d6382be171ae02b436"


def test_an_unreadable_time_is_unknown_and_shown(store, write):
    path = write("t.jsonl", [{"query": "a", "time": "last week"}, {"query": "b", "time": 1733832000}])
    result = import_traffic(store, path)
    assert (result.unknown_times, result.unreadable_time) == (1, "'last week' on line 1")
    assert [row[0] for row in _rows(store, "time")] == [None, datetime(2024, 12, 10, 12)]


US_LOG = "query,time\na,03/04/2026 1:05 PM\nb,2026-03-05T10:00:00\nc,last week\n"


@pytest.mark.parametrize(
    ("order", "first"), [("mdy", datetime(2026, 3, 4, 13, 5)), ("dmy", datetime(2026, 4, 3, 13, 5))]
)
def test_numeric_dates_are_read_in_the_order_that_is_said(store, write, order, first):
    path = write("t.csv", US_LOG)
    result = import_traffic(store, path, TrafficFields(date_order=order))
    assert [row[0] for row in _rows(store, "time")] == [first, datetime(2026, 3, 5, 10), None]
    assert (result.unknown_times, result.fields.date_order) == (1, order)
    assert result.unreadable_time.startswith("'last week'")
    assert not import_traffic(store, path, TrafficFields(date_order=order)).is_new


def test_numeric_dates_are_unknown_until_their_order_is_said(store, write):
    path = write("t.csv", US_LOG)
    assert import_traffic(store, path).unknown_times == 2
    shown = invoke(["--project", str(store.path), "import", "traffic", str(write("u.csv", US_LOG + "d,\n"))])
    assert "such as '03/04/2026 1:05 PM' on line 2" in shown.stdout
    assert "--date-order mdy" in shown.stdout


def test_numeric_dates_that_their_order_does_not_allow_are_refused_with_their_lines(write, refused):
    path = write("t.csv", "query,time\na,03/04/2026\nb,13/04/2026\nc,31/12/2026\n")
    message = str(refused(import_traffic, path, TrafficFields(date_order="mdy")))
    assert "line 3: the time '13/04/2026' is not a date with the month first" in message
    assert "line 4: the time '31/12/2026'" in message
    message = str(refused(import_traffic, path, TrafficFields(date_order="ymd")))
    assert "--date-order 'ymd': expected mdy or dmy" in message


INVISIBLE = {
    "zero width space": "t\u200bv",
    "byte order mark": "\ufefftv",
    "soft hyphen": "t\u00adv",
    "isolates": "\u2068tv\u2069",
    "joiners": "t\u200d\u200cv",
    "variation selector": "tv\ufe0f",
    "Hangul filler": "t\u3164v",
    "tag": "tv\U000e0041",
    "spaced": " \u200b tv \u200b ",
}
"""Kinds of characters that Unicode calls default ignorable; none has a glyph of its own."""


@pytest.mark.parametrize("text", INVISIBLE.values(), ids=INVISIBLE)
def test_each_kind_of_invisible_character_is_folded(store, write, text):
    log = import_traffic(store, write("log.csv", f"query,count\ntv,2\n{text},3\n\u200b,7\n"))
    assert (log.queries, log.traffic, log.left_out) == (1, 5, {"empty query": 1})


BAD_COUNTS = ("0", "-2", "many", "", "1.5", "inf", "nan", "9e18", "1000000000001", "1e999999999")


@pytest.mark.parametrize(
    ("name", "content", "fields", "sentences"),
    [
        (
            "t.csv",
            "query,count\na,1\n" + "\n".join(f"b,{count}" for count in BAD_COUNTS),
            None,
            [f"line {line}: the count in 'count' is" for line in range(3, 3 + len(BAD_COUNTS))]
            + ["'many'; expected a whole number from 1 to 1,000,000,000,000", "leave their rows out"],
        ),
        ("t.csv", "asked,n\na,1\n", None, ["the queries: name it with --map query=COLUMN", "'asked', 'n'"]),
        (
            "t.csv",
            "query,device\na,b\n",
            TrafficFields(time="tiem", metadata=("devise",)),
            ["--map time names 'tiem'", "--map metadata names 'devise'"],
        ),
        ("t.csv", "query,time\n,1\n ,2\n", None, ["no query could be read from the file: 2 empty query"]),
        ("t.jsonl", '{"action_name": "click", "user_query": "a"}', None, ["log of events", "ubi_queries"]),
    ],
)
def test_bad_input_is_refused_in_sentences_and_changes_nothing(
    write, refused, name, content, fields, sentences
):
    message = str(refused(import_traffic, write(name, content), fields))
    assert [sentence for sentence in sentences if sentence not in message] == []


def test_counts_keep_every_digit(store, write):
    path = write("t.jsonl", [{"query": "a", "count": 999_999_999_999}, {"query": "b", "count": "1e12"}])
    assert import_traffic(store, path).traffic == 1_999_999_999_999
    assert [row[0] for row in _rows(store, "count")] == [999_999_999_999, 1_000_000_000_000]


@pytest.mark.slow
def test_logs_whose_sum_is_too_large_are_refused_and_change_nothing(store, write, monkeypatch):
    import_traffic(store, write("one.csv", "query,count\na,6\n"))
    before = all_rows(store)
    monkeypatch.setattr(stored_rows, "MAX_TRAFFIC", 10)
    with pytest.raises(RefusedError, match="would sum to 11; at most 10"):
        import_traffic(store, write("two.csv", "query,count\nb,5\n"))
    assert all_rows(store) == before
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
    with pytest.raises(RefusedError, match=r"\(u.csv\) left out rows that are only in t.csv"):
        delete_log(store, first.import_id)
    delete_log(store, nothing.import_id)
    assert delete_log(store, first.import_id[:10], "exported twice").rows == 2
    assert import_traffic(store, write("u.csv", text + "\n")).rows == 2
    with store.reading() as cursor:
        assert [log.source for log in read_stored_logs(cursor)] == ["u.csv"]


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
