"""How the pooled pairs stand: who proposed each at which rank, and what people said about it.

What systems contributed and which negatives are hard are both read off this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from curation.agreement.consensus import Votes, read_votes, settled
from curation.labeling.guides import current_guide
from curation.store import Cursor

Pair = tuple[str, str]


class Ranked(NamedTuple):
    """One system's place for one pair."""

    query_id: str
    document_id: str
    system: str
    rank: int
    score: float | None


class Standing(NamedTuple):
    """The grades of a project.

    Attributes
    ----------
    grades: pair → consensus grade; pairs without one are absent.
    open: pairs that people judged and that have no grade: disputed, or they could not tell.
    lowest: the scale's lowest grade: not relevant.
    """

    grades: Mapping[Pair, int]
    open: frozenset[Pair]
    lowest: int

    def is_relevant(self, pair: Pair) -> bool:
        """Whether the pair's grade is above the scale's lowest."""
        return self.grades.get(pair, self.lowest) > self.lowest

    def is_judged(self, pair: Pair) -> bool:
        """Whether people said anything about the pair that counts, be it in dispute."""
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


class Opinions(NamedTuple):
    """What people said, and the lowest grade of the guide in force: what a standing is worked out from."""

    votes: Votes
    lowest: int


def read_opinions(cursor: Cursor, round_id: str | None = None) -> Opinions:
    """All that was said; with a round, about the pairs shown in it."""
    return Opinions(read_votes(cursor, round_id), current_guide(cursor).values[0])


def standing_of(opinions: Opinions) -> Standing:
    """The consensus on every pair. To be asked for outside of a turn: some rules estimate for a while."""
    pairs = settled(opinions.votes).pairs
    return Standing(
        {(pair.query_id, pair.document_id): pair.grade for pair in pairs if pair.grade is not None},
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.grade is None),
        opinions.lowest,
    )
