"""Drawing a document: its title, its facts and its body as a guide's template wants them, for every screen.

Without a template a document is plain text, with its date and its address.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from curation.core.spans import Span
from curation.guides.guide import Guide
from curation.guides.presentation_template import PresentationTemplate, TemplateField
from curation.ingest.readers.values import text_of
from curation.labeling.presentation.addresses import Addresses
from curation.labeling.presentation.elements import Element, Fact, Node
from curation.labeling.presentation.excerpts import (
    LONGEST,
    Excerpt,
    Segment,
    best_passage,
    in_body,
    mark,
    query_stems,
)
from curation.labeling.presentation.markable import Sentence, drawn_sentences, plain_sentences
from curation.labeling.presentation.markup import Tree, read_markup
from curation.labeling.presentation.passages import drawn, passage_of, sentence_nodes
from curation.store import Document

LONGEST_FACT = 300
"""Characters of a fact that are shown."""

MOST_ADDRESSES = 4
"""Images or links of one field that are shown."""

MOST_LINES = 20
"""Lines at either end of a matched part that are looked for in the text that is shown."""

LONGEST_KEPT = 40_000
"""Characters of a body whose tree is kept."""

MARKUPS = {"html": "HTML", "markdown": "Markdown"}
"""What is drawn, as people call it."""

PLAIN = PresentationTemplate()
NOBODY: frozenset[str] = frozenset()
"""The hosts from which images may be fetched where the operator named none."""


class ReadDocument(NamedTuple):
    """What is drawn of a version of a document; `metadata` is its other fields, as JSON."""

    title: str
    body: str
    url: str | None
    published: str | None
    metadata: str

    @classmethod
    def of(cls, document: Document) -> ReadDocument:
        """What is drawn of a stored version."""
        return cls(document.title, document.body, document.url, document.published, document.metadata)


class DrawnDocument(NamedTuple):
    """A document for a screen, the query's words marked.

    Attributes
    ----------
    passage: text in segments, or safe elements.
    has_more: the document is longer than the passage.
    url, published: of the document, where there is no template.
    facts: the template's fields that the document has, in order; None without a template.
    """

    title: list[Segment]
    passage: list[Node]
    has_more: bool
    url: str | None
    published: str | None
    facts: list[Fact] | None


def draw(
    document: ReadDocument,
    query: str,
    template: PresentationTemplate | None = None,
    *,
    matched: Span | None = None,
    longest: int | None = LONGEST,
    image_hosts: frozenset[str] = NOBODY,
    markable: bool = False,
) -> DrawnDocument:
    """The document as the template wants it, the query's words marked.

    Parameters
    ----------
    matched: the part of the document's text (title, line break, body) to take the passage from.
    longest: characters of the body that are shown; None is all of it.
    image_hosts: the hosts from which browsers may fetch images.
    markable: sentences of the body are apart, each with its place, to be marked as evidence.
    """
    stems = query_stems(query)
    within = in_body(document.title, document.body, matched) if matched else None
    wanted = template or PLAIN
    addresses = Addresses(document.url or "", wanted.links, image_hosts)
    values = _values(document) if wanted.names else {}
    title = text_of(values.get(wanted.title or "")).strip() or document.title
    tree = _tree(document.body, wanted.body, addresses) if wanted.body in MARKUPS else None
    passage, whole = _body(document.body, wanted.body, tree, query, addresses, within, longest, markable)
    marked = mark(" ".join(title.split()), stems) if wanted.title else mark(title, stems)
    if template is None:
        return DrawnDocument(marked, passage, not whole, document.url, document.published, None)
    facts = _facts(wanted, values, stems, addresses)
    if tree is None and wanted.body in MARKUPS:
        sentence = (
            f"This document is too long, or has too much markup, to be drawn as {MARKUPS[wanted.body]}."
        )
        facts.append(Fact("Plain text", [Segment(sentence, False)]))
    return DrawnDocument(marked, passage, not whole, None, None, facts)


def whole_passage(document: ReadDocument, query: str, guide: Guide, hosts: frozenset[str]) -> list[Node]:
    """The whole body of a document as annotators see it under a guide, the query's words marked.

    Parameters
    ----------
    hosts: the hosts from which browsers may fetch images.
    """
    asked = guide.evidence is not None
    return draw(document, query, guide.presentation, longest=None, image_hosts=hosts, markable=asked).passage


def _body(
    body: str,
    kind: str,
    tree: Tree | None,
    query: str,
    addresses: Addresses,
    within: Span | None,
    longest: int | None,
    markable: bool,
) -> tuple[list[Node], bool]:
    stems = query_stems(query)
    among = _sentences(tree and tree.text, body, kind) if markable else ()
    if tree is None:
        passage = (
            Excerpt(mark(body, stems), True)
            if longest is None
            else best_passage(body, query, longest, within)
        )
        nodes = sentence_nodes(passage.segments, passage.start, among)
        return ([Element("pre", {}, nodes)] if kind == "code" and nodes else nodes), passage.whole
    if longest is None or len(tree.text) <= longest:
        return drawn(tree, stems, (0, len(tree.text)), among), True
    place = _place(tree, body[slice(*within)], kind, addresses) if within else None
    return drawn(tree, stems, passage_of(tree, stems, longest, place), among), False


@lru_cache(maxsize=64)
def _sentences(shown: str | None, body: str, kind: str) -> Sequence[Sentence]:
    """The sentences that can be marked; those of the last bodies are kept."""
    return plain_sentences(body) if shown is None else drawn_sentences(shown, body, kind)


@lru_cache(maxsize=64)
def _short_tree(body: str, kind: str, addresses: Addresses) -> Tree | None:
    return read_markup(body, kind, addresses)


def _tree(body: str, kind: str, addresses: Addresses) -> Tree | None:
    """The tree; those of bodies that are not long are kept for the next who reads the document."""
    read = _short_tree if len(body) <= LONGEST_KEPT else read_markup
    return read(body, kind, addresses)


def _place(tree: Tree, matched: str, kind: str, addresses: Addresses) -> Span | None:
    """Where the part of a body that matched is in the tree's text: from its first line to its last there."""
    part = read_markup(matched, kind, addresses)
    lines = [line for line in (part.text.splitlines() if part else []) if len(line) > 3]
    ends = lines if len(lines) <= 2 * MOST_LINES else [*lines[:MOST_LINES], *lines[-MOST_LINES:]]
    found = [(tree.text.find(line), len(line)) for line in ends]
    places = [(start, start + length) for start, length in found if start >= 0]
    return (places[0][0], max(places[0][1], places[-1][1])) if places else None


def _values(document: ReadDocument) -> dict[str, Any]:
    """The document's fields by name: those of its file, and under their own names what the import took."""
    own: dict[str, Any] = {"title": document.title, "url": document.url}
    own |= {"date": document.published, "published": document.published}
    return own | dict(json.loads(document.metadata))


def _facts(
    template: PresentationTemplate, values: dict[str, Any], stems: frozenset[str], addresses: Addresses
) -> list[Fact]:
    facts = []
    for field in template.fields:
        value = values.get(field.field)
        shown = _as_text(value, stems) if field.drawn_as == "text" else _as_addresses(field, value, addresses)
        if shown:
            facts.append(Fact(field.name, shown))
    return facts


def _as_text(value: Any, stems: frozenset[str]) -> list[Node]:
    text = ", ".join(text_of(value).split("\n")) if isinstance(value, list) else text_of(value)
    text = " ".join(text.split())
    return [*mark(f"{text[:LONGEST_FACT]}…" if len(text) > LONGEST_FACT else text, stems)]


def _as_addresses(field: TemplateField, value: Any, addresses: Addresses) -> list[Node]:
    """Links or images; an address that may not be used is text, or an image that is only named."""
    found = [line.strip() for line in text_of(value).splitlines() if line.strip()][:MOST_ADDRESSES]
    if field.drawn_as == "image":
        return _apart([_image(field.name, addresses.image(text)) for text in found], " ")
    follow = replace(addresses, links=True)
    return _apart([_link(text, follow.link(text)) for text in found], ", ")


def _apart(values: Sequence[Node], between: str) -> list[Node]:
    """The values of one field, with text between each two."""
    return [node for value in values for node in (Segment(between, False), value)][1:]


def _image(name: str, source: str) -> Element:
    return Element("img", {"alt": name} | ({"src": source} if source else {}), [])


def _link(text: str, address: str) -> Node:
    words = Segment(f"{text[:LONGEST_FACT]}…" if len(text) > LONGEST_FACT else text, False)
    return Element("a", {"href": address}, [words]) if address else words
