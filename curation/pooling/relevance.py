"""Relevance of pairs, and the places that systems gave them: what contributions and negatives compare.

`labeling.consensus.relevance.relevance_of` works the relevance out; this room is handed it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from curation.people.seal_access import SealAccess

Pair = tuple[str, str]


class Ranked(NamedTuple):
    """One system's rank and score for one pair."""

    query_id: str
    document_id: str
    system: str
    rank: int
    score: float | None


class Relevance(NamedTuple):
    """The grades of a project.

    Attributes
    ----------
    grades: pair → consensus grade; pairs without one are absent.
    open: pairs that people judged and that have no grade: disputed, or they could not tell.
    lowest: the scale's lowest grade: not relevant.
    changed: pairs whose grade is about another version of the document than the corpus has.
    outside: pairs outside the filter of their query, which are not relevant.
    """

    grades: Mapping[Pair, int]
    open: frozenset[Pair]
    lowest: int
    changed: frozenset[Pair] = frozenset()
    outside: frozenset[Pair] = frozenset()

    def behind(self, door: SealAccess) -> Relevance:
        """What may be shown of it: judged pairs of sealed queries count as judged, and as not relevant."""
        judged = {pair: self.lowest for pair in self.open if not door.shows(pair[0])}
        grades = {pair: grade if door.shows(pair[0]) else self.lowest for pair, grade in self.grades.items()}
        return self._replace(grades=grades | judged, open=self.open - judged.keys())

    def with_outside(self, pairs: Iterable[Pair]) -> Relevance:
        """The same where these pairs, which are outside the filter of their query, are not relevant."""
        outside = frozenset(pairs)
        grades = {**self.grades, **dict.fromkeys(outside, self.lowest)}
        found = self._replace(grades=grades, outside=outside)
        return found._replace(open=self.open - outside, changed=self.changed - outside)

    def is_relevant(self, pair: Pair) -> bool:
        """Whether the pair's grade is above the scale's lowest."""
        return self.grades.get(pair, self.lowest) > self.lowest

    def is_refused(self, pair: Pair) -> bool:
        """Whether people gave the pair the scale's lowest grade, for the text that its document has now."""
        return self.grades.get(pair) == self.lowest and pair not in self.changed

    def is_judged(self, pair: Pair) -> bool:
        """Whether the pair has a judgment that counts, be it in dispute."""
        return pair in self.grades or pair in self.open

    def not_graded(self, pairs: set[Pair]) -> dict[str, int]:
        """Why pairs have no grade → how many."""
        counts = Counter(
            "judged, but without a grade (disputed, or cannot tell)"
            if pair in self.open
            else "not judged yet"
            for pair in pairs
            if pair not in self.grades
        )
        return dict(sorted(counts.items()))
