"""Text as old files hold it: in short lines, a blank or an indented one where a paragraph begins."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import dedent

from curation.sources.tables.problems import Problems

_PARAGRAPH = re.compile(r"\n(?:[^\S\n]*\n|(?=[^\S\n]))")
LONGEST_SHOWN = 60


def unwrapped(text: str) -> str:
    """The text with each paragraph on a line of its own."""
    paragraphs = _PARAGRAPH.split(dedent(text.strip("\n")))
    return "\n".join(filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs)))


def within_bounds(parts: Iterable[str], problems: Problems, most: int, what: str) -> str:
    """The parts as one text, which memory holds as a whole.

    Raises
    ------
    InputError: it has more than `most` characters.
    """
    kept: list[str] = []
    size = 0
    for part in parts:
        size += len(part)
        if size > most:
            problems.stop(f"{what} has more than {most // 10**6} MB of text", "Was the file cut off?")
        kept.append(part)
    return "".join(kept)


def shown(text: str) -> str:
    """A piece of a file for a sentence, in quotes and never long."""
    line = " ".join(text[: 4 * LONGEST_SHOWN].split())
    return repr(f"{line[:LONGEST_SHOWN]}…" if len(line) > LONGEST_SHOWN else line)
