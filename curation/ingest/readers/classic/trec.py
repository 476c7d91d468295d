"""TREC's documents and topics: SGML as NIST wrote it, where end tags may be missing, or XML of these names.

A document is `<DOC> … </DOC>` with its id in `<DOCNO>`. Its body are its `<TEXT>` elements, its title the
first of the elements that carry one; where there is no `<TEXT>`, as in web pages, the body is all that is no
header. A topic is `<top>` or `<topic>`. Its query is the title; of a topic without one it is the description,
as at TREC-4. The description (if the query is the title) and the narrative are the information need.

Mark-up is removed and entities are resolved; lines are joined to paragraphs. NIST put a label in front of
what a topic's tags hold, such as `Number:` for <num>; it is removed from these tags alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from curation.ingest.readers.bounds import BoundedText
from curation.ingest.readers.classic.markup import elements, plain, stripped, without_sections
from curation.ingest.readers.classic.prose import record_text, shown
from curation.ingest.readers.problems import Problems

BEGINNING = re.compile(
    r"\s*<(?:\?xml|!--|!DOCTYPE|docs?\b|top\b|topics?\b|root\b|collection\b)", re.IGNORECASE
)
DOCUMENT, TOPIC = "doc", "topic"

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
"""The label that NIST put in front of what a tag of a topic holds."""
_TITLES = ("title", "headline", "head", "hl", "ttl", "h3")
_HEADERS = {"docno", "docid", "docoldno", "dochdr", "fileid", "url", "date", "date1", "parent"}
_NUM, _QUERY = ("num", "number"), ("title", "query", "text")
_DESC, _NARR = ("desc", "description", "question"), ("narr", "narrative")
_OURS = ("title", "query_id", "text", "information_need")


def trec_rows(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The documents (docno, title, text, …) or topics (query_id, text, information_need, …) of a file.

    A value is a text. Title and text are always there, if empty. What is cut off, outside, or without an id
    is a problem.
    """
    for number, tag, attributes, content in _blocks(lines, problems):
        block = without_sections(content)
        found = elements(block, problems, f"line {number}: the {_noun(tag)}")
        fields = _document(found, block) if tag == DOCUMENT else _topic(found, attributes)
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
    match = _BOUNDARY.search(text)
    return None if match is None else _kind(match[2])


def _kind(tag: str) -> str:
    return DOCUMENT if tag.lower() == "doc" else TOPIC


def _noun(tag: str) -> str:
    return "document" if tag == DOCUMENT else "topic"


def _blocks(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, str, str, str]]:
    """(line, kind, attributes, content) of each document or topic; all of a file are of one kind."""
    begun: tuple[int, str, str, BoundedText] | None = None  # line, tag, attributes and what was read
    first = ""
    for number, mark in _marks(lines, problems):
        if isinstance(mark, str):
            if begun is not None:
                begun[3].add(mark)
        elif mark[1]:  # an end tag
            if begun is not None:
                line, _, attributes, content = begun
                yield line, first, attributes, content.whole()
            begun = None
        else:
            first = first or _kind(mark[2])
            if _kind(mark[2]) != first:
                problems.stop(f"line {number}: {_noun(_kind(mark[2]))}s and {_noun(first)}s in one file")
            if begun is not None:
                _note_unclosed(*begun[:2], problems, number)
            text = record_text(problems, f"line {number}: <{mark[2]}>")
            begun = (number, mark[2], mark[3], text)
    if begun is not None:
        _note_unclosed(*begun[:2], problems)


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
    elif (left := stripped(text).strip()) and not left.startswith(("<!", "-->", "<?")):
        problems.add(number, f"text outside of documents and topics: {shown(left)}", "Remove such lines.")


def _note_unclosed(line: int, tag: str, problems: Problems, number: int = 0) -> None:
    where = f"before line {number}, where the next one begins" if number else "before the end of the file"
    problems.add(line, f"<{tag}> has no </{tag}> {where}", "Was the file cut off? Fetch it again.")


def _document(found: list[tuple[str, str]], block: str) -> dict[str, Any]:
    has_text = any(name == "text" for name, _ in found)
    title = next((one for one in found if one[0] in _TITLES and plain(one[1])), ("", ""))
    parts: defaultdict[str, list[str]] = defaultdict(list)
    for element in found:
        name, content = element
        is_body = name == "text" if has_text else name not in _HEADERS
        if element is not title:
            parts["text" if is_body else _own_name(name)].append(plain(content))
    heading = " ".join(plain(title[1]).split())
    docno = next(filter(None, parts.pop("docno", [])), "")
    text = _joined(parts.pop("text", [])) if found else plain(block)
    return {"docno": docno, "title": heading, "text": text, **_others(parts)}


def _topic(found: list[tuple[str, str]], attributes: str) -> dict[str, Any]:
    number = _NUMBER.search(attributes)
    texts = {name: _unlabelled(name, content) for name, content in reversed(found)}
    used = [_first(texts, names) for names in (_NUM, _QUERY, _DESC, _NARR)]
    num, query, desc, narr = (texts.get(name, "") for name in used)
    fields = {
        "query_id": number[1] if number and not num else num,
        "text": " ".join((query or desc).split()),
        "information_need": _joined([desc if query else "", narr]),
    }
    parts: defaultdict[str, list[str]] = defaultdict(list)
    for name, content in found:
        if name not in used:
            parts[_own_name(name)].append(_unlabelled(name, content))
    return {**fields, **_others(parts)}


def _own_name(name: str) -> str:
    """The name under which another element is kept, apart from our fields."""
    return f"{name}_2" if name in _OURS else name


def _others(parts: dict[str, list[str]]) -> dict[str, str]:
    """What else there is, by name; that of a repeated element on lines of their own."""
    return {name: text for name, texts in parts.items() if (text := _joined(texts))}


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(filter(None, texts))


def _first(texts: dict[str, str], names: tuple[str, ...]) -> str:
    """The first name under which there is a text."""
    return next((name for name in names if texts.get(name)), "")


def _unlabelled(name: str, content: str) -> str:
    """The text of a topic's element, without NIST's label."""
    label = _LABELS.get(name)
    match = label.match(content) if label else None
    return plain(content[match.end() :] if match else content)
