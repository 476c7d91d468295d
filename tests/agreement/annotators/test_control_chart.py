"""The CUSUM chart of repeats: what it adds up, where its limit lies, and how often it is wrong."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import log

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.agreement.annotators.change_points import LEVEL, SHORTEST
from curation.agreement.annotators.control_chart import ODDS, cusum, odds_worse, run_length, steps
from tests.support import examples

START = datetime(2026, 3, 2)


def hours(number: int) -> np.ndarray:
    return np.asarray([START + timedelta(hours=hour) for hour in range(number)], dtype="datetime64[us]")


def test_a_step_is_the_log_of_a_likelihood_ratio_at_twice_the_odds() -> None:
    """By hand: at 80 % the odds of a miss are 1 to 4, twice that is 1 to 2, so 66.7 %."""
    assert odds_worse(0.8, ODDS) == pytest.approx(2 / 3)
    good, bad = steps(0.8)
    assert (good, bad) == (pytest.approx(log(2 / 3 / 0.8)), pytest.approx(log(1 / 3 / 0.2)))


@example([False, True, True] + [False] * 13)  # its highest point is that of many orders
@settings(max_examples=examples(40))
@given(st.lists(st.booleans(), min_size=2 * SHORTEST, max_size=40).filter(lambda said: len(set(said)) == 2))
def test_the_sum_is_that_of_the_recursion_and_never_below_zero(said: list[bool]) -> None:
    alike = np.asarray(said)
    found = cusum(alike, hours(len(said)))
    good, bad = steps(float(alike.mean()))
    level, expected = 0.0, []
    for same in said:
        level = max(0.0, level + (good if same else bad))
        expected.append(level)
    assert found.values == pytest.approx(expected, abs=2e-6)
    assert 0 < found.p <= 1
    assert found.outside == (max(expected) > found.limit + 1e-9) == (found.p <= LEVEL)


def test_a_bad_stretch_is_found_with_its_ends() -> None:
    alike = np.asarray([True] * 30 + [False] * 8 + [True] * 30)
    found = cusum(alike, hours(68))
    assert found.outside
    assert found.p == 0.001
    assert (found.worst.begins, found.worst.ends) == (
        START + timedelta(hours=30),
        START + timedelta(hours=37),
    )
    assert (found.worst.identical, found.worst.n) == (0, 8)
    assert "with 0 of 8 repeats graded alike; above the limit" in found.sentence


def test_misses_that_are_spread_evenly_stay_below_the_limit() -> None:
    found = cusum(np.asarray(([True] * 5 + [False]) * 10), hours(60))
    assert not found.outside
    assert found.p > 0.5


def test_too_few_repeats_and_no_variation_have_no_chart() -> None:
    assert cusum(np.asarray([True, False] * (SHORTEST - 1)), hours(2 * SHORTEST - 2)) is None
    assert cusum(np.ones(50, dtype=bool), hours(50)) is None
    assert cusum(np.zeros(50, dtype=bool), hours(50)) is None


def test_the_same_seed_gives_the_same_chart() -> None:
    alike = np.random.default_rng(5).random(60) < 0.8
    assert cusum(alike, hours(60), 3) == cusum(alike, hours(60), 3)


def test_where_nothing_changes_the_limit_is_crossed_as_rarely_as_stated() -> None:
    random = np.random.default_rng(0)
    runs = 200
    rows = random.random((runs, 40)) < 0.8
    found = sum(cusum(row, hours(40), seed).outside for seed, row in enumerate(rows))
    assert found / runs <= LEVEL + 3 * (LEVEL * (1 - LEVEL) / runs) ** 0.5


@pytest.mark.parametrize(("share", "limit"), [(0.82, 2.3), (0.6, 1.5)])
def test_a_run_length_is_what_a_simulation_takes(share: float, limit: float) -> None:
    good, bad = steps(share)
    random = np.random.default_rng(1)
    level, length = np.zeros(800), np.zeros(800)
    while (level <= limit).any():
        going = level <= limit
        length += going
        moved = np.maximum(0.0, level + np.where(random.random(800) < share, good, bad))
        level = np.where(going, moved, level)
    assert run_length(share, limit, good, bad) == pytest.approx(length.mean(), rel=0.12)


def test_a_worse_annotator_crosses_the_limit_sooner() -> None:
    alike = np.random.default_rng(2).random(80) < 0.8
    found = cusum(alike, hours(80))
    assert found.run_length_worse < found.run_length / 3
