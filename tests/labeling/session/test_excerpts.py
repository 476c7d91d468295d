"""Excerpts: the passage that says most, the query's words marked, the text unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.labeling.presentation import excerpts
from curation.labeling.presentation.excerpts import (
    MAX_PASSAGE_LENGTH,
    find_best_passage,
    locate_in_body,
    mark_words,
    stem_query,
)
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.queue import read_queue
from curation.retrieval.stemming import strip_ending
from curation.store import Store
from tests.support.projects import add_pairs, add_people, built_once

FORMS = """
reading read, files file, queries query, stopped stop, classes class, parsing parse,
Dictionaries dictionary, shoes shoe, running runs
"""


@pytest.mark.parametrize("pair", [pair.split() for pair in FORMS.split(",")])
def test_forms_of_one_word_have_one_stem(pair: list[str]) -> None:
    assert strip_ending(pair[0]) == strip_ending(pair[1])


@pytest.mark.parametrize(
    "pair", [("class", "clash"), ("king", "k"), ("14", "13"), ("bus", "bu"), ("css", "cs")]
)
def test_different_words_keep_different_stems(pair: tuple[str, str]) -> None:
    assert strip_ending(pair[0]) != strip_ending(pair[1])


def test_the_querys_words_are_marked_in_any_form_and_function_words_are_not() -> None:
    segments = mark_words("Reads the file, then reading stops.", stem_query("how to read the files"))
    assert [segment.text for segment in segments if segment.marked] == ["Reads", "file", "reading"]


def test_a_query_of_function_words_is_marked_all_the_same() -> None:
    assert [s.text for s in mark_words("Who is who", stem_query("who")) if s.marked] == ["Who", "who"]


@given(st.text(max_size=300), st.text(max_size=30))
def test_marking_never_changes_the_text(text: str, query: str) -> None:
    assert "".join(segment.text for segment in mark_words(text, stem_query(query))) == text


def passage(body: str, query: str, within: tuple[int, int] | None = None) -> str:
    return "".join(segment.text for segment in find_best_passage(body, query, within=within)[1])


def test_a_short_document_is_shown_whole() -> None:
    assert passage("A short text.", "text") == "A short text."


def test_a_passage_is_the_same_whether_its_place_was_remembered_or_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(excerpts, "MAX_CACHED_SPANS", 2)
    bodies = [
        f"{'Nothing here. ' * lines}The lock of text {lines}. {'More. ' * 200}" for lines in (99, 198, 297)
    ]
    first = [find_best_passage(body, "lock") for body in bodies]
    assert len(excerpts._cached_spans) <= 2
    assert [find_best_passage(body, "lock") for body in bodies] == first
    assert [find_best_passage(body, "more") for body in bodies] != first


def test_the_passage_with_most_query_words_comes_first() -> None:
    body = (
        "Nothing to see here. " * 100 + "Here a lock is acquired by the thread. " + "More of nothing. " * 100
    )
    shown = passage(body, "thread acquires lock")
    assert "Here a lock is acquired by the thread." in shown
    assert len(shown) <= MAX_PASSAGE_LENGTH


@given(st.text(alphabet="ab .!\n", min_size=MAX_PASSAGE_LENGTH + 1, max_size=3 * MAX_PASSAGE_LENGTH))
def test_a_passage_is_a_piece_of_its_document(body: str) -> None:
    shown = passage(body, "ab")
    assert shown in body
    assert len(shown) <= MAX_PASSAGE_LENGTH


@given(
    st.text(alphabet="ab .!\n", min_size=MAX_PASSAGE_LENGTH + 1, max_size=3 * MAX_PASSAGE_LENGTH),
    st.integers(0, 9),
)
def test_no_word_is_cut_where_there_is_room_to_cut_between_words(body: str, offset: int) -> None:
    body = " ".join(body[start : start + 40] for start in range(0, len(body), 40))
    shown = passage(body, "ab", (offset, len(body) - offset))
    at = body.find(shown)
    while at >= 0:  # one of the places where it stands is between words
        end = at + len(shown)
        if (at == 0 or body[at - 1].isspace() or not shown.strip()) and (
            end == len(body) or body[end].isspace() or not shown.strip()
        ):
            return
        at = body.find(shown, at + 1)
    raise AssertionError(shown)


def test_the_excerpt_is_taken_from_the_part_that_a_system_matched() -> None:
    early = "A lock is acquired by the thread. " + "Nothing here. " * 80
    late = "The mutex is taken once. A lock follows the mutex. " + "More of nothing. " * 80
    body = early + late
    within = (len(early) + 1, len(early) + 60)
    shown = passage(body, "thread acquires lock", within)
    assert shown == "The mutex is taken once. A lock follows the mutex. More of nothing."
    assert find_best_passage(body, "thread lock", within=(0, len(body))) == find_best_passage(
        body, "thread lock"
    )
    assert find_best_passage(body, "lock", within=(len(body) + 5, len(body) + 9)) == find_best_passage(
        body, "lock"
    )


def test_a_part_of_the_text_is_known_as_a_part_of_the_body() -> None:
    assert locate_in_body("Title", "the body", (0, 14)) == (0, 8)
    assert locate_in_body("Title", "the body", (10, 14)) == (4, 8)
    assert locate_in_body("", " the body", (0, 3)) == (1, 4)
    assert locate_in_body("Title", "the body", (0, 5)) is None


@built_once
def long_document(store: Store) -> Store:
    """One long document, given to ada."""
    add_pairs(store, {"thread lock": ["d"]})
    body = "A thread and a lock. " * 60 + "Only the mutex stands here. " * 60
    with store.transaction() as cursor:
        cursor.execute("UPDATE documents SET body = ?", [body])
        cursor.execute("INSERT INTO pools VALUES ('dense pool', 'now', '{}', '{}', now()::TIMESTAMP)")
        cursor.execute("INSERT INTO pools VALUES ('other pool', 'later', '{}', '{}', now()::TIMESTAMP)")
    add_people(store, "ada")
    open_round(store, RoundRequest("first", ["ada"], overlap=1, duplicates=0))
    return store


def put_match(store: Store, pool: str, system: str, rank: int, span: tuple[int, int]) -> None:
    with store.transaction() as cursor:
        cursor.execute(
            "INSERT INTO candidate_sources VALUES (?, 'thread lock', 'd', ?, ?, 0.5, ?, ?)",
            [pool, system, rank, *span],
        )


def shown_first(store: Store) -> str:
    [showing] = read_queue(store, "ada", 1).showings
    return "".join(segment.text for segment in showing.passage)


def test_the_annotator_sees_the_passage_matched_at_the_best_rank(long_document: Store) -> None:
    assert shown_first(long_document).startswith("A thread and a lock.")
    mutex = 60 * len("A thread and a lock. ")
    put_match(long_document, "dense pool", "hybrid", 3, (2, 100))
    put_match(long_document, "dense pool", "dense", 2, (mutex + 2, mutex + 2 + 200))
    assert shown_first(long_document).startswith("Only the mutex stands here.")


def test_a_passage_of_another_version_of_the_document_is_not_applied(long_document: Store) -> None:
    before = shown_first(long_document)
    mutex = 60 * len("A thread and a lock. ")
    put_match(long_document, "other pool", "dense", 1, (mutex + 2, mutex + 2 + 200))
    assert shown_first(long_document) == before
    with long_document.transaction() as cursor:
        cursor.execute("INSERT INTO snapshot_documents VALUES ('later', 'd', 'another version')")
    assert shown_first(long_document) == before


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("电热水壶", "家用电热水壶，大容量", ["电热水壶"]),
        ("热水", "家用电热水壶，热的", ["热水"]),
        ("茶", "龙井绿茶", ["茶"]),
        ("電気ケトル", "早い電気ケトルです。", ["電気ケトル"]),
        ("주전자", "전기주전자를 세일", ["주전자"]),
        ("น้ำ", "ขายกาต้มน้ำไฟฟ้า", ["น้ำ"]),
        ("किताब", "हिन्दी किताब", ["किताब"]),
        ("istanbul", "İstanbul otelleri", ["İstanbul"]),
        ("café", "un cafe\u0301 noir", ["cafe\u0301"]),
        ("كتاب", "هذا كِتَابٌ", ["كِتَابٌ"]),
        ("ガス", "ｶﾞｽ台", ["ｶﾞｽ"]),
        ("手机", "iPhone手机壳", ["手机"]),
        ("서울", "\u1109\u1165\u110b\u116e\u11af에서", ["\u1109\u1165\u110b\u116e\u11af"]),
    ],
)
def test_the_words_of_a_query_are_marked_in_any_script(query: str, text: str, marked: list[str]) -> None:
    segments = mark_words(text, stem_query(query))
    assert [segment.text for segment in segments if segment.marked] == marked
    assert "".join(segment.text for segment in segments) == text


def test_the_passage_with_the_query_is_shown_of_a_text_without_spaces() -> None:
    body = "这是一段无关的说明文字。" * 80 + "本店出售电热水壶和茶具。" + "其他内容在此。" * 80
    shown = passage(body, "电热水壶")
    assert "电热水壶" in shown
    assert shown.endswith("。")
