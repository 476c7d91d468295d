"""Intervals of means: how often they hold the truth where a few queries decide."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from curation.statistics.intervals import Floats
from curation.statistics.means import carriers, mean_intervals

ONE, ZERO = np.ones(1), np.zeros(1)


def zero_or_more(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Figures of queries of which 80 % find nothing; their mean is 0.2 · 0.6."""
    return np.where(random.random(shape) < 0.8, 0.0, random.beta(3, 2, shape))


@pytest.mark.parametrize("queries", [10, 30])
def test_the_truth_is_held_where_most_figures_are_zero(queries: int) -> None:
    """The plain bootstrap holds it in 86 % of sets of 10 queries."""
    sets = zero_or_more(np.random.default_rng(1), (queries, 400))
    low, high = mean_intervals(sets, 1, np.zeros(400), np.ones(400))
    assert ((low <= 0.12) & (high >= 0.12)).mean() >= 0.93


def test_shares_of_a_few_queries_have_about_the_exact_interval() -> None:
    """C. J. Clopper and E. S. Pearson (1934), The use of confidence or fiducial limits, Biometrika 26."""
    values = np.concatenate([np.ones(2), np.zeros(18)])[:, None]
    low, high = mean_intervals(values, 1, ZERO, ONE)[:, 0]
    exact = stats.binomtest(2, 20).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.02)


def test_carriers_are_the_queries_beside_the_most_common_figure() -> None:
    columns = np.array([[0, 0.5, np.nan], [0, 0.5, np.nan], [1, 0.5 + 1e-12, 0.1], [0.5, 0.5, 0.2]])
    assert carriers(columns).tolist() == [2, 0, 1]


def test_one_query_has_no_interval_and_unknown_ones_do_not_count() -> None:
    random = np.random.default_rng(2)
    known = random.random(40)
    values = np.column_stack([np.concatenate([known, np.full(20, np.nan)]), np.full(60, np.nan)])
    values[0, 1] = 0.5
    low, high = mean_intervals(values, 1, np.zeros(2), np.ones(2))
    assert low[0] < known.mean() < high[0]
    assert high[0] - low[0] == pytest.approx(2 * 2.02 * known.std(ddof=1) / 40**0.5, rel=0.15)
    assert np.isnan([low[1], high[1]]).all()
