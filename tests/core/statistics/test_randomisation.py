"""The randomisation test against Fisher's count, scipy, and its own definition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from curation.core.statistics.multiple_tests import correct_by_holm
from curation.core.statistics.paired_differences import wilcoxon_ps
from curation.core.statistics.randomisation_test import choose_assignments, randomisation_ps
from tests.core.statistics.test_differences import DARWIN
from tests.support import examples


def test_fishers_count_of_darwins_plants() -> None:
    """Fisher (1935), section 21: of 2¹⁵ assignments 863 reach 314 eighths, and as many −314."""
    assert randomisation_ps(DARWIN[:, None] / 8, seed=0)[0] == 2 * 863 / 2**15


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.sampled_from([-0.7, -0.31, -0.1, 0.0, 0.2, 0.31]), min_size=1, max_size=9))
def test_few_queries_are_counted_by_the_definition(values: list[float]) -> None:
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True)))
        for signs in product((1, -1), repeat=len(values))
    ]
    expected = np.mean([total >= abs(sum(values)) - 1e-9 for total in sums])
    assert randomisation_ps(np.array(values)[:, None], seed=0)[0] == pytest.approx(expected)


def test_differences_of_a_binary_measure_are_exact_for_any_number_of_queries() -> None:
    """It is then the sign test: of 60 queries that differ, 40 are better."""
    differences = np.concatenate([np.ones(40), -np.ones(20), np.zeros(900)])
    expected = stats.binomtest(40, 60).pvalue
    assert randomisation_ps(differences[:, None], seed=0)[0] == pytest.approx(expected)
    assert randomisation_ps(differences[:, None] / 3, seed=0)[0] == pytest.approx(expected)


def test_many_queries_are_drawn_and_agree_with_scipy() -> None:
    differences = np.random.default_rng(6).normal(0.03, 0.2, (120, 3))
    ours = randomisation_ps(differences, seed=1)
    for pair in range(3):
        theirs = stats.permutation_test(
            (differences[:, pair],), np.mean, permutation_type="samples", n_resamples=9999, rng=2
        ).pvalue
        assert ours[pair] == pytest.approx(theirs, abs=0.02)
    assert all((1 + round(p * 10_000 - 1)) / 10_000 == p for p in ours)


def test_p_is_the_same_whatever_the_last_digits_the_order_of_systems_and_the_other_pairs() -> None:
    random = np.random.default_rng(7)
    differences = random.choice([-0.5, -0.25, 0.0, 0.125, 0.369070, 0.630930], (200, 4))
    noisy = differences * (1 + 1e-15 * random.normal(size=differences.shape))
    ps = randomisation_ps(differences, seed=1)
    assert (randomisation_ps(noisy, seed=1) == ps).all()
    assert (randomisation_ps(-differences, seed=1) == ps).all()
    assert [randomisation_ps(differences[:, [pair]], seed=1)[0] for pair in range(4)] == ps.tolist()


def test_unknown_queries_and_equal_systems_are_no_difference() -> None:
    differences = np.column_stack([np.full(40, np.nan), np.zeros(40)])
    assert randomisation_ps(differences, seed=0).tolist() == wilcoxon_ps(differences).tolist() == [1.0, 1.0]


def test_large_families_draw_more_assignments() -> None:
    assert [choose_assignments(tests) for tests in (1, 190, 950, 5000)] == [*(9_999, 9_999, 37_999, 99_999)]


def test_holms_correction_has_published_values() -> None:
    """The example of pingouin's `multicomp`, which is R's `p.adjust(p, "holm")`."""
    corrected = correct_by_holm(np.array([0.5, 0.003, 0.32, 0.054, 0.0003]))
    assert corrected.tolist() == pytest.approx([0.64, 0.012, 0.64, 0.162, 0.0015])


def test_holms_correction_leaves_out_what_is_no_test() -> None:
    corrected = correct_by_holm(np.array([np.nan, 0.01, 0.04]))
    assert np.isnan(corrected[0])
    assert corrected[1:].tolist() == pytest.approx([0.02, 0.04])
