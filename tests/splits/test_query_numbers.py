"""Numbers and model names of queries, on real ones."""

from __future__ import annotations

import pytest

from curation.splits.numbers import compared_text, names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("iphone 14 case", {"14"}),
        ("iPhone14 case", {"14"}),
        ("black iphone 14 pro max case", {"14", "pro", "max"}),
        ("ps4", {"4"}),
        ("canon eos 5d mark ii", {"5d", "2"}),
        ("nikon d40", {"d40"}),
        ("32gb usb stick", {"32"}),
        ("32 gb usb stick", {"32"}),
        ("1/2 inch binder", {"1/2"}),
        ("13.3 laptop", {"13.3"}),
        ("iphone x case", {"10"}),
        ("gta v", {"5"}),
        ("macbook air", {"air"}),
        ("iphone 8 plus case", {"8", "plus"}),
        ("laptop", set()),
    ],
)
def test_digits_numerals_and_editions_are_names(text: str, expected: set[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "mini fridge",
        "iv bag",
        "the x-files",
        "womens plus size dress",
        "portable air conditioner",
        "tom v jerry",
    ],
)
def test_everyday_words_are_no_names(text: str) -> None:
    assert names(text) == set()


def test_the_x_of_a_size_is_a_sign() -> None:
    assert names("tent 10 x 20") == {"10", "20"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("iPhone14 case", "iphone case"),
        ("iphone 13 case", "iphone case"),
        ("canon eos 5d mark ii", "canon eos mark"),
        ("1080", "1080"),
        ("laptop", "laptop"),
    ],
)
def test_a_text_is_compared_without_its_names_unless_nothing_would_be_left(text: str, expected: str) -> None:
    assert compared_text(text, "tie") == expected
    assert compared_text(text, "text") == compared_text(text, "apart") == text
