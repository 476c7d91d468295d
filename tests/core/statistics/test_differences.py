"""Paired differences against Fisher's and Student's own figures, and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from curation.core.statistics.arrays import Floats
from curation.core.statistics.paired_differences import compute_moments, count_wins_ties_losses, paired_t_p
from curation.core.statistics.paired_intervals import paired_intervals

# C. Darwin (1876), as R. A. Fisher (1935), The Design of Experiments, Table 3 has them: how much taller
# crossed plants were than self-fertilised ones of the same pot, in eighths of an inch.
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])
# Student (1908), Biometrika 6, section IX: additional hours of sleep by two drugs, and their difference.
SLEEP = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])


def column(values: Floats) -> Floats:
    return values[:, None]


def test_t_of_darwins_plants_is_fishers() -> None:
    """Fisher (1935), section 17: t = 2.148, just beyond the 5 % point of 2.145."""
    moments = compute_moments(column(DARWIN))
    assert moments.mean[0] == pytest.approx(20.933, abs=5e-4)
    assert moments.mean[0] / (moments.sd[0] / 15**0.5) == pytest.approx(2.148, abs=5e-4)
    assert paired_t_p(moments)[0] == pytest.approx(0.0497, abs=5e-5)


def test_t_of_students_sleepers_is_that_of_r() -> None:
    """t.test(extra ~ group, data = sleep, paired = TRUE): t = -4.0621, df = 9, p = 0.002833."""
    assert paired_t_p(compute_moments(column(SLEEP)))[0] == pytest.approx(0.002833, abs=5e-7)


def test_many_columns_with_gaps_are_as_scipy_has_each_alone() -> None:
    differences = np.random.default_rng(1).normal(0.02, 0.2, (40, 5))
    differences[3, 1] = differences[7:30, 2] = np.nan
    moments = compute_moments(differences)
    for pair in range(5):
        alone = differences[~np.isnan(differences[:, pair]), pair]
        assert moments.n[pair] == len(alone)
        assert paired_t_p(moments)[pair] == pytest.approx(stats.ttest_1samp(alone, 0).pvalue)


def test_no_difference_is_p_1_and_a_constant_one_has_no_t() -> None:
    moments = compute_moments(np.column_stack([np.zeros(6), np.full(6, 0.1), np.full(6, np.nan)]))
    ps = paired_t_p(moments)
    assert ps[0] == 1.0
    assert np.isnan(ps[1:]).all()


def test_ties_are_within_the_tolerance_and_unknown_queries_are_nothing() -> None:
    differences = column(np.array([0.3, 1e-12, -1e-12, 0.0, -0.2, 0.1, np.nan]))
    assert [int(count[0]) for count in count_wins_ties_losses(differences)] == [2, 3, 1]


def test_the_bootstrap_interval_of_many_queries_is_students() -> None:
    values = np.random.default_rng(3).normal(0.05, 0.3, 2000)
    low, high = paired_intervals(column(values), seed=1)[:, 0]
    half = 1.96 * values.std() / 2000**0.5
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=half / 8)


def test_few_differences_allow_for_queries_that_nobody_has_seen() -> None:
    """None of n queries differs: the exact upper bound of 97.5 % of the share that may is 1 − 0.025^(1/n)."""
    for n in (10, 30):
        low, high = paired_intervals(np.zeros((n, 1)), seed=1)[:, 0]
        assert high == pytest.approx(1 - 0.025 ** (1 / n), rel=0.1)
        assert low == pytest.approx(-high, rel=0.2)


def test_queries_without_a_difference_change_no_draw() -> None:
    """All queries and the stratum of those with a difference have one interval."""
    known = np.random.default_rng(4).normal(0.1, 0.2, 30)
    whole = paired_intervals(column(np.insert(known, [0, 7, 30], np.nan)), seed=2)
    np.testing.assert_array_equal(whole, paired_intervals(column(known), seed=2))


def test_intervals_mirror_when_the_systems_change_places_and_skip_unknown_queries() -> None:
    random = np.random.default_rng(4)
    known = random.normal(0.1, 0.2, 30)
    gaps = np.concatenate([known, np.full(5, np.nan)])
    low, high = paired_intervals(np.column_stack([gaps, -gaps]), seed=2)
    assert (low[0], high[0]) == pytest.approx((-high[1], -low[1]))
    assert np.isnan(paired_intervals(column(np.full(5, np.nan)), seed=2)).all()
