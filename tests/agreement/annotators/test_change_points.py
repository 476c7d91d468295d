"""Change over time: change points and permutation tests, and how often they are wrong."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from curation.agreement.annotators.intra_annotator import (
    LEVEL,
    SHORTEST,
    change_points,
    weeks_of,
)
from curation.statistics.p_values import EXACT_UP_TO, permuted_p

START = datetime(2026, 3, 2)  # a Monday


def days(number: int, step: float = 1) -> np.ndarray:
    return np.asarray([START + timedelta(days=step * day) for day in range(number)], dtype="datetime64[us]")


def test_weeks_begin_on_mondays() -> None:
    assert weeks_of(days(8)).tolist()[::7] == [20_514, 20_521]


def test_a_change_is_found_where_it_is_and_only_there() -> None:
    alike = np.asarray([True] * 40 + [False, True] * 20)
    (change,) = change_points(alike, days(80))
    assert abs(change.place - 40) <= 1
    assert change.at == START + timedelta(days=change.place)
    assert change.before > 0.95
    assert change.after == pytest.approx(0.5, abs=0.05)
    assert change.p <= LEVEL


def test_two_changes_are_found_by_looking_at_both_sides() -> None:
    alike = np.asarray([True] * 40 + [False] * 40 + [True] * 40)
    assert [change.place for change in change_points(alike, days(120))] == [40, 80]


def test_too_few_repeats_and_no_variation_change_nothing() -> None:
    assert change_points(np.asarray([True, False] * (SHORTEST - 1)), days(2 * SHORTEST - 2)) == ()
    assert change_points(np.ones(50, dtype=bool), days(50)) == ()
    assert change_points(np.zeros(0, dtype=bool), days(0)) == ()


def test_where_nothing_changed_a_change_is_found_as_rarely_as_stated() -> None:
    random = np.random.default_rng(0)
    runs = 150
    found = sum(bool(change_points(random.random(40) < 0.8, days(40), seed)) for seed in range(runs))
    assert found / runs <= LEVEL + 3 * (LEVEL * (1 - LEVEL) / runs) ** 0.5


def test_the_same_seed_gives_the_same_answer() -> None:
    random = np.random.default_rng(5)
    alike = random.random(60) < np.linspace(0.95, 0.6, 60)
    assert change_points(alike, days(60), 3) == change_points(alike, days(60), 3)
    weights, values = random.random(30), random.random(30)
    assert permuted_p(weights, values, 3) == permuted_p(weights, values, 3)


def test_permutations_and_their_normal_limit_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    weights = np.arange(200, dtype=np.float64)
    assert EXACT_UP_TO > 200
    for strength in (0.0, 0.002, 0.004):
        values = random.normal(size=200) + strength * weights
        exact = permuted_p(weights, values, 0)
        monkeypatch.setattr("curation.statistics.p_values.EXACT_UP_TO", 10)
        assert permuted_p(weights, values, 0) == pytest.approx(exact, abs=0.04)
        monkeypatch.undo()


def test_without_variation_nothing_is_unusual() -> None:
    assert permuted_p(np.arange(5.0), np.ones(5), 0) == 1
    assert permuted_p(np.ones(5), np.arange(5.0), 0) == 1
