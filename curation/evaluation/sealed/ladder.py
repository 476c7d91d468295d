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
information that k looks can have about the grades, by however clever a choice of systems (`told_bits`;
C. Dwork et al. (2015), Generalization in adaptive data analysis and holdout reuse, NIPS, their section 2.2,
bound the bias of what is chosen by the length of such a description).
"""

from __future__ import annotations

from math import ceil, comb, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from curation.errors import InputError
from curation.statistics.arrays import Floats
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


def ladder_bound(looks: int, queries: int, step: float) -> float:
    """How far the figure shown may be from the best true one, with 95 %; 1 where nothing is known.

    Raises
    ------
    InputError: no look, no query, or a step that is not between 0 and 1.
    """
    _check_step(looks, queries, step)
    paths = (1 / step + 2) * log(4 * looks / step)
    return min(1.0, step + sqrt((log(2 / 0.05) + paths) / (2 * queries)))


def best_step(looks: int, queries: int) -> float:
    """The step with the smallest bound, in hundredths."""
    steps = [number / 100 for number in range(1, 100)]
    return min(steps, key=lambda step: ladder_bound(looks, queries, step))


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


def told_bits(looks: int, step: float) -> float:
    """How many bits so many answers can have at most: log₂ C(k + m − 1, m − 1), m = round(1/η) + 1 figures.

    Raises
    ------
    InputError: no look, or a step that is not between 0 and 1.
    """
    _check_step(looks, 1, step)
    return log2(comb(looks + round(1 / step), round(1 / step)))


def _standard_error(differences: Floats) -> float:
    """Of the mean; Blum and Hardt take the sample's own standard deviation, here with the divisor n − 1."""
    queries = len(differences)
    return float(differences.std(ddof=1)) / sqrt(queries) if queries > 1 else float(np.inf)


def _rounded(mean: float, step: float) -> float:
    return min(1.0, round(mean / step) * step)


def _check_step(looks: int, queries: int, step: float) -> None:
    if looks < 1 or queries < 1 or not 0 < step < 1:
        raise InputError(
            f"{amount(looks, 'look')} at {amount(queries, 'query', 'queries')} with a step of {step:g}: "
            "expected at least one of each, and a step between 0 and 1."
        )


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
