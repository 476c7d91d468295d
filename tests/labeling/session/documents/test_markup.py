"""What is left of Markdown and HTML: a tree of safe elements with its text."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.guides.guide import PresentationTemplate
from curation.labeling.presentation.drawing import DocumentText, DrawnDocument, draw_document
from curation.labeling.presentation.markup import (
    ATTRIBUTES,
    MAX_MARKDOWN_LENGTH,
    MAX_SIGNS,
    MAX_TAGS,
    NAMES,
    Element,
    Node,
)
from tests.support import examples
from tests.support.drawn import below, outline

BASE = "https://shop.example.org/things/1"
PARTS = (
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<ul>",
    "<li>",
    "</ul>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<pre>",
    "</pre>",
    "<h2>",
    "<a href='https://e.org/'>",
    "<a href=javascript:a()>",
    "<script>",
    "<svg><p>",
    "<math><style>",
    "<br>",
    "<dl><dd>",
    "<blockquote>",
    "<img src=x onerror=a()>",
    "word",
    " ",
    "\n",
    "&lt;i&gt;",
    "<!--",
    "-->",
)


def drawn(body: str, kind: str = "html", longest: int | None = None) -> DrawnDocument:
    template = PresentationTemplate.model_validate({"body": kind, "links": True})
    hosts = frozenset({"shop.example.org", "cdn.shop.example.org", "other.example"})
    return draw_document(
        DocumentText("", body, BASE, None, "{}"), "red", template, longest=longest, image_hosts=hosts
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<div>one</div><div>two</div>", "p(one)p(two)"),
        ("<b>bold</b> and <i>not</i>", "p(strong(bold) and em(not))"),
        ("<ul><li>a<li>b</ul>", "ul(li(a)li(b))"),
        ("<li>stray</li><p>after", "ul(li(stray))p(after)"),
        ("<ul>loose<li>b</ul>", "ul(li(loose)li(b))"),
        ("<dl><dt>a<dd>b</dl>", "dl(dt(a)dd(b))"),
        ("<table><tr><th>a<td colspan=2>b</table>", "table(tbody(tr(th(a)td<colspan=2>(b))))"),
        ("<pre>\n  a\n   b</pre>", "pre(  a\n   b)"),
        ("<ol start=4><li>a</ol>", "ol<start=4>(li(a))"),
        ("<h1>a</h1><h4>b</h4>", "h3(a)h4(b)"),
        ("<h5>only</h5>", "h3(only)"),
        ("<b>a<table><tr><td>b</table>c</b>", "p(strong(a))table(tbody(tr(td(b))))p(c)"),
        ("<td>no table</td>", "p(no table)"),
        ("<mark>theirs</mark> <font size=7>big</font>", "p(theirs big)"),
    ],
)
def test_html_is_read_as_a_browser_reads_it(body: str, expected: str) -> None:
    assert outline(drawn(body).passage) == expected


def test_markdown_has_its_lists_tables_and_code() -> None:
    body = "# Top\n\n1. one\n2. `two`\n\n|a|b|\n|-|-|\n|1|~~2~~|\n\n```\nx  y\n```\n"
    assert outline(drawn(body, "markdown").passage) == (
        "h3(Top)ol(li(one)li(code(two)))"
        "table(thead(tr(th(a)th(b)))tbody(tr(td(1)td(del(2)))))pre(code(x  y\n))"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("> [!NOTE]\n> Ask first.\n>\n> Then buy.", "blockquote(p(strong(Note)br()Ask first.)p(Then buy.))"),
        ("> [!warning] Hot\n", "blockquote(p(strong(Warning)br()Hot))"),
        ("Tea\n: A leaf.\n: A drink.\n", "dl(dt(Tea)dd(A leaf.)dd(A drink.))"),
        ("{{< code-toggle >}}\na = 1\n\n  b = 2\n{{< /code-toggle >}}", "pre(code(a = 1\n\n  b = 2\n))"),
        ("{% highlight ruby %}\na\n# b\n{% endhighlight %}\nc", "pre(code(a\n# b\n))"),
        ("{{% code %}}\n```\na\n\nb\n```\n{{% /code %}}", "pre(code(a\n\nb\n))"),
    ],
)
def test_what_site_generators_add_to_markdown_keeps_its_lines(body: str, expected: str) -> None:
    assert expected in outline(drawn(body, "markdown").passage)


@pytest.mark.parametrize("kind", ["html", "markdown"])
@pytest.mark.parametrize(
    "hostile",
    [
        "<script>run()</script>",
        "<img src=x onerror=run()>",
        "<a href=javascript:run()>go</a>",
        "<a href=' java\nscript:run()'>go</a>",
        "<a href=data:text/html,run>go</a>",
        "<svg onload=run()><a xlink:href=javascript:run()>go</a></svg>",
        "<math><mtext><style><img src onerror=run()></style></mtext></math>",
        "<style>@import '//evil.example'</style>",
        "<p style=background:url(//evil.example) class=grade id=app onclick=run()>go</p>",
        "<iframe src=//evil.example></iframe><object data=//evil.example></object><embed src=x>",
        "<meta http-equiv=refresh content='0;url=//evil.example'><base href=//evil.example>",
        "<form action=//evil.example><input name=grade><button formaction=//evil.example>go</button></form>",
        "<noscript><p title='</noscript><img src=x onerror=run()>'></noscript>",
        "<textarea><img src=x onerror=run()></textarea><template><script>run()</script></template>",
        "<a href='https://good.example@evil.example/'>go</a>",
        "<img src=https://evil.example/pixel alt=seen><img src=https://other.example/pixel>",
        "[go](javascript:run()) ![x](data:image/png;base64,AAAA) <javascript:run()>",
    ],
)
def test_hostile_markup_leaves_nothing_that_acts(kind: str, hostile: str) -> None:
    for element in below(drawn(hostile, kind).passage):
        assert element.name in NAMES
        assert set(element.attributes) <= ATTRIBUTES
        assert "href" not in element.attributes or element.attributes["href"].startswith(
            "https://shop.example"
        )
        assert element.attributes.get("src", "https://shop.example.org/").startswith(
            "https://shop.example.org/"
        )


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=25))
@example(["<ul>", "<p>", "<div>"])  # a line is broken where there is no word yet
def test_any_markup_becomes_elements_where_html_allows_them(parts: list[str]) -> None:
    inside = {"li": {"ul", "ol"}, "tr": {"table", "thead", "tbody", "tfoot"}, "td": {"tr"}, "dd": {"dl"}}
    blocks = {"p", "ul", "table", "pre", "blockquote", "h3", "dl"}

    def look(nodes: Sequence[Node], within: str) -> None:
        for node in nodes:
            if isinstance(node, Element):
                assert node.name in NAMES
                assert set(node.attributes) <= ATTRIBUTES
                assert node.name not in inside or within in inside[node.name]
                assert node.name not in blocks or within in ("", "li", "td", "th", "dd", "blockquote")
                look(node.children, node.name)

    look(drawn("".join(parts)).passage, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "tag", ["<div>", "<b>", "<ul><li>", "<table><td>", "<blockquote>", "<a href=/x>", "<!--"]
)
def test_a_megabyte_of_tags_takes_bounded_time(tag: str) -> None:
    for body in (tag * (1_000_000 // len(tag)), tag * (MAX_TAGS // tag.count("<") - 1)):
        before = time.process_time()
        drawn(body, longest=700)
        assert time.process_time() - before < 3


def test_markup_that_is_too_large_to_be_read_is_shown_as_text() -> None:
    assert outline(drawn("<b>x" * (MAX_TAGS + 1), longest=9).passage).startswith("<b>x")
    table = "|a" * 300 + "\n" + "|-" * 300 + "\n"
    long = "*x*" + " word" * (MAX_MARKDOWN_LENGTH // 5)
    for body in (long, "![" * (MAX_SIGNS // 2 + 1), "*x*\n" * (MAX_SIGNS // 3 + 1), table + "|\n" * 40):
        assert outline(drawn(body, "markdown", longest=3).passage) == body[:3].strip()
    assert outline(drawn(table + "|\n" * 3, "markdown", longest=3).passage).startswith("table")


def test_what_styles_is_opened_again_in_each_block_only_so_often() -> None:
    assert outline(drawn("<p><b id=1>x<p>y").passage) == "p(strong(x))p(strong(y))"
    found = outline(drawn("".join(f"<B id={number}><p>x" for number in range(900))).passage)
    assert found == "p(x)" * 900
    plain = "<p><b><b><b><i><i><i><u><u><u><s><s><s>" + "<p>x" * 4_000
    assert outline(drawn(plain).passage) == plain


def test_elements_nested_without_end_are_shown_and_marked() -> None:
    found = outline(drawn("<blockquote>" * 900 + "red" + "</blockquote>" * 900).passage)
    assert "[red]" in found
    assert found.count("blockquote") < 50


def test_links_are_absolute_and_only_those_of_the_web() -> None:
    body = "<a href=/a?b=1>one</a> <a href=mailto:a@b.org>two</a> <a href=''>three</a>"
    expected = "p(a<href=https://shop.example.org/a?b=1>(one) two three)"
    assert outline(drawn(body).passage) == expected
    template = PresentationTemplate(body="html")
    found = draw_document(DocumentText("", body, BASE, None, "{}"), "red", template)
    assert outline(found.passage) == "p(one two three)"


@pytest.mark.parametrize(
    ("kind", "body"), [("html", "<img src=/a.png alt=red>"), ("markdown", "![red](/a.png)")]
)
@pytest.mark.parametrize("address", ["http://[x", "//[", "http://e.org:port/"])
def test_a_document_whose_own_address_is_none_is_shown_without_its_images(
    kind: str, body: str, address: str
) -> None:
    found = draw_document(
        DocumentText("", body, address, None, "{}"),
        "red",
        PresentationTemplate.model_validate({"body": kind}),
    )
    assert outline(found.passage) == "p(img<alt=red>())"


def test_images_of_a_body_come_from_the_documents_own_host_by_https() -> None:
    body = "<img src=http://cdn.shop.example.org/a.png alt=red><img src=//other.example/b.png alt=blue>"
    expected = "p(img<alt=red src=https://cdn.shop.example.org/a.png>()img<alt=blue>())"
    assert outline(drawn(body).passage) == expected
