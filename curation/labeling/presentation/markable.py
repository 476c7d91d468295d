"""Markable sentences: the ranges of a document's stored body that a person can mark as evidence.

A drawn body (Markdown, HTML) shows the text without its markup. Sentences, table rows and list items are
ranges of the text on screen. Their words are searched in the body in order, skipping tags, entities and link
targets. Words that are not found, such as an image's text, belong to no range. Ranges do not overlap. If no
word of a text is found, the whole body is a single range, so that a person can mark it.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import NamedTuple

from curation.core.spans import Span, trim_spans
from curation.labeling.presentation.excerpts import MAX_PASSAGE_LENGTH, Segment, split_sentences

SEARCH_AHEAD = 400
"""Characters of the body, without markup, that are searched for the next word of a drawn text."""
_WORD = re.compile(r"\w+")
_TAGS = r"<!--|<(?:script|style)\b|</?[a-zA-Z][^<>]*+>|&#?\w{1,31};"
_TARGETS = r"(?<=\])\([^()\s]*+(?:\s++\"[^\"]*+\")?+\)|^\[[^\]\n]++\]:[^\n]*+$|[*`~\\]"
_MARKUP = {"html": re.compile(_TAGS), "markdown": re.compile(f"{_TAGS}|{_TARGETS}", re.MULTILINE)}
_END_MARKERS = {f"<{tag}": re.compile(rf"</{tag}\s*+>") for tag in ("script", "style")}
_END_MARKERS["<!--"] = re.compile("-->")
"""Start marker of a skipped part of the body → its end marker; a part without an end marker is not
skipped."""
_OPENING_SIGNS = "\"'“‘«‹([*_`¿¡（「『《"
_CLOSING_SIGNS = ".!?…‥;:。！？｡؟।\"'”’»›)*_`）」』》"


class Sentence(NamedTuple):
    """A sentence in the text on screen, with its range in the stored body."""

    start: int
    end: int
    body: Span

    @property
    def place(self) -> str:
        """Return the sentence's range in the body as text, such as 120-245; a screen names the sentence by
        this range."""
        return f"{self.body[0]}-{self.body[1]}"


class _Piece(NamedTuple):
    """A piece of a body without markup, with its text and its range in the body; `whole` if the text comes
    from an HTML entity."""

    text: str
    body: Span
    whole: bool = False

    def place(self, index: int) -> Span:
        """Return the range in the stored body that a character of the text comes from."""
        return self.body if self.whole else (self.body[0] + index, self.body[0] + index + 1)


def list_sentences(body: str) -> list[Sentence]:
    """Find the sentences of a plain-text body, which the screen shows unchanged."""
    return [Sentence(start, end, (start, end)) for start, end in find_sentence_spans(body)]


def locate_sentences(text: str, body: str, kind: str) -> list[Sentence]:
    """Find the sentences in the text of a drawn document, with their ranges in the stored body.

    Parameters
    ----------
    text: the text on screen.
    kind: 'markdown' or 'html'.
    """
    word_ranges = list(_locate_words(text, body, kind))
    starts = [shown_range[0] for shown_range, _ in word_ranges]
    markable: list[Sentence] = []
    end_of_last = 0
    for start, end in find_sentence_spans(text):
        words = word_ranges[bisect_right(starts, start - 1) : bisect_right(starts, end - 1)]
        if words:
            first, last = _extend_to_punctuation(body, words[0][1][0], words[-1][1][1], end_of_last)
            markable.append(Sentence(start, end, (first, last)))
            end_of_last = last
    if not markable and text.strip():
        return [Sentence(0, len(text), (0, len(body)))]
    return markable


def find_sentence_spans(text: str) -> list[Span]:
    """Find the ranges of a text's sentences, excluding surrounding white space; long sentences are split."""
    cuts = accumulate(map(len, split_sentences(text, MAX_PASSAGE_LENGTH)), initial=0)
    return trim_spans(text, pairwise(cuts))


def cut_segments(
    segments: Sequence[Segment], start: int, sentences: Sequence[Sentence]
) -> list[tuple[str | None, list[Segment]]]:
    """Cut segments at sentence boundaries; return each sentence's position (or None) with its segments.

    Parameters
    ----------
    start: the position of the first segment in the text on screen.
    sentences: the sentences of the text, in order.
    """
    pieces: list[tuple[str | None, list[Segment]]] = []
    index = bisect_right(sentences, start, key=attrgetter("end"))
    for segment in segments:
        end = start + len(segment.text)
        first = start
        while first < end:
            while index < len(sentences) and sentences[index].end <= first:
                index += 1
            sentence = sentences[index] if index < len(sentences) else None
            is_inside = sentence is not None and sentence.start <= first
            last = end if sentence is None else min(end, sentence.end if is_inside else sentence.start)
            sentence_range = sentence.place if sentence is not None and is_inside else None
            if not pieces or pieces[-1][0] != sentence_range:
                pieces.append((sentence_range, []))
            pieces[-1][1].append(Segment(segment.text[first - start : last - start], segment.marked))
            first = last
        start = end
    return pieces


def _locate_words(text: str, body: str, kind: str) -> Iterator[tuple[Span, Span]]:
    """Find each word's range in a drawn text and in the body; skip words that are not found."""
    pieces = list(_strip_markup(body, kind))
    starts = list(accumulate((len(piece.text) for piece in pieces), initial=0))
    unmarked_text = "".join(piece.text for piece in pieces)
    position = 0
    for word in _WORD.finditer(text):
        start = unmarked_text.find(word[0], position, position + SEARCH_AHEAD + len(word[0]))
        if start >= 0:
            position = start + len(word[0])
            first, last = bisect_right(starts, start) - 1, bisect_left(starts, position) - 1
            begin = pieces[first].place(start - starts[first])
            end = pieces[last].place(position - 1 - starts[last])
            yield word.span(), (begin[0], end[1])


def _strip_markup(body: str, kind: str) -> Iterator[_Piece]:
    """Yield a body's pieces without markup and with decoded entities; search for a missing end marker only
    once."""
    position, without_end = 0, set[str]()
    markup = _MARKUP[kind]
    match = markup.search(body)
    while match is not None:
        marker, end = match[0], match.end()
        if marker in without_end:
            match = markup.search(body, end)
            continue
        if marker in _END_MARKERS:
            end_marker = _END_MARKERS[marker].search(body, end)
            if end_marker is None:
                without_end.add(marker)
                continue
            end = end_marker.end()
        yield _Piece(body[position : match.start()], (position, match.start()))
        if marker.startswith("&"):
            yield _Piece(html.unescape(marker), match.span(), True)
        position = end
        match = markup.search(body, position)
    yield _Piece(body[position:], (position, len(body)))


def _extend_to_punctuation(body: str, start: int, end: int, leftmost: int) -> Span:
    """Extend a range to the quotes, brackets and full stops around it, but no further left than
    `leftmost`."""
    start = max(start, leftmost)
    while start > leftmost and body[start - 1] in _OPENING_SIGNS:
        start -= 1
    while end < len(body) and body[end] in _CLOSING_SIGNS:
        end += 1
    return start, max(start, end)
