"""P values and their correction, against published ones, SciPy and all signs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control, ttest_1samp

from curation.core.statistics.multiple_tests import find_fdr_threshold
from curation.core.statistics.p_values import MAX_PERMUTED, mean_t_p, permutation_p
from curation.core.statistics.randomisation_test import exact_sign_p

FALSE_SHARE = 0.1
ps = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_the_example_of_benjamini_and_hochberg_rejects_four() -> None:
    """Benjamini and Hochberg (1995), section 4: fifteen p values; Bonferroni rejects three at 5 %."""
    published = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    published += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    assert find_fdr_threshold(published, 0.05) == 0.0095


@given(ps)
def test_the_threshold_is_that_of_scipy(values: list[float]) -> None:
    adjusted = false_discovery_control(np.asarray(values))
    line = find_fdr_threshold(values, FALSE_SHARE)
    assert [value <= line for value in values] == [bool(p <= FALSE_SHARE) for p in adjusted]


def test_a_mean_of_equal_queries_is_students_t() -> None:
    values = np.random.default_rng(0).normal(0.4, 1, 25)
    expected = ttest_1samp(values, 0).pvalue
    assert mean_t_p(values.mean(), (values - values.mean()) / 25) == pytest.approx(expected)
    assert mean_t_p(0.0, np.zeros(5)) == 1
    assert mean_t_p(0.5, np.zeros(5)) == 0


def test_permutations_and_their_normal_limit_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    weights = np.arange(200, dtype=np.float64)
    assert MAX_PERMUTED > 200
    for strength in (0.0, 0.002, 0.004):
        values = random.normal(size=200) + strength * weights
        exact = permutation_p(weights, values, 0)
        assert permutation_p(weights, values, 0) == exact
        monkeypatch.setattr("curation.core.statistics.p_values.MAX_PERMUTED", 10)
        assert permutation_p(weights, values, 0) == pytest.approx(exact, abs=0.04)
        monkeypatch.undo()
    assert permutation_p(np.arange(5.0), np.ones(5), 0) == permutation_p(np.ones(5), np.arange(5.0), 0) == 1


@given(st.lists(st.integers(-3, 3), max_size=9))
def test_the_sign_test_counts_all_signs(differences: list[int]) -> None:
    sums = [
        abs(sum(a * s for a, s in zip(map(abs, differences), signs, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = np.mean([total >= abs(sum(differences)) for total in sums])
    assert exact_sign_p(np.asarray(differences, dtype=np.int64)) == pytest.approx(expected)


def test_the_sign_test_is_the_binomial_one_where_all_differences_are_of_one_size() -> None:
    values = np.asarray([1] * 14 + [-1] * 4 + [0] * 20)
    assert exact_sign_p(values) == pytest.approx(binomtest(4, 18).pvalue)
