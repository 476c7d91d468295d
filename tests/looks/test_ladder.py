"""The Ladder: what it shows, and that an adaptive attacker learns next to nothing from it."""

from __future__ import annotations

import numpy as np
import pytest
from curation.looks.ladder import LadderState, bits_of_answers, climb

from curation.errors import InputError

HALF = np.full(100, 0.5)


def test_the_first_look_is_shown_rounded_and_small_gains_are_not() -> None:
    first = climb(LadderState(), HALF + 0.0123, step=0.05)
    assert (first.shown, first.looks, first.improved) == (0.5, 1, True)
    again = climb(first, HALF + 0.04, step=0.05)
    assert (again.shown, again.looks, again.improved) == (0.5, 2, False)
    better = climb(again, HALF + 0.0612, step=0.05)
    assert (better.shown, better.looks, better.improved) == (pytest.approx(0.55), 3, True)


def test_without_a_step_a_gain_has_to_beat_the_standard_error_of_the_difference() -> None:
    first = climb(LadderState(), HALF)
    noise = np.tile([0.2, -0.2], 50)  # sd 0.201, so a standard error of 0.0201
    assert climb(first, HALF + noise + 0.02).improved is False
    better = climb(first, HALF + noise + 0.0215)
    assert better.shown == pytest.approx(0.52)
    assert better.best is not None
    assert better.best.mean() == pytest.approx(0.5215)


def test_a_worse_system_changes_nothing() -> None:
    first = climb(LadderState(), HALF)
    worse = climb(first, HALF - 0.3)
    assert (worse.shown, worse.improved, worse.looks) == (0.5, False, 2)
    assert worse.best is first.best


def attack(random: np.random.Generator, queries: int, looks: int, ladder: bool) -> float:
    """The figure shown for a system that is worth 0.5, built from answers; see `test_flattery`."""
    right, state = random.choice([-1, 1], queries), LadderState()
    kept, weights = [], []
    for _ in range(looks):
        chosen = random.choice([-1, 1], queries)
        values = 0.5 + 0.5 * chosen * right
        state = climb(state, values)
        kept.append(chosen)
        weights.append(float(state.improved) if ladder else values.mean() - 0.5)
    combined = np.where(np.array(weights) @ np.array(kept) >= 0, 1, -1)
    last = 0.5 + 0.5 * combined * right
    return climb(state, last).shown or 0.0 if ladder else float(last.mean())


def test_an_attacker_gains_little_on_the_ladder_and_much_without() -> None:
    """Q = 200 queries, 100 looks; the truth is 0.5, and the standard error of one look 0.035."""
    random = np.random.default_rng(3)
    plain = np.mean([attack(random, 200, 100, ladder=False) for _ in range(15)])
    climbed = np.mean([attack(random, 200, 100, ladder=True) for _ in range(15)])
    assert plain > 0.7
    assert climbed < 0.6


def test_looks_at_other_queries_or_without_figures_are_refused() -> None:
    first = climb(LadderState(), HALF)
    with pytest.raises(InputError, match="This look has 99 queries and the best one 100"):
        climb(first, HALF[1:])
    with pytest.raises(InputError, match="needs the figure of every query"):
        climb(first, np.append(HALF[1:], np.nan))
    with pytest.raises(InputError, match="expected a step above 0"):
        climb(first, HALF, step=0.0)
    with pytest.raises(InputError, match="between 0 and 1"):
        bits_of_answers(3, 1.5)
