"""The rules of the tags, on text: what each takes and what it must not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.sampling.tags import find_tags as tag_rules
from curation.sampling.tags.find_tags import names_of, overlap, stems_of
from curation.sampling.tags.misspellings import FREQUENT, Spelling, is_slip
from curation.store.rows import Document

WORDS = st.text("abcdefgh", min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("tag", "yes", "no"),
    [
        ("question", "how to boil an egg", "shoes of which brand"),
        ("question", '"what is dns?"', "if analysis"),
        ("question", "where to buy salt", "where the wild things are"),
        ("question", "boil an egg how long?", "egg timer"),
        ("temporal", "best phones 2024", "tn-2110 toner"),
        ("temporal", "results of last night", "last of the mohicans"),
        ("temporal", "scores 09/16/97", "1/2 inch binder"),
        ("temporal", "latest kernel", "windows 95"),
        ("multi-intent", "python vs rust", "black and white photo"),
        ("multi-intent", "hotels and restaurants in rome", "bath and body works"),
        ("multi-intent", "index a library by hand. find the books again", "st. johns county"),
        ("short", "usb hub", "usb hub small"),
        ("long", "a b c d e f", "a b c d e"),
    ],
)
def test_a_rule_takes_the_first_and_leaves_the_second(tag: str, yes: str, no: str) -> None:
    assert tag_rules.PLAIN[tag](yes)
    assert not tag_rules.PLAIN[tag](no)


@given(st.text())
def test_no_query_is_short_and_long_at_once(text: str) -> None:
    assert not (tag_rules.is_short(text) and tag_rules.is_long(text))


def spelling(**held: int) -> Spelling:
    return Spelling({"keyboard": 40, "keyboards": 9, "printer": 30, "rare": 1, **held})


@pytest.mark.parametrize("word", ["keybord", "keybboard", "keyboarf", "keybaord"])
def test_a_word_one_slip_from_a_frequent_one_is_misspelled(word: str) -> None:
    assert spelling().meant(word) == "keyboard"


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("keyboard", "it is known"),
        ("printers", "another ending of a known word"),
        ("kebord", "two slips"),
        ("leyboard", "the first letter differs"),
        ("keyb0ard", "digits make model names"),
        ("prnt", "too short to tell"),
        ("rarer", "what is near is rare"),
    ],
)
def test_what_is_no_misspelling(word: str, why: str) -> None:
    assert spelling().meant(word) is None, why


def test_the_most_frequent_of_several_near_words_is_meant() -> None:
    assert spelling(printed=50).meant("printet") == "printed"
    assert spelling(printed=FREQUENT - 1).meant("printet") == "printer"


def test_numbers_and_stop_words_are_never_misspelled() -> None:
    known = spelling(their=0, **{"12346": 90, "wheret": 90})
    assert not tag_rules.is_misspelling("where 12345 would", known)


def slips(word: str) -> set[str]:
    """All words one slip away, by brute force."""
    letters = "abcdefgh"
    parts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {start + end[1:] for start, end in parts if end}
    found |= {start + letter + end[1:] for start, end in parts if end for letter in letters}
    found |= {start + letter + end for start, end in parts for letter in letters}
    found |= {start + end[1] + end[0] + end[2:] for start, end in parts if len(end) > 1}
    return found - {word}


@given(WORDS, WORDS)
def test_a_slip_is_one_letter_or_one_exchange(first: str, second: str) -> None:
    assert is_slip(first, second) == (second in slips(first))


@given(st.data())
def test_every_slip_that_keeps_the_first_letter_is_found(data: st.DataObject) -> None:
    word = data.draw(st.text("abcdefgh", min_size=6, max_size=9))
    slip = data.draw(st.sampled_from(sorted(slips(word))))
    found = Spelling({word: FREQUENT}).meant(slip)
    assert found in (word, None)
    if found is None:  # then another rule keeps it from being one
        assert slip[:1] != word[0] or len(slip) < 5 or stems_of(slip) == stems_of(word)


def document(number: int, body: str, **fields: str) -> Document:
    return Document(str(number), str(number), "", body, metadata=json.dumps(fields))


def test_names_are_what_fields_hold_and_running_text_capitalises() -> None:
    body = "It runs on an Orinoco board and an iPhone. Board games on USB sticks, the Best Of All."
    documents = [document(number, body, brand="Acme Tools") for number in range(3)]
    names = names_of(documents)
    assert {"orinoco", "iphone", "acme tools"} <= names
    assert not {"board", "usb", "it", "best", "acme"} & names


def test_a_word_that_is_often_written_small_is_no_name() -> None:
    documents = [document(number, "fits the Orange case", brand="Orange") for number in range(3)]
    documents += [document(number, "an orange") for number in range(10, 20)]
    assert "orange" not in names_of(documents)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("drill by acme tools", True),
        ("acme drill", False),
        ("ps4 games", True),
        ("5mm screws", False),
        ("www.example.org", True),
        ("red drill", False),
    ],
)
def test_an_entity_is_a_name_a_model_or_an_address(text: str, expected: bool) -> None:
    assert tag_rules.is_entity(text, {"acme tools"}) is expected


def test_overlap_is_the_mean_share_of_the_content_words_by_stem() -> None:
    neighbours = [stems_of("Two batteries and a charger"), stems_of("a battery")]
    assert overlap("the battery charger", neighbours) == 0.75
    assert overlap("of the", neighbours) == 1.0
