"""The staleness score of a pair: known parts between 0 and 1, weighted. The weights are here and nowhere
else.

A part that is unknown has no say: the score is the weighted mean of the known ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from curation.relabeling.staleness.calendar import CHANGED, GONE, REVISIT, UNKNOWN, JudgedPair, Quarter
from curation.settling.consensus import PairConsensus

WEIGHTS: Mapping[str, float] = {
    "document": 0.30,
    "guide": 0.20,
    "doubt": 0.20,
    "influence": 0.15,
    "age": 0.10,
    "traffic": 0.05,
}
"""What each part weighs; together 1."""

STALE = 0.25
"""From this score on a pair counts as stale; see `PairStaleness.is_stale`."""

CHANGE_AT_LEAST = 0.5
"""A document whose text changed at all; the share of changed words makes up the rest."""


class StalenessParts(NamedTuple):
    """The parts of a score, each 0 (fresh) to 1 (stale), None where unknown.

    Attributes
    ----------
    document: 1 where it is gone, or its new text has no longer the evidence; where its text changed, from 0.5
        on by the share of changed words.
    guide: 1 where the pair was judged under another guide than the one in force.
    doubt: see `doubt_of`.
    influence: how far a flip of the grade would move a comparison of known systems.
    age: quarters since it was judged, over two years.
    traffic: how far the share of the query's traffic moved.
    """

    document: float | None
    guide: float | None
    doubt: float | None
    influence: float | None
    age: float | None
    traffic: float | None

    @property
    def score(self) -> float:
        """The weighted mean of the known parts; 0 where none is known."""
        known = {name: part for name, part in self._asdict().items() if part is not None}
        weight = sum(WEIGHTS[name] for name in known)
        return sum(WEIGHTS[name] * part for name, part in known.items()) / weight if weight else 0.0


def parts_of(
    pair: JudgedPair,
    quarter: Quarter,
    changed_share: float | None = None,
    traffic_change: float | None = None,
    influence: float | None = None,
) -> StalenessParts:
    """The parts of one pair's score.

    Parameters
    ----------
    quarter: the present one.
    changed_share: of the words of its document; needed where its text changed.
    traffic_change: of its query, 0 to 1.
    """
    age = None if pair.judged is None else min(1.0, quarter.since(pair.judged) / REVISIT)
    return StalenessParts(
        document=_document(pair, changed_share),
        guide=None if pair.guide_behind is None else float(pair.guide_behind),
        doubt=doubt_of(pair.consensus),
        influence=influence,
        age=age,
        traffic=traffic_change,
    )


def doubt_of(pair: PairConsensus) -> float:
    """How doubtful a grade was when it was given: the largest of three signs, 0 to 1.

    A pair that a reviewer decided is 0; another one that is disputed or has no grade is 1. Else: the share of
    those who could not tell; the share of the votes that name another grade; and what the rule's own
    confidence lacks. A single vote says nothing of its doubt and counts 0.25.
    """
    if pair.how == "adjudicated":
        return 0.0
    if pair.grade is None or pair.how == "disputed":
        return 1.0
    votes = sum(pair.votes.values())
    against = 1 - pair.votes.get(pair.grade, 0) / votes if votes else 0.0
    silent = pair.cannot_tell / pair.judgments if pair.judgments else 0.0
    unsure = 0.0 if pair.confidence is None else 1 - pair.confidence
    single = 0.25 if votes == 1 else 0.0
    return max(against, silent, unsure, single)


def _document(pair: JudgedPair, changed_share: float | None) -> float | None:
    if pair.document == UNKNOWN:
        return None
    if pair.document == GONE or pair.evidence_lost:
        return 1.0
    if pair.document == CHANGED:
        return CHANGE_AT_LEAST + (1 - CHANGE_AT_LEAST) * (changed_share or 0.0)
    return 0.0
