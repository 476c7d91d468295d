"""Markable sentences: which characters of the stored body each sentence on screen is.

A plain body is cut into sentences, and each is a range of it. A drawn body (Markdown, HTML) shows a text
without the signs of its markup. Its sentences, rows and items are ranges of the text that is shown, and their
words are looked up in the body one after the other. Tags, entities and the targets of links are passed over.
What is not found there, such as the words of an image, is in no range. Ranges do not overlap. A text of which
nothing is found is one range, so that what must be marked can be marked.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from curation.presentation.excerpts import LONGEST, Segment, sentences
from curation.spans import Span, trimmed

AHEAD = 400
"""Characters in which the next word of a drawn text is looked for in the body, without its markup."""

_WORD = re.compile(r"\w+")
_TAGS = r"<!--.*?-->|<(?:script|style)\b.*?</(?:script|style)\s*>|</?[a-zA-Z][^<>]*>|&#?\w{1,31};"
_TARGETS = r"(?<=\])\([^()\s]*(?:\s+\"[^\"]*\")?\)|^\[[^\]\n]+\]:[^\n]*$|[*`~\\]"
_MARKUP = {
    "html": re.compile(_TAGS, re.DOTALL),
    "markdown": re.compile(f"{_TAGS}|{_TARGETS}", re.DOTALL | re.MULTILINE),
}
_BEFORE = "\"'“‘«‹([*_`¿¡（「『《"
_AFTER = ".!?…‥;:。！？｡؟।\"'”’»›)*_`）」』》"


class Sentence(NamedTuple):
    """A sentence of the text that is shown, and the characters of the stored body that it is."""

    start: int
    end: int
    body: Span

    @property
    def place(self) -> str:
        """How a screen names it: the range of the body, as in 120-245."""
        return f"{self.body[0]}-{self.body[1]}"


def plain_sentences(body: str) -> list[Sentence]:
    """The sentences of a body that is shown as it is stored."""
    return [Sentence(start, end, (start, end)) for start, end in sentence_spans(body)]


def drawn_sentences(text: str, body: str, kind: str) -> list[Sentence]:
    """The sentences of a drawn body.

    Parameters
    ----------
    text: what is shown of it. kind: 'markdown' or 'html'.
    """
    places = list(_located(text, body, kind))
    starts = [shown[0] for shown, _ in places]
    found: list[Sentence] = []
    at = 0
    for start, end in sentence_spans(text):
        words = places[bisect_right(starts, start - 1) : bisect_right(starts, end - 1)]
        if words:
            first, last = _grown(body, words[0][1][0], words[-1][1][1], at)
            found.append(Sentence(start, end, (first, last)))
            at = last
    return found or [Sentence(0, len(text), (0, len(body)))] * bool(text.strip())


def sentence_spans(text: str) -> list[Span]:
    """The sentences of a text without the white space around them; long ones in pieces."""
    cuts = accumulate(map(len, sentences(text, LONGEST)), initial=0)
    return trimmed(text, pairwise(cuts))


def in_sentences(
    segments: Sequence[Segment], start: int, among: Sequence[Sentence]
) -> list[tuple[str | None, list[Segment]]]:
    """Segments cut where sentences begin and end: the place of each sentence with its segments, None between.

    Parameters
    ----------
    start: where the first segment begins in the text that is shown. among: its sentences, in order.
    """
    bounds = [bound for one in among for bound in (one.start, one.end)]
    found: list[tuple[str | None, list[Segment]]] = []
    for segment in segments:
        end = start + len(segment.text)
        cuts = [start, *bounds[bisect_right(bounds, start) : bisect_right(bounds, end - 1)], end]
        for first, last in pairwise(cuts):
            index = bisect_right(bounds, first)
            place = among[index // 2].place if index % 2 else None
            if not found or found[-1][0] != place:
                found.append((place, []))
            found[-1][1].append(Segment(segment.text[first - start : last - start], segment.marked))
        start = end
    return found


def _located(text: str, body: str, kind: str) -> Iterator[tuple[Span, Span]]:
    """The range of each word of a drawn text, and its range in the body; without words that are not found."""
    bare, places = _bare(body, kind)
    at = 0
    for word in _WORD.finditer(text):
        start = bare.find(word[0], at, at + AHEAD + len(word[0]))
        if start >= 0:
            at = start + len(word[0])
            yield word.span(), (places[start][0], places[at - 1][1])


def _bare(body: str, kind: str) -> tuple[str, list[Span]]:
    """The body without markup, entities read, and the range of the body that each character of it was."""
    pieces: list[str] = []
    places: list[Span] = []
    at = 0

    def take(start: int, end: int) -> None:
        pieces.append(body[start:end])
        places.extend((place, place + 1) for place in range(start, end))

    for found in _MARKUP[kind].finditer(body):
        take(at, found.start())
        if found[0].startswith("&"):
            read = html.unescape(found[0])
            pieces.append(read)
            places.extend([found.span()] * len(read))
        at = found.end()
    take(at, len(body))
    return "".join(pieces), places


def _grown(body: str, start: int, end: int, least: int) -> Span:
    """A range grown by the quotes, brackets and full stops around it; not below `least`."""
    start = max(start, least)
    while start > least and body[start - 1] in _BEFORE:
        start -= 1
    while end < len(body) and body[end] in _AFTER:
        end += 1
    return start, max(start, end)
