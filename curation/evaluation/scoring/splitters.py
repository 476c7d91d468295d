"""Splitters: how the body of a document is cut into chunks, as ranges of its characters.

    200/50     windows of 200 words, of which 50 are the last ones of the window before; 200 overlap in none
    sentence   whole sentences or lines, as the screen cuts them by script
    heading    the sections of Markdown, each from its heading on; what is before the first is one, too

White space at their ends is no part of chunks. A word is what `words.word_starts` counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from curation.core.errors import refuse_problems
from curation.core.spans import Span, trimmed
from curation.core.words import word_starts
from curation.labeling.presentation.excerpts import sentences

SENTENCE, HEADING = "sentence", "heading"
_WINDOW = re.compile(r"(\d{1,6})(?:/(\d{1,6}))?")
_LONGEST = 1 << 20
_HEADING_OR_FENCE = re.compile(r"^ {0,3}(?:(#{1,6})(?=\s)|(`{3,}|~{3,}))", re.MULTILINE)


class Splitter(NamedTuple):
    """A way to cut a text; `size` and `overlap` are words of a window."""

    name: str
    size: int = 0
    overlap: int = 0

    def split(self, body: str) -> list[Span]:
        """The chunks of a body in order, none of them empty."""
        if self.name == SENTENCE:
            ends = [0, *accumulate(map(len, sentences(body, _LONGEST)))]
            found: Iterable[Span] = pairwise(ends)
        elif self.name == HEADING:
            found = pairwise([0, *_headings(body), len(body)])
        else:
            found = self._windows([*word_starts(body), len(body)])
        return trimmed(body, found)

    def _windows(self, starts: list[int]) -> Iterator[Span]:
        words = len(starts) - 1
        for first in range(0, words, self.size - self.overlap):
            yield starts[first], starts[min(first + self.size, words)]
            if first + self.size >= words:
                return


def splitters_named(names: Iterable[str]) -> list[Splitter]:
    """The splitters of these names, each once.

    Raises
    ------
    InputError: names that mean none, all together.
    """
    found, problems = [], []
    for name in dict.fromkeys(names):
        match = _WINDOW.fullmatch(name)
        size, overlap = (int(match[1]), int(match[2] or 0)) if match else (0, 0)
        if name in (SENTENCE, HEADING) or 0 <= overlap < size:
            found.append(Splitter(name, size, overlap))
        else:
            problems.append(f"--chunks {name}: it is no splitter")
    way_out = f"Expected words and a smaller overlap such as 200/50, 200, {SENTENCE} or {HEADING}."
    refuse_problems(problems, way_out=way_out)
    return found


def _headings(body: str) -> Iterator[int]:
    """Where headings begin, but in fenced code."""
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(body):
        if match[1] and not fence:
            yield match.start()
        elif match[2] and match[2].startswith(fence):
            fence = "" if fence else match[2]
