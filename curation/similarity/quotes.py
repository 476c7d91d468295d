"""Quotes: where a quotation is in a text: as it is, else but for white space, else nearly.

What was quoted is found again after a text has changed around it. A quotation that was changed itself is
looked up by its words: those of both texts vote for the distance between them, and where most agree the words
are compared in their order (Ratcliff and Obershelp, as `difflib`). Rare words vote first, so that a long text
takes no longer than it has words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from curation.spans import Span, union
from curation.text import amount, digest
from curation.words import LocatedWord, located_words

NEARLY = 0.8
"""The least score of a quotation that counts as found again."""
MOST_WORDS = 1_000
"""A quotation with more words is found as it is or not at all."""
_MOST_VOTES = 20_000


class FoundQuote(NamedTuple):
    """Where a quotation is; `score` is 1 where it is there word by word, else twice the words in common over
    those of both.
    """

    span: Span
    score: float


def places_of(quote: str, text: str, flags: re.RegexFlag = re.NOFLAG) -> list[Span]:
    """Every place of a quotation: as it is, or where there is none but for white space, by `flags`."""
    exact = list(_exact(quote, text)) if quote else []
    words = quote.split()
    if exact or not words:
        return exact
    return [found.span() for found in re.finditer(r"\s+".join(map(re.escape, words)), text, flags)]


def _exact(quote: str, text: str) -> Iterator[Span]:
    at = text.find(quote)
    while at >= 0:
        yield at, at + len(quote)
        at = text.find(quote, at + len(quote))


def find_again(quote: str, text: str, before: int) -> FoundQuote | None:
    """Where a quotation is in another version of its text; None where less than `NEARLY` of it is.

    Parameters
    ----------
    before: where it began in the version that it is from; of several places the nearest is taken.
    """
    places = places_of(quote, text)
    if places:
        return FoundQuote(min(places, key=lambda span: abs(span[0] - before)), 1.0)
    wanted = _located(quote)
    if not wanted or len(wanted) > MOST_WORDS:
        return None
    shift = _shift(wanted, text, len(quote), before)
    if shift is None:
        return None
    room = len(quote) // 2 + 40
    start = max(0, shift - room)
    found = _best(wanted, _located(text[start : shift + len(quote) + room]))
    if found is None or found.score < NEARLY:
        return None
    return FoundQuote((found.span[0] + start, found.span[1] + start), round(found.score, 3))


def outside_of(body: str, spans: Iterable[Span]) -> str:
    """The sentence for the first range that is no part of a document's body; '' where all are."""
    for start, end in spans:
        if not 0 <= start < end <= len(body):
            length = amount(len(body), "character")
            return f"evidence from {start:,} to {end:,} is no part of the document, which has {length}"
    return ""


def quoted(body: str, spans: Iterable[Span]) -> list[tuple[int, int, str, str]]:
    """Ranges as they are stored: start, end, the characters and their hash; what overlaps is joined."""
    return [(start, end, body[start:end], digest(body[start:end])) for start, end in union(spans)]


def _located(text: str) -> list[LocatedWord]:
    return sorted(located_words(text), key=lambda word: (word.start, word.end))


def _shift(wanted: Sequence[LocatedWord], text: str, length: int, before: int) -> int | None:
    """Where the quotation begins in the text by most of its words, of equal places the one nearest to
    `before`; None where no word is there.
    """
    quoted: defaultdict[str, list[int]] = defaultdict(list)
    there: defaultdict[str, list[int]] = defaultdict(list)
    for word in wanted:
        quoted[word.word].append(word.start)
    for word in located_words(text, quoted.__contains__):
        there[word.word].append(word.start)
    step = max(20, length // 4)
    votes: Counter[int] = Counter()
    for name in sorted(there, key=lambda name: (len(there[name]) * len(quoted[name]), name)):
        if votes and votes.total() + len(there[name]) * len(quoted[name]) > _MOST_VOTES:
            break
        votes.update((there_at - at) // step for there_at in there[name] for at in quoted[name])
    if not votes:
        return None
    near = {cell: (votes[cell] + votes.get(cell + 1, 0), -abs(cell - before // step)) for cell in votes}
    return max(sorted(near), key=near.__getitem__) * step


def _best(wanted: Sequence[LocatedWord], words: Sequence[LocatedWord]) -> FoundQuote | None:
    """The part of the words that is most like the quotation: runs in common at its ends are left out while
    that helps.
    """
    one, other = [word.word for word in wanted], [word.word for word in words]
    runs = [
        run for run in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks() if run.size
    ]
    best: FoundQuote | None = None
    while runs:
        first, last = runs[0].b, runs[-1].b + runs[-1].size
        score = 2 * sum(run.size for run in runs) / (len(one) + last - first)
        if best is None or score > best.score:
            best = FoundQuote((words[first].start, words[last - 1].end), score)
        del runs[0 if runs[0].size <= runs[-1].size else -1]
    return best
