"""Styles of queries to write: how long, and in whose words.

People who are free in their style write whole questions. So each task draws one of six: a length of one or
two words, of three or four, or a natural question, with proper names or with generic terms. Each run of six
tasks has each style once, in an order by seed.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.text import seeded
from curation.words import words


class QueryStyle(NamedTuple):
    """A style of queries.

    Attributes
    ----------
    name: as it is stored.
    length, wording: what a writer reads.
    fewest, most: words of a query; `most` is None for any number.
    """

    name: str
    length: str
    wording: str
    fewest: int
    most: int | None

    def holds(self, text: str) -> bool:
        """Whether a query has the style's number of words."""
        count = len(words(text))
        return self.fewest <= count and (self.most is None or count <= self.most)


_LENGTHS = (
    ("short", "1–2 words", 1, 2),
    ("medium", "3–4 words", 3, 4),
    ("question", "a natural question", 3, None),
)
_WORDINGS = (("names", "with proper names"), ("generic", "in generic terms, without proper names"))

STYLES = {
    f"{length} {wording}": QueryStyle(f"{length} {wording}", long, worded, fewest, most)
    for length, long, fewest, most in _LENGTHS
    for wording, worded in _WORDINGS
}
"""Name → style."""


def draw_styles(count: int, seed: int) -> list[str]:
    """The names of the styles of so many tasks, in their order."""
    drawn: list[str] = []
    for block in range(-(-count // len(STYLES))):
        drawn += seeded(STYLES, seed, lambda name, block=block: ("style", block, name))  # type: ignore[misc]
    return drawn[:count]
