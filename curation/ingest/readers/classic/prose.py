"""Text as old files hold it: in short lines, a blank or an indented one where a paragraph begins."""

from __future__ import annotations

import re
from textwrap import dedent

from curation.ingest.readers.bounds import BoundedText
from curation.ingest.readers.problems import Problems

_PARAGRAPH = re.compile(r"\n(?:[^\S\n]*\n|(?=[^\S\n]))")
LONGEST_SHOWN = 60
LONGEST_RECORD = 16_000_000
"""Characters of a document, topic or record. Taken apart into its words, it needs thirty times the memory."""


def unwrapped(text: str) -> str:
    """The text with each paragraph on a line of its own."""
    paragraphs = _PARAGRAPH.split(dedent(text.strip("\n")))
    return "\n".join(filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs)))


def record_text(problems: Problems, what: str) -> BoundedText:
    """The text of one document, topic or record, to be read."""
    way_out = "Is its end missing? Fetch the file again then; else make several of it."
    return BoundedText(problems, what, LONGEST_RECORD, way_out)


def shown(text: str) -> str:
    """A piece of a file for a sentence, in quotes and never long."""
    line = " ".join(text[: 4 * LONGEST_SHOWN].split())
    return repr(f"{line[:LONGEST_SHOWN]}…" if len(line) > LONGEST_SHOWN else line)
