"""Which pairs are judged again: a random part, a due part, a stale part and controls; functions of a seed.

The random part is drawn first, from everything that can be judged, so that it is a probability sample of the
set: systematic sampling with a random start along type, quarter of the last judgment and a seeded order. Each
pair has the same inclusion probability, and each type and quarter gets within one of its share (Särndal,
Swensson & Wretman 1992, section 3.4).

The due part keeps the promise of two years. A pair that was judged a quarters ago has 9 - a plans left, this
one included. Of the pairs with at most r left, one in r - 0.5 is judged now. So no later plan needs more than
its share, though its random part will mostly fall on others.

Controls are pairs that nothing speaks against: the same text and guide, one grade of several votes. What
changes among them is the noise of judging. The stale part takes the rest: first pairs whose grade has other
words in the guide in force, then by score.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.relabeling.request import RANDOM_SHARE
from curation.relabeling.staleness.calendar import GONE, REVISIT, SAME, JudgedPair, Pair, Quarter
from curation.statistics.weights import draw_proportional
from curation.text import digest

RANDOM, DUE, STALE, CONTROL = "random", "due", "stale", "control"
CONTROL_SHARE = 0.1
"""The share of a plan's pairs that are controls, where there are as many."""
MARGIN = 0.5
"""Of a plan: what is due is judged so much earlier than an even share would be."""
BETWEEN = " · "

ALL_GONE = "the document is not in the corpus any more: it cannot be judged again"
FEW_CONTROLS = "controls: too few pairs of the same text and guide with one grade of several votes"


class ScoredPair(NamedTuple):
    """A pair that a plan can take, with its staleness score and its doubt, 0 to 1."""

    judged: JudgedPair
    score: float
    doubt: float

    @property
    def pair(self) -> Pair:
        return self.judged.pair

    @property
    def stratum(self) -> str:
        """Its type and the quarter it was judged in."""
        when = self.judged.judged
        return f"{self.judged.type}{BETWEEN}{when.name if when else 'unknown'}"


class PlannedPair(NamedTuple):
    """A pair of a plan; `probability` is its inclusion probability in the random part, None in the others."""

    scored: ScoredPair
    part: str
    probability: float | None


@dataclass(frozen=True)
class GuideWork:
    """Pairs that can be judged and were judged under a guide whose grades meant something else.

    Attributes
    ----------
    reworded: of the stale ones, those whose grade itself has other words now; they come first.
    taken, taken_reworded: of both, those in the plan.
    quarters: how many more plans of this size the rest takes, if nothing else is staler.
    """

    stale: int
    reworded: int
    taken: int
    taken_reworded: int
    quarters: int


@dataclass(frozen=True)
class PairChoice:
    """The pairs of a plan.

    Attributes
    ----------
    frame: how many pairs could be judged.
    short: pairs that will be older than two years, because there was no room for them.
    needed: the fraction with room for all that had to be judged now, so that no later plan gets more than its
        share; None where this one has it.
    left_out: reason → number.
    """

    pairs: tuple[PlannedPair, ...]
    frame: int
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
    choice = _Choice(frame, number, seed)
    drawn = _random_part(frame, min(number, max(random, round(RANDOM_SHARE * number))), seed)
    for row in drawn:
        choice.take(row, RANDOM, len(drawn) / len(frame))
    _take_missing(choice)
    controls = round(CONTROL_SHARE * number)
    found = choice.take_first(
        CONTROL, controls, lambda row: (plans_left(row, quarter), choice.order(row)), _is_control
    )
    missing = _take_due(choice, quarter)
    late = sum(plans_left(row, quarter) == 1 for row in choice.free())
    choice.take_first(STALE, number, choice.rank)
    left_out = {ALL_GONE: len(everything) - len(frame), FEW_CONTROLS: controls - found}
    return PairChoice(
        pairs=choice.planned(),
        frame=len(frame),
        short=late,
        needed=math.ceil(100 * (number + missing) / len(frame)) / 100 if missing else None,
        left_out={reason: count for reason, count in left_out.items() if count},
        guide=_guide_work(choice, len(drawn), controls),
    )


def _guide_work(choice: _Choice, drawn: int, controls: int) -> GuideWork:
    """A later plan chooses as many by score, and its random part has some that are still stale."""
    stale = [row for row in choice.frame if row.judged.guide_behind]
    reworded = [row for row in stale if row.judged.reworded]
    taken, reached = (sum(row.pair in choice.taken for row in rows) for rows in (stale, reworded))
    left, quarters = float(len(stale) - taken), 0
    while left >= 0.5:
        left -= choice.number - drawn - controls + drawn * left / len(choice.frame)
        quarters += 1
    return GuideWork(len(stale), len(reworded), taken, reached, quarters)


class _Choice:
    """The pairs taken so far, of those in the frame, at most `number`."""

    def __init__(self, frame: Sequence[ScoredPair], number: int, seed: int) -> None:
        self.frame, self.number, self.seed = frame, number, seed
        self.taken: dict[Pair, PlannedPair] = {}

    @property
    def room(self) -> int:
        return self.number - len(self.taken)

    def order(self, row: ScoredPair) -> str:
        return digest(self.seed, "relabel", *row.pair)

    def rank(self, row: ScoredPair) -> tuple[bool, float, str]:
        """The stalest first; before them those whose grade has other words in the guide in force."""
        return not row.judged.reworded, -row.score, self.order(row)

    def take(self, row: ScoredPair, part: str, probability: float | None = None) -> None:
        self.taken[row.pair] = PlannedPair(row, part, probability)

    def free(self) -> list[ScoredPair]:
        return [row for row in self.frame if row.pair not in self.taken]

    def take_first(
        self,
        part: str,
        number: int,
        rank: Callable[[ScoredPair], tuple[object, ...]],
        fits: Callable[[ScoredPair], bool] = lambda _: True,
    ) -> int:
        """Take the first free pairs in an order, as far as there is room; returns how many were taken."""
        found = sorted((row for row in self.free() if fits(row)), key=rank)[: min(number, self.room)]
        for row in found:
            self.take(row, part)
        return len(found)

    def planned(self) -> tuple[PlannedPair, ...]:
        return tuple(self.taken[pair] for pair in sorted(self.taken))


def _random_part(frame: Sequence[ScoredPair], number: int, seed: int) -> list[ScoredPair]:
    """Every pair with the same probability, spread over types, quarters and queries."""
    if not number:
        return []
    ordered = sorted(frame, key=lambda row: (row.stratum, digest(seed, "axis", *row.pair)))
    start = int(digest("relabel", seed, len(ordered)), 16)
    found = draw_proportional(np.ones(len(ordered), np.int64), number, start)
    return [ordered[place] for place in found.rows.tolist()]


def plans_left(row: ScoredPair, quarter: Quarter) -> int:
    """In how many plans, this one included, the pair can still be judged within two years."""
    when = row.judged.judged or row.judged.known_since
    return 1 if when is None else max(1, REVISIT + 1 - quarter.since(when))


def _take_due(choice: _Choice, quarter: Quarter) -> int:
    """Take what must be judged now, the stalest first; returns how many pairs there was no room for.

    Where there is not room for all, each query's stalest pair comes before any query's second, and
    queries without a pair in the plan come first.
    """
    left = {row.pair: plans_left(row, quarter) for row in choice.frame}
    most = 0
    for plans in range(1, REVISIT + 2):
        within = [row for row in choice.frame if left[row.pair] <= plans]
        had = sum(row.pair in choice.taken for row in within)
        missing = math.ceil(len(within) / max(1, plans - MARGIN)) - had
        free = [row for row in within if row.pair not in choice.taken]
        free.sort(key=choice.rank)
        if missing > choice.room:
            most = max(most, math.ceil(len(within) / plans) - had - choice.room)
            free = _in_turns(free, choice, left)
        for row in free[: max(0, min(missing, choice.room))]:
            choice.take(row, DUE)
    return most


def _in_turns(rows: Sequence[ScoredPair], choice: _Choice, left: Mapping[Pair, int]) -> list[ScoredPair]:
    """Each query's first pair, then each query's second; queries without a pair in the plan first, and of
    those the ones that were visited longest ago. Pairs whose grade has other words now come before all."""
    visited: defaultdict[str, int] = defaultdict(int)
    for row in choice.frame:
        query = row.judged.query_id
        visited[query] = max(visited[query], left[row.pair])
    seen = {one.scored.judged.query_id for one in choice.taken.values()}
    turn: defaultdict[str, int] = defaultdict(int)
    placed = []
    for row in rows:
        query = row.judged.query_id
        first = (not row.judged.reworded, query in seen, turn[query], visited[query])
        placed.append(((*first, choice.order(row)), row))
        turn[query] += 1
    return [row for _, row in sorted(placed, key=lambda item: item[0])]


def _is_control(row: ScoredPair) -> bool:
    one = row.judged.consensus
    undisputed = not row.doubt and sum(one.votes.values()) > 1 and one.how != "adjudicated"
    return row.judged.document == SAME and row.judged.guide_behind is False and undisputed


def _take_missing(choice: _Choice) -> None:
    """Take the stalest pair of each type, tag and past quarter that nothing represents yet."""
    has = {name for one in choice.taken.values() for name in _kinds(one.scored)}
    for row in sorted(choice.free(), key=choice.rank):
        if not choice.room:
            return
        if not _kinds(row) <= has:
            choice.take(row, STALE)
            has |= _kinds(row)


def _kinds(row: ScoredPair) -> set[tuple[str, str]]:
    when = row.judged.judged
    tags = {("tag", tag) for tag in row.judged.tags}
    return {("type", row.judged.type), ("quarter", when.name if when else "unknown"), *tags}
