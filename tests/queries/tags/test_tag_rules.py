"""The rules of the tags, on text: what each takes and what it must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.queries import tag_rules


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
    assert tag_rules.RULES[tag](yes)
    assert not tag_rules.RULES[tag](no)


@given(st.text())
def test_no_query_is_short_and_long_at_once(text: str) -> None:
    assert not (tag_rules.RULES["short"](text) and tag_rules.RULES["long"](text))
