"""Relevance of judged pairs: which query-document pairs count as relevant.

`labeling.consensus.consensus.read_relevance` computes the relevance of a project's pairs. A pool built from a
run with one document would reveal the grade of this document, so pairs of sealed queries never count as
relevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from curation.people.seal_access import SealAccess

Pair = tuple[str, str]
"""Query id and document id."""


class Relevance(NamedTuple):
    """The relevance grades of a project's pairs.

    Attributes
    ----------
    grades: pair → consensus grade; pairs without a grade are absent.
    open: judged pairs without a grade, because they are disputed or people could not tell.
    lowest: the scale's lowest grade, which means not relevant.
    changed: pairs whose grade is about an older version of the document.
    outside: pairs outside the filter of their query, which are not relevant.
    """

    grades: Mapping[Pair, int]
    open: frozenset[Pair]
    lowest: int
    changed: frozenset[Pair] = frozenset()
    outside: frozenset[Pair] = frozenset()

    def hide_sealed(self, access: SealAccess) -> Relevance:
        """Hide the grades of sealed queries: their judged pairs count as judged but not relevant."""
        sealed_pairs = [pair for pair in (*self.grades, *self.open) if not access.can_show(pair[0])]
        grades = {**self.grades, **dict.fromkeys(sealed_pairs, self.lowest)}
        return self._replace(grades=grades, open=self.open.difference(sealed_pairs))

    def with_outside(self, pairs: Iterable[Pair]) -> Relevance:
        """Return the relevance in which pairs outside their query's filter count as not relevant."""
        outside = frozenset(pairs)
        grades = {**self.grades, **dict.fromkeys(outside, self.lowest)}
        relevance = self._replace(grades=grades, outside=outside)
        return relevance._replace(open=self.open - outside, changed=self.changed - outside)

    def is_relevant(self, pair: Pair) -> bool:
        """Return whether the pair's grade is above the scale's lowest grade."""
        return self.grades.get(pair, self.lowest) > self.lowest

    def is_refused(self, pair: Pair) -> bool:
        """Return whether the pair has the scale's lowest grade for the current version of its document."""
        return self.grades.get(pair) == self.lowest and pair not in self.changed

    def is_judged(self, pair: Pair) -> bool:
        """Return whether the pair has a judgment that counts, even a disputed judgment."""
        return pair in self.grades or pair in self.open

    def count_ungraded(self, pairs: set[Pair]) -> dict[str, int]:
        """Count those of these pairs that have no relevance grade, by reason."""
        ungraded = pairs - self.grades.keys()
        judged = len(ungraded & self.open)
        counts = {"judged, but without a grade (disputed or cannot tell)": judged}
        counts["not judged yet"] = len(ungraded) - judged
        return {reason: count for reason, count in counts.items() if count}
