"""Power of paired t tests against printed tables."""

from __future__ import annotations

import numpy as np
import pytest

from curation.core.statistics.power import compute_power, detectable_difference, queries_needed


@pytest.mark.parametrize(("effect", "pairs"), [(0.2, 199), (0.3, 90), (0.5, 34), (0.8, 15)])
def test_pairs_needed_are_those_of_g_power(effect: float, pairs: int) -> None:
    """G*Power 3.1, difference between two dependent means, two tails, 5 %, power 80 %."""
    assert queries_needed(effect, np.ones(1)).tolist() == [pairs]


def test_power_is_that_of_dalgaard() -> None:
    """P. Dalgaard (2008), Introductory Statistics with R, section 9.3: 19.97 pairs for a power of 85 %."""
    effect = 10 / (10 * 2**0.5)
    assert compute_power(19, effect) < 0.85 < compute_power(20, effect)


def test_what_is_detectable_needs_the_queries_there_are() -> None:
    n, sd = np.array([10, 30, 100, 1000]), np.full(4, 0.25)
    for queries, difference in zip(n, detectable_difference(n, sd), strict=True):
        # A hair more, so that rounding does not ask for one query more.
        assert queries_needed(difference * (1 + 1e-7), sd[:1]).tolist() == [queries]


def test_without_spread_or_within_reach_there_is_no_number() -> None:
    assert np.isnan(queries_needed(0.02, np.array([0.0, np.nan]))).all()
    assert np.isnan(queries_needed(1e-9, np.array([0.5]))).all()
    assert np.isnan(detectable_difference(np.array([1, 0]), np.array([np.nan, np.nan]))).all()
