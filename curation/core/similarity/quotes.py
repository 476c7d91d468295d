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

from curation.core.spans import Span
from curation.core.words import LocatedWord, locate_words

_WORD = re.compile(r"\S+")
MIN_SCORE = 0.8  # minimum score at which a quotation counts as found again
MAX_WORDS = 1_000  # maximum number of words of a quotation for the approximate search


class FoundQuote(NamedTuple):
    """The location of a quotation in a text, with a score."""

    span: Span
    score: float


def find_quote(quote: str, text: str, flags: re.RegexFlag = re.NOFLAG) -> list[Span]:
    """Find every occurrence of a quotation in a text.

    If there is no literal occurrence, find those that differ only in white space and in ways that `flags`
    allow, without occurrences that overlap an earlier occurrence.
    """
    occurrences = list(_find_occurrences(quote, text)) if quote else []
    if occurrences or not quote.split():
        return occurrences
    words = list(_WORD.finditer(text))
    starts = list(accumulate((len(word[0]) + 1 for word in words), initial=0))
    flat_text, flat_quote = " ".join(word[0] for word in words), " ".join(quote.split())
    if flags & re.IGNORECASE:
        flat_text, flat_quote = _caseless(flat_text), _caseless(flat_quote)

    def to_offset(flat_offset: int) -> int:
        """Convert an offset in the text with single spaces to an offset in the original text."""
        index = bisect_right(starts, flat_offset) - 1
        return words[index].start() + flat_offset - starts[index]

    spans = _drop_overlaps(_find_occurrences(flat_quote, flat_text))
    return [(to_offset(start), to_offset(end - 1) + 1) for start, end in spans]


def relocate_quote(quote: str, text: str, original_start: int) -> FoundQuote | None:
    """Find a quotation in another version of its text; None if the best match has a score below `MIN_SCORE`.

    Parameters
    ----------
    original_start: start of the quotation in its original version; the nearest of several occurrences counts.
    """
    if spans := find_quote(quote, text):
        return FoundQuote(min(spans, key=lambda span: abs(span[0] - original_start)), 1.0)
    quote_words, words = _locate_sorted(quote), _locate_sorted(text)
    size = len(quote_words)
    if size > MAX_WORDS:
        return None
    longest_match = _match_words(quote_words, words).find_longest_match()
    aligned_start, margin = longest_match.b - longest_match.a, size // 2 + 5
    window = words[max(0, aligned_start - margin) : aligned_start + size + margin]
    best = _find_best_part(quote_words, window)
    return best if best is not None and best.score >= MIN_SCORE else None


def _drop_overlaps(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans in order, leaving out spans that overlap an earlier yielded span."""
    previous_end = 0
    for start, end in spans:
        if start >= previous_end:
            yield start, end
            previous_end = end


def _caseless(text: str) -> str:
    """Fold the case of each character whose folded form is a single character."""
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(letter if len(letter.casefold()) > 1 else letter.casefold() for letter in text)


def _find_occurrences(quote: str, text: str) -> Iterator[Span]:
    """Yield all literal occurrences of a quotation, including overlapping ones: 'a a a' has two of 'a a'."""
    period = _period(quote)
    start = text.find(quote)
    while start >= 0:
        end = start + len(quote)
        yield start, end
        if text.startswith(quote[-period:], end):
            start += period
        else:  # occurrences are at least a period apart, and one exactly a period away was just ruled out
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


def _locate_sorted(text: str) -> list[LocatedWord]:
    return sorted(locate_words(text), key=lambda word: (word.start, word.end))


def _match_words(quote: Sequence[LocatedWord], words: Sequence[LocatedWord]) -> SequenceMatcher[str]:
    """Match two lists of words; to save time, no match begins at a word that a long text often repeats."""
    return SequenceMatcher(None, [word.word for word in quote], [word.word for word in words])


def _find_best_part(quote: Sequence[LocatedWord], words: Sequence[LocatedWord]) -> FoundQuote | None:
    """Find the part of a text's list of words that is most like the quotation.

    The common runs at the ends of the part are dropped, the shorter first; the part with the best score
    counts.
    """
    runs = [block for block in _match_words(quote, words).get_matching_blocks() if block.size]
    best: FoundQuote | None = None
    while runs:
        start, end = runs[0].b, runs[-1].b + runs[-1].size
        score = round(2 * sum(run.size for run in runs) / (len(quote) + end - start), 3)
        if best is None or score > best.score:
            best = FoundQuote((words[start].start, words[end - 1].end), score)
        del runs[0 if runs[0].size <= runs[-1].size else -1]
    return best
