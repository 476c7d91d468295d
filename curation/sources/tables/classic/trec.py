"""TREC's documents and topics: SGML as NIST wrote it, where end tags may be missing, or XML of these names.

A document is `<DOC> … </DOC>` with its id in `<DOCNO>`. Its body are its `<TEXT>` elements, its title the
first of the elements that carry one; where there is no `<TEXT>`, as in web pages, the body is all that is no
header. A topic is `<top>` or `<topic>`. Its query is the title; of a topic without one it is the description,
as at TREC-4. The description (if the query is the title) and the narrative are the information need.

Mark-up is removed and entities are resolved; lines are joined to paragraphs. Everything is found in one pass
over the tags, so that a broken file costs no more time than a good one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any, NamedTuple

from curation.sources.tables.bounds import LONGEST_LINE
from curation.sources.tables.classic.prose import shown, unwrapped
from curation.sources.tables.problems import Problems

BEGINNING = re.compile(
    r"\s*<(?:\?xml|!--|!DOCTYPE|docs?\b|top\b|topics?\b|root\b|collection\b)", re.IGNORECASE
)
DOCUMENT, TOPIC = "doc", "topic"

_BOUNDARY = re.compile(r"<(/?)(doc|top|topic)(?=[\s>])([^<>]*)>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9_.:-]*)([^<>]*)>")
_MARKUP = re.compile(r"</?[A-Za-z!?][^<>]*>")
_PARAGRAPH = re.compile(r"</?(?:p|br|div|li|tr|h[1-6])\b[^<>]*>", re.IGNORECASE)
_NUMBER = re.compile(r"""(?:number|id|qid|num)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_LABEL = re.compile(
    r"\s*(?:number|topic|title|description|narrative|summary|domain|concept\(s\)|concepts|definition\(s\)"
    r"|factor\(s\))\s*:",
    re.IGNORECASE,
)
_TITLES = ("title", "headline", "head", "hl", "ttl", "h3")
_HEADERS = {"docno", "docid", "docoldno", "dochdr", "fileid", "url", "date", "date1", "parent"}
_NUM, _QUERY = ("num", "number"), ("title", "query")
_DESC, _NARR = ("desc", "description", "question"), ("narr", "narrative")


class _Element(NamedTuple):
    name: str
    content: str


class _Begun(NamedTuple):
    """Where a document or topic begins, and its tag as it is written."""

    line: int
    tag: str
    attributes: str


def trec_rows(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The documents (docno, title, text, …) or topics (query_id, text, information_need, …) of a file.

    A value is a text. Title and text are always there, if empty. What is cut off, outside, or without an id
    is a problem.
    """
    for number, tag, attributes, content in _blocks(lines, problems):
        elements = _elements(_without_comments(content))
        fields = _document(elements, content) if tag == DOCUMENT else _topic(elements, attributes)
        name = "docno" if tag == DOCUMENT else "query_id"
        if not fields[name]:
            wanted = "<DOCNO>" if tag == DOCUMENT else "<num> or an attribute number="
            problems.add(number, f"a {_noun(tag)} without an id", f"Expected {wanted} in each {_noun(tag)}.")
        elif tag == TOPIC and not fields["text"]:
            problems.add(
                number, f"topic {shown(fields[name])} has no query", "Expected <title>, <query> or <desc>."
            )
        else:
            yield number, fields


def kind_of(text: str) -> str | None:
    """Whether the beginning of a file holds documents or topics; None where it shows neither."""
    found = _BOUNDARY.search(text)
    return None if found is None else _kind(found[2])


def _kind(tag: str) -> str:
    return DOCUMENT if tag.lower() == "doc" else TOPIC


def _noun(tag: str) -> str:
    return "document" if tag == DOCUMENT else "topic"


def _blocks(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, str, str, str]]:
    """(line, kind, attributes, content) of each document or topic; all of a file are of one kind."""
    begun: _Begun | None = None
    kept: list[str] = []
    size, first = 0, ""
    for number, mark in _marks(lines, problems):
        if isinstance(mark, str):
            size = size + len(mark) if kept else len(mark)
            if size > LONGEST_LINE and begun is not None:
                problems.stop(f"line {begun.line}: <{begun.tag}> has more than {LONGEST_LINE // 10**6} MB")
            kept.append(mark)
        elif mark[1]:  # an end tag
            if begun is not None:
                yield begun.line, first, begun.attributes, "".join(kept)
            begun, kept = None, []
        else:
            first = first or _kind(mark[2])
            if _kind(mark[2]) != first:
                problems.stop(f"line {number}: {_noun(_kind(mark[2]))}s and {_noun(first)}s in one file")
            if begun is not None:
                _note_unclosed(begun, problems, number)
            begun, kept = _Begun(number, mark[2], mark[3]), []
    if begun is not None:
        _note_unclosed(begun, problems)


def _marks(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, re.Match[str] | str]]:
    """The tags that begin and end documents or topics, and the texts between; others are problems."""
    within = ""
    for number, line in enumerate(lines, 1):
        at = 0
        for tag in _BOUNDARY.finditer(line):
            name = tag[2].lower()
            if within and name != within:
                continue
            yield from _text_between(number, line[at : tag.start()], within, problems)
            yield number, tag
            within, at = "" if tag[1] else name, tag.end()
        yield from _text_between(number, line[at:], within, problems)


def _text_between(
    number: int, text: str, within: str, problems: Problems
) -> Iterator[tuple[int, re.Match[str] | str]]:
    if within:
        yield number, text
    elif (left := _MARKUP.sub("", text).strip()) and not left.startswith(("<!", "-->", "<?")):
        problems.add(number, f"text outside of documents and topics: {shown(left)}", "Remove such lines.")


def _note_unclosed(begun: _Begun, problems: Problems, number: int = 0) -> None:
    where = f"before line {number}, where the next one begins" if number else "before the end of the file"
    problems.add(
        begun.line, f"<{begun.tag}> has no </{begun.tag}> {where}", "Was the file cut off? Fetch it again."
    )


def _without_comments(text: str) -> str:
    kept, start = [], 0
    while (begin := text.find("<!--", start)) >= 0 and (end := text.find("-->", begin)) >= 0:
        kept.append(text[start:begin])
        start = end + len("-->")
    return "".join([*kept, text[start:]])


def _elements(text: str) -> list[_Element]:
    """The elements of a block, not those within them; one without an end tag ends where the next begins."""
    tags = list(_TAG.finditer(text))
    begins = [tag.start() for tag in tags]
    ends: dict[str, list[int]] = {}
    for at, tag in enumerate(tags):
        if tag[1]:
            ends.setdefault(tag[2].lower(), []).append(at)
    found, at = [], 0
    while at < len(tags):
        tag = tags[at]
        if tag[1]:
            at += 1
            continue
        name = tag[2].lower()
        closing = ends.get(name, [])
        place = bisect_left(closing, at)
        close = closing[place] if place < len(closing) else None
        following = close if close is not None else at + 1
        stop = begins[following] if following < len(tags) else len(text)
        found.append(_Element(name, text[tag.end() : stop]))
        at = following if close is None else close + 1
    return found


def _document(elements: list[_Element], content: str) -> dict[str, Any]:
    texts = [one.content for one in elements if one.name == "text"]
    title = next((one for one in elements if one.name in _TITLES and _plain(one.content)), None)
    fields = {"docno": "", "title": " ".join(_plain(title.content).split()) if title else "", "text": ""}
    body = [] if texts else [one for one in elements if one.name not in _HEADERS and one is not title]
    fields["text"] = "\n".join(filter(None, map(_plain, texts or (one.content for one in body))))
    if not elements:
        fields["text"] = _plain(content)
    for one in elements:
        if one.name == "docno" and not fields["docno"]:
            fields["docno"] = _plain(one.content)
        elif one.name not in ("text", "docno") and one is not title and one not in body:
            _add(fields, one)
    return fields


def _topic(elements: list[_Element], attributes: str) -> dict[str, Any]:
    number = _NUMBER.search(attributes)
    parts = {one.name: one for one in reversed(elements)}
    num, query, desc, narr = (_first(parts, names) for names in (_NUM, _QUERY, _DESC, _NARR))
    text = query or desc
    need = "\n".join(filter(None, [desc if query else "", narr]))
    fields = {
        "query_id": number[1] if number and not num else num,
        "text": " ".join(text.split()),
        "information_need": need,
    }
    for one in elements:
        if one.name not in (*_NUM, *_QUERY, *_DESC, *_NARR):
            _add(fields, one)
    return fields


def _add(fields: dict[str, Any], element: _Element) -> None:
    """Keep another element under its name; a repeated one on a line of its own, fields of ours apart."""
    text = _plain(_unlabelled(element.content))
    name = (
        element.name if element.name not in ("title", "query_id", "information_need") else f"{element.name}_2"
    )
    if text:
        fields[name] = f"{fields[name]}\n{text}" if name in fields else text


def _first(parts: dict[str, _Element], names: tuple[str, ...]) -> str:
    content = next((parts[name].content for name in names if name in parts), "")
    return _plain(_unlabelled(content))


def _unlabelled(text: str) -> str:
    """The text without the label that NIST puts in front, such as `Number:`."""
    label = _LABEL.match(text)
    return text[label.end() :] if label else text


def _plain(text: str) -> str:
    return unwrapped(unescape(_MARKUP.sub(" ", _PARAGRAPH.sub("\n\n", text))))
