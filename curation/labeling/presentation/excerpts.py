"""Excerpts: a document's best passage for a query, with the query's words highlighted.

A passage is a sequence of whole sentences. The best passage holds the most distinct content words of the
query; of equal passages the earliest is chosen. If the part of the document that matched the query is known,
the passage is chosen within that part. Words match by stem (`retrieval.stemming.strip_ending`), or by
character n-grams in scripts without spaces.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.words import locate_words, split_words
from curation.retrieval.stemming import strip_ending
from curation.retrieval.terms import STOP_WORDS

MAX_PASSAGE_LENGTH = 700
"""Length of a passage in characters; a shorter document is shown whole."""
MAX_CACHED_SPANS = 10_000
"""Number of passage positions in the cache, half a kilobyte each; a full cache is cleared."""
_cached_spans: dict[tuple[str, frozenset[str], int], tuple[int, int]] = {}
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(r".+?(?:[.!?…؟।](?=\s)|[。！？｡]|\n|\Z)\s*", re.DOTALL)


class Segment(NamedTuple):
    """A segment of a text; `marked` says whether the segment is a word of the query."""

    text: str
    marked: bool


def stem_query(query: str) -> frozenset[str]:
    """Return the query stems to highlight; function words are included only if the query has no other
    words."""
    query_words = split_words(query)
    content_words = [word for word in query_words if word not in STOP_WORDS] or query_words
    return frozenset(map(strip_ending, content_words))


def mark_words(text: str, stems: frozenset[str]) -> list[Segment]:
    """Cut a text into segments, marked and unmarked, whose concatenation is the text."""
    segments: list[Segment] = []
    end = 0
    for first, last in find_marked_spans(text, stems):
        segments.append(Segment(text[end:first], False))
        segments.append(Segment(text[first:last], True))
        end = last
    segments.append(Segment(text[end:], False))
    return [segment for segment in segments if segment.text]


def find_marked_spans(text: str, stems: frozenset[str]) -> list[tuple[int, int]]:
    """Find the start and end of each highlighted part, in order and without overlaps."""
    return list(_join_overlapping(sorted(match[1:] for match in _find_matches(text, stems))))


def find_best_passage(
    body: str, query: str, longest: int = MAX_PASSAGE_LENGTH, within: tuple[int, int] | None = None
) -> tuple[int, list[Segment]]:
    """Find the passage of a document that contains the most words of a query; return its start and its text
    segments.

    Parameters
    ----------
    within: the part of the body to choose from, as (start, end) in characters; a part outside the body is
        ignored.
    """
    stems = stem_query(query)
    if len(body) <= longest:
        return 0, mark_words(body, stems)
    start, text = _extend_to_words(body, within)
    first, last = _find_best_span(text, stems, longest)
    return start + first, mark_words(text[first:last].rstrip(), stems)


def find_best_run(text: str, stems: frozenset[str], cuts: Sequence[int], longest: int) -> tuple[int, int]:
    """Find the sequence of a text's pieces with the most distinct query stems, the first of several, as
    (start, end).

    Parameters
    ----------
    cuts: the start of each piece of the text, and the end of the last piece.
    longest: maximum characters of a sequence, which has at least one piece.
    """
    matches = sorted(_find_matches(text, stems), key=itemgetter(1))
    starts = [start for _, start, _ in matches]
    best_span, best_score = (cuts[0], cuts[0]), -1
    for first, last in _list_runs(cuts, longest):
        matches_inside = matches[bisect_left(starts, first) : bisect_left(starts, last)]
        score = len({matched_stem for matched_stem, _, end in matches_inside if end <= last})
        if score > best_score:
            best_span, best_score = (first, last), score
    return best_span


def split_sentences(text: str, longest: int) -> list[str]:
    """Cut a text into sentences or lines, and cut any piece longer than `longest` characters before a
    word."""
    return [piece for match in _SENTENCE.finditer(text) for piece in _cut_sentence(match.group(), longest)]


def locate_in_body(title: str, body: str, span: tuple[int, int]) -> tuple[int, int] | None:
    """Convert a part of a document's stripped text (title, line break, body) to a part of the body."""
    full_text = f"{title}\n{body}"
    shift = len(full_text) - len(full_text.lstrip()) - len(title) - 1
    start, end = max(0, span[0] + shift), min(len(body), span[1] + shift)
    return (start, end) if start < end else None


def _find_best_span(text: str, stems: frozenset[str], longest: int) -> tuple[int, int]:
    """Find the range of the best passage, and cache the range for the pair's other annotators."""
    key = (digest(text), stems, longest)
    span = _cached_spans.get(key)
    if span is None:
        span = find_best_run(text, stems, [0, *accumulate(map(len, split_sentences(text, longest)))], longest)
        if len(_cached_spans) >= MAX_CACHED_SPANS:
            _cached_spans.clear()
        _cached_spans[key] = span
    return span


def _find_matches(text: str, stems: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """Find each word or gram of the text whose stem is among the stems; return its stem, start and end."""
    for word, start, end in locate_words(text, lambda word: strip_ending(word) in stems):
        yield strip_ending(word), start, end


def _join_overlapping(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join overlapping spans of a text, given in order; adjacent spans stay separate."""
    first, last = 0, 0
    for start, end in spans:
        if start >= last:
            if last:
                yield first, last
            first = start
        last = max(last, end)
    if last:
        yield first, last


def _extend_to_words(body: str, within: tuple[int, int] | None) -> tuple[int, str]:
    """Extend a part of a body to whole words; return the part's start and text, or the whole body if the part
    is empty."""
    if within is None:
        return 0, body
    start, end = within
    while 0 < start < len(body) and not (body[start - 1].isspace() or body[start].isspace()):
        start -= 1
    while 0 < end < len(body) and not (body[end - 1].isspace() or body[end].isspace()):
        end += 1
    text = body[start:end].lstrip()
    return (end - len(text), text) if text else (0, body)


def _list_runs(boundaries: Sequence[int], longest: int) -> Iterator[tuple[int, int]]:
    """Yield overlapping sequences of pieces, each at most `longest` characters long and starting half a
    sequence after the previous one."""
    start, last_index = 0, len(boundaries) - 1
    while start < last_index:
        end = max(start + 1, bisect_right(boundaries, boundaries[start] + longest) - 1)
        yield boundaries[start], boundaries[end]
        if end == last_index:
            break
        start = max(start + 1, (start + end) // 2)


def _cut_sentence(sentence: str, longest: int) -> list[str]:
    """Cut a sentence into pieces of at most `longest` characters, before a word where possible."""
    pieces, start = [], 0
    while len(sentence) - start > longest:
        spaces = [match.end() for match in _SPACE.finditer(sentence, start, start + longest)]
        end = spaces[-1] if spaces else start + longest
        pieces.append(sentence[start:end])
        start = end
    return [*pieces, sentence[start:]]
