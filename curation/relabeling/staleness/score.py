"""The staleness score of a pair: text, guide and age, each between 0 and 1, weighted. The weights are here
and nowhere else.

A part that is unknown has no say: the score is the weighted mean of the known ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from curation.relabeling.staleness.judged_pairs import CHANGED, GONE, UNKNOWN, JudgedPair
from curation.relabeling.staleness.quarter import REVISIT, Quarter

WEIGHTS: Mapping[str, float] = {"document": 0.5, "guide": 0.25, "age": 0.25}
"""What each part weighs; together 1."""

STALE = 0.25
"""From this score on a pair counts as stale: a changed text, changed words of its grade, or two years. See
`PairStaleness.is_stale`."""

CHANGE_AT_LEAST = 0.5
"""A document whose text changed at all; the share of changed words makes up the rest."""


class StalenessParts(NamedTuple):
    """The parts of a score, each 0 (fresh) to 1 (stale), None where unknown.

    Attributes
    ----------
    document: 1 where it is gone, or its new text has no longer the evidence; where its text changed, from 0.5
        on by the share of changed words.
    guide: 1 where the words of the pair's grade, or of a vote for it, are others in the guide in force.
    age: quarters since it was judged, over two years.
    """

    document: float | None
    guide: float | None
    age: float | None

    @property
    def score(self) -> float:
        """The weighted mean of the known parts; 0 where none is known."""
        known = {name: part for name, part in self._asdict().items() if part is not None}
        weight = sum(WEIGHTS[name] for name in known)
        return sum(WEIGHTS[name] * part for name, part in known.items()) / weight if weight else 0.0


def parts_of(pair: JudgedPair, quarter: Quarter, changed_share: float | None = None) -> StalenessParts:
    """The parts of one pair's score.

    Parameters
    ----------
    quarter: the present one.
    changed_share: of the words of its document; needed where its text changed.
    """
    return StalenessParts(
        document=_document(pair, changed_share),
        guide=None if pair.guide_behind is None else float(pair.guide_behind),
        age=None if pair.judged is None else min(1.0, quarter.since(pair.judged) / REVISIT),
    )


def _document(pair: JudgedPair, changed_share: float | None) -> float | None:
    if pair.document == UNKNOWN:
        return None
    if pair.document == GONE or pair.evidence_lost:
        return 1.0
    if pair.document == CHANGED:
        return CHANGE_AT_LEAST + (1 - CHANGE_AT_LEAST) * (changed_share or 0.0)
    return 0.0
