"""Parsing of SGML in the classic test collections: the elements of a block, and plain text from mark-up.

Each function passes over a text once and stores nothing for single tags, so that a broken file takes no more
time or memory than a valid file.
"""

from __future__ import annotations

import re
from html import escape, unescape
from textwrap import dedent

from curation.ingest.readers.problems import Problems

MAX_ELEMENTS = 100_000
"""Greatest number of elements in a block, and of names of end tags in a block."""
_PARAGRAPH_BREAK = re.compile(r"\n(?:[^\S\n]*\n|(?=[^\S\n]))")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9_.:-]*+)[^<>]*+>")
_MARKUP = re.compile(r"</?[A-Za-z!?][^<>]*+>")
_PARAGRAPH = re.compile(r"</?(?:p|br|div|li|tr|h[1-6])\b[^<>]*+>", re.IGNORECASE)
_SECTION = re.compile(r"<!--|<!\[CDATA\[")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>"}


def elements(text: str, problems: Problems, what: str) -> list[tuple[str, str]]:
    """Return the outer elements of a block: the name of each element in lower case, and the element's content
    with mark-up.

    An element without an end tag ends where the next element begins.

    Raises
    ------
    InputError: the block has more elements than a document or topic can have; `what` names the block.
    """
    ends = _last_ends(text, problems, what)
    pairs: list[tuple[str, str]] = []
    begun: tuple[str, int, bool] | None = None
    for tag in _TAG.finditer(text):
        is_end, name = bool(tag[1]), tag[2].lower()
        if begun is not None and begun[2] and not (is_end and name == begun[0]):
            continue  # a tag within the element
        if begun is not None:
            pairs.append((begun[0], text[begun[1] : tag.start()]))
            _refuse_many(len(pairs), problems, what)
        begun = None if is_end else (name, tag.end(), ends.get(name, -1) > tag.start())
    if begun is not None:
        pairs.append((begun[0], text[begun[1] :]))
    return pairs


def _last_ends(text: str, problems: Problems, what: str) -> dict[str, int]:
    """Return the position of the last end tag with each name."""
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
            "Look at this place in the file: remove the document or topic, or its mark-up.",
        )


def resolve_comments_and_cdata(text: str) -> str:
    """Return the text without comments; the content of CDATA sections becomes plain characters."""
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
    return "".join([*kept, text[start:]]).replace("<![CDATA[", "")  # of a section without an end


def plain_text(markup: str) -> str:
    """Return the plain text of mark-up: without tags, with resolved entities, and with one line for each
    paragraph.
    """
    return join_paragraph_lines(unescape(replace_tags(_PARAGRAPH.sub("\n\n", markup), " ")))


def replace_tags(markup: str, by: str = "") -> str:
    """Return the text with each tag replaced by a space or a paragraph break."""
    return _MARKUP.sub(by, markup)


def join_paragraph_lines(text: str) -> str:
    """Return the text with one line for each paragraph."""
    paragraphs = _PARAGRAPH_BREAK.split(dedent(text.strip("\n")))
    return "\n".join(filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs)))
