"""Kendall's tau against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from curation.statistics.rank_correlation import kendall_taus


def test_tau_is_that_of_scipy_with_ties_and_without() -> None:
    random = np.random.default_rng(1)
    values, others = random.integers(4, size=7).astype(float), random.integers(5, size=(20, 7)).astype(float)
    expected = [stats.kendalltau(values, other).statistic for other in others]
    assert kendall_taus(values, others) == pytest.approx(expected)


def test_an_order_without_variation_or_with_unknown_values_has_no_tau() -> None:
    others = np.array([[1.0, 1.0, 1.0], [1.0, np.nan, 2.0], [3.0, 2.0, 1.0]])
    taus = kendall_taus(np.array([1.0, 2.0, 3.0]), others)
    assert np.isnan(taus[:2]).all()
    assert taus[2] == -1
