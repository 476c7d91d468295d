"""Which pairs are judged again: what is due, the stalest, and a random part of all others, by a seed.

The due part keeps the promise of two years. A pair that was judged a quarters ago has 9 - a plans left, this
one included. Of the pairs with at most r left, one in r - 0.5 is judged now, less what the random part will
probably have of them, so that no later plan needs more than its share. The stale part takes the highest
scores.

The random part is drawn last, from all that the others leave, so that together they are a stratified sample
of the set: what is chosen is known once it is judged, and the random part says what is true of the rest (W.
G. Cochran 1977, Sampling Techniques, section 5.5). It is systematic sampling with a random start along type,
quarter of the last judgment and a seeded order. Each pair of the rest has the same inclusion probability, and
each type and quarter gets within one of its share (Särndal, Swensson & Wretman 1992, section 3.4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.relabeling.request import RANDOM_SHARE
from curation.relabeling.staleness.calendar import GONE, REVISIT, JudgedPair, Pair, Quarter
from curation.statistics.weights import draw_proportional
from curation.text import digest

RANDOM, DUE, STALE = "random", "due", "stale"
MARGIN = 0.5
"""Of a plan: what is due is judged so much earlier than an even share would be."""
BETWEEN = " · "

ALL_GONE = "the document is not in the corpus any more: it cannot be judged again"


class ScoredPair(NamedTuple):
    """A pair that a plan can take, with its staleness score, 0 to 1."""

    judged: JudgedPair
    score: float

    @property
    def pair(self) -> Pair:
        return self.judged.pair

    @property
    def stratum(self) -> str:
        """Its type and the quarter it was judged in."""
        when = self.judged.judged
        return f"{self.judged.type}{BETWEEN}{when.name if when else 'unknown'}"


class PlannedPair(NamedTuple):
    """A pair of a plan; `probability` is its inclusion probability, 1 outside of the random part."""

    scored: ScoredPair
    part: str
    probability: float


@dataclass(frozen=True)
class GuideWork:
    """Pairs that can be judged and whose grade, or a vote for it, the guide words otherwise now; `taken` of
    them are in the plan.
    """

    stale: int
    taken: int


@dataclass(frozen=True)
class PairChoice:
    """The pairs of a plan.

    Attributes
    ----------
    frame: how many pairs could be judged; graded: those of them that have a grade.
    short: pairs that will be older than two years, because there was no room for them.
    needed: the fraction with room for all that had to be judged now, so that no later plan gets more than its
        share; None where this one has it.
    left_out: reason → number.
    """

    pairs: tuple[PlannedPair, ...]
    frame: int
    graded: int
    short: int
    needed: float | None
    left_out: dict[str, int]
    guide: GuideWork


def choose_pairs(
    rows: Iterable[ScoredPair], fraction: float, seed: int, quarter: Quarter, random: int = 0
) -> PairChoice:
    """Choose a fraction of the pairs that can be judged, at least `random` of them at random."""
    everything = sorted(rows, key=lambda row: row.pair)
    frame = [row for row in everything if row.judged.document != GONE]
    number = min(len(frame), max(1, round(fraction * len(frame)))) if frame else 0
    drawn = min(number, max(random, round(RANDOM_SHARE * number)))
    ranked = sorted(frame, key=lambda row: (-row.score, digest(seed, "relabel", *row.pair)))
    due, missing = _due_part(ranked, number - drawn, drawn, quarter)
    stalest = [row for row in ranked if row.pair not in due][: number - drawn - len(due)]
    chosen = {**dict.fromkeys(due, DUE), **dict.fromkeys((row.pair for row in stalest), STALE)}
    rest = [row for row in frame if row.pair not in chosen]
    part = {row.pair: RANDOM for row in _random_part(rest, drawn, seed)} | chosen
    planned = tuple(
        PlannedPair(row, name, drawn / len(rest) if name == RANDOM else 1.0)
        for row in frame
        if (name := part.get(row.pair))
    )
    behind = [row.pair for row in frame if row.judged.guide_behind]
    gone = len(everything) - len(frame)
    return PairChoice(
        pairs=planned,
        frame=len(frame),
        graded=sum(row.judged.consensus.grade is not None for row in frame),
        short=sum(plans_left(row, quarter) == 1 for row in frame if row.pair not in part),
        needed=_fraction_with(number, missing, len(frame)) if missing else None,
        left_out={ALL_GONE: gone} if gone else {},
        guide=GuideWork(len(behind), sum(pair in part for pair in behind)),
    )


def _fraction_with(number: int, missing: int, frame: int) -> float:
    """The fraction of a plan with so many pairs more outside of its random part, in whole percent."""
    return min(1.0, math.ceil(100 * (number + missing / (1 - RANDOM_SHARE)) / frame) / 100)


def plans_left(row: ScoredPair, quarter: Quarter) -> int:
    """In how many plans, this one included, the pair can still be judged within two years."""
    when = row.judged.judged or row.judged.known_since
    return 1 if when is None else max(1, REVISIT + 1 - quarter.since(when))


def _due_part(ranked: Sequence[ScoredPair], room: int, drawn: int, quarter: Quarter) -> tuple[set[Pair], int]:
    """What must be judged now, the stalest first; and how many pairs there was no room for."""
    left = {row.pair: plans_left(row, quarter) for row in ranked}
    due: set[Pair] = set()
    most = 0
    for plans in range(1, REVISIT + 2):
        within = [row.pair for row in ranked if left[row.pair] <= plans]
        free = [pair for pair in within if pair not in due]
        by_chance = drawn * len(free) / max(1, len(ranked) - room) if plans > 1 else 0.0
        missing = math.ceil(len(within) / max(1, plans - MARGIN) - by_chance) - (len(within) - len(free))
        fits = max(0, min(missing, room - len(due)))
        if missing > fits:
            even = math.ceil(len(within) / plans - by_chance) - (len(within) - len(free))
            most = max(most, even - fits)
        due.update(free[:fits])
    return due, most


def _random_part(rest: Sequence[ScoredPair], number: int, seed: int) -> list[ScoredPair]:
    """Every pair with the same probability, spread over types, quarters and queries."""
    if not number:
        return []
    ordered = sorted(rest, key=lambda row: (row.stratum, digest(seed, "axis", *row.pair)))
    start = int(digest("relabel", seed, len(ordered)), 16)
    drawn = draw_proportional(np.ones(len(ordered), np.int64), number, start)
    return [ordered[place] for place in drawn.rows.tolist()]
