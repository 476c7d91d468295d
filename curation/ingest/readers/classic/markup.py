"""Mark-up taken apart: the elements of a block of SGML or XML, and the plain text of one.

Each step goes over the text once and keeps nothing for each tag, so that a broken file costs no more time or
memory than a good one.
"""

from __future__ import annotations

import re
from html import escape, unescape

from curation.ingest.readers.classic.prose import unwrapped
from curation.ingest.readers.problems import Problems

MOST_ELEMENTS = 100_000
"""Elements of a block, and names of its end tags."""

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9_.:-]*+)[^<>]*+>")
_MARKUP = re.compile(r"</?[A-Za-z!?][^<>]*+>")
_PARAGRAPH = re.compile(r"</?(?:p|br|div|li|tr|h[1-6])\b[^<>]*+>", re.IGNORECASE)
_SECTION = re.compile(r"<!--|<!\[CDATA\[")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>"}


def elements(text: str, problems: Problems, what: str) -> list[tuple[str, str]]:
    """The elements of a block, not those within them: names in small letters, and what is within, mark-up
    included. One without an end tag ends where the next begins.

    Raises
    ------
    InputError: there are more of them than a document or topic can have; `what` names it.
    """
    ends = _last_ends(text, problems, what)
    found: list[tuple[str, str]] = []
    begun: tuple[str, int, bool] | None = None
    for tag in _TAG.finditer(text):
        is_end, name = bool(tag[1]), tag[2].lower()
        if begun is not None and begun[2] and not (is_end and name == begun[0]):
            continue  # within it
        if begun is not None:
            found.append((begun[0], text[begun[1] : tag.start()]))
            _refuse_many(len(found), problems, what)
        begun = None if is_end else (name, tag.end(), ends.get(name, -1) > tag.start())
    if begun is not None:
        found.append((begun[0], text[begun[1] :]))
    return found


def _last_ends(text: str, problems: Problems, what: str) -> dict[str, int]:
    """Where the last end tag of each name is."""
    ends: dict[str, int] = {}
    for tag in _TAG.finditer(text):
        if tag[1]:
            ends[tag[2].lower()] = tag.start()
            _refuse_many(len(ends), problems, what)
    return ends


def _refuse_many(number: int, problems: Problems, what: str) -> None:
    if number > MOST_ELEMENTS:
        problems.stop(
            f"{what} has more than {MOST_ELEMENTS:,} elements; expected those of one document or topic",
            "Look at the file there: remove this one, or its mark-up.",
        )


def without_sections(text: str) -> str:
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


def plain(markup: str) -> str:
    """The text of mark-up: without tags, with entities resolved, each paragraph on a line of its own."""
    return unwrapped(unescape(stripped(_PARAGRAPH.sub("\n\n", markup), " ")))


def stripped(markup: str, by: str = "") -> str:
    """The text with each tag replaced."""
    return _MARKUP.sub(by, markup)
