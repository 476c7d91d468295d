"""The area under a ROC curve against published figures and another library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.statistics.roc import roc_area
from tests.support import examples

NORMAL = np.repeat([1.0, 2, 3, 4, 5], [33, 6, 6, 11, 2])
ABNORMAL = np.repeat([1.0, 2, 3, 4, 5], [3, 2, 2, 11, 33])
"""109 CT images rated by one reader: Hanley and McNeil (1982), Radiology 143, table 1."""

scores = st.lists(st.sampled_from([-np.inf, 0.0, 0.25, 0.5, 2.0]), min_size=2, max_size=12).map(np.array)


def test_the_published_ratings_have_the_published_area() -> None:
    """0.893 in the paper; 0.8932 with the standard error 0.0307 in Stata's manual (roctab)."""
    area = roc_area(ABNORMAL, NORMAL)
    assert round(area.value, 4) == 0.8932
    assert area.low < 0.8932 - 1.5 * 0.0307
    assert 0.8932 + 0.0307 < area.high < 1


@settings(max_examples=examples(60))
@given(scores, scores)
def test_the_area_is_the_share_of_pairs_in_order_with_ties_half(
    cases: np.ndarray, controls: np.ndarray
) -> None:
    pairs = [(case > control) + (case == control) / 2 for case in cases for control in controls]
    area = roc_area(cases, controls)
    assert area.value == pytest.approx(np.mean(pairs))
    assert area.low <= area.value <= area.high


@pytest.mark.slow
def test_scikit_learn_finds_the_same_area() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(3)
    cases, controls = random.normal(0.7, 1, 40).round(1), random.normal(0, 1, 60).round(1)
    truth, found = np.repeat([1, 0], [40, 60]), np.concatenate([cases, controls])
    assert roc_area(cases, controls).value == pytest.approx(metrics.roc_auc_score(truth, found))


def test_a_perfect_area_of_few_cases_is_no_certainty() -> None:
    few = roc_area(np.array([3.0, 4, 5, 6, 7]), np.arange(-20.0, 0))
    many = roc_area(np.arange(1.0, 51), np.arange(-200.0, 0))
    assert few.value == many.value == few.high == many.high == 1
    assert 0.6 < few.low < 0.9 < 0.97 < many.low
    opposite = roc_area(np.arange(-20.0, 0), np.array([3.0, 4, 5, 6, 7]))
    assert (opposite.value, opposite.low) == (0, 0)
    assert opposite.high == pytest.approx(1 - few.low)


def test_one_case_has_a_wide_interval() -> None:
    area = roc_area(np.array([0.5]), np.array([0.1, 0.9]))
    assert area.value == 0.5
    assert area.high - area.low > 0.8


@pytest.mark.parametrize(("m", "n", "shift"), [(10, 100, 1.19), (20, 60, 0.36), (20, 100, 2.33)])
def test_intervals_hold_the_true_area_as_often_as_they_say(m: int, n: int, shift: float) -> None:
    """Normal scores; the true areas are 0.8, 0.6 and 0.95 (Φ(shift / √2))."""
    from scipy.stats import norm

    random, truth = np.random.default_rng(1), norm.cdf(shift / np.sqrt(2))
    areas = [roc_area(random.normal(shift, 1, m), random.normal(0, 1, n)) for _ in range(800)]
    assert 0.925 <= np.mean([area.low <= truth <= area.high for area in areas]) <= 0.985
