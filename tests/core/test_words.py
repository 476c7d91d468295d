"""Words by script: what search, marking, tags and shingles read."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.words import is_cut_differently, locate_words, split_whole_words, split_words

FORMER = re.compile(r"\w+")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("电热水壶", ["电热", "热水", "水壶"]),
        ("茶", ["茶"]),
        ("東京のホテル", ["東京", "京の", "のホ", "ホテ", "テル"]),
        ("서울에서", ["서울", "울에", "에서"]),
        ("ที่กิน", ["ที่กิ", "กิน"]),
        ("हिन्दी किताब", ["हिन्दी", "किताब"]),
        ("கற்றல்", ["கற்றல்"]),
        ("كِتَاب كتاب", ["كتاب", "كتاب"]),
        ("İstanbul ISTANBUL", ["istanbul", "istanbul"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("Αθήνας ΑΘΉΝΑΣ", ["αθήνασ", "αθήνασ"]),
        ("Donau\u00addampf می\u200cخواهم", ["donaudampf", "میخواهم"]),
        ("iPhone手机壳 2个", ["iphone", "手机", "机壳", "2", "个"]),
        ("T-shirt_x, it's 3.5", ["t", "shirt_x", "it", "s", "3", "5"]),
    ],
)
def test_words_are_cut_by_script(text: str, expected: list[str]) -> None:
    assert split_words(text) == [unicodedata.normalize("NFKC", word) for word in expected]


def test_a_run_without_spaces_is_one_whole_word() -> None:
    assert split_whole_words("iPhone手机壳, 红色") == ["iphone", "手机壳", "红色"]


@given(st.text(st.characters(max_codepoint=0x2FF, exclude_characters="\u00ad")))
def test_text_without_marks_and_in_scripts_with_spaces_is_cut_as_ever(text: str) -> None:
    """So figures of BM25 and stored shingles of such texts stay as they are."""
    expected = FORMER.findall(unicodedata.normalize("NFKC", text).casefold())
    if not any(unicodedata.combining(letter) for letter in unicodedata.normalize("NFKC", text).casefold()):
        assert split_words(text) == split_whole_words(text) == expected
        assert not is_cut_differently(text)


@given(st.text())
def test_located_words_are_words_where_they_are(text: str) -> None:
    for located in locate_words(text):
        assert 0 <= located.start < located.end <= len(text)


@pytest.mark.parametrize(
    "text", ["电热水壶 2升", "ｶﾞｽ", "กาต้มน้ำไฟฟ้า", "हिन्दी किताब", "İstanbul cafe\u0301", "a b"]
)
def test_located_words_hold_all_that_words_gives(text: str) -> None:
    located = {found.word: text[found.start : found.end] for found in locate_words(text)}
    assert set(split_words(text)) <= set(located)


@given(st.text(st.sampled_from("aBcé ज़ि电热 水\u0301ｶﾞ")))
def test_located_words_that_are_not_wanted_are_left_out(text: str) -> None:
    wanted = [located for located in locate_words(text) if located.word > "b"]
    assert list(locate_words(text, lambda word: word > "b")) == wanted


def test_where_older_goldgrades_cut_otherwise_is_known() -> None:
    assert not any(map(is_cut_differently, ["a USB-C hub", "café", "ΜΟΥΣΑΚΆΣ", "160\u200e x 248"]))
    assert all(map(is_cut_differently, ["电热水壶", "茶", "हिन्दी", "İstanbul", "iPhone手机"]))
    assert not is_cut_differently("HP 高效能系列 Serial ATA", whole=True)
    assert is_cut_differently("iPhone手机", whole=True)
