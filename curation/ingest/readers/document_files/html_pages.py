"""Web pages: title, canonical address and main text of an HTML file, without menus, footers and forms."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import NamedTuple

import nh3

HEAD_LENGTH = 200_000
"""Number of characters at the start of a page that are searched for its title and canonical address."""
_TITLE = re.compile(r"<title\b[^>]{0,500}>([^<]{0,2000})</title", re.IGNORECASE)
_LINK = re.compile(r"<link\b[^>]{0,2000}>", re.IGNORECASE)
_META = re.compile(r"<meta\b[^>]{0,5000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([a-z:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
_DROPPED = frozenset(
    """script style nav footer aside form noscript svg template iframe button select textarea object embed
    canvas video audio dialog""".split()
)
"""Elements that are dropped with their content."""
_KEPT = frozenset(
    """main article header section div p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tfoot
    tr td th pre code blockquote strong b em i sub sup del ins br hr img a figure figcaption details summary
    """.split()
)
_DATES = ("article:modified_time", "article:published_time", "date", "dcterms.modified", "dcterms.date")
_HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_ROLE = re.compile(r' role="[^"]*"')


class HtmlPage(NamedTuple):
    """The title, addresses and texts that an HTML file states for its document; '' if one is missing.

    Attributes
    ----------
    address: canonical address.
    body: main text as HTML without attributes, except `src` and `alt` of pictures.
    """

    title: str
    address: str
    date: str
    description: str
    body: str


def read_html_page(html: str) -> HtmlPage:
    """Read the title, the address and the main text of an HTML file.

    The main text is the element `main`, else the element with the role "main", else the only `article`, else
    the whole body without its header.
    """
    head = html[:HEAD_LENGTH]
    links = _list_attributes(_LINK, head)
    address = next((link.get("href", "") for link in links if link.get("rel") == "canonical"), "")
    metas = {meta.get("name", meta.get("property", "")): meta for meta in _list_attributes(_META, head)}
    content = {name.lower(): meta.get("content", "") for name, meta in metas.items()}
    date = next((content[name] for name in _DATES if content.get(name)), "")
    body = _find_main(html)
    title = _TITLE.search(head)
    heading = _HEADING.search(body)
    heading_text = _squeeze(_TAG.sub("", heading[1])) if heading else ""
    page_title = _squeeze(title[1]) if title else ""
    return HtmlPage(page_title or heading_text, address, date, _squeeze(content.get("description", "")), body)


def _list_attributes(element: re.Pattern[str], head: str) -> list[dict[str, str]]:
    """List the attributes of each element of one kind in a page's head."""
    tags = element.findall(head)
    return [
        {name.lower(): unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(tag)} for tag in tags
    ]


def _squeeze(text: str) -> str:
    return " ".join(unescape(text).split())


def _find_main(html: str) -> str:
    """Find the HTML of a page's main text, without menus, headers and footers."""
    clean = nh3.clean(
        html,
        tags=set(_KEPT),
        clean_content_tags=set(_DROPPED),
        attributes={"*": {"role"}, "img": {"src", "alt"}},
        link_rel=None,
    )
    landmarks = _Landmarks(clean)
    return _ROLE.sub("", landmarks.choose()).strip()


class _Range(NamedTuple):
    """An element's positions: its start tag, its content and the end of its end tag."""

    start: int
    content: int
    content_end: int
    end: int


class _Landmarks(HTMLParser):
    """The elements of a well-formed page that may hold its main text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        self._html = html
        self._ranges: dict[str, list[_Range]] = {"main": [], "article": [], "header": []}
        self._open: list[tuple[str, str, int, int]] = []
        self._lines = [0, *(match.end() for match in re.finditer("\n", html))]
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = "main" if ("role", "main") in attrs else tag
        start = self._position
        if tag not in ("br", "hr", "img"):
            self._open.append((tag, kind, start, start + len(self.get_starttag_text() or "")))

    def handle_endtag(self, tag: str) -> None:
        name, kind, start, content = self._open.pop()
        assert name == tag, "nh3 writes well-formed HTML"
        if kind in self._ranges:
            content_end = self._position
            self._ranges[kind].append(_Range(start, content, content_end, content_end + len(f"</{tag}>")))

    @property
    def _position(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def choose(self) -> str:
        """Choose the element with the page's main text, and return the element's HTML."""
        mains, articles = self._ranges["main"], self._ranges["article"]
        if mains or len(articles) == 1:
            main = max(mains or articles, key=lambda element: element.end - element.start)
            return self._html[main.content : main.content_end]
        html, cut_from = self._html, len(self._html)
        for header in sorted(self._ranges["header"], reverse=True):
            if header.end <= cut_from:
                html, cut_from = html[: header.start] + html[header.end :], header.start
        return html
