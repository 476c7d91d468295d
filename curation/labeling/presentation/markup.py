"""Documents' Markdown and HTML, parsed into a tree of safe elements.

Screens build their elements from the names of safe elements, and insert text as text. So a browser never
interprets a document's content as markup.

nh3, a sanitiser with a browser's parser, turns any input into well-formed HTML of allowed elements. The
reader builds a tree of these elements, without style, class, id or script, and only with http(s) addresses.

The text of a tree has a line for each block and a tab between cells. Each element has its range in this text,
which is used to find words and cut passages.

Time is bounded: markup with more tags or characters than `MAX_TAGS` and `MAX_HTML_LENGTH`, and Markdown with
more ASCII signs or characters than `MAX_SIGNS` and `MAX_MARKDOWN_LENGTH`, is shown as plain text with a
notice. Parsers need quadratic time for deeply nested elements, and the Markdown parser needs up to 20 µs for
a sign. As in browsers, the parser reopens unclosed styling tags, such as bold, in each following block, once
for each set of attributes. If `MAX_STYLED_PRODUCT` is exceeded, styling tags are dropped; markup that expands
to more than `MAX_CLEAN_TAGS` tags is shown as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

import nh3

from curation.labeling.presentation.addresses import Addresses
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markdown import render_markdown

CONTAINERS = frozenset("blockquote li dd td th".split())
"""Elements that may contain text or blocks."""
BLOCKS = CONTAINERS | frozenset("p h3 h4 h5 h6 ul ol dl dt table caption thead tbody tfoot tr pre hr".split())
INLINE = frozenset("strong em code sub sup del ins a br img span".split())
NAMES = BLOCKS | INLINE
ATTRIBUTES = frozenset("href src alt start colspan rowspan cut at".split())
MAX_TAGS = 12_000
"""Maximum number of `<` characters in a text that is parsed as HTML."""
MAX_CLEAN_TAGS = 3 * MAX_TAGS
"""Maximum number of `<` characters in the HTML that the parser produces."""
MAX_STYLED_PRODUCT = 100_000
"""Maximum product of two numbers: styling tags with attributes, and all tags."""
MAX_HTML_LENGTH = 300_000
"""Maximum characters of a text parsed as HTML; the parser compares each attribute of a tag with all
others."""
MAX_MARKDOWN_LENGTH = 40_000
"""Maximum characters of a text that is parsed as Markdown."""
MAX_SIGNS = 10_000
"""Maximum number of ASCII signs, line breaks and table cells in a text that is parsed as Markdown."""
MAX_DEPTH = 40
"""Maximum depth of nested elements; deeper elements become text at this depth."""
_RENAMED = {"b": "strong", "i": "em", "cite": "em", "dfn": "em", "var": "em", "kbd": "code", "samp": "code"}
_RENAMED |= {"tt": "code", "s": "del", "strike": "del", "u": "ins"}
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_BREAKS = frozenset(
    "div section article header footer main aside nav figure figcaption details summary address center "
    "fieldset form hgroup".split()
)
"""Blocks that are drawn only as a line break."""
_ALLOWED_ATTRIBUTES = {"a": {"href"}, "img": {"src", "alt"}, "ol": {"start"}, "td": {"colspan", "rowspan"}}
_ALLOWED_ATTRIBUTES["th"] = _ALLOWED_ATTRIBUTES["td"]
_REMOVED_WITH_CONTENT = frozenset(
    "script style title template iframe noembed noframes noscript svg math object embed applet video audio "
    "canvas textarea select".split()
)
"""Elements that are removed together with their content."""
_TABLE_RULE = re.compile(r"[ \t>|:-]*[|:][ \t>|:-]*")
"""Pattern of the line below the header of a Markdown table."""
_ITEM_OF_LIST = {"ul": "li", "ol": "li", "dl": "dd"}
"""List → the element that is opened around text directly in the list."""
_ALLOWED_TAGS = frozenset(BLOCKS | INLINE | _HEADINGS | _RENAMED.keys() | _BREAKS)
_STYLE_TAG = re.compile(r"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/])", re.IGNORECASE)
_SIGNS = re.compile(r"[!-/:-@\[-`{-~\r\n]")
_LINES = re.compile(r"\r\n|\r|\n")
_ROWS = frozenset("table thead tbody tfoot tr".split())
_SPACE = re.compile(r"[ \t\n\f\r]+")


class Element(NamedTuple):
    """A safe HTML element of a document, with its attributes and content.

    Attributes
    ----------
    name: one of `NAMES`. An `img` whose address is not allowed has no `src`, and the screen shows its `alt`.
    attributes: by the names in `ATTRIBUTES`; `cut` names the sides on which a table, list or paragraph goes
        on ('before', 'after' or both); `at` of a `span` is the position of a sentence in the body.
    """

    name: str
    attributes: dict[str, str]
    children: list[Node]


Node = Segment | Element


class Fact(NamedTuple):
    """A metadata field below the title: label ('' for no label) and value."""

    label: str
    value: list[Node]


class Leaf(NamedTuple):
    """A piece of text, with its start position in the tree's text."""

    text: str
    start: int


@dataclass(slots=True)
class Branch:
    """An element of a document's tree, with its range in the tree's text."""

    name: str
    attributes: dict[str, str]
    start: int
    end: int = 0
    children: list[Branch | Leaf] = field(default_factory=list)


class Tree(NamedTuple):
    """A document's body as a tree of elements, with its text; the root element's name is ''."""

    root: Branch
    text: str


class _OpenTag(NamedTuple):
    """An open tag, with its element if it has one; `name` is '' for an element that the reader added."""

    name: str
    branch: Branch | None


class _TreeBuilder(HTMLParser):
    """The parser that builds the tree from well-formed HTML."""

    def __init__(self, addresses: Addresses) -> None:
        super().__init__(convert_charrefs=True)
        self._addresses = addresses
        self._root = Branch("", {}, 0)
        self._open = [_OpenTag("", self._root)]
        self._text: list[str] = []
        self._length = 0
        self._too_deep = 0
        self._headings: list[Branch] = []

    def read(self, html: str) -> Tree:
        self.feed(html)
        self.close()
        while self._open:
            self._close()
        ranks = {name: rank for rank, name in enumerate(sorted({branch.name for branch in self._headings}))}
        for branch in self._headings:  # below the screen's two heading levels, without gaps
            branch.name = f"h{min(6, 3 + ranks[branch.name])}"
        return Tree(self._root, "".join(self._text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name, values = _RENAMED.get(tag, tag), {key: value or "" for key, value in attrs}
        if name in ("br", "img"):
            self._void(name, values)
        elif name == "hr":
            self._begin_block("hr")
            self._holder.children.append(Branch("hr", {}, self._length, self._length))
        elif name in _BREAKS:
            self._break()
        elif self._too_deep or len(self._open) > MAX_DEPTH:
            self._too_deep += 1
            self._break()
        elif name in BLOCKS or name in _HEADINGS:
            self._begin_block(name)
            self._begin(tag, name, self._attributes(name, values))
        else:
            self._take_words()
            attributes = self._attributes(name, values)
            if name != "a" or attributes:
                self._begin(tag, name, attributes)
            else:
                self._open.append(_OpenTag(tag, None))

    def handle_endtag(self, tag: str) -> None:
        if tag in _BREAKS:
            self._break()
        elif self._too_deep:
            self._too_deep -= 1
        else:
            while self._open[-1].name != tag and len(self._open) > 1:
                self._close()
            if len(self._open) > 1:
                self._close()

    def handle_data(self, data: str) -> None:
        if any(entry.branch and entry.branch.name == "pre" for entry in self._open):
            self._add(data)
            return
        text = _SPACE.sub(" ", data)
        if not text.strip(" ") and self._holder.name in {"", "blockquote", *_ROWS, *_ITEM_OF_LIST}:
            return
        self._take_words()
        if not self._text or self._text[-1][-1:] in (" ", "\n", "\t"):
            text = text.removeprefix(" ")
        if text:
            self._add(text)

    @property
    def _holder(self) -> Branch:
        return next(entry.branch for entry in reversed(self._open) if entry.branch)

    def _add(self, text: str) -> None:
        self._holder.children.append(Leaf(text, self._length))
        self._write(text)

    def _write(self, text: str) -> None:
        self._text.append(text)
        self._length += len(text)

    def _begin(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        branch = Branch(name, attributes, self._length)
        if name in _HEADINGS:
            self._headings.append(branch)
        self._holder.children.append(branch)
        self._open.append(_OpenTag(tag, branch))

    def _close(self) -> None:
        branch = self._open.pop().branch
        if branch is not None:
            branch.end = self._length
            if branch.name in BLOCKS or branch.name in _HEADINGS:
                self._line("\t" if branch.name in ("td", "th") else "\n")

    def _line(self, sign: str = "\n") -> None:
        if self._text and not self._text[-1].endswith(("\n", sign)):
            self._write(sign)

    def _break(self) -> None:
        """Begin a new line in the tree: a new paragraph where possible, otherwise a line break in the current
        paragraph."""
        self._end_implied("p")
        holder = self._holder
        if holder.name in ("", "blockquote", *_ROWS, *_ITEM_OF_LIST) or not holder.children:
            return
        if self._text and not self._text[-1].endswith("\n"):
            holder.children.append(Branch("br", {}, self._length, self._length))
            self._write("\n")

    def _end_implied(self, name: str) -> None:
        """Close the elements that the reader added and that cannot contain this block."""
        while self._open[-1].branch and not self._open[-1].name and len(self._open) > 1:
            implied_name = self._open[-1].branch.name
            allowed_blocks = {"ul": ("li",), "dl": ("dt", "dd"), "p": ()}.get(implied_name)
            if (name in ("li", "dt", "dd")) if allowed_blocks is None else (name not in allowed_blocks):
                self._close()
            else:
                return

    def _take_words(self) -> None:
        """Open the element that must enclose text at this point of the document."""
        if self._holder.name in _ITEM_OF_LIST:
            self._end_implied("p")
        name = self._holder.name
        if name in _ITEM_OF_LIST:
            self._begin("", _ITEM_OF_LIST[name], {})
        elif name in ("", "blockquote"):
            self._begin("", "p", {})

    def _begin_block(self, name: str) -> None:
        """Close elements that cannot contain a block, and open the element that must enclose it."""
        self._end_implied(name)
        for index in range(len(self._open) - 1, 0, -1):
            branch = self._open[index].branch
            if branch is not None and branch.name in CONTAINERS | _ROWS | _ITEM_OF_LIST.keys():
                break
            if branch is not None:
                branch.end = self._length
                self._open[index] = _OpenTag(self._open[index].name, None)
        self._line("\t" if name in ("td", "th") else "\n")
        holder = self._holder.name
        if name == "li" and holder not in ("ul", "ol"):
            self._begin("", "ul", {})
        elif name in ("dt", "dd") and holder != "dl":
            self._begin("", "dl", {})
        elif holder in _ITEM_OF_LIST and name not in ("li", "dt", "dd"):
            self._begin("", _ITEM_OF_LIST[holder], {})

    def _void(self, name: str, values: dict[str, str]) -> None:
        if name == "br":
            if self._length:
                self._take_words()
                self._holder.children.append(Branch("br", {}, self._length, self._length))
                self._write("\n")
            return
        source, words = self._addresses.own_image(values.get("src", "")), values.get("alt", "").strip()
        if source or words:
            self._take_words()
            attributes = {"alt": words} | ({"src": source} if source else {})
            self._holder.children.append(Branch("img", attributes, self._length, self._length))

    def _attributes(self, name: str, values: dict[str, str]) -> dict[str, str]:
        if name == "a":
            address = self._addresses.link(values.get("href", ""))
            return {"href": address} if address else {}
        names = {"ol": ("start",), "td": ("colspan", "rowspan"), "th": ("colspan", "rowspan")}.get(name, ())
        texts = {key: values.get(key, "").strip() for key in names}
        maximum = 10**6 if name == "ol" else 50
        return {
            key: str(int(text))
            for key, text in texts.items()
            if text.isascii() and text.isdigit() and len(text) < 8 and 0 < int(text) <= maximum
        }


def read_markup(body: str, kind: str, addresses: Addresses) -> Tree | None:
    """Parse a body of kind 'markdown' or 'html' into a tree; return None if the body is too large."""
    if kind == "markdown":
        if len(body) > MAX_MARKDOWN_LENGTH or _count_signs(body) > MAX_SIGNS:
            return None
        body = render_markdown(body)
    tags = body.count("<")
    if tags > MAX_TAGS or len(body) > MAX_HTML_LENGTH:
        return None
    if tags * len(_STYLE_TAG.findall(body)) > MAX_STYLED_PRODUCT:
        body = _STYLE_TAG.sub("<span", body)
    clean_html = nh3.clean(
        body,
        tags=set(_ALLOWED_TAGS),
        clean_content_tags=set(_REMOVED_WITH_CONTENT),
        attributes=_ALLOWED_ATTRIBUTES,
        url_schemes={"http", "https"},
        link_rel=None,
    )
    return _TreeBuilder(addresses).read(clean_html) if clean_html.count("<") <= MAX_CLEAN_TAGS else None


def _count_signs(markdown: str) -> int:
    """Count ASCII signs, line breaks and table cells; each row counts for as many cells as its table's header
    has."""
    cells = columns = 0
    for line in _LINES.split(markdown):
        if not line.strip(" \t"):
            columns = 0
        cells += columns
        if _TABLE_RULE.fullmatch(line):
            columns = max(columns, line.count("|") + 1)
    return cells + len(_SIGNS.findall(markdown))
