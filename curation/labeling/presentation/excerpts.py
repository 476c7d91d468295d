"""Excerpts: the passage of a document that is shown first, the query's words marked.

A passage is a run of whole sentences. The best one holds the most different content words of the query; ties
go to the earlier one. If the part of the document that matched the query is known, the passage is chosen
within it. Words match by stem (`retrieval.terms.stem`), in scripts without spaces by their grams.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.words import located_words, words
from curation.retrieval.terms import STOP_WORDS, stem

LONGEST = 700
"""Characters of a passage; a shorter document is shown whole."""

MAX_PLACES = 10_000
"""Passages whose places are remembered, half a kilobyte each; then all are forgotten."""

_places: dict[tuple[str, frozenset[str], int], tuple[int, int]] = {}
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(r".+?(?:[.!?…؟।](?=\s)|[。！？｡]|\n|\Z)\s*", re.DOTALL)


class Segment(NamedTuple):
    """A piece of text; `marked` where it is a word of the query."""

    text: str
    marked: bool


def query_stems(query: str) -> frozenset[str]:
    """The stems to mark; function words only when there is nothing else."""
    asked = words(query)
    content = [word for word in asked if word not in STOP_WORDS] or asked
    return frozenset(map(stem, content))


def mark(text: str, stems: frozenset[str]) -> list[Segment]:
    """The text in segments whose concatenation is the text again."""
    segments: list[Segment] = []
    end = 0
    for first, last in marked_spans(text, stems):
        segments.append(Segment(text[end:first], False))
        segments.append(Segment(text[first:last], True))
        end = last
    segments.append(Segment(text[end:], False))
    return [segment for segment in segments if segment.text]


def marked_spans(text: str, stems: frozenset[str]) -> list[tuple[int, int]]:
    """Start and end of what is marked, in order, without overlaps."""
    return list(_joined(sorted(match[1:] for match in _matches(text, stems))))


def best_passage(
    body: str, query: str, longest: int = LONGEST, within: tuple[int, int] | None = None
) -> tuple[int, list[Segment]]:
    """Where the passage of a document with most words of a query begins, and its text, these words marked.

    Parameters
    ----------
    within: the part of the body to choose from, as (start, end) in characters; a part outside the body is
        ignored.
    """
    stems = query_stems(query)
    if len(body) <= longest:
        return 0, mark(body, stems)
    start, part = _part(body, within)
    first, last = _best_place(part, stems, longest)
    return start + first, mark(part[first:last].rstrip(), stems)


def _best_place(text: str, stems: frozenset[str], longest: int) -> tuple[int, int]:
    """Where the best passage is; remembered for the other annotators of the pair and looks at the history."""
    asked = (digest(text), stems, longest)
    place = _places.get(asked)
    if place is None:
        place = best_run(text, stems, [0, *accumulate(map(len, sentences(text, longest)))], longest)
        if len(_places) >= MAX_PLACES:
            _places.clear()
        _places[asked] = place
    return place


def best_run(text: str, stems: frozenset[str], places: Sequence[int], longest: int) -> tuple[int, int]:
    """The run of pieces with most different stems, as (start, end); of equal ones, the earlier.

    Parameters
    ----------
    places: where the pieces of the text begin, and where the last one ends.
    longest: characters of a run, which has at least one piece.
    """
    matches = sorted(_matches(text, stems), key=itemgetter(1))
    starts = [start for _, start, _ in matches]
    best, most = (places[0], places[0]), -1
    for first, last in _runs(places, longest):
        inside = matches[bisect_left(starts, first) : bisect_left(starts, last)]
        score = len({matched for matched, _, end in inside if end <= last})
        if score > most:
            best, most = (first, last), score
    return best


def sentences(text: str, longest: int) -> list[str]:
    """The text in whole sentences or lines, those over `longest` characters cut before a word."""
    return [piece for match in _SENTENCE.finditer(text) for piece in _cut(match.group(), longest)]


def in_body(title: str, body: str, span: tuple[int, int]) -> tuple[int, int] | None:
    """A part of a document's text (title, line break and body, stripped) as a part of its body, or None."""
    whole = f"{title}\n{body}"
    shift = len(whole) - len(whole.lstrip()) - len(title) - 1
    start, end = max(0, span[0] + shift), min(len(body), span[1] + shift)
    return (start, end) if start < end else None


def _matches(text: str, stems: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """The stem, start and end of each word or gram of the text that is among the stems."""
    for word, start, end in located_words(text, lambda word: stem(word) in stems):
        yield stem(word), start, end


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ordered spans, those that overlap as one."""
    first, last = 0, 0
    for start, end in spans:
        if start >= last:
            if last:
                yield first, last
            first = start
        last = max(last, end)
    if last:
        yield first, last


def _part(body: str, within: tuple[int, int] | None) -> tuple[int, str]:
    """Where the part begins, grown to whole words, and the part; the whole body where it has no text."""
    if within is None:
        return 0, body
    start, end = within
    while 0 < start < len(body) and not (body[start - 1].isspace() or body[start].isspace()):
        start -= 1
    while 0 < end < len(body) and not (body[end - 1].isspace() or body[end].isspace()):
        end += 1
    part = body[start:end].lstrip()
    return (end - len(part), part) if part else (0, body)


def _runs(places: Sequence[int], longest: int) -> Iterator[tuple[int, int]]:
    """Runs of pieces of at most `longest` characters, each starting half a run after the one before."""
    start, pieces = 0, len(places) - 1
    while start < pieces:
        end = max(start + 1, bisect_right(places, places[start] + longest) - 1)
        yield places[start], places[end]
        if end == pieces:
            break
        start = max(start + 1, (start + end) // 2)


def _cut(sentence: str, longest: int) -> list[str]:
    """A sentence in pieces of at most `longest` characters, cut before a word; within one that is longer."""
    pieces, start = [], 0
    while len(sentence) - start > longest:
        spaces = [match.end() for match in _SPACE.finditer(sentence, start, start + longest)]
        end = spaces[-1] if spaces else start + longest
        pieces.append(sentence[start:end])
        start = end
    return [*pieces, sentence[start:]]
