"""Splitters: functions that cut a document's body into chunks.

    200/50     windows of 200 words that begin with the last 50 of the window before; 200 without overlap
    sentence   whole sentences or lines, as the screen cuts them by script
    heading    the sections of Markdown, each from its heading on; text before the first heading is a section

Chunks have no white space at their ends. A word is counted as in `words.find_word_starts`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate, pairwise

from curation.core.errors import refuse_problems
from curation.core.spans import Span, trim_spans
from curation.core.words import find_word_starts
from curation.labeling.presentation.excerpts import split_sentences

SENTENCE, HEADING = "sentence", "heading"
Split = Callable[[str], list[Span]]
"""A function that cuts a body into chunks in order, without empty chunks."""
_WINDOW = re.compile(r"(\d{1,6})(?:/(\d{1,6}))?")
_MAX_SENTENCE = 1 << 20
_HEADING_OR_FENCE = re.compile(r"^ {0,3}(?:(#{1,6})(?=\s)|(`{3,}|~{3,}))", re.MULTILINE)


def parse_splitters(names: Iterable[str]) -> dict[str, Split]:
    """Map each splitter's name, such as 200/50, to its splitter; repeated names count once.

    Raises
    ------
    InputError: names that are not splitters, all in one error.
    """
    splitters: dict[str, Split] = {}
    problems = []
    for name in dict.fromkeys(names):
        match = _WINDOW.fullmatch(name)
        size, overlap = (int(match[1]), int(match[2] or 0)) if match else (0, 0)
        if name == SENTENCE:
            splitters[name] = _split_by_sentence
        elif name == HEADING:
            splitters[name] = _split_by_heading
        elif 0 <= overlap < size:
            splitters[name] = partial(_split_by_window, size=size, overlap=overlap)
        else:
            problems.append(f"--chunks {name}: this is not a splitter")
    way_out = (
        f"Expected a number of words with or without a smaller overlap, such as 200/50 or 200, or "
        f"{SENTENCE} or {HEADING}."
    )
    refuse_problems(problems, way_out=way_out)
    return splitters


def _split_by_sentence(body: str) -> list[Span]:
    return trim_spans(body, pairwise([0, *accumulate(map(len, split_sentences(body, _MAX_SENTENCE)))]))


def _split_by_heading(body: str) -> list[Span]:
    return trim_spans(body, pairwise([0, *_find_headings(body), len(body)]))


def _split_by_window(body: str, size: int, overlap: int) -> list[Span]:
    starts = [*find_word_starts(body), len(body)]
    words, spans = len(starts) - 1, []
    for first in range(0, words, size - overlap):
        spans.append((starts[first], starts[min(first + size, words)]))
        if first + size >= words:
            break
    return trim_spans(body, spans)


def _find_headings(body: str) -> Iterator[int]:
    """Yield the positions at which Markdown headings begin, except inside fenced code."""
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(body):
        if match[1] and not fence:
            yield match.start()
        elif match[2] and match[2].startswith(fence):
            fence = "" if fence else match[2]
