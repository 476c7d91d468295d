"""The Ladder of a sealed part: its measure, its step, and how far it was climbed.

A part has one Ladder for runs and one for answers. That of runs is by the first measure of the first look at
the part, with its threshold; that of answers by F1. Nothing of it is stored: all looks are climbed again, in
their order. A look of a lead, which had all figures, counts as well: each stores the values of queries by the
Ladder's measure next to those of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from curation.evaluation.metrics.measures import Measure, measures_named
from curation.evaluation.sealed.ladder import LadderState, climb, step_for, told_bits
from curation.releases.looks import SealedLook, look_queries, looks
from curation.statistics.arrays import Floats
from curation.store import Cursor

F1 = "f1"
"""The measure of the Ladder of answers: exact match is 0 for most answers in sentences."""
NO_LADDER = ("judged",)
"""Kinds of measures that say nothing about how good a system is."""
BEGINNING = LadderState()


@dataclass(frozen=True)
class Rung:
    """A look that was better than before: the figure that it raised the Ladder to."""

    look: SealedLook
    shown: float


@dataclass(frozen=True)
class PartLadder:
    """How far a part's Ladder was climbed.

    Attributes
    ----------
    scored_by: its measure, as values of queries name it; None before the first look.
    measure, relevant: the same for runs; None of answers, and before the first look.
    first: the look that fixed them.
    queries: that have a value; None before the first look.
    """

    scored_by: str | None = None
    measure: Measure | None = None
    relevant: int | None = None
    first: SealedLook | None = None
    queries: tuple[str, ...] | None = None
    state: LadderState = BEGINNING
    rungs: tuple[Rung, ...] = ()

    def after(self, look: SealedLook | None, values: Mapping[str, float | None]) -> PartLadder:
        """The Ladder after a look whose queries have these values; a look that is not stored yet is None."""
        queries = self.queries
        if queries is None:
            queries = tuple(sorted(name for name, value in values.items() if value is not None))
        if not queries:
            return self
        reached: Floats = np.array([values.get(name) or 0.0 for name in queries])
        state = climb(self.state, reached, step_for(len(queries)))
        rungs = self.rungs
        if state.improved and look is not None:
            rungs = (*rungs, Rung(look, round(state.shown or 0.0, 3)))
        return replace(self, queries=queries, state=state, rungs=rungs)

    @property
    def step(self) -> float:
        """The least that a figure has to gain; 0 where no query has a value."""
        return step_for(len(self.queries)) if self.queries else 0.0

    @property
    def bits(self) -> float:
        """How much its answers can have told of all grades together; 0 before the first look."""
        return told_bits(self.state.looks, self.step) if self.queries else 0.0


def scored_by(measure: Measure, relevant: int) -> str:
    """How values of queries name a measure, with its threshold where it has one."""
    return f"{measure.name}, relevant from {relevant}" if measure.binary else measure.name


def part_ladder(
    cursor: Cursor, release_id: str, part: str, queries: Sequence[str], answers: bool = False
) -> PartLadder:
    """The Ladder of a part, with these queries, after all its looks."""
    taken = [one for one in looks(cursor, release_id) if part in one.parts and one.of_answers == answers]
    found = PartLadder(F1) if answers else _fixed(taken)
    inside = set(queries)
    values: dict[str, dict[str, float | None]] = {}
    for row in look_queries(cursor, [one.look_id for one in taken]):
        if row.scored_by == found.scored_by and row.query_id in inside:
            values.setdefault(row.look_id, {})[row.query_id] = row.value
    for one in taken:
        if one.look_id in values:
            found = found.after(one, values[one.look_id])
    return found


def _fixed(taken: Sequence[SealedLook]) -> PartLadder:
    """The measure of the first look whose first measure can be a Ladder's."""
    for one in taken:
        asked = json.loads(one.asked)
        [measure] = measures_named(asked["measures"][:1])
        if measure.kind not in NO_LADDER:
            relevant = int(asked["relevant"])
            return PartLadder(scored_by(measure, relevant), measure, relevant, one)
    return PartLadder()
