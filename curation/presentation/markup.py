"""Safe elements: what a drawn document consists of, and the only names and attributes that there are.

Screens make their elements from this tree by name, one by one, and text becomes text. So nothing of a
document is ever read as markup by a browser, whatever it holds.

Markup: Markdown and HTML of documents, read into a tree of safe elements with its text.

nh3, a sanitiser with a browser's parser, makes well-formed HTML of allowed elements of whatever it gets. That
is read into a tree which knows no other element, no style, class, id or script, and no address but http(s).

The text of a tree has a line for each block and a tab between cells. Each element knows its part of the text,
so that words are found and passages cut there.

Time is bounded: markup with more tags or characters than `MOST_TAGS` and `LONGEST_HTML`, and Markdown with
more signs or characters than `MOST_SIGNS` and `LONGEST_MARKDOWN`, is not read but shown as text, which the
screen says. Parsers need quadratic time for elements nested without end, and the one of Markdown up to 20 µs
for a sign. As browsers do, the parser opens bold and the like again in each block where they were not closed,
once for each that has other attributes. Where these are many they do not style, and markup that becomes
`MOST_MADE` tags is text, too.

The passage of a tree: whole blocks where they fit, and visibly continued where they do not.

A list or table that is short stays whole. A longer one is cut between its items or rows, a long paragraph
between its sentences. A table keeps its head.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import nh3
from markdown_it import MarkdownIt

from curation.presentation.excerpts import Segment, best_run, marked_spans, sentences
from curation.presentation.markable import Sentence, in_sentences
from curation.spans import Span


class Element(NamedTuple):
    """An element with what is in it.

    Attributes
    ----------
    name: one of `NAMES`. An `img` without `src` may not be fetched, and is shown as its `alt`.
    attributes: those of `ATTRIBUTES`; `cut` says on which sides a table, list or paragraph goes on
        ('before', 'after' or both); `at` is the place of a sentence in the body, of a `span`.
    """

    name: str
    attributes: dict[str, str]
    children: list[Node]


Node = Segment | Element

CONTAINERS = frozenset("blockquote li dd td th".split())
"""Elements with text or blocks in them."""

BLOCKS = CONTAINERS | frozenset("p h3 h4 h5 h6 ul ol dl dt table caption thead tbody tfoot tr pre hr".split())
INLINE = frozenset("strong em code sub sup del ins a br img span".split())
NAMES = BLOCKS | INLINE
ATTRIBUTES = frozenset("href src alt start colspan rowspan cut at".split())


class Fact(NamedTuple):
    """A field below the title: what is before its value ('' for nothing), and the value."""

    label: str
    value: list[Node]


MOST_TAGS = 12_000
"""Signs `<` in a text that is read as HTML."""

MOST_MADE = 3 * MOST_TAGS
"""Signs `<` in what the parser makes of a text."""

MOST_REOPENED = 100_000
"""Tags that style and have attributes, times all tags."""

LONGEST_HTML = 300_000
"""Characters of a text that is read as HTML; the parser compares each attribute of a tag with all others."""

LONGEST_MARKDOWN = 40_000
"""Characters of a text that is read as Markdown."""

MOST_SIGNS = 10_000
"""ASCII signs, line breaks and cells of tables in a text that is read as Markdown."""

DEEPEST = 40
"""Elements within each other; what is deeper is text at this depth."""

_RENAMED = {"b": "strong", "i": "em", "cite": "em", "dfn": "em", "var": "em", "kbd": "code", "samp": "code"}
_RENAMED |= {"tt": "code", "s": "del", "strike": "del", "u": "ins"}
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_BREAKS = frozenset(
    "div section article header footer main aside nav figure figcaption details summary address center "
    "fieldset form hgroup".split()
)
"""Blocks that only break the line."""

_UNSEEN = frozenset(
    "script style title template iframe noembed noframes noscript svg math object embed applet video audio "
    "canvas textarea select".split()
)
"""Elements that are left out with all that is in them."""

_READ = frozenset(BLOCKS | INLINE | _HEADINGS | _RENAMED.keys() | _BREAKS)
_KEPT = {"a": {"href"}, "img": {"src", "alt"}, "ol": {"start"}, "td": {"colspan", "rowspan"}}
_KEPT["th"] = _KEPT["td"]
_ITEMS = {"ul": "li", "ol": "li", "dl": "dd"}
"""What takes up text that is directly in a list."""

_ROWS = frozenset("table thead tbody tfoot tr".split())
_STYLED = re.compile(r"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/])", re.IGNORECASE)
_SIGNS = re.compile(r"[!-/:-@\[-`{-~\r\n]")
_LINES = re.compile(r"\r\n|\r|\n")
_RULED = re.compile(r"[ \t>|:-]*[|:][ \t>|:-]*")
"""The line below the head of a table."""

_SPACE = re.compile(r"[ \t\n\f\r]+")
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


class Leaf(NamedTuple):
    """A piece of text and where it begins in the text of the tree."""

    text: str
    start: int


@dataclass(slots=True)
class Branch:
    """An element and its part of the tree's text."""

    name: str
    attributes: dict[str, str]
    start: int
    end: int = 0
    children: list[Branch | Leaf] = field(default_factory=list)


class Tree(NamedTuple):
    """A document's body as elements; the root has the name ''."""

    root: Branch
    text: str


@dataclass(frozen=True)
class Addresses:
    """Which addresses of a document may be used.

    Attributes
    ----------
    base: the document's own address, or ''.
    links: whether words that are links stay links.
    image_hosts: the hosts from which the operator lets browsers fetch images.
    """

    base: str = ""
    links: bool = False
    image_hosts: frozenset[str] = frozenset()

    def link(self, address: str) -> str:
        """The address to follow, or ''."""
        return self._absolute(address) if self.links else ""

    def own_image(self, address: str) -> str:
        """The address of an image in a body, or '': it must be on the document's own host or one below it."""
        found, own = self.image(address), _host(self.base).removeprefix("www.")
        host = _host(found)
        return found if own and (host == own or host.endswith(f".{own}")) else ""

    def image(self, address: str) -> str:
        """The address of an image on an allowed host, by https, or ''."""
        found = self._absolute(address)
        return f"https:{found.partition(':')[2]}" if found and _host(found) in self.image_hosts else ""

    def _absolute(self, address: str) -> str:
        if not address.strip():
            return ""
        with suppress(ValueError):  # no address at all
            found = urljoin(self.base, "".join(address.split()))
            parts = urlsplit(found)
            if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc:
                return found
        return ""


def read_markup(body: str, kind: str, addresses: Addresses) -> Tree | None:
    """The tree of a body that is 'markdown' or 'html'; None where it is too large to be read as such."""
    if kind == "markdown":
        if len(body) > LONGEST_MARKDOWN or _signs(body) > MOST_SIGNS:
            return None
        body = _MARKDOWN.render(body)
    tags = body.count("<")
    if tags > MOST_TAGS or len(body) > LONGEST_HTML:
        return None
    if tags * len(_STYLED.findall(body)) > MOST_REOPENED:
        body = _STYLED.sub("<span", body)
    clean = nh3.clean(
        body,
        tags=set(_READ),
        clean_content_tags=set(_UNSEEN),
        attributes=_KEPT,
        url_schemes={"http", "https"},
        link_rel=None,
    )
    return _Reader(addresses).read(clean) if clean.count("<") <= MOST_MADE else None


def _signs(markdown: str) -> int:
    """The signs, line breaks and cells: a short row has all cells of its table, however short it is."""
    cells = columns = 0
    for line in _LINES.split(markdown):
        if not line.strip(" \t"):
            columns = 0
        cells += columns
        if _RULED.fullmatch(line):
            columns = max(columns, line.count("|") + 1)
    return cells + len(_SIGNS.findall(markdown))


def descendants(branch: Branch) -> Iterator[Branch]:
    """The branch and all below it, in order."""
    yield branch
    for child in branch.children:
        if isinstance(child, Branch):
            yield from descendants(child)


def _host(address: str) -> str:
    with suppress(ValueError):  # no address at all, or a port that is none
        parts = urlsplit(address)
        return f"{parts.hostname or ''}:{parts.port}" if parts.port else parts.hostname or ""
    return ""


class _Open(NamedTuple):
    """A tag that is open, with its element if it has one; `name` is '' for an element that we added."""

    name: str
    branch: Branch | None


class _Reader(HTMLParser):
    """Makes the tree of well-formed HTML."""

    def __init__(self, addresses: Addresses) -> None:
        super().__init__(convert_charrefs=True)
        self._addresses = addresses
        self._root = Branch("", {}, 0)
        self._open = [_Open("", self._root)]
        self._text: list[str] = []
        self._length = 0
        self._too_deep = 0

    def read(self, html: str) -> Tree:
        self.feed(html)
        self.close()
        while self._open:
            self._close()
        text = "".join(self._text)
        _rank_headings(self._root)
        return Tree(self._root, text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name, values = _RENAMED.get(tag, tag), {key: value or "" for key, value in attrs}
        if name in ("br", "img"):
            self._void(name, values)
        elif name == "hr":
            self._begin_block("hr")
            self._holder.children.append(Branch("hr", {}, self._length, self._length))
        elif name in _BREAKS:
            self._break()
        elif self._too_deep or len(self._open) > DEEPEST:
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
                self._open.append(_Open(tag, None))

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
        if not text.strip(" ") and self._holder.name in {"", "blockquote", *_ROWS, *_ITEMS}:
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
        self._holder.children.append(branch)
        self._open.append(_Open(tag, branch))

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
        """Begin a line: a new paragraph where there can be one, else a line within the one there is."""
        self._end_implied("p")
        holder = self._holder
        if holder.name in ("", "blockquote", *_ROWS, *_ITEMS) or not holder.children:
            return
        if self._text and not self._text[-1].endswith("\n"):
            holder.children.append(Branch("br", {}, self._length, self._length))
            self._write("\n")

    def _end_implied(self, name: str) -> None:
        """Close what we opened ourselves and what cannot go on with this block."""
        while self._open[-1].branch and not self._open[-1].name and len(self._open) > 1:
            implied = self._open[-1].branch.name
            goes_on = {"ul": ("li",), "dl": ("dt", "dd"), "p": ()}.get(implied)
            if (name in ("li", "dt", "dd")) if goes_on is None else (name not in goes_on):
                self._close()
            else:
                return

    def _take_words(self) -> None:
        """Open what text needs around it where we are."""
        if self._holder.name in _ITEMS:
            self._end_implied("p")
        name = self._holder.name
        if name in _ITEMS:
            self._begin("", _ITEMS[name], {})
        elif name in ("", "blockquote"):
            self._begin("", "p", {})

    def _begin_block(self, name: str) -> None:
        """Close what cannot have a block in it, and open what the block needs around it."""
        self._end_implied(name)
        for place in range(len(self._open) - 1, 0, -1):
            branch = self._open[place].branch
            if branch is not None and branch.name in CONTAINERS | _ROWS | _ITEMS.keys():
                break
            if branch is not None:
                branch.end = self._length
                self._open[place] = _Open(self._open[place].name, None)
        self._line("\t" if name in ("td", "th") else "\n")
        holder = self._holder.name
        if name == "li" and holder not in ("ul", "ol"):
            self._begin("", "ul", {})
        elif name in ("dt", "dd") and holder != "dl":
            self._begin("", "dl", {})
        elif holder in _ITEMS and name not in ("li", "dt", "dd"):
            self._begin("", _ITEMS[holder], {})

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
        wanted = {"ol": ("start",), "td": ("colspan", "rowspan"), "th": ("colspan", "rowspan")}.get(name, ())
        numbers = {key: values.get(key, "").strip() for key in wanted}
        most = 10**6 if name == "ol" else 50
        return {
            key: str(int(text))
            for key, text in numbers.items()
            if text.isascii() and text.isdigit() and len(text) < 8 and 0 < int(text) <= most
        }


def _rank_headings(root: Branch) -> None:
    """Headings below the screen's own two, their levels without gaps."""
    found = [branch for branch in descendants(root) if branch.name in _HEADINGS]
    ranks = {name: rank for rank, name in enumerate(sorted({branch.name for branch in found}))}
    for branch in found:
        branch.name = f"h{min(6, 3 + ranks[branch.name])}"


_CONTINUED = BLOCKS - frozenset("h3 h4 h5 h6 hr li dd dt td th tr thead tbody tfoot caption".split())
"""Blocks that say that they go on; of what is in them the reader sees it there."""


_EMPTY = frozenset("br hr img td th".split())
"""Elements that are shown without text."""

_HEADS = frozenset("h3 h4 h5 h6 caption thead".split())
"""Blocks that mean nothing without what follows."""


class _Unit(NamedTuple):
    """A part of the text that is not cut; `heads` if it is about the part after it."""

    start: int
    end: int
    heads: bool


class _View(NamedTuple):
    """What is shown of a tree: a part of its text, the marked parts, and the sentences that can be marked."""

    start: int
    end: int
    marks: list[Span]
    places: list[int]
    sentences: Sequence[Sentence]

    def nodes(self, leaf: Leaf) -> list[Node]:
        """The shown part of a leaf."""
        first, last = max(self.start, leaf.start), min(self.end, leaf.start + len(leaf.text))
        found, at = [], first
        before, after = bisect_left(self.places, first), bisect_left(self.places, last)
        for place in range(max(0, before - 1), after):
            start, end = max(self.marks[place][0], at), min(self.marks[place][1], last)
            if start < end:
                found += [(at, start, False), (start, end, True)]
                at = end
        pieces = [*found, (at, last, False)]
        shown = [
            Segment(leaf.text[a - leaf.start : b - leaf.start], marked) for a, b, marked in pieces if a < b
        ]
        return sentence_nodes(shown, first, self.sentences)


def passage_of(tree: Tree, stems: frozenset[str], longest: int, within: Span | None = None) -> Span:
    """The part of the tree's text with most different stems, of at most `longest` characters.

    Parameters
    ----------
    within: the part of the text to choose from, grown to whole blocks.
    """
    units = _with_heads(_units(tree, tree.root, longest), longest)
    if within is not None:
        units = [unit for unit in units if unit.start < within[1] and unit.end > within[0]] or units
    if not units:
        return 0, len(tree.text)
    places = [*(unit.start for unit in units), units[-1].end]
    first, last = best_run(tree.text, stems, places, longest)
    return first, max(unit.end for unit in units if first <= unit.start < last)


def sentence_nodes(segments: Sequence[Segment], start: int, among: Sequence[Sentence]) -> list[Node]:
    """Segments, those of a sentence within a `span` that has its place; see `markable.in_sentences`."""
    if not among:
        return [*segments]
    nodes: list[Node] = []
    for place, pieces in in_sentences(segments, start, among):
        nodes += pieces if place is None else [Element("span", {"at": place}, [*pieces])]
    return nodes


def drawn(tree: Tree, stems: frozenset[str], span: Span, among: Sequence[Sentence] = ()) -> list[Node]:
    """A part of a tree as safe elements, its words marked by stem.

    Parameters
    ----------
    among: the sentences that can be marked.
    """
    marks = marked_spans(tree.text[slice(*span)], stems)
    marks = [(start + span[0], end + span[0]) for start, end in marks]
    view = _View(*span, marks, [start for start, _ in marks], among)
    nodes = _children(tree.root, view)
    _order_headings(nodes, 2)
    return nodes


def _units(tree: Tree, branch: Branch, longest: int) -> list[_Unit]:
    """The parts that are not cut: blocks that fit, else their blocks, else their sentences."""
    if branch.end - branch.start <= longest and branch.name:
        return [_Unit(branch.start, branch.end, branch.name in _HEADS)]
    found: list[_Unit] = []
    at = branch.start
    for block in _branches(branch):
        if block.name in BLOCKS:
            found += _sentences(tree, at, block.start, longest)
            found += _units(tree, block, longest)
            at = block.end
    found += _sentences(tree, at, branch.end, longest)
    return [unit for unit in found if tree.text[unit.start : unit.end].strip()]


def _sentences(tree: Tree, start: int, end: int, longest: int) -> list[_Unit]:
    places = accumulate(map(len, sentences(tree.text[start:end], longest)), initial=start)
    return [_Unit(*span, False) for span in pairwise(places)]


def _with_heads(units: Sequence[_Unit], longest: int) -> list[_Unit]:
    """The parts, those that head another one together with it."""
    found: list[_Unit] = []
    for unit in units:
        if found and found[-1].heads and unit.end - found[-1].start <= longest:
            unit = unit._replace(start=found.pop().start)
        found.append(unit)
    return found


def _children(branch: Branch, view: _View) -> list[Node]:
    nodes: list[Node] = []
    for child in branch.children:
        if isinstance(child, Leaf):
            nodes += view.nodes(child)
        else:
            nodes += _element(child, view)
    return nodes


def _element(branch: Branch, view: _View) -> list[Node]:
    if branch.start == branch.end:  # a line break, a rule, an image, an empty cell
        if not view.start <= branch.start <= view.end:
            return []
        nodes = _children(branch, view)
        return [Element(branch.name, branch.attributes, nodes)] if nodes or branch.name in _EMPTY else []
    if branch.end <= view.start or branch.start >= view.end:
        return []
    attributes = dict(branch.attributes)
    sides = ["before"] * (branch.start < view.start) + ["after"] * (branch.end > view.end)
    if sides and branch.name in _CONTINUED:
        attributes["cut"] = " ".join(sides)
    if branch.name == "ol":
        left_out = sum(child.end <= view.start for child in _branches(branch))
        attributes |= {"start": str(int(attributes.get("start", "1")) + left_out)} if left_out else {}
    nodes = _children(branch, view)
    if branch.name == "table" and branch.start < view.start:
        nodes = [*_head(branch, view), *nodes]
    return [Element(branch.name, attributes, nodes)]


def _head(table: Branch, view: _View) -> list[Node]:
    """The head of a table whose first rows are left out."""
    heads = [part for part in _branches(table) if part.name == "thead" and part.end <= view.start]
    return [node for head in heads for node in _element(head, view._replace(start=head.start, end=head.end))]


def _branches(branch: Branch) -> Sequence[Branch]:
    return [child for child in branch.children if isinstance(child, Branch)]


def _order_headings(nodes: list[Node], last: int) -> int:
    """Lower no heading by more than one level at once, wherever the passage begins; the last level."""
    for place, node in enumerate(nodes):
        if isinstance(node, Segment):
            continue
        if node.name in ("h3", "h4", "h5", "h6"):
            last = min(int(node.name[1]), last + 1)
            nodes[place] = node._replace(name=f"h{last}")
        else:
            last = _order_headings(node.children, last)
    return last
