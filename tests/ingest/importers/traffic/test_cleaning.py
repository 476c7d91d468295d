"""What is set aside of a log: long queries, turned pages, robots; and that nothing personal is stored."""

from __future__ import annotations

import hmac
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.ingest.importers.traffic import cleaning, stored_rows
from curation.ingest.importers.traffic.cleaning import (
    UNKNOWN_TIME,
    CleaningRules,
    clean_rows,
    clean_texts,
    count_personal_data,
)
from curation.ingest.importers.traffic.stored_rows import hash_sessions
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.store import get_setting

RULES = CleaningRules()
SECOND = 1_000_000
PLANTED = {
    "a": "refund for jane.doe@example.com",
    "b": "4111 1111 1111 1111",
    "c": "iban DE89370400440532013000 bank",
    "d": "who owns 81.2.69.160",
    "e": "+49 170 1234567 spam",
    "f": "219-09-9998 lookup",
    "g": "ghp_16C7e42F292c6912E7710c838347Ae178B4a leaked",
}
SECRETS = ("jane.doe", "4111 1111", "de8937040044", "81.2.69", "170 1234567", "219-09", "16c7e42f292c")
"""What no form of the database may hold, in small letters."""


def cleaned(log, rules=RULES):
    """Clean rows of (session, seconds, text[, count]); which of them are kept, and why others are not."""
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(row[2], len(numbers)) for row in log]
    columns = (
        np.array(codes, np.int32),
        np.array([row[0] for row in log], np.int32),
        np.array([UNKNOWN_TIME if row[1] is None else row[1] * SECOND for row in log], np.int64),
        np.array([row[3] if len(row) > 3 else 1 for row in log], np.int64),
    )
    return clean_rows(*columns, clean_texts(pa.array(numbers, pa.string()), rules), rules)


def kept(log, rules=RULES):
    return np.flatnonzero(cleaned(log, rules)[0]).tolist()


@given(
    st.lists(
        st.text("aB 1-.:@([é\t", max_size=20) | st.sampled_from([*PLANTED.values(), "a" * 16, "x -----"])
    ),
    st.sampled_from([RULES, CleaningRules(words=2, characters=5), CleaningRules(words=0, characters=0)]),
)
def test_texts_that_are_plain_by_their_bytes_are_cleaned_as_all_others(texts, rules):
    found = clean_texts(pa.array(["a", *texts], pa.string())[1:], rules)
    expected = [cleaning._clean_text(text, rules) for text in texts]
    columns = (found.texts.to_pylist(), found.normalised.to_pylist(), found.verdicts.tolist())
    assert [*zip(*columns, strict=True)] == [tuple(one[:3]) for one in expected]
    assert [sorted(kinds) for *_, kinds in expected] == [
        sorted(kind for kind, held in found.personal.items() if number in held)
        for number in range(len(texts))
    ]
    pairs = zip(found.queries.tolist(), found.normalised.to_pylist(), strict=True)
    assert len({*pairs}) == len({*found.queries.tolist()})


def test_most_texts_are_plain():
    texts = ["red shoes", "Usb-C 3.1 cable", "iphone 15", "", " a", "a  b", "jo@a.de", "é", "1" * 6, "a" * 16]
    assert cleaning.find_plain_texts(pa.array(texts), RULES).tolist() == [True] * 3 + [False] * 7


def test_turned_pages_count_once_and_what_comes_between_ends_them():
    log = [(1, 0, "A b"), (1, 9, "a  B"), (1, 20, "c"), (1, 30, "a b"), (2, 31, "a b"), (1, 40, "a b")]
    assert kept(log) == [0, 2, 3, 4]
    assert cleaned(log)[1] == {RULES.repeat: 2}


def test_half_an_hour_without_a_query_ends_a_repeat():
    assert kept([(1, 0, "a"), (1, 1800, "a"), (1, 3601, "a")]) == [0, 2]
    assert kept([(1, 0, "a"), (1, 1800, "a")], CleaningRules(repeat_minutes=0)) == [0, 1]


@pytest.mark.parametrize("log", [[(-1, 0, "a"), (-1, 1, "a")], [(1, None, "a")] * 2, [(1, 0, "a", 2)] * 2])
def test_without_session_or_time_or_with_a_count_nothing_is_a_repeat(log):
    assert kept(log) == [0, 1]


def test_a_session_that_asks_too_fast_is_a_robots_and_others_stay():
    fast = [(1, number, f"query {number}") for number in range(21)]
    slow = [(2, 3 * number, f"query {number}") for number in range(100)]
    assert cleaned(fast + slow)[1] == {RULES.robot: 21}
    assert kept(fast[:20]) == list(range(20))
    assert kept(fast, CleaningRules(queries_a_minute=0)) == list(range(21))


def test_a_session_that_asks_too_many_different_queries_on_a_day_is_a_robots():
    day = 86_400
    many = [(1, 60 * number, f"query {number}") for number in range(201)]
    assert kept(many) == []
    assert len(kept([(1, 60 * number, f"query {number % 200}") for number in range(400)])) == 400
    assert len(kept([(1, day - 6_000 + 60 * number, f"query {number}") for number in range(201)])) == 201


def test_a_person_who_turns_pages_fast_is_no_robot():
    assert kept([(1, number, "a") for number in range(50)]) == [0]


def test_long_queries_are_set_aside_by_words_and_by_characters():
    log = [(1, None, text) for text in (" ".join("w" * 32), " ".join("w" * 33), "x" * 256, "x" * 257)]
    assert kept(log) == [0, 2]
    assert kept(log, CleaningRules(words=0, characters=0)) == [0, 1, 2, 3]


def test_personal_data_is_replaced_or_the_row_dropped():
    log = [(1, None, "mail a@b.com"), (1, None, "a@b.com"), (2, None, "mail a@b.com"), (1, None, "shoes")]
    replaced, dropped = cleaned(log), cleaned(log, CleaningRules(personal_data="drop"))
    assert replaced[0].tolist() == [True, False, True, True]
    assert dropped[0].tolist() == [False, False, False, True]
    assert (replaced[1], dropped[1]) == ({"only personal data": 1}, {"personal data": 3})


def test_a_row_counts_once_for_a_kind_in_whichever_columns_it_is():
    texts, fields = np.array([0, 1, 0, 2], np.int32), np.array([-1, 0, 0, 0], np.int32)
    columns = [(texts, {"email": [0, 1]}), (fields, {"email": [0], "phone": [0]})]
    assert count_personal_data(columns) == {"email": 4, "phone": 3}
    assert count_personal_data([(texts, {}), (fields, {})]) == {}


def test_another_policy_for_personal_data_is_refused():
    with pytest.raises(InputError, match="'shrug'; expected replace or drop"):
        CleaningRules(personal_data="shrug")


@given(
    st.lists(
        st.tuples(st.integers(-1, 2), st.integers(0, 4000) | st.none(), st.sampled_from("ab")), max_size=30
    )
)
def test_every_row_is_kept_or_counted_and_no_page_is_turned_twice(log):
    keep, left_out = cleaned(log)
    assert int(keep.sum()) + sum(left_out.values()) == len(log)
    by_time = sorted((s, t, row) for row, (s, t, _) in enumerate(log) if s >= 0 and t is not None)
    repeats = {
        row
        for (before, then, last), (session, now, row) in pairwise(by_time)
        if before == session and log[last][2] == log[row][2] and now - then <= 1800
    }
    assert set(kept(log)) == set(range(len(log))) - repeats


@pytest.mark.parametrize("policy", ["replace", "drop"])
def test_the_bytes_of_the_database_hold_nothing_that_was_private(store, write, policy):
    rows = "".join(
        f"{session}-person,shop-{session}@example.net,{text}\n" for session, text in PLANTED.items()
    )
    path = write("log.csv", "session,segment,query\n" + rows + "h-person,x,red shoes\n")
    result = import_traffic(store, path, rules=CleaningRules(personal_data=policy))
    assert result.rows == {"replace": 7, "drop": 1}[policy]
    others = dict.fromkeys(("card", "iban", "ip", "key", "national id: US SSN", "phone"), 1)
    assert result.personal == {"email": len(PLANTED), **others}  # each row's segment holds an address
    beside = [path for path in store.path.parent.glob(f"{store.path.name}*") if path.is_file()]
    open_files = b"".join(path.read_bytes() for path in beside)
    store.close()
    for stored in (open_files, store.path.read_bytes()):
        assert b"red shoes" in stored
        for secret in (*SECRETS, "-person", "@example.net"):
            assert secret.encode() not in stored.lower()


def test_a_session_is_the_same_through_all_logs_of_a_project_and_of_no_other(store, write):
    import_traffic(store, write("one.csv", "session,query\njoe,a\nann,b\n"))
    import_traffic(store, write("two.csv", "session,query\njoe,c\n"))
    with store.reading() as cursor:
        stored = dict(cursor.execute("SELECT normalised, session FROM traffic").fetchall())
        key = get_setting(cursor, "session_key")
    assert stored["a"] == stored["c"] == next(hash_sessions(["joe"], key)) != stored["b"]
    assert len(stored["a"]) == 16
    assert next(hash_sessions(["joe"], "00" * 32)) != stored["a"]


@given(st.lists(st.text()), st.binary(min_size=32, max_size=32))
def test_a_session_is_kept_as_its_hmac(names, key):
    digests = [hmac.digest(key, name.encode("utf-8", "surrogatepass"), "sha256").hex() for name in names]
    assert list(hash_sessions(names, key.hex())) == [digest[:16] for digest in digests]


def test_a_log_without_sessions_makes_no_key(store, write):
    import_traffic(store, write("log.csv", "query\na\n"))
    with store.reading() as cursor:
        assert get_setting(cursor, stored_rows.SETTING) is None
