"""Records of the classic test collections, TREC's and SMART's.

TREC has SGML as NIST wrote it, where end tags may be missing, or XML of these names.

A document is `<DOC> … </DOC>` with its id in `<DOCNO>`. Its body are its `<TEXT>` elements, its title the
first of the elements that carry one; where there is no `<TEXT>`, as in web pages, the body is all that is no
header. A topic is `<top>` or `<topic>`. Its query is the title; of a topic without one it is the description,
as at TREC-4. The description (if the query is the title) and the narrative are the information need.

Mark-up is removed and entities are resolved; lines are joined to paragraphs. NIST put a label in front of
what a topic's tags hold, such as `Number:` for <num>; it is removed from these tags alone.

SMART's records begin with `.I`, with a field for each mark: `.T` title, `.A` author, `.W` text, `.B` source,
`.K` keywords; others keep their letter. CISI's list (`.REL`) has a query and a relevant document a line, and
two columns of zeros behind them, so the grade is 1. MEDLINE's list has TREC's four columns and is `qrels`.

Each step goes over the text once and keeps nothing for each tag, so that a broken file costs no more time or
memory than a good one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from html import escape, unescape
from itertools import chain
from textwrap import dedent
from typing import Any

from curation.ingest.readers.bounds import BoundedText
from curation.ingest.readers.problems import Problems

Rows = Iterator[tuple[int, dict[str, Any]]]
"""The line on which a record begins, and its fields."""
_PARAGRAPH_BREAK = re.compile(r"\n(?:[^\S\n]*\n|(?=[^\S\n]))")
MAX_SHOWN_LENGTH = 60
MAX_RECORD_LENGTH = 16_000_000
"""Characters of a document, topic or record. Taken apart into its words, it needs thirty times the memory."""
MAX_ELEMENTS = 100_000
"""Elements of a block, and names of its end tags."""
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9_.:-]*+)[^<>]*+>")
_MARKUP = re.compile(r"</?[A-Za-z!?][^<>]*+>")
_PARAGRAPH = re.compile(r"</?(?:p|br|div|li|tr|h[1-6])\b[^<>]*+>", re.IGNORECASE)
_SECTION = re.compile(r"<!--|<!\[CDATA\[")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>"}
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
_SMART_NAMES = {"T": "title", "A": "author", "W": "text", "B": "source", "K": "keywords"}
SMART_GRADE = "1"
_RECORD = re.compile(r"\.I\s+(\S+)\s*")
_SMART_MARK = re.compile(r"^\.([A-Z])[^\S\n]*+(?:\n|\Z)", re.MULTILINE)
_PAIR = re.compile(r"\s*+(\S++)\s++(\S++)(?:\s++0*+\.?0*+)*+")
_LIST = "Expected a query and a relevant document, and behind them nothing but zeros."
_TITLES = ("title", "headline", "head", "hl", "ttl", "h3")
_HEADERS = {"docno", "docid", "docoldno", "dochdr", "fileid", "url", "date", "date1", "parent"}
_NUM, _QUERY = ("num", "number"), ("title", "query", "text")
_DESC, _NARR = ("desc", "description", "question"), ("narr", "narrative")
_OURS = ("title", "query_id", "text", "information_need")


def join_paragraph_lines(text: str) -> str:
    """The text with each paragraph on a line of its own."""
    paragraphs = _PARAGRAPH_BREAK.split(dedent(text.strip("\n")))
    return "\n".join(filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs)))


def record_text(problems: Problems, what: str) -> BoundedText:
    """The text of one document, topic or record, to be read."""
    way_out = "Is its end missing? Fetch the file again then; else make several of it."
    return BoundedText(problems, what, MAX_RECORD_LENGTH, way_out)


def quoted_excerpt(text: str) -> str:
    """A piece of a file for a sentence, in quotes and never long."""
    line = " ".join(text[: 4 * MAX_SHOWN_LENGTH].split())
    return repr(f"{line[:MAX_SHOWN_LENGTH]}…" if len(line) > MAX_SHOWN_LENGTH else line)


def elements(text: str, problems: Problems, what: str) -> list[tuple[str, str]]:
    """The elements of a block, not those within them: names in small letters, and what is within, mark-up
    included. One without an end tag ends where the next begins.

    Raises
    ------
    InputError: there are more of them than a document or topic can have; `what` names it.
    """
    ends = _last_ends(text, problems, what)
    pairs: list[tuple[str, str]] = []
    begun: tuple[str, int, bool] | None = None
    for tag in _TAG.finditer(text):
        is_end, name = bool(tag[1]), tag[2].lower()
        if begun is not None and begun[2] and not (is_end and name == begun[0]):
            continue  # within it
        if begun is not None:
            pairs.append((begun[0], text[begun[1] : tag.start()]))
            _refuse_many(len(pairs), problems, what)
        begun = None if is_end else (name, tag.end(), ends.get(name, -1) > tag.start())
    if begun is not None:
        pairs.append((begun[0], text[begun[1] :]))
    return pairs


def _last_ends(text: str, problems: Problems, what: str) -> dict[str, int]:
    """Where the last end tag of each name is."""
    ends: dict[str, int] = {}
    for tag in _TAG.finditer(text):
        if tag[1]:
            ends[tag[2].lower()] = tag.start()
            _refuse_many(len(ends), problems, what)
    return ends


def _refuse_many(number: int, problems: Problems, what: str) -> None:
    if number > MAX_ELEMENTS:
        problems.stop(
            f"{what} has more than {MAX_ELEMENTS:,} elements; expected the elements of one document or topic",
            "Look at the file there: remove this one, or its mark-up.",
        )


def resolve_comments_and_cdata(text: str) -> str:
    """The text without its comments, and with what CDATA sections hold as characters, not as mark-up."""
    kept, start, unclosed = [], 0, set()
    for begin in _SECTION.finditer(text):
        if begin.start() < start or begin[0] in unclosed:
            continue
        end = text.find(_ENDS[begin[0]], begin.start())
        if end < 0:
            unclosed.add(begin[0])
            continue
        kept.append(text[start : begin.start()])
        if begin[0] != "<!--":
            kept.append(escape(text[begin.end() : end], quote=False))
        start = end + 3
    return "".join([*kept, text[start:]]).replace("<![CDATA[", "")  # of one without an end


def plain_text(markup: str) -> str:
    """The text of mark-up: without tags, with entities resolved, each paragraph on a line of its own."""
    return join_paragraph_lines(unescape(replace_tags(_PARAGRAPH.sub("\n\n", markup), " ")))


def replace_tags(markup: str, by: str = "") -> str:
    """The text with each tag replaced."""
    return _MARKUP.sub(by, markup)


def trec_rows(lines: Iterable[str], problems: Problems) -> Rows:
    """The documents (docno, title, text, …) or topics (query_id, text, information_need, …) of a file.

    A value is a text. Title and text are always there, if empty. What is cut off, outside, or without an id
    is a problem.
    """
    for number, tag, attributes, content in _blocks(lines, problems):
        block = resolve_comments_and_cdata(content)
        pairs = elements(block, problems, f"line {number}: the {_noun(tag)}")
        fields = _document(pairs, block) if tag == DOCUMENT else _topic(pairs, attributes)
        name = "docno" if tag == DOCUMENT else "query_id"
        if not fields[name]:
            wanted = "<DOCNO>" if tag == DOCUMENT else "<num> or an attribute number="
            problems.add(number, f"a {_noun(tag)} without an id", f"Expected {wanted} in each {_noun(tag)}.")
        elif tag == TOPIC and not fields["text"]:
            problems.add(
                number,
                f"topic {quoted_excerpt(fields[name])} has no query",
                "Expected <title>, <query> or <desc>.",
            )
        else:
            yield number, fields


def kind_of(text: str) -> str | None:
    """Whether the beginning of a file holds documents or topics; None if it shows neither."""
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
    elif (left := replace_tags(text).strip()) and not left.startswith(("<!", "-->", "<?")):
        problems.add(
            number, f"text outside of documents and topics: {quoted_excerpt(left)}", "Remove such lines."
        )


def _note_unclosed(line: int, tag: str, problems: Problems, number: int = 0) -> None:
    where = f"before line {number}, where the next one begins" if number else "before the end of the file"
    problems.add(line, f"<{tag}> has no </{tag}> {where}", "Was the file cut off? Fetch it again.")


def _document(pairs: list[tuple[str, str]], block: str) -> dict[str, Any]:
    has_text = any(name == "text" for name, _ in pairs)
    title = next((pair for pair in pairs if pair[0] in _TITLES and plain_text(pair[1])), ("", ""))
    parts: defaultdict[str, list[str]] = defaultdict(list)
    for element in pairs:
        name, content = element
        is_body = name == "text" if has_text else name not in _HEADERS
        if element is not title:
            parts["text" if is_body else _own_name(name)].append(plain_text(content))
    heading = " ".join(plain_text(title[1]).split())
    docno = next(filter(None, parts.pop("docno", [])), "")
    text = _joined(parts.pop("text", [])) if pairs else plain_text(block)
    return {"docno": docno, "title": heading, "text": text, **_others(parts)}


def _topic(pairs: list[tuple[str, str]], attributes: str) -> dict[str, Any]:
    number = _NUMBER.search(attributes)
    texts = {name: _unlabelled(name, content) for name, content in reversed(pairs)}
    used = [_first(texts, names) for names in (_NUM, _QUERY, _DESC, _NARR)]
    num, query, desc, narr = (texts.get(name, "") for name in used)
    fields = {
        "query_id": number[1] if number and not num else num,
        "text": " ".join((query or desc).split()),
        "information_need": _joined([desc if query else "", narr]),
    }
    parts: defaultdict[str, list[str]] = defaultdict(list)
    for name, content in pairs:
        if name not in used:
            parts[_own_name(name)].append(_unlabelled(name, content))
    return {**fields, **_others(parts)}


def _own_name(name: str) -> str:
    """The name under which another element is kept, apart from our fields."""
    return f"{name}_2" if name in _OURS else name


def _others(parts: dict[str, list[str]]) -> dict[str, str]:
    """What else there is, by name; a repeated element has a line for each of its texts."""
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
    return plain_text(content[match.end() :] if match else content)


def smart_rows(lines: Iterable[str], problems: Problems) -> Rows:
    """The records (id, title, text, …) of a file, or the rows (query_id, document, grade) of a list."""
    for number, line in enumerate(lines := iter(lines), 1):
        if line.strip():
            rest = chain([(number, line)], enumerate(lines, number + 1))
            yield from _smart_records(rest, problems) if line.startswith(".") else _relevant(rest, problems)


def is_smart_qrels(text: str) -> bool:
    """Whether lines are a list of relevant documents with zeros behind them."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return bool(rows) and all(len(row) == 4 and _PAIR.fullmatch(" ".join(row)) for row in rows)


def _smart_records(lines: Iterable[tuple[int, str]], problems: Problems) -> Rows:
    begun, name, text, is_marked = 0, "", record_text(problems, ""), False
    for number, line in lines:
        record = _RECORD.fullmatch(line)
        if record is not None:
            if begun:
                yield begun, _smart_fields(name, text.whole())
            begun, name, is_marked = number, record[1], False
            text = record_text(problems, f"line {number}: the record")
        elif line.startswith(".I") and not line[2:].strip():
            problems.add(number, "a record without an id", "Expected .I and a number.")
        elif begun and (is_marked or _SMART_MARK.fullmatch(line)):
            is_marked = True
            text.add(line)
        elif line.strip():
            problems.add(
                number, f"{quoted_excerpt(line)} belongs to no field", "Expected .I, then a mark such as .W."
            )
    if begun:
        yield begun, _smart_fields(name, text.whole())


def _smart_fields(name: str, text: str) -> dict[str, Any]:
    _, *rest = _SMART_MARK.split(text)
    fields = {"id": name, "title": "", "text": ""}
    parts: defaultdict[str, list[str]] = defaultdict(list)
    for mark, part in zip(rest[::2], rest[1::2], strict=True):
        parts[mark].append(part)
    for mark, texts in parts.items():
        fields[_SMART_NAMES.get(mark, mark.lower())] = join_paragraph_lines("".join(texts))
    return fields


def _relevant(lines: Iterable[tuple[int, str]], problems: Problems) -> Rows:
    for number, line in lines:
        pair = _PAIR.fullmatch(line)
        if pair is not None:
            yield number, {"query_id": pair[1], "document": pair[2], "grade": SMART_GRADE}
        elif line.strip():
            problems.add(number, f"found {quoted_excerpt(line)}", _LIST)
