"""A document's HTML, which contains only safe elements, safe attributes and escaped text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape

from curation.core.characters import isolate
from curation.core.similarity.text_blocks import TextBlock
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import NAMES, Element, Fact, Node

_AROUND_BREAKS = re.compile(r" *(\n+) *")
_TEXT_ELEMENT = re.compile("p|h[3-6]|li|d[td]|t[dh]|caption|blockquote|pre")
"""HTML elements that contain text of a document and keep the text's writing direction."""
_WIDE_ELEMENTS = {"table": "Table", "pre": "Code"}
"""HTML elements that get a scroll bar of their own → the label of the scrolled area."""


def document_html(
    title: Iterable[Segment], body: Iterable[Node], facts: Iterable[str | None], fields: Iterable[Fact]
) -> str:
    """Return a document's HTML: pictures, title, a line of facts, other fields, and the body.

    Parameters
    ----------
    facts: texts about the document, such as its id and its date.
    fields: the fields of the document that the guide's template selects.
    """
    heading, nodes = _segments_html(title) or "Untitled document", list(body)
    facts_line = "  ·  ".join(isolate(fact) for fact in facts if fact)
    drawn = ' class="drawn"' if any(isinstance(node, Element) for node in nodes) else ""
    pictures, other_fields = _fields_html(fields)
    return (
        f'<article class="gs-document" tabindex="0">{pictures}<h2 dir="auto">{heading}</h2>'
        f'<p class="gs-quiet">{escape(facts_line)}</p>{other_fields}'
        f'<div dir="auto"{drawn}>{"".join(map(_node_html, nodes))}</div></article>'
    )


def difference_html(blocks: Iterable[TextBlock]) -> str:
    """Return two versions of a text as one text, with removed words in `del` and added words in `ins`."""
    tags = {"removed": "del", "added": "ins"}
    words = []
    for block in blocks:
        tag = tags.get(block.kind)
        words.append(f"<{tag}>{escape(block.text)}</{tag}>" if tag else escape(block.text))
    return _AROUND_BREAKS.sub(r"\1", " ".join(words))


def _fields_html(fields: Iterable[Fact]) -> tuple[str, str]:
    """Return a document's fields as HTML: the pictures, and the other fields."""
    pictures, others = "", ""
    for label, value in fields:
        content = "".join(map(_node_html, value))
        if isinstance(value[0], Element) and value[0].attributes.get("src"):
            pictures += content
        else:
            label_html = f"<b>{escape(label)}</b>" if label else ""
            others += f"<span>{label_html}<bdi>{content}</bdi></span>"
    return (
        f'<div class="pictures">{pictures}</div>' if pictures else "",
        f'<p class="fields">{others}</p>' if others else "",
    )


def _node_html(node: Node) -> str:
    if isinstance(node, Segment):
        return _segments_html([node])
    name, attributes, children = node
    content = "".join(map(_node_html, children))
    if name == "img":
        return _picture_html(attributes)
    if name == "a" and attributes.get("href"):
        rel = 'target="_blank" rel="noopener noreferrer nofollow"'
        return f'<a href="{escape(attributes["href"])}" {rel}>{content}</a>'
    if name not in NAMES:
        return content
    if name in ("br", "hr"):
        return f"<{name}>"
    return _element_html(name, attributes, content)


def _element_html(name: str, attributes: Mapping[str, str], content: str) -> str:
    """Return an element as HTML with its numeric attributes; tables and code get a scrollable area."""
    direction = ' dir="auto"' if _TEXT_ELEMENT.fullmatch(name) else ""
    numbers = "".join(
        f' {key}="{int(attributes[key])}"' for key in ("start", "colspan", "rowspan") if key in attributes
    )
    cut = f' data-cut="{escape(attributes["cut"])}"' if attributes.get("cut") else ""
    if name not in _WIDE_ELEMENTS:
        return f"<{name}{direction}{numbers}{cut}>{content}</{name}>"
    label = _WIDE_ELEMENTS[name]
    area = f'<div class="across" tabindex="0" role="group" aria-label="{label}"{cut}>'
    return f"{area}<{name}{direction}{numbers}>{content}</{name}></div>"


def _picture_html(attributes: Mapping[str, str]) -> str:
    alternative, source = escape(attributes.get("alt", "")), attributes.get("src", "")
    if not source:
        return f'<span class="no-picture" dir="auto">{alternative}</span>'
    return f'<img src="{escape(source)}" alt="{alternative}" referrerpolicy="no-referrer">'


def _segments_html(segments: Iterable[Segment]) -> str:
    texts = ((escape(segment.text), segment.marked) for segment in segments)
    return "".join(f"<mark>{text}</mark>" if marked else text for text, marked in texts)
