"""Kendall's tau against scipy, AP correlation against ircor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from curation.statistics.rank_correlation import ap_correlations, kendall_taus


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


def test_ap_correlation_has_the_published_value_and_looks_at_as_many_places_as_there_are() -> None:
    """The example of ircor by J. Urbano: tauAP(x, y) = 0.7491182."""
    x = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
    y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
    places = stats.rankdata(-x)[np.argsort(-y)].astype(np.int64)
    ranks = np.array([places, [2, 1, 99, 99, 99, 99, 99, 99, 99, 99], range(10)])
    found = ap_correlations(ranks, np.array([10, 2, 10]))
    assert found.tolist() == pytest.approx([0.7491182, -1.0, 1.0])
    turned = ap_correlations(np.argsort(places)[None] + 1, np.array([10]))[0]
    assert ap_correlations(ranks, np.array([10, 2, 10]), both=True)[0] == pytest.approx(
        (found[0] + turned) / 2
    )
