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
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.errors import InputError
from curation.text import amount

Floats = NDArray[np.float64]


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
    step: above 0; None takes the standard error of the differences to the best system, and rounds to 1/Q.

    Raises
    ------
    InputError: a value is no number, the queries are not those of the last look, or the step is not above 0.
    """
    _check(state, values, step)
    mean, looks = float(values.mean()), state.looks + 1
    if state.shown is None or state.best is None:
        return LadderState(looks, _rounded(mean, step or 1 / len(values)), values, True)
    margin = _standard_error(values - state.best) if step is None else step
    if mean <= state.shown + margin:
        return state._replace(looks=looks, improved=False)
    return LadderState(looks, _rounded(mean, step or 1 / len(values)), values, True)


def ladder_bound(looks: int, queries: int, step: float) -> float:
    """How far the figure shown may be from the best true one, with 95 %; 1 where nothing is known.

    Raises
    ------
    InputError: no look, no query, or a step that is not between 0 and 1.
    """
    if looks < 1 or queries < 1 or not 0 < step < 1:
        raise InputError(
            f"{amount(looks, 'look')} at {amount(queries, 'query', 'queries')} with a step of {step:g}: "
            "expected at least one of each, and "
            "a step between 0 and 1."
        )
    paths = (1 / step + 2) * log(4 * looks / step)
    return min(1.0, step + sqrt((log(2 / 0.05) + paths) / (2 * queries)))


def best_step(looks: int, queries: int) -> float:
    """The step with the smallest bound, in hundredths."""
    steps = [number / 100 for number in range(1, 100)]
    return min(steps, key=lambda step: ladder_bound(looks, queries, step))


def _standard_error(differences: Floats) -> float:
    """Of the mean; Blum and Hardt take the sample's own standard deviation, here with the divisor n − 1."""
    queries = len(differences)
    return float(differences.std(ddof=1)) / sqrt(queries) if queries > 1 else float(np.inf)


def _rounded(mean: float, step: float) -> float:
    return round(mean / step) * step


def _check(state: LadderState, values: Floats, step: float | None) -> None:
    if not len(values) or np.isnan(values).any():
        raise InputError("A look needs the figure of every query; there is none, or one is no number.")
    if state.best is not None and len(state.best) != len(values):
        raise InputError(
            f"This look has {amount(len(values), 'query', 'queries')} and the best one "
            f"{len(state.best):,}: a ladder compares "
            "looks at the same queries. Begin another one."
        )
    if step is not None and not step > 0:
        raise InputError(f"A ladder with steps of {step:g}: expected a step above 0.")
