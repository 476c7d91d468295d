"""What a writer is warned of, on texts small enough to read."""

from __future__ import annotations

import pytest

from curation.queries.coverage.writing.checks import (
    check_text,
    find_copied_phrases,
    find_similar_queries,
    reads_as_query,
    shares_words,
)
from curation.queries.coverage.writing.styles import STYLES, has_names
from curation.store import Query

TITLE = "Green tea"
BODY = "The harbour pilot boards the cargo ship, which is in the port of Rotterdam."


def queries(*texts: str) -> list[Query]:
    return [Query(f"q{n}", text, text.casefold(), "imported") for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("who is the harbour pilot boards THE man", ["the harbour pilot boards THE"]),
        ("a harbour pilot in Rotterdam", []),  # two words in a row
        ("best green tea shop", ["green tea"]),  # the whole title
        ("tea that is green", []),
        ("which is in a ship", []),  # stop words alone
    ],
)
def test_three_words_in_a_row_or_the_whole_title_are_copied(text: str, copied: list[str]) -> None:
    assert find_copied_phrases(text, TITLE, BODY) == copied


def test_a_phrase_of_a_script_without_spaces_is_copied_as_it_is_written() -> None:
    assert find_copied_phrases("東京の国立博物館 は", "", "上野にある国立博物館です") == ["国立博物館"]


def test_near_duplicates_are_found_by_letters_and_in_any_order_of_words() -> None:
    known = queries("laptop", "blue t-shirt", "iphone 13 case")
    assert find_similar_queries("Laptops", known) == ["laptop"]
    assert find_similar_queries("t shirt, blue", known) == ["blue t-shirt"]
    assert find_similar_queries("harbour pilot", known) == []


def test_each_warning_is_a_sentence_and_a_good_query_has_none() -> None:
    found = check_text("green tea", TITLE, BODY, STYLES["question names"], queries("green teas"))
    assert [sentence.split()[0] for sentence in found.sentences] == ["“\u2068green", "The", "This"]
    assert check_text("drink", TITLE, BODY, STYLES["short generic"], queries("cargo")).sentences == []


@pytest.mark.parametrize(
    ("text", "style", "missed"),
    [
        ("cargo pilots", "short generic", None),
        ("cargo pilots of the sea", "medium generic", "3–4 words that are not a question"),
        ("who pilots ships", "medium generic", "3–4 words that are not a question"),
        ("pilots of the sea", "question generic", "a natural question"),
        ("who pilots a ship", "question names", "with proper names"),
        ("who pilots ships in rotterdam", "question generic", "in generic terms, without proper names"),
        ("who pilots ships in Delft", "question names", None),
        ("Delft", "short names", None),  # a name, or the first word of a sentence
        ("Delft", "short generic", None),
    ],
)
def test_a_style_is_a_length_a_question_or_none_and_names_or_none(
    text: str, style: str, missed: str | None
) -> None:
    assert check_text(text, TITLE, BODY, STYLES[style], []).style == missed


def test_where_common_nouns_have_capitals_nothing_is_said_of_names() -> None:
    assert (
        has_names("wer lotst ein Schiff", "Der Lotse geht im Hafen an Bord von einem Schiff aus Holz.")
        is None
    )


def test_a_query_says_something_and_repeats_no_word() -> None:
    short, question = STYLES["medium generic"], STYLES["question generic"]
    assert not reads_as_query("effects effect study", short)
    assert not reads_as_query("what about the", question)
    assert not reads_as_query("what tea teas is best", question)
    assert reads_as_query("is green tea or black tea best", question)
    assert reads_as_query("effect of ships", short)


def test_words_are_shared_by_stem_and_stop_words_are_none() -> None:
    assert shares_words("who boarded the train", BODY)
    assert shares_words("国立の館", "上野にある国立博物館です")
    assert not shares_words("what is in the moon", BODY)
