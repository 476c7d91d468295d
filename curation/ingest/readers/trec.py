"""Reading of TREC's documents and topics.

A file is in NIST's SGML, in which end tags may be missing, or in XML with the same element names.

A document is `<DOC> … </DOC>` with its id in `<DOCNO>`. The body of a document is the text of all its
`<TEXT>` elements, and the title is the first element that has a usual name of titles. In a document without
`<TEXT>`, such as a web page, the body is the text of all elements except headers. A topic is `<top>` or
`<topic>`. The query is the title of the topic, or the description of a topic without a title, as at TREC-4.
The information need is the narrative, and the description if the topic has a title.

Mark-up is removed and entities are resolved; lines are joined to paragraphs. NIST put a label in front of the
content of a topic's tags, such as `Number:` for <num>; this label is removed only from the tags in which NIST
used it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from curation.ingest.readers.bounds import BoundedText, start_record_text
from curation.ingest.readers.problems import Problems, quoted_excerpt
from curation.ingest.readers.sgml import extract_plain_text, find_elements, replace_tags, resolve_comments

BEGINNING = re.compile(
    r"\s*<(?:\?xml|!--|!DOCTYPE|docs?\b|top\b|topics?\b|root\b|collection\b)", re.IGNORECASE
)
DOCUMENT, TOPIC = "document", "topic"
"""Kinds of blocks in a TREC file; all blocks of a file have the same kind."""
_BOUNDARY = re.compile(r"<(/?)(doc|top|topic)(?=[\s>])([^<>]*)>", re.IGNORECASE)
_NUMBER = re.compile(r"""(?:number|id|qid|num)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_LABELS = {
    name: re.compile(rf"\s*(?:{label})\s*:", re.IGNORECASE)
    for names, label in (
        (("num", "number"), "number|topic"),
        (("title",), "topic|title"),
        (("desc", "description"), "description"),
        (("narr", "narrative"), "narrative"),
        (("smry", "summary"), "summary"),
        (("dom", "domain"), "domain"),
        (("con", "concepts"), r"concepts|concept\(s\)"),
        (("def", "definitions"), r"definition\(s\)"),
        (("fac", "factors"), r"factor\(s\)"),
    )
    for name in names
}
"""Label that NIST put in front of the content of each tag of a topic."""
_TITLES = ("title", "headline", "head", "hl", "ttl", "h3")
_HEADERS = {"docno", "docid", "docoldno", "dochdr", "fileid", "url", "date", "date1", "parent"}
_ID_TAGS = ("num", "number")
_QUERY_TAGS = ("title", "query", "text")
_DESCRIPTION_TAGS = ("desc", "description", "question")
_NARRATIVE_TAGS = ("narr", "narrative")
_OWN_FIELDS = ("title", "query_id", "text", "information_need")
Rows = Iterator[tuple[int, dict[str, Any]]]
"""Number of the line on which a record begins, and the fields of the record."""


def read_trec_rows(lines: Iterable[str], problems: Problems) -> Rows:
    """Yield the documents (docno, title, text, …) or topics (query_id, text, information_need, …) of a file.

    Values are texts. The fields title and text are always present, but may be empty. A block that is cut off
    or has no id, and text outside of blocks, are reported as problems.
    """
    for number, kind, attributes, content in _read_blocks(lines, problems):
        block = resolve_comments(content)
        pairs = find_elements(block, problems, f"line {number}: the {kind}")
        if kind == DOCUMENT:
            fields = _make_document_fields(pairs, block)
            record_id, id_place = fields["docno"], "<DOCNO>"
        else:
            fields = _make_topic_fields(pairs, attributes)
            record_id, id_place = fields["query_id"], "<num> or an attribute number="
        if not record_id:
            problems.add(number, f"a {kind} without an id", f"Expected {id_place} in each {kind}.")
        elif kind == TOPIC and not fields["text"]:
            expected = "Expected <title>, <query> or <desc>."
            problems.add(number, f"topic {quoted_excerpt(record_id)} has no query", expected)
        else:
            yield number, fields


def find_block_kind(text: str) -> str | None:
    """Return which blocks the beginning of a file has: documents, topics, or None for neither."""
    match = _BOUNDARY.search(text)
    return None if match is None else _find_kind(match[2])


def _find_kind(tag: str) -> str:
    return DOCUMENT if tag.lower() == "doc" else TOPIC


def _read_blocks(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, str, str, str]]:
    """Yield the line, kind, attributes and content of each block; reject documents mixed with topics."""
    open_block: tuple[int, re.Match[str], BoundedText] | None = None
    kind = ""
    for number, piece in _read_marks(lines, problems):
        if isinstance(piece, str):
            if open_block is not None:
                open_block[2].add(piece)
        elif piece[1]:  # an end tag
            if open_block is not None:
                line, tag, content = open_block
                yield line, kind, tag[3], content.whole()
            open_block = None
        else:
            kind = kind or _find_kind(piece[2])
            if _find_kind(piece[2]) != kind:
                problems.stop(f"line {number}: {_find_kind(piece[2])}s and {kind}s in one file")
            if open_block is not None:
                _note_unclosed(open_block[0], open_block[1][2], problems, number)
            open_block = (number, piece, start_record_text(problems, f"line {number}: <{piece[2]}>"))
    if open_block is not None:
        _note_unclosed(open_block[0], open_block[1][2], problems)


def _read_marks(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, re.Match[str] | str]]:
    """Yield the tags around documents or topics, and the texts between them; report stray text."""
    open_tag = ""
    for number, line in enumerate(lines, 1):
        end = 0
        for tag in _BOUNDARY.finditer(line):
            name = tag[2].lower()
            if open_tag and name != open_tag:
                continue
            yield from _read_text_between(number, line[end : tag.start()], open_tag, problems)
            yield number, tag
            open_tag, end = "" if tag[1] else name, tag.end()
        yield from _read_text_between(number, line[end:], open_tag, problems)


def _read_text_between(
    number: int, text: str, open_tag: str, problems: Problems
) -> Iterator[tuple[int, re.Match[str] | str]]:
    if open_tag:
        yield number, text
    elif (stray_text := replace_tags(text).strip()) and not stray_text.startswith(("<!", "-->", "<?")):
        problem = f"text outside of documents and topics: {quoted_excerpt(stray_text)}"
        problems.add(number, problem, "Remove such lines.")


def _note_unclosed(line: int, tag: str, problems: Problems, number: int = 0) -> None:
    where = f"before line {number}, where the next block begins" if number else "before the end of the file"
    problems.add(line, f"<{tag}> has no </{tag}> {where}", "The file may be cut off. Download it again.")


def _make_document_fields(pairs: list[tuple[str, str]], block: str) -> dict[str, str]:
    has_text = any(name == "text" for name, _ in pairs)
    title = next((pair for pair in pairs if pair[0] in _TITLES and extract_plain_text(pair[1])), ("", ""))
    texts_of_field: defaultdict[str, list[str]] = defaultdict(list)
    for element in pairs:
        name, content = element
        is_body = name == "text" if has_text else name not in _HEADERS
        if element is not title:
            texts_of_field["text" if is_body else _make_field_name(name)].append(extract_plain_text(content))
    heading = " ".join(extract_plain_text(title[1]).split())
    docno = next(filter(None, texts_of_field.pop("docno", [])), "")
    text = _join_lines(texts_of_field.pop("text", [])) if pairs else extract_plain_text(block)
    return {"docno": docno, "title": heading, "text": text, **_join_other_fields(texts_of_field)}


def _make_topic_fields(pairs: list[tuple[str, str]], attributes: str) -> dict[str, str]:
    attribute = _NUMBER.search(attributes)
    texts = {name: _remove_label(name, content) for name, content in reversed(pairs)}
    used_tags = [
        next((name for name in names if texts.get(name)), "")
        for names in (_ID_TAGS, _QUERY_TAGS, _DESCRIPTION_TAGS, _NARRATIVE_TAGS)
    ]
    topic_id, query, description, narrative = (texts.get(name, "") for name in used_tags)
    fields = {
        "query_id": attribute[1] if attribute and not topic_id else topic_id,
        "text": " ".join((query or description).split()),
        "information_need": _join_lines([description if query else "", narrative]),
    }
    texts_of_field: defaultdict[str, list[str]] = defaultdict(list)
    for name, content in pairs:
        if name not in used_tags:
            texts_of_field[_make_field_name(name)].append(_remove_label(name, content))
    return {**fields, **_join_other_fields(texts_of_field)}


def _make_field_name(tag: str) -> str:
    """Return the field name for an element without a fixed field; `_2` avoids a clash with goldgrade's
    fields."""
    return f"{tag}_2" if tag in _OWN_FIELDS else tag


def _join_other_fields(texts_of_field: dict[str, list[str]]) -> dict[str, str]:
    """Return the elements without a fixed field by name, with one line per repetition."""
    return {name: text for name, texts in texts_of_field.items() if (text := _join_lines(texts))}


def _join_lines(texts: Iterable[str]) -> str:
    return "\n".join(filter(None, texts))


def _remove_label(name: str, content: str) -> str:
    """Return the text of a topic's element without NIST's label."""
    label = _LABELS.get(name)
    match = label.match(content) if label else None
    return extract_plain_text(content[match.end() :] if match else content)
