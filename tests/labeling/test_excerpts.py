"""Excerpts: the passage that says most, the query's words marked, the text unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.labeling.excerpts import LONGEST, best_passage, mark, query_stems, stem

FORMS = """
reading read, files file, queries query, stopped stop, classes class, parsing parse,
Dictionaries dictionary, shoes shoe, running runs
"""


@pytest.mark.parametrize("pair", [pair.split() for pair in FORMS.split(",")])
def test_forms_of_one_word_have_one_stem(pair: list[str]) -> None:
    assert stem(pair[0]) == stem(pair[1])


@pytest.mark.parametrize(
    "pair", [("class", "clash"), ("king", "k"), ("14", "13"), ("bus", "bu"), ("css", "cs")]
)
def test_different_words_keep_different_stems(pair: tuple[str, str]) -> None:
    assert stem(pair[0]) != stem(pair[1])


def test_the_querys_words_are_marked_in_any_form_and_function_words_are_not() -> None:
    segments = mark("Reads the file, then reading stops.", query_stems("how to read the files"))
    assert [segment.text for segment in segments if segment.marked] == ["Reads", "file", "reading"]


def test_a_query_of_function_words_is_marked_all_the_same() -> None:
    assert [s.text for s in mark("Who is who", query_stems("who")) if s.marked] == ["Who", "who"]


@given(st.text(max_size=300), st.text(max_size=30))
def test_marking_never_changes_the_text(text: str, query: str) -> None:
    assert "".join(segment.text for segment in mark(text, query_stems(query))) == text


def test_a_short_document_is_shown_whole() -> None:
    assert best_passage("A short text.", "text").whole


def test_the_passage_with_most_query_words_comes_first() -> None:
    body = (
        "Nothing to see here. " * 100 + "Here a lock is acquired by the thread. " + "More of nothing. " * 100
    )
    excerpt = best_passage(body, "thread acquires lock")
    shown = "".join(segment.text for segment in excerpt.segments)
    assert "Here a lock is acquired by the thread." in shown
    assert not excerpt.whole
    assert len(shown) <= LONGEST


@given(st.text(alphabet="ab .!\n", min_size=LONGEST + 1, max_size=3 * LONGEST))
def test_a_passage_is_a_piece_of_its_document(body: str) -> None:
    shown = "".join(segment.text for segment in best_passage(body, "ab").segments)
    assert shown in body
    assert len(shown) <= LONGEST
