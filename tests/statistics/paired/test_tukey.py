"""Tukey's test over queries: against Fisher's for two systems, and against the studentised range for more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from curation.statistics.paired.differences import tukey_ps
from curation.statistics.paired.randomisation import randomisation_ps


def test_with_two_systems_it_is_fishers_randomisation_test() -> None:
    values = np.random.default_rng(1).random((20, 2)) + np.array([0.0, 0.15])
    exact = randomisation_ps(values[:, 1:] - values[:, :1], seed=0)[0]
    found = tukey_ps(values, seed=1, trials=20_000)
    assert found[0, 1] == found[1, 0] == pytest.approx(exact, abs=0.01)
    assert 0.01 < exact < 0.5


def test_normal_values_have_the_p_of_the_studentised_range() -> None:
    """J. W. Tukey (1953) with queries as blocks: range / √(residual variance / Q), (S − 1)(Q − 1) degrees."""
    random = np.random.default_rng(2)
    values = random.normal(0, 1, (60, 1)) + random.normal(0, 1, (60, 4)) + np.array([0.0, 0.1, 0.25, 0.5])
    means = values.mean(axis=0)
    residuals = values - means - values.mean(axis=1, keepdims=True) + values.mean()
    error = np.sqrt((residuals**2).sum() / (3 * 59) / 60)
    expected = stats.studentized_range.sf(np.abs(means[:, None] - means) / error, 4, 3 * 59)
    assert tukey_ps(values, seed=1, trials=20_000) == pytest.approx(expected, abs=0.015)
    assert np.ptp(expected) > 0.5


def test_p_is_the_same_whatever_the_order_of_systems_and_the_last_digits() -> None:
    random = np.random.default_rng(3)
    values = random.choice([0.0, 0.36907, 0.63093, 1.0], (50, 4))
    found = tukey_ps(values, seed=1, trials=999)
    noisy = values * (1 + 1e-15 * random.normal(size=values.shape))
    turned = [2, 0, 3, 1]
    assert (tukey_ps(noisy, seed=1, trials=999) == found).all()
    assert (tukey_ps(values[:, turned], seed=1, trials=999) == found[np.ix_(turned, turned)]).all()


def test_equal_systems_have_p_1() -> None:
    assert (tukey_ps(np.ones((20, 3)), seed=1, trials=99) == 1.0).all()
