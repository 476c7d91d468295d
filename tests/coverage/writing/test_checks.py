"""What a writer is warned of, on texts small enough to read."""

from __future__ import annotations

from curation.coverage.writing.checks import STYLES, alike_queries, check_text, copied_phrases
from curation.store import Query

TITLE = "Green tea"
BODY = "The harbour pilot boards the cargo ship, which is in the port of Rotterdam."


def queries(*texts: str) -> list[Query]:
    return [Query(f"q{n}", text, text.casefold(), "imported") for n, text in enumerate(texts)]


def test_three_words_in_a_row_of_the_text_are_copied_and_two_are_not() -> None:
    assert copied_phrases("who is the harbour pilot boards THE man", TITLE, BODY) == [
        "the harbour pilot boards THE"
    ]
    assert copied_phrases("a harbour pilot in Rotterdam", TITLE, BODY) == []


def test_a_whole_title_of_two_words_is_copied() -> None:
    assert copied_phrases("best green tea shop", TITLE, BODY) == ["green tea"]
    assert copied_phrases("tea that is green", TITLE, BODY) == []


def test_stop_words_alone_are_no_phrase() -> None:
    assert copied_phrases("which is in a ship", TITLE, BODY) == []


def test_a_phrase_of_a_script_without_spaces_is_copied_as_it_is_written() -> None:
    assert copied_phrases("東京の国立博物館 は", "", "上野にある国立博物館です") == ["国立博物館"]


def test_near_duplicates_are_found_by_letters_and_in_any_order_of_words() -> None:
    known = queries("laptop", "blue t-shirt", "iphone 13 case")
    assert alike_queries("Laptops", known) == ["laptop"]
    assert alike_queries("t shirt, blue", known) == ["blue t-shirt"]
    assert alike_queries("harbour pilot", known) == []


def test_each_warning_is_a_sentence_and_a_good_query_has_none() -> None:
    found = check_text("green tea", TITLE, BODY, STYLES["question names"], queries("green teas"))
    assert [sentence.split()[0] for sentence in found.sentences] == ["“\u2068green", "The", "This"]
    assert check_text("drink", TITLE, BODY, STYLES["short generic"], queries("cargo")).sentences == []
