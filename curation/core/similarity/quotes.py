"""The search for a quotation in a text that may have changed.

A quotation is found again after the text around it has changed. If the quotation itself was changed, its
words are compared in order around the longest common run of words (Ratcliff and Obershelp, as in `difflib`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.spans import Span, union
from curation.core.text import pluralize
from curation.core.words import LocatedWord, locate_words

_PIECE = re.compile(r"\S+")
NEARLY = 0.8  # minimum score of a quotation that counts as found again
MAX_WORDS = 1_000  # maximum number of words of a quotation for the approximate search


QUOTE_COLUMNS = ("start_at", "end_at", "quote", "quote_hash")  # the columns of a stored range of evidence


class FoundQuote(NamedTuple):
    """The place of a quotation in a text; `score` is 1 for a literal quotation, else twice the number of
    common words over the number of words of both.
    """

    span: Span
    score: float


def find_quote(quote: str, text: str, flags: re.RegexFlag = re.NOFLAG) -> list[Span]:
    """Find every literal place of a quotation, or else every place that differs only in white space and in
    ways that `flags` allow.
    """
    exact = list(_exact(quote, text)) if quote else []
    words = quote.split()
    if exact or not words:
        return exact
    words_in_text = list(_PIECE.finditer(text))
    starts = list(accumulate((len(piece[0]) + 1 for piece in words_in_text), initial=0))
    flat_text, quote_text = " ".join(piece[0] for piece in words_in_text), " ".join(words)
    if flags & re.IGNORECASE:
        flat_text, quote_text = _caseless(flat_text), _caseless(quote_text)

    def offset(index: int) -> int:
        piece = bisect_right(starts, index) - 1
        return words_in_text[piece].start() + index - starts[piece]

    return [(offset(start), offset(end - 1) + 1) for start, end in _apart(_exact(quote_text, flat_text))]


def relocate_quote(quote: str, text: str, before: int) -> FoundQuote | None:
    """Find a quotation in a different version of its text; None if its best score is below `NEARLY`.

    Parameters
    ----------
    before: start of the quotation in its original version; of several places the nearest place is taken.
    """
    spans = find_quote(quote, text)
    if spans:
        return FoundQuote(min(spans, key=lambda span: abs(span[0] - before)), 1.0)
    query, words = _located(quote), _located(text)
    if len(query) > MAX_WORDS:
        return None
    run = _compared(query, words).find_longest_match()
    margin = len(query) // 2 + 5
    best = _best(query, words[max(0, run.b - run.a - margin) : run.b - run.a + len(query) + margin])
    return best if best is not None and best.score >= NEARLY else None


def describe_outside_spans(body: str, spans: Iterable[Span]) -> str:
    """Write the refusal of the first range outside a document's body; '' if all ranges are inside."""
    for start, end in spans:
        if not 0 <= start < end <= len(body):
            length = pluralize(len(body), "character")
            return f"evidence from {start:,} to {end:,} is no part of the document, which has {length}"
    return ""


def quote_spans(body: str, spans: Iterable[Span]) -> list[tuple[int, int, str, str]]:
    """Make the stored form of ranges (`QUOTE_COLUMNS`); overlapping ranges are joined."""
    return [(start, end, body[start:end], digest(body[start:end])) for start, end in union(spans)]


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield places in order, without places that overlap an earlier place."""
    previous_end = 0
    for start, end in spans:
        if start >= previous_end:
            yield start, end
            previous_end = end


def _caseless(text: str) -> str:
    """Fold the case of each character whose folded form is one character."""
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(letter if len(letter.casefold()) > 1 else letter.casefold() for letter in text)


def _exact(quote: str, text: str) -> Iterator[Span]:
    """Yield all places of a quotation; overlapping places are at least the quotation's period apart."""
    period = _period(quote)
    start = text.find(quote)
    while start >= 0:
        yield start, start + len(quote)
        if text.startswith(quote[-period:], start + len(quote)):
            start += period
        else:
            start = text.find(quote, start + period + 1)


def _period(quote: str) -> int:
    """Compute the smallest shift by which a quotation overlaps itself (Knuth, Morris and Pratt 1977)."""
    borders, border = [0] * len(quote), 0
    for index in range(1, len(quote)):
        while border and quote[index] != quote[border]:
            border = borders[border - 1]
        border += quote[index] == quote[border]
        borders[index] = border
    return len(quote) - border


def _located(text: str) -> list[LocatedWord]:
    return sorted(locate_words(text), key=lambda word: (word.start, word.end))


def _compared(wanted: Sequence[LocatedWord], words: Sequence[LocatedWord]) -> SequenceMatcher[str]:
    """Compare two lists of words; no run begins at a word that a long text often repeats, which bounds the
    time.
    """
    return SequenceMatcher(None, [word.word for word in wanted], [word.word for word in words])


def _best(wanted: Sequence[LocatedWord], words: Sequence[LocatedWord]) -> FoundQuote | None:
    """Find the part of the words that is most like the quotation: common runs at the ends of the part are
    dropped as long as the score rises.
    """
    runs = [run for run in _compared(wanted, words).get_matching_blocks() if run.size]
    best: FoundQuote | None = None
    while runs:
        first, last = runs[0].b, runs[-1].b + runs[-1].size
        score = round(2 * sum(run.size for run in runs) / (len(wanted) + last - first), 3)
        if best is None or score > best.score:
            best = FoundQuote((words[first].start, words[last - 1].end), score)
        del runs[0 if runs[0].size <= runs[-1].size else -1]
    return best
