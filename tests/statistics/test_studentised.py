"""Studentised intervals: standard errors by hand, and ends that mean something."""

from __future__ import annotations

import numpy as np
import pytest

from curation.statistics.intervals import draws, studentised_intervals


def one_less_the_mean(sums: np.ndarray) -> np.ndarray:
    return 1 - sums[:, :1] / sums[:, 1:]


def test_effective_queries_are_those_of_the_influences_by_hand() -> None:
    """Of 1 − mean, log(1 − figure) is log(Σx) − log(n): query q moves it by x / Σx − 1 / n."""
    values = np.array([0.05, 0.1, 0.1, 0.9, 0.15, 0.05])
    times = np.concatenate(list(draws(6, 1, 200)))
    found = studentised_intervals(np.stack([values, np.ones(6)], axis=1), times, one_less_the_mean)
    moved = values / values.sum() - 1 / 6
    assert found.effective_queries == pytest.approx([(moved**2).sum() ** 2 / (moved**4).sum()], rel=1e-3)
    assert found.effective_queries[0] < 1.5


def test_both_halves_of_a_symmetric_matrix_move_together() -> None:
    values = np.array([0.05, 0.1, 0.1, 0.9, 0.15, 0.05])
    times = np.concatenate(list(draws(6, 1, 200)))
    single = np.stack([values, np.ones(6)], axis=1)
    double = np.stack([values / 2, values / 2, np.ones(6)], axis=1)
    halves = studentised_intervals(double, times, lambda sums: 1 - (sums[:, :1] + sums[:, 1:2]) / sums[:, 2:])
    whole = studentised_intervals(single, times, one_less_the_mean)
    assert halves.low == pytest.approx(whole.low, rel=1e-3)
    assert halves.high == pytest.approx(whole.high, rel=1e-3)


def test_a_figure_of_one_has_no_studentised_interval() -> None:
    """Nothing varies, so nothing says how much it would vary."""
    times = np.concatenate(list(draws(6, 1, 200)))
    found = studentised_intervals(np.stack([np.zeros(6), np.ones(6)], axis=1), times, one_less_the_mean)
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
