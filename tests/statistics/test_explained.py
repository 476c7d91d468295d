"""Variance explained by a figure and by strata: by hand, against an analysis of variance, and by chance."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f_oneway, linregress

from curation.statistics.explained import explained_by_figure, spread_within
from tests.support import examples

SCORES = np.array([0.1, 0.3, 0.6, 0.8])


def test_a_line_explains_the_square_of_the_correlation() -> None:
    figure = np.array([1.0, 2.0, 2.0, 4.0])
    found = explained_by_figure(SCORES, figure, seed=1)
    line = linregress(figure, SCORES)
    assert found.correlation == pytest.approx(line.rvalue)
    assert found.share == pytest.approx(line.rvalue**2)
    assert found.p is not None
    assert 0.05 < found.p < 0.2  # 2 of the 24 orders are as strong on either side
    assert explained_by_figure(SCORES, figure, None).p is None


def test_two_queries_or_a_constant_explain_nothing() -> None:
    assert explained_by_figure(SCORES[:2], np.array([1.0, 2.0]), 0)[1:] == (None, None, None)
    assert explained_by_figure(SCORES, np.ones(4), 0)[1:] == (None, None, None)
    assert explained_by_figure(np.zeros(0), np.zeros(0), 0).queries == 0


def test_two_strata_of_two_queries_by_hand() -> None:
    found = spread_within(SCORES, [("a",), ("a",), ("b",), ("b",)], seed=3)
    # means .2 and .7: SS within = 4 × .1²; about the mean .45: .35² + .15² + .15² + .35²
    assert found.within == pytest.approx(sqrt(0.04 / 4))
    assert found.overall == pytest.approx(sqrt(0.29 / 4))
    # one-way analysis of variance: E[SS within] = SS total × (n - k) / (n - 1)
    assert found.by_chance == pytest.approx(sqrt(0.29 * 2 / 3 / 4))
    assert found.share == pytest.approx(1 - (0.04 / 2) / (0.29 / 3))
    assert found.p == pytest.approx(1 / 3, abs=0.06)  # of the three ways to pair four scores this is the best
    assert (found.queries, found.strata) == (4, 2)


def test_a_query_in_two_strata_is_half_in_each() -> None:
    found = spread_within(np.array([0.0, 1.0, 0.5]), [{"a"}, {"b"}, {"a", "b"}])
    # both strata have the weight 1.5; their means are 1/6 and 5/6
    expected = (1 / 6) ** 2 + 0.5 * (1 / 3) ** 2 + 0.5 * (1 / 3) ** 2 + (1 / 6) ** 2
    assert found.within == pytest.approx(sqrt(expected / 3))


def test_strata_of_one_query_say_nothing_and_queries_without_one_do_not_count() -> None:
    found = spread_within(SCORES, [(1,), (2,), (), (4,)], seed=0)
    assert (found.queries, found.strata, found.within, found.share, found.p) == (3, 3, 0, None, None)
    assert spread_within(SCORES, [()] * 4) == (0, 0, *[None] * 5)


def test_the_p_of_many_queries_is_that_of_the_f_test() -> None:
    random = np.random.default_rng(5)
    strata = [f"s{place % 3}" for place in range(60)]
    scores = random.normal(size=60) + np.array([0.55 * (place % 3) for place in range(60)]) * 0.5
    groups = [scores[start::3] for start in range(3)]
    found = spread_within(scores, [(name,) for name in strata], seed=1)
    assert found.p == pytest.approx(f_oneway(*groups).pvalue, abs=0.03)


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.floats(0, 1), st.frozensets(st.integers(0, 4), max_size=3)), max_size=15))
def test_sigma_within_is_never_above_sigma_overall(rows: list[tuple[float, frozenset[int]]]) -> None:
    found = spread_within(np.array([score for score, _ in rows]), [strata for _, strata in rows])
    if found.overall is None or found.within is None:
        assert not any(strata for _, strata in rows)
    else:
        assert 0 <= found.within <= found.overall + 1e-9
        assert found.share is None or found.share <= 1 + 1e-9


@settings(max_examples=examples(10))
@given(st.integers(0, 10_000))
def test_what_chance_gives_is_the_mean_over_all_orders(seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.random(5)
    strata = [(0,), (0, 1), (1,), (1, 2), (2,)]
    chance = spread_within(scores, strata).by_chance
    orders = [random.permutation(scores) for _ in range(400)]
    squares = [(spread_within(order, strata).within or 0) ** 2 for order in orders]
    assert chance is not None
    assert chance**2 == pytest.approx(np.mean(squares), rel=0.25)
