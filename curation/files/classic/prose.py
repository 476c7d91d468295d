"""Text as old files hold it: in short lines, a blank or an indented one where a paragraph begins."""

from __future__ import annotations

import io
import re
from textwrap import dedent

from curation.files.problems import Problems

_PARAGRAPH = re.compile(r"\n(?:[^\S\n]*\n|(?=[^\S\n]))")
LONGEST_SHOWN = 60
LONGEST_RECORD = 16_000_000
"""Characters of a document, topic or record. Taken apart into its words, it needs thirty times the memory."""


def unwrapped(text: str) -> str:
    """The text with each paragraph on a line of its own."""
    paragraphs = _PARAGRAPH.split(dedent(text.strip("\n")))
    return "\n".join(filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs)))


class BoundedText:
    """A text that grows by parts up to a bound. A million short parts need no more memory than a long one."""

    def __init__(self, problems: Problems, what: str, most: int, way_out: str) -> None:
        self._problems, self._what, self._most, self._way_out = problems, what, most, way_out
        self._text = io.StringIO()
        self._size = 0

    def add(self, part: str) -> None:
        """Put a part at the end.

        Raises
        ------
        InputError: the text has more than the characters that it may have; `what` names it.
        """
        self._size += len(part)
        if self._size > self._most:
            self._problems.stop(
                f"{self._what} has more than {self._most // 10**6} MB of text; expected less", self._way_out
            )
        self._text.write(part)

    def whole(self) -> str:
        """All that was added."""
        return self._text.getvalue()


def record_text(problems: Problems, what: str) -> BoundedText:
    """The text of one document, topic or record, to be read."""
    way_out = "Is its end missing? Fetch the file again then; else make several of it."
    return BoundedText(problems, what, LONGEST_RECORD, way_out)


def shown(text: str) -> str:
    """A piece of a file for a sentence, in quotes and never long."""
    line = " ".join(text[: 4 * LONGEST_SHOWN].split())
    return repr(f"{line[:LONGEST_SHOWN]}…" if len(line) > LONGEST_SHOWN else line)
