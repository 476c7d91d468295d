"""Drawn documents: the fields of a template, and the passage of a long body."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curation.guides.guide import PresentationTemplate
from curation.labeling.presentation.drawing import DocumentText, DrawnDocument, draw_document
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import Element, Fact
from tests.support.drawn import below, outline

ROWS = "".join(f"<tr><td>part {number}</td><td>weighs {number} grams</td></tr>" for number in range(100))
TABLE = f"<table><thead><tr><th>part</th><th>weight</th></tr></thead><tbody>{ROWS}</tbody></table>"
TALK = "<p>Nothing that anybody asked for stands here, again and again.</p>" * 30


def shown(body: str, query: str, longest: int = 700, **template: Any) -> DrawnDocument:
    wanted = PresentationTemplate.model_validate({"body": "html"} | template)
    return draw_document(DocumentText("A title", body, None, None, "{}"), query, wanted, longest=longest)


def facts(
    metadata: dict[str, Any], *fields: dict[str, str], hosts: frozenset[str] = frozenset()
) -> list[Fact]:
    wanted = PresentationTemplate.model_validate({"fields": fields})
    document = DocumentText("T", "B", "https://e.org/1", "2026-01-02", json.dumps(metadata))
    found = draw_document(document, "red shoe", wanted, image_hosts=hosts).facts
    assert found is not None
    return found


def test_without_a_template_a_document_is_plain_text() -> None:
    found = draw_document(DocumentText("<b>T</b>", "a <b>red</b> shoe", "u", None, '{"price": 3}'), "red")
    assert found.facts is None
    assert found.passage == [Segment("a <b>", False), Segment("red", True), Segment("</b> shoe", False)]


def test_fields_are_shown_in_the_templates_order_and_only_where_the_document_has_them() -> None:
    metadata = {"price": 4995, "sizes": ["S", "red"], "none": None, "empty": "", "flag": True}
    fields = [{"field": name} for name in ("sizes", "none", "price", "empty", "flag", "absent", "date")]
    found = facts(metadata, *fields, {"field": "price", "label": ""})
    assert [(one.label, outline(one.value)) for one in found] == [
        ("sizes", "S, [red]"),
        ("price", "4995"),
        ("flag", "true"),
        ("date", "2026-01-02"),
        ("", "4995"),
    ]


@pytest.mark.parametrize(
    ("published", "drawn"),
    [
        ("2026-05-02T10:00:00+00:00", "2026-05-02 10:00"),
        ("2026-05-02T00:00:00Z", "2026-05-02"),
        ("May 2026", "May 2026"),
    ],
)
def test_a_time_of_a_document_is_drawn_without_its_seconds_and_midnight(published: str, drawn: str) -> None:
    document = DocumentText("T", "B", None, published, "{}")
    assert draw_document(document, "red").published == drawn


def test_a_field_of_the_template_is_the_title_where_the_document_has_it() -> None:
    template = PresentationTemplate(title="name")
    named = draw_document(DocumentText("T", "B", None, None, '{"name": "A  red\\nshoe"}'), "red", template)
    assert outline(named.title) == "A [red] shoe"
    assert outline(draw_document(DocumentText("T", "B", None, None, "{}"), "red", template).title) == "T"


def test_links_are_those_of_the_web_and_everything_else_is_text() -> None:
    metadata = {"page": ["https://e.org/a", "javascript:run()", "/b"]}
    (found,) = facts(metadata, {"field": "page", "as": "link"})
    assert outline(found.value) == (
        "a<href=https://e.org/a>(https://e.org/a), javascript:run(), a<href=https://e.org/b>(/b)"
    )


def test_images_are_fetched_only_from_hosts_that_the_operator_names_and_by_https() -> None:
    metadata = {"photo": "http://img.example/a.jpg"}
    field = {"field": "photo", "label": "Photo", "as": "image"}
    assert outline(facts(metadata, field)[0].value) == "img<alt=Photo>()"
    (found,) = facts(metadata, field, hosts=frozenset({"img.example"}))
    assert outline(found.value) == "img<alt=Photo src=https://img.example/a.jpg>()"


def test_a_long_table_is_cut_between_rows_keeps_its_head_and_says_that_it_goes_on() -> None:
    found = shown(TALK + TABLE + TALK, "part 57")
    assert found.has_more
    (table,) = (node for node in found.passage if isinstance(node, Element) and node.name == "table")
    assert table.attributes["cut"] == "before after"
    assert "weight" in outline([table])
    assert "[57]" in outline([table])
    assert all(len(row.children) == 2 for row in below([table]) if row.name == "tr")
    assert len(outline([table])) < 3_000


def test_a_short_list_stays_whole() -> None:
    items = "".join(f"<li>thing {number} is here</li>" for number in range(12))
    found = shown(f"{TALK}<ul>{items}</ul>{TALK}", "thing 7")
    (listed,) = (node for node in found.passage if isinstance(node, Element) and node.name == "ul")
    assert len(listed.children) == 12
    assert "cut" not in listed.attributes


def test_a_long_list_goes_on_with_the_number_of_its_item() -> None:
    items = "".join(
        f"<li>Step {number}: turn the screw number {number} to the left.</li>" for number in range(1, 90)
    )
    (listed,) = shown(f"<ol>{items}</ol>", "screw 60").passage
    assert isinstance(listed, Element)
    assert listed.attributes["cut"] == "before after"
    first = int(listed.attributes["start"])
    assert outline(listed.children).startswith(f"li(Step {first}:")
    assert "[60]" in outline([listed])


def test_a_heading_is_shown_with_what_follows_it() -> None:
    chapters = "".join(f"<h2>Chapter {n}</h2><p>{'Words about it. ' * 20} Number {n}.</p>" for n in range(30))
    found = shown(chapters, "number 21")
    names = [node.name for node in found.passage if isinstance(node, Element)]
    assert names[0] == "h3"
    assert names[-1] == "p"


@pytest.mark.parametrize(
    ("body", "drawn"),
    [
        ("<h1>A <b>Title</b></h1><p>Text.</p><h3>Part</h3>", "p(Text.)h3(Part)"),
        ("<h1>Another title</h1><p>Text.</p>", "h3(Another title)p(Text.)"),
        ("<p>Text.</p><h1>A title</h1>", "p(Text.)h3(A title)"),
        ("<h1>A title</h1>", "h3(A title)"),
    ],
)
def test_a_first_heading_that_repeats_the_title_is_left_out(body: str, drawn: str) -> None:
    assert outline(shown(body, "red").passage) == drawn


def test_a_long_document_and_its_evidence_keep_their_places_without_the_repeated_title() -> None:
    body = "<h1>A title</h1>" + "<p>Nobody asks for this.</p>" * 40 + "<p>The red fox.</p>"
    assert outline(shown(body, "nobody", longest=60).passage).startswith("p([Nobody]")
    assert outline(shown(body, "fox", longest=60).passage).endswith("p(The red [fox].)")
    template = PresentationTemplate(body="html")
    document = DocumentText("A title", body, None, None, "{}")
    marked = draw_document(document, "red", template, longest=None, markable=True).passage
    assert outline(marked[:1]) == "h3(span<at=4-11>(A title))", "people can mark the heading as evidence"


def test_a_long_paragraph_is_cut_between_sentences_and_says_so() -> None:
    found = shown(
        f"<p>{'Nobody asked for this. ' * 90}<b>The red fox</b> jumps. {'Nor for this. ' * 90}</p>", "fox"
    )
    (paragraph,) = found.passage
    assert isinstance(paragraph, Element)
    assert paragraph.attributes["cut"] == "before after"
    assert "strong(The red [fox])" in outline(paragraph.children)


def test_the_passage_is_taken_from_the_part_that_matched() -> None:
    body = "<h1>A</h1>" + "<p>The red fox.</p>" * 50 + "<p>The fox <em>here</em> is another.</p>" + TALK
    at = body.index("<p>The fox <em>")
    document = DocumentText("A title", body, None, None, "{}")
    start = len("A title\n") + at
    found = draw_document(document, "red fox", PresentationTemplate(body="html"), matched=(start, start + 30))
    assert outline(found.passage) == "p(The [fox] em(here) is another.)"


@pytest.mark.parametrize("longest", [700, None])
def test_code_keeps_its_white_space(longest: int | None) -> None:
    code = "def red():\n    return 1\n\n" * 80
    template = PresentationTemplate(body="code")
    (block,) = draw_document(
        DocumentText("T", code, None, None, "{}"), "red", template, longest=longest
    ).passage
    assert isinstance(block, Element)
    assert block.name == "pre"
    assert outline(block.children).startswith("def [red]():\n    return 1\n\ndef")


def test_a_word_is_marked_though_only_a_part_of_it_is_bold() -> None:
    assert outline(shown("<p>The <b>fo</b>x.</p>", "fox").passage) == "p(The strong([fo])[x].)"


def test_each_document_has_the_markup_of_its_file_where_the_guide_says_so() -> None:
    template = PresentationTemplate(body="file")
    for markup, drawn in (("html", "<p>a</p>"), ("markdown", "**a**"), ("plain", "<b>a")):
        document = DocumentText("T", drawn, None, None, json.dumps({"markup": markup}))
        passage = draw_document(document, "b", template).passage
        assert isinstance(passage[0], Segment) == (markup == "plain")
    unknown = DocumentText("T", "*a*", None, None, "{}")
    assert draw_document(unknown, "b", template).passage == [Segment("*a*", False)]
