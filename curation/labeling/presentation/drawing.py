"""Documents drawn for a screen with a guide's presentation template.

Without a template a document is plain text, with its date and its address. A long body is shown as a passage
of whole blocks; a block that does not fit is cut and marked as continued. A short list or table stays whole.
A longer list or table is cut between items or rows, a long paragraph between sentences. A cut table keeps its
header rows. A first heading that repeats the title is left out, except where people mark evidence, because
people may mark the heading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from curation.core.spans import Span
from curation.guides.guide import Guide, PresentationTemplate, TemplateField
from curation.ingest.readers.values import to_text
from curation.labeling.presentation import excerpts
from curation.labeling.presentation.addresses import Addresses
from curation.labeling.presentation.excerpts import MAX_PASSAGE_LENGTH, Segment
from curation.labeling.presentation.markable import Sentence, list_sentences, locate_sentences
from curation.labeling.presentation.markup import Element, Fact, Node, Tree, read_markup
from curation.labeling.presentation.tree_drawing import (
    draw_tree,
    find_passage,
    leave_out_title,
    wrap_sentences,
)
from curation.store import Document

MAX_FACT_LENGTH = 300
"""Maximum characters shown of a metadata field."""
MAX_ADDRESSES = 4
"""Maximum images or links shown of a field."""
MAX_LINES = 20
"""Number of lines at either end of a matched part that are searched for in the text on screen."""
MAX_CACHED_LENGTH = 40_000
"""Maximum characters of a body whose parsed tree is cached."""
MARKUPS = {"html": "HTML", "markdown": "Markdown"}
"""Kind of body that is parsed into a tree → name for people."""
PLAIN_TEMPLATE = PresentationTemplate()
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(?:00:00|(\d\d:\d\d))\b.*")
"""A pattern of a date with a time; the groups are the date, and the time after midnight."""
Hosts = frozenset[str]
NO_IMAGE_HOSTS: Hosts = frozenset()
"""Default hosts from which browsers may fetch images: no hosts."""
_read_cached_markup = lru_cache(maxsize=64)(read_markup)


class DocumentText(NamedTuple):
    """The fields of a document version that a screen draws; `metadata` holds all further fields as JSON."""

    title: str
    body: str
    url: str | None
    published: str | None
    metadata: str

    @classmethod
    def of(cls, document: Document) -> DocumentText:
        """Build the drawn document from a stored version."""
        return cls(document.title, document.body, document.url, document.published, document.metadata)


class DrawnDocument(NamedTuple):
    """A document drawn for a screen, with the query's words highlighted.

    Attributes
    ----------
    passage: text segments, or safe elements.
    has_more: whether the document is longer than the passage.
    url, published: address and date of the document; None where the guide has a template.
    facts: the template's fields that the document has, in order; None without a template.
    """

    title: list[Segment]
    passage: list[Node]
    has_more: bool
    url: str | None
    published: str | None
    facts: list[Fact] | None


def draw_document(
    document: DocumentText,
    query: str,
    template: PresentationTemplate | None = None,
    *,
    matched: Span | None = None,
    longest: int | None = MAX_PASSAGE_LENGTH,
    image_hosts: Hosts = NO_IMAGE_HOSTS,
    markable: bool = False,
) -> DrawnDocument:
    """Draw a document with a template, with the query's words highlighted.

    Parameters
    ----------
    matched: the part of the document's text (title, line break, body) to take the passage from.
    longest: maximum characters of the body on screen; None for the whole body.
    image_hosts: the hosts from which browsers may fetch images.
    markable: give each sentence of the body its position, so that people can mark the sentence as evidence.
    """
    stems = excerpts.stem_query(query)
    document = document._replace(published=_shorten_time(document.published))
    match = excerpts.locate_in_body(document.title, document.body, matched) if matched else None
    layout = template or PLAIN_TEMPLATE
    addresses = Addresses(document.url or "", layout.links, image_hosts)
    values = _read_fields(document) if layout.names else {}
    title = to_text(values.get(layout.title or "")).strip() or document.title
    markup = _find_markup(document) if layout.body == "file" else layout.body
    tree = _read_tree(document.body, markup, addresses) if markup in MARKUPS else None
    if tree is not None and not markable:
        tree = leave_out_title(tree, title)
    passage, whole = _draw_body(document.body, markup, tree, query, addresses, match, longest, markable)
    drawn_title = excerpts.mark_words(" ".join(title.split()) if layout.title else title, stems)
    if template is None:
        return DrawnDocument(drawn_title, passage, not whole, document.url, document.published, None)
    facts = _draw_facts(layout, values, stems, addresses)
    if tree is None and markup in MARKUPS:
        reason = (
            "This document is shown as plain text, because it is too long or has too much markup for "
            f"{MARKUPS[markup]}."
        )
        facts.append(Fact("Plain text", [Segment(reason, False)]))
    return DrawnDocument(drawn_title, passage, not whole, None, None, facts)


def _shorten_time(published: str | None) -> str | None:
    """Return an ISO date and time as `2026-05-02 10:00`, or as a date only if it is midnight; return other
    text unchanged."""
    moment = _MOMENT.fullmatch(published or "")
    return " ".join(filter(None, moment.groups())) if moment else published


def _find_markup(document: DocumentText) -> str:
    """Return a document's markup from its field `markup`, which the import of a folder sets."""
    markup = json.loads(document.metadata).get("markup")
    return markup if markup in (*MARKUPS, "code") else "plain"


def draw_by_guide(
    document: DocumentText,
    query: str,
    guide: Guide,
    image_hosts: Hosts,
    longest: int | None = MAX_PASSAGE_LENGTH,
    matched: Span | None = None,
) -> DrawnDocument:
    """Draw a document as people who judge under this guide see it.

    Parameters
    ----------
    image_hosts, longest, matched: see `draw_document`.
    """
    return draw_document(
        document,
        query,
        guide.presentation,
        matched=matched,
        longest=longest,
        image_hosts=image_hosts,
        markable=guide.evidence is not None,
    )


def _draw_body(
    body: str,
    kind: str,
    tree: Tree | None,
    query: str,
    addresses: Addresses,
    within: Span | None,
    longest: int | None,
    markable: bool,
) -> tuple[list[Node], bool]:
    stems = excerpts.stem_query(query)
    sentences = _find_sentences(tree and tree.text, body, kind) if markable else ()
    text = body if tree is None else tree.text
    is_whole = longest is None or len(text) <= longest
    if tree is None:
        start, segments = excerpts.find_best_passage(body, query, longest or len(body), within)
        nodes = wrap_sentences(segments, start, sentences)
        return ([Element("pre", {}, nodes)] if kind == "code" and nodes else nodes), is_whole
    if longest is None or is_whole:
        return draw_tree(tree, stems, (0, len(text)), sentences), True
    match = _locate_match(tree, body[slice(*within)], kind, addresses) if within else None
    return draw_tree(tree, stems, find_passage(tree, stems, longest, match), sentences), False


@lru_cache(maxsize=64)
def _find_sentences(shown: str | None, body: str, kind: str) -> Sequence[Sentence]:
    """Find the sentences that can be marked as evidence; the last 64 results are cached."""
    return list_sentences(body) if shown is None else locate_sentences(shown, body, kind)


def _read_tree(body: str, kind: str, addresses: Addresses) -> Tree | None:
    """Parse a body into a tree; the tree of a short body is cached."""
    return (_read_cached_markup if len(body) <= MAX_CACHED_LENGTH else read_markup)(body, kind, addresses)


def _locate_match(tree: Tree, matched: str, kind: str, addresses: Addresses) -> Span | None:
    """Locate the matched part of a body in the tree's text by the part's first and last lines."""
    matched_tree = read_markup(matched, kind, addresses)
    lines = [line for line in (matched_tree.text.splitlines() if matched_tree else []) if len(line) > 3]
    outer_lines = lines if len(lines) <= 2 * MAX_LINES else [*lines[:MAX_LINES], *lines[-MAX_LINES:]]
    starts = [(tree.text.find(line), len(line)) for line in outer_lines]
    matches = [(start, start + length) for start, length in starts if start >= 0]
    return (matches[0][0], max(matches[0][1], matches[-1][1])) if matches else None


def _read_fields(document: DocumentText) -> dict[str, Any]:
    """Read the document's fields by name: those from the imported file and those added by the import."""
    fields: dict[str, Any] = {"title": document.title, "url": document.url}
    fields |= {"date": document.published, "published": document.published}
    return fields | dict(json.loads(document.metadata))


def _draw_facts(
    template: PresentationTemplate, values: dict[str, Any], stems: frozenset[str], addresses: Addresses
) -> list[Fact]:
    facts = []
    for field in template.fields:
        value = values.get(field.field)
        is_text = field.drawn_as == "text"
        if nodes := _draw_text(value, stems) if is_text else _draw_addresses(field, value, addresses):
            facts.append(Fact(field.name, nodes))
    return facts


def _draw_text(value: Any, stems: frozenset[str]) -> list[Node]:
    text = ", ".join(to_text(value).split("\n")) if isinstance(value, list) else to_text(value)
    return [*excerpts.mark_words(_shorten(" ".join(text.split())), stems)]


def _shorten(text: str) -> str:
    return f"{text[:MAX_FACT_LENGTH]}…" if len(text) > MAX_FACT_LENGTH else text


def _draw_addresses(field: TemplateField, value: Any, addresses: Addresses) -> list[Node]:
    """Draw links or images; a disallowed link becomes text, and a disallowed image loses its source."""
    lines = [line.strip() for line in to_text(value).splitlines() if line.strip()][:MAX_ADDRESSES]
    if field.drawn_as == "image":
        sources = [addresses.image(text) for text in lines]
        images = [Element("img", {"alt": field.name} | ({"src": src} if src else {}), []) for src in sources]
        return _join_values(images, " ")
    follow = replace(addresses, links=True)
    return _join_values([_draw_link(text, follow.link(text)) for text in lines], ", ")


def _join_values(values: Sequence[Node], between: str) -> list[Node]:
    """Insert a separator between a field's values."""
    return [node for value in values for node in (Segment(between, False), value)][1:]


def _draw_link(text: str, address: str) -> Node:
    words = Segment(_shorten(text), False)
    return Element("a", {"href": address}, [words]) if address else words
