"""Sentences that can be marked: each piece on screen names the characters of the stored body that it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.guides.guide import PresentationTemplate
from curation.labeling.presentation.drawing import DocumentText, draw_document
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import Node


def marked_on_screen(body: str, kind: str = "plain", longest: int | None = None) -> list[tuple[str, str]]:
    """What is shown of each sentence, and the part of the stored body that marking it stores."""
    template = PresentationTemplate.model_validate({"body": kind})
    document = DocumentText("Title", body, None, None, "{}")
    passage = draw_document(document, "word", template, longest=longest, markable=True).passage
    shown: dict[str, str] = {}
    for place, text in places(passage):
        shown[place] = shown.get(place, "") + text
    return [(text, body[slice(*map(int, place.split("-")))]) for place, text in shown.items()]


def places(nodes: list[Node], at: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for node in nodes:
        if isinstance(node, Segment):
            found += [(at, node.text)] if at else []
        else:
            found += places(node.children, node.attributes.get("at", at))
    return found


def test_a_plain_sentence_is_stored_as_it_is_shown() -> None:
    found = marked_on_screen("The word is 😀 here. Another one!\n\nA last line")
    assert found == [(part, part) for part in ("The word is 😀 here.", "Another one!", "A last line")]


@pytest.mark.parametrize(
    "body",
    [
        "这是第一句。电热水壶很好！",
        "שלום עולם. זה משפט שני.",
        "ประโยคแรก\nประโยคที่สอง",
        "これは文です。次の文です。",
    ],
)
def test_sentences_of_other_scripts_are_apart(body: str) -> None:
    found = marked_on_screen(body)
    assert len(found) == 2
    assert all(shown == stored for shown, stored in found)


def test_a_drawn_sentence_is_stored_with_the_markup_that_it_has() -> None:
    body = "# Returns\n\nYou have **30 days** to [return](https://x.test/30-days) it. Shoes: `14` days.\n"
    assert marked_on_screen(body, "markdown") == [
        ("Returns", "Returns"),
        ("You have 30 days to return it.", "You have **30 days** to [return](https://x.test/30-days) it."),
        ("Shoes: 14 days.", "Shoes: `14` days."),
    ]


def test_html_is_found_past_tags_entities_and_scripts() -> None:
    body = (
        "<p title='days'>Caf&eacute;s open <b>early</b>&nbsp;&ndash; at 7.</p><script>var early = 7;</script>"
        "<table><tr><td>Monday</td><td>7</td></tr><tr><td>Sunday</td><td>closed</td></tr></table>"
    )
    assert marked_on_screen(body, "html") == [
        ("Cafés open early\xa0– at 7.", "Caf&eacute;s open <b>early</b>&nbsp;&ndash; at 7."),
        ("Monday7", "Monday</td><td>7"),
        ("Sundayclosed", "Sunday</td><td>closed"),
    ]


def test_a_passage_names_places_of_the_whole_body() -> None:
    body = (
        " ".join(f"Sentence number {number} has nothing." for number in range(60)) + " Here is the word. End."
    )
    found = marked_on_screen(body, longest=100)
    assert ("Here is the word.", "Here is the word.") in found
    assert all(shown == stored for shown, stored in found)


@given(
    st.text(alphabet="ab .!?\n<>&;*`[]()#|-語。", max_size=80),
    st.sampled_from(["plain", "markdown", "html", "code"]),
)
def test_places_never_overlap_and_are_within_the_body(body: str, kind: str) -> None:
    template = PresentationTemplate.model_validate({"body": kind})
    passage = draw_document(
        DocumentText("", body, None, None, "{}"), "a", template, longest=None, markable=True
    ).passage
    ranges = list(dict.fromkeys(tuple(map(int, place.split("-"))) for place, _ in places(passage)))
    assert all(0 <= start < end <= len(body) for start, end in ranges)
    assert all(one[1] <= other[0] for one, other in pairwise(ranges))
