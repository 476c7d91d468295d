"""The Ladder: a leaderboard that answers only when a system is better by more than noise.

Somebody who looks often learns the sealed part from the answers, digit by digit. The Ladder gives away next
to nothing: a new figure is shown, rounded, only where it beats the best one shown by more than a step. Else
the answer is the best so far once more, and says nothing about the new system.

A. Blum and M. Hardt (2015), The Ladder: A reliable leaderboard for machine learning competitions, ICML.
Theirs takes losses; here more is better. With a step η and k looks at Q queries, all figures between 0 and 1,
the answers follow one of so few paths that with 95 % the best figure shown is off by no more than

    η + √((ln(2 / 0.05) + (1/η + 2) ln(4k/η)) / 2Q)

from the best true one (their section 3, with Hoeffding's inequality for each system on a path). For some
hundred queries this says little. The Ladder without a parameter takes the standard error of the paired
difference to the best system as its step, as a t test does; it has no such bound, but simulations of attacks.
A part's Ladder takes the larger of both, so that a figure is shown for more than noise and the paths are few.

How few they are bounds what the answers tell, whatever is asked: the figure shown never falls, and is one
of m = round(1/η) + 1, so k answers are one of C(k + m − 1, m − 1) sequences. Their logarithm is all the
information that k looks can have about the grades, by however clever a choice of systems (`bits_of_answers`;
C. Dwork et al. (2015), Generalization in adaptive data analysis and holdout reuse, NIPS, their section 2.2,
bound the bias of what is chosen by the length of such a description).

A part has one Ladder for runs and one for answers. That of runs is by the first measure of the first look at
the part, with its threshold; that of answers by F1. Nothing of it is stored: all looks are climbed again, in
their order. A look of a lead, which had all figures, counts as well: each stores the values of queries by the
Ladder's measure next to those of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, comb, log2, sqrt
from typing import NamedTuple

import numpy as np

from curation.errors import InputError
from curation.releases.looks import SealedLook, look_queries, looks
from curation.scoring.metrics.measures import CONTEXT, Measure, measures_named
from curation.statistics.arrays import Floats
from curation.store import Cursor
from curation.text import amount


class LadderState(NamedTuple):
    """What the holder of the sealed part keeps between looks; nobody else sees `best`.

    Attributes
    ----------
    looks: how many there were.
    shown: the figure that is shown; None before the first look.
    best: shape (Q,), the values of the system that it belongs to.
    improved: whether the last look changed the figure.
    """

    looks: int = 0
    shown: float | None = None
    best: Floats | None = None
    improved: bool = False


def climb(state: LadderState, values: Floats, step: float | None = None) -> LadderState:
    """The state after a look.

    Parameters
    ----------
    values: shape (Q,), the figure of every query, between 0 and 1, of the same queries at each look.
    step: above 0, the least that a figure has to gain; None is the Ladder without a parameter, rounded to
        1/Q. More is asked where the standard error of the differences to the best system is more.

    Raises
    ------
    InputError: a value is no number, the queries are not those of the last look, or the step is not above 0.
    """
    _check(state, values, step)
    mean, looks = float(values.mean()), state.looks + 1
    if state.shown is None or state.best is None:
        return LadderState(looks, _rounded(mean, step or 1 / len(values)), values, True)
    margin = max(step or 0.0, _standard_error(values - state.best))
    if mean <= state.shown + margin:
        return state._replace(looks=looks, improved=False)
    return LadderState(looks, _rounded(mean, step or 1 / len(values)), values, True)


def step_for(queries: int) -> float:
    """The step of a part's Ladder: the most that the standard error of so many queries can be, in hundredths.

    Figures are between 0 and 1, so that is 0.5 / √Q.

    Raises
    ------
    InputError: there is no query.
    """
    if queries < 1:
        raise InputError("A ladder needs the figure of a query, and there is none.")
    return ceil(50 / sqrt(queries)) / 100


def bits_of_answers(looks: int, step: float) -> float:
    """How many bits so many answers can have at most: log₂ C(k + m − 1, m − 1), m = round(1/η) + 1 figures.

    Raises
    ------
    InputError: no look, or a step that is not between 0 and 1.
    """
    if looks < 1 or not 0 < step < 1:
        raise InputError(
            f"{amount(looks, 'look')} with a step of {step:g}: expected at least one look, and a step "
            "between 0 and 1."
        )
    return log2(comb(looks + round(1 / step), round(1 / step)))


def _standard_error(differences: Floats) -> float:
    """Of the mean; Blum and Hardt take the sample's own standard deviation, here with the divisor n − 1."""
    queries = len(differences)
    return float(differences.std(ddof=1)) / sqrt(queries) if queries > 1 else float(np.inf)


def _rounded(mean: float, step: float) -> float:
    return min(1.0, round(mean / step) * step)


def _check(state: LadderState, values: Floats, step: float | None) -> None:
    if not len(values) or np.isnan(values).any():
        raise InputError("A look needs the figure of every query; there is none, or one is no number.")
    if state.best is not None and len(state.best) != len(values):
        raise InputError(
            f"This look has {amount(len(values), 'query', 'queries')} and the best one {len(state.best):,}: "
            "a ladder compares looks at the same queries. Begin another one."
        )
    if step is not None and not step > 0:
        raise InputError(f"A ladder with steps of {step:g}: expected a step above 0.")


F1 = "f1"
"""The measure of the Ladder of answers: exact match is 0 for most answers in sentences."""
NO_LADDER = ("judged", CONTEXT)
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
        return bits_of_answers(self.state.looks, self.step) if self.queries else 0.0


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
