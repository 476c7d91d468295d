"""Hostile documents: drawing takes time in proportion to the length, and the screen says what is too large.

The time is compared with the time for a quarter of the text. Code that looks at each part once takes four
times as long; code that looks at the rest of the text from each part takes sixteen times as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pytest

from curation.guides.guide import PresentationTemplate
from curation.labeling.presentation.drawing import DocumentText, DrawnDocument, draw_document
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import MAX_HTML_LENGTH, MAX_MARKDOWN_LENGTH, Element, Node
from tests.support.drawn import outline
from tests.support.hostile import TEXTS, Hostile

LINEAR, SMALLER = 9.0, 4


def drawn(body: str, kind: str, longest: int | None = 700) -> DrawnDocument:
    template = PresentationTemplate.model_validate({"body": kind})
    document = DocumentText("Title", body, None, None, "{}")
    return draw_document(document, "red gull 日本", template, longest=longest, markable=True)


def shown_text(nodes: Sequence[Node]) -> str:
    return "".join(node.text if isinstance(node, Segment) else shown_text(node.children) for node in nodes)


def seconds(work: Callable[[str], object], text: str) -> float:
    """The least time of three."""
    taken = []
    for attempt in range(3):
        began = time.process_time()
        work(f"{text} {attempt}")
        taken.append(time.process_time() - began)
    return min(taken)


@pytest.mark.parametrize(
    ("kind", "name", "size"),
    [
        ("html", "'<!--'", 40_000),
        ("html", "'<script '", 80_000),
        ("html", "'<style>'", 80_000),
        ("markdown", "'a  \\n'", 16_000),
        ("plain", "'日'", 200_000),
        ("plain", "'\\n'", 200_000),
    ],
)
def test_a_document_of_four_times_the_length_takes_some_four_times_as_long(
    kind: str, name: str, size: int
) -> None:
    text = TEXTS[name]
    drawn("x", kind)
    few, many = (
        seconds(lambda body: drawn(body, kind, None), text.of(long)) for long in (size // SMALLER, size)
    )
    assert many < LINEAR * few


def test_an_unclosed_comment_is_looked_for_once_and_what_follows_can_be_marked() -> None:
    body = "<p>First.</p><p>One red gull.</p><p>Two <!-- not these --> gulls.</p><!--" + "<!--" * 3
    places = [
        body[slice(*map(int, node.attributes["at"].split("-")))]
        for block in drawn(body, "html").passage
        if isinstance(block, Element)
        for node in block.children
        if isinstance(node, Element)
    ]
    assert places == ["First.", "One red gull.", "Two <!-- not these --> gulls."]


@pytest.mark.parametrize(
    ("kind", "name", "body"),
    [
        ("html", "HTML", "<p>red</p> " * (MAX_HTML_LENGTH // 10)),
        ("markdown", "Markdown", "*red* " * MAX_MARKDOWN_LENGTH),
    ],
)
def test_a_document_that_is_too_large_to_be_drawn_is_shown_as_text_and_says_so(
    kind: str, name: str, body: str
) -> None:
    found = drawn(body, kind)
    assert shown_text(found.passage).startswith(body[:300])
    sentence = (
        f"This document is shown as plain text, because it is too long or has too much markup for {name}."
    )
    assert [(fact.label, outline(fact.value)) for fact in found.facts or ()] == [("Plain text", sentence)]
    assert drawn("red", kind).facts == []


def test_a_hostile_text_has_the_size_that_is_asked_for() -> None:
    assert len(TEXTS) >= 280
    for name, text in TEXTS.items():
        assert abs(len(text.of(20_000)) - 20_000) < 7_000, name
    assert Hostile("<b>", "x", "</b>").of(9) == "<b>xx</b>"
