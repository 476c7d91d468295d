"""Parsing of SGML, the mark-up in which old test collections are written.

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


def find_elements(text: str, problems: Problems, block_name: str) -> list[tuple[str, str]]:
    """Return a block's outer elements: each name in lower case, and the content with mark-up.

    An element without an end tag ends where the next element begins.

    Raises
    ------
    InputError: the block has more elements than a document or topic can have; `block_name` names the block.
    """
    ends = _find_last_ends(text, problems, block_name)
    pairs: list[tuple[str, str]] = []
    open_element: tuple[str, int, bool] | None = None
    for tag in _TAG.finditer(text):
        is_end, name = bool(tag[1]), tag[2].lower()
        if open_element is not None and open_element[2] and not (is_end and name == open_element[0]):
            continue  # the tag is inside the open element
        if open_element is not None:
            pairs.append((open_element[0], text[open_element[1] : tag.start()]))
            _refuse_many_elements(len(pairs), problems, block_name)
        open_element = None if is_end else (name, tag.end(), ends.get(name, -1) > tag.start())
    if open_element is not None:
        pairs.append((open_element[0], text[open_element[1] :]))
    return pairs


def _find_last_ends(text: str, problems: Problems, block_name: str) -> dict[str, int]:
    """Return the position of the last end tag for each name."""
    ends: dict[str, int] = {}
    for tag in _TAG.finditer(text):
        if tag[1]:
            ends[tag[2].lower()] = tag.start()
            _refuse_many_elements(len(ends), problems, block_name)
    return ends


def _refuse_many_elements(count: int, problems: Problems, block_name: str) -> None:
    if count > MAX_ELEMENTS:
        problems.stop(
            f"{block_name} has more than {MAX_ELEMENTS:,} elements; expected the elements of one document or "
            "topic",
            "Check this place in the file, and remove the document or topic, or its mark-up.",
        )


def resolve_comments(text: str) -> str:
    """Return the text without comments; the content of CDATA sections becomes plain text."""
    pieces, start, unclosed = [], 0, set()
    for section in _SECTION.finditer(text):
        if section.start() < start or section[0] in unclosed:
            continue
        end = text.find(_ENDS[section[0]], section.start())
        if end < 0:
            unclosed.add(section[0])
            continue
        pieces.append(text[start : section.start()])
        if section[0] != "<!--":
            pieces.append(escape(text[section.end() : end], quote=False))
        start = end + 3
    return "".join([*pieces, text[start:]]).replace("<![CDATA[", "")  # a section without an end


def extract_plain_text(markup: str) -> str:
    """Return the plain text of mark-up, with one line per paragraph."""
    return join_paragraph_lines(unescape(replace_tags(_PARAGRAPH.sub("\n\n", markup), " ")))


def replace_tags(markup: str, by: str = "") -> str:
    """Return the text with each tag replaced by a space or a paragraph break."""
    return _MARKUP.sub(by, markup)


def join_paragraph_lines(text: str) -> str:
    """Return the text with one line per paragraph."""
    paragraphs = _PARAGRAPH_BREAK.split(dedent(text.strip("\n")))
    return "\n".join(filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs)))
