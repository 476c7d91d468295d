"""Excerpts: the passage of a document that is shown first, and which of its words are the query's.

A passage is a run of whole sentences. The best one holds the most different content words of the query; ties
go to the earlier one. If the part of the document that matched the query is known, the passage is chosen
within it. Words match by stem (`retrieval.terms.stem`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from curation.retrieval.terms import STOP_WORDS, stem

LONGEST = 700
"""Characters of a passage; a shorter document is shown whole."""

_WORD = re.compile(r"\w+")
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(r".+?(?:[.!?…](?=\s)|\n|\Z)\s*", re.DOTALL)


class Segment(NamedTuple):
    """A piece of text; `marked` where it is a word of the query."""

    text: str
    marked: bool


class Excerpt(NamedTuple):
    """The passage to show; `whole` if it is the whole document."""

    segments: list[Segment]
    whole: bool


def query_stems(query: str) -> frozenset[str]:
    """The stems to mark; function words only when there is nothing else."""
    found = [word.casefold() for word in _WORD.findall(query)]
    content = [word for word in found if word not in STOP_WORDS] or found
    return frozenset(map(stem, content))


def mark(text: str, stems: frozenset[str]) -> list[Segment]:
    """The text in segments whose concatenation is the text again."""
    segments: list[Segment] = []
    end = 0
    for match in _WORD.finditer(text):
        if stem(match.group()) in stems:
            segments.append(Segment(text[end : match.start()], False))
            segments.append(Segment(match.group(), True))
            end = match.end()
    segments.append(Segment(text[end:], False))
    return [segment for segment in segments if segment.text]


def best_passage(
    body: str, query: str, longest: int = LONGEST, within: tuple[int, int] | None = None
) -> Excerpt:
    """The passage of a document with most words of a query, which are marked.

    Parameters
    ----------
    within: the part of the body to choose from, as (start, end) in characters; a part outside the body is
        ignored.
    """
    stems = query_stems(query)
    if len(body) <= longest:
        return Excerpt(mark(body, stems), whole=True)
    best, most = "", -1
    for passage in _passages(_part(body, within), longest):
        score = len({stem(word) for word in _WORD.findall(passage)} & stems)
        if score > most:
            best, most = passage, score
    return Excerpt(mark(best.rstrip(), stems), whole=False)


def in_body(title: str, body: str, span: tuple[int, int]) -> tuple[int, int] | None:
    """A part of a document's text (title, line break and body, stripped) as a part of its body, or None."""
    whole = f"{title}\n{body}"
    shift = len(whole) - len(whole.lstrip()) - len(title) - 1
    start, end = max(0, span[0] + shift), min(len(body), span[1] + shift)
    return (start, end) if start < end else None


def _part(body: str, within: tuple[int, int] | None) -> str:
    """The part, grown to whole words; the whole body where there is none or nothing to read in it."""
    if within is None:
        return body
    start, end = within
    while 0 < start < len(body) and not (body[start - 1].isspace() or body[start].isspace()):
        start -= 1
    while 0 < end < len(body) and not (body[end - 1].isspace() or body[end].isspace()):
        end += 1
    return body[start:end].lstrip() or body


def _passages(body: str, longest: int) -> list[str]:
    """Runs of sentences of at most `longest` characters, each starting half a run after the one before."""
    pieces = [piece for match in _SENTENCE.finditer(body) for piece in _cut(match.group(), longest)]
    passages, start = [], 0
    while start < len(pieces):
        end, length = start, 0
        while end < len(pieces) and length + len(pieces[end]) <= longest:
            length += len(pieces[end])
            end += 1
        passages.append("".join(pieces[start:end]))
        if end == len(pieces):
            break
        start = max(start + 1, (start + end) // 2)
    return passages


def _cut(sentence: str, longest: int) -> list[str]:
    """A sentence in pieces of at most `longest` characters, cut before a word; within one that is longer."""
    pieces = []
    while len(sentence) > longest:
        spaces = [match.end() for match in _SPACE.finditer(sentence, 0, longest)]
        end = spaces[-1] if spaces else longest
        pieces.append(sentence[:end])
        sentence = sentence[end:]
    return [*pieces, sentence]
