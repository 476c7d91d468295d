"""Intervals of means: published numbers of shares, what always holds, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.statistics.arrays import Floats
from curation.core.statistics.intervals import (
    find_most_common,
    mean_intervals,
    mean_score_intervals,
    wilson_interval,
)
from tests.support import examples

ONE = np.ones(1)


def zero_or_more(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Figures of queries; 80 % of the queries find nothing, so the mean is 0.2 · 0.6."""
    return np.where(random.random(shape) < 0.8, 0.0, random.beta(3, 2, shape))


@pytest.mark.parametrize("queries", [10, 30])
def test_the_truth_is_held_where_most_figures_are_zero(queries: int) -> None:
    """The plain bootstrap holds it in 86 % of sets of 10 queries."""
    sets = zero_or_more(np.random.default_rng(1), (queries, 400))
    low, high = mean_intervals(sets, np.ones(400))
    assert ((low <= 0.12) & (high >= 0.12)).mean() >= 0.93


def test_a_skewed_mean_of_few_queries_is_held_from_above_as_well() -> None:
    """As average precision of a weak system: mean 0.1, a few queries far above. The bootstrap missed 11 %."""
    sets = np.random.default_rng(2).beta(0.4, 3.6, (25, 2000))
    low, high = mean_intervals(sets, np.ones(2000))
    assert ((low <= 0.1) & (high >= 0.1)).mean() >= 0.935
    assert (high < 0.1).mean() < 0.05


def test_without_unseen_queries_and_many_degrees_of_freedom_a_share_has_wilsons_interval() -> None:
    """E. B. Wilson (1927); R. G. Newcombe (1998), table I: 15 of 148 has 0.0624 to 0.1605."""
    share, n = 15 / 148, 148
    ends = mean_score_intervals(share, share * (1 - share) / n, n, 1e9, 1.0, unseen=0.0)
    assert ends == pytest.approx(wilson_interval(15, 148), abs=1e-4)
    assert ends == pytest.approx((0.0624, 0.1605), abs=2e-4)


def test_one_query_has_no_interval_and_unknown_ones_do_not_count() -> None:
    random = np.random.default_rng(2)
    known = random.random(40)
    values = np.column_stack([np.concatenate([known, np.full(20, np.nan)]), np.full(60, np.nan)])
    values[0, 1] = 0.5
    low, high = mean_intervals(values, np.ones(2))
    assert low[0] < known.mean() < high[0]
    assert high[0] - low[0] == pytest.approx(2 * 2.02 * known.std(ddof=1) / 40**0.5, rel=0.05)
    assert np.isnan([low[1], high[1]]).all()
    assert (low[0], high[0]) == pytest.approx(tuple(mean_intervals(known[:, None], ONE)[:, 0]))


def test_where_all_have_a_figure_between_the_ends_others_may_be_unseen() -> None:
    """None of ten differs: by the exact bound 1 − 0.025^(1/10) of them may, and have 0 or 1."""
    more = 1 - 0.025 ** (1 / 10)
    low, high = mean_intervals(np.full((10, 1), 0.4), ONE)[:, 0]
    assert (low, high) == pytest.approx((0.4 - more * 0.4, 0.4 + more * 0.6))
    random = np.random.default_rng(3)
    sets = np.where(random.random((25, 1000)) < 0.08, 1.0, 0.5)
    low, high = mean_intervals(sets, np.ones(1000))
    assert ((low <= 0.54) & (high >= 0.54)).mean() >= 0.935


def test_the_most_common_figure_and_the_queries_beside_it() -> None:
    columns = np.array([[0, 0.5, np.nan], [0, 0.5, np.nan], [1, 0.5 + 1e-12, 0.1], [0.5, 0.5, 0.2]])
    common, beside = find_most_common(columns)
    assert common.tolist() == [0, 0.5, 0.1]
    assert beside.tolist() == [2, 0, 1]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0.05, 1))
@settings(max_examples=examples(100))
def test_the_interval_holds_the_mean_and_stays_in_the_range_of_figures(
    shares: list[float], most: float
) -> None:
    values = np.array(shares)[:, None] * most
    low, high = mean_intervals(values, np.array([most]))[:, 0]
    assert 0 <= low <= values.mean() + 1e-12
    assert values.mean() - 1e-12 <= high <= most
    assert high > 0
    # The same figures in another unit, and in another order, have the same interval.
    again = mean_intervals(np.array(shares)[::-1, None], ONE)[:, 0] * most
    assert (low, high) == pytest.approx(tuple(again))
