"""How far the best of many looks flatters, against theory and simulated looks."""

from __future__ import annotations

import numpy as np
import pytest
from curation.looks.looking import flattery, largest_mean

from curation.errors import InputError


def test_the_largest_mean_is_above_that_of_independent_looks_and_reached_by_opposite_ones() -> None:
    """H. L. Harter (1961), Biometrika 48, Table 1: largest of n independent normal variables."""
    independent = {2: 0.56419, 5: 1.16296, 10: 1.53875, 100: 2.50759}
    for looks, mean in independent.items():
        assert mean < largest_mean(looks) < (2 * np.log(looks)) ** 0.5
    assert largest_mean(2) == pytest.approx((2 / np.pi) ** 0.5)  # of x and −x: the mean of |x|
    assert largest_mean(1) == 0


@pytest.mark.parametrize("alike", [0.0, 0.8])
def test_the_best_of_looks_chosen_beforehand_flatters_by_less_than_stated(alike: float) -> None:
    random, looks, queries = np.random.default_rng(1), 20, 100
    shared = random.normal(0, 0.3 * alike**0.5, (400, 1, queries))
    values = 0.5 + shared + random.normal(0, 0.3 * (1 - alike) ** 0.5, (400, looks, queries))
    best = values.mean(axis=2).max(axis=1) - 0.5
    found = flattery(looks, queries, 0.3)
    assert best.mean() < found.expected
    assert (best < found.at_most).mean() >= 0.93
    if not alike:
        assert best.mean() > 0.9 * found.expected * 1.8675 / largest_mean(20)  # Harter's mean for n = 20


def test_an_attack_that_combines_all_answers_stays_below_the_adaptive_bound_and_beats_the_others() -> None:
    """Each query has two rankings, of which one is right; an answer says how often a random choice was."""
    random, looks, queries = np.random.default_rng(2), 50, 200
    gained = []
    for _ in range(50):
        right, chosen = random.choice([-1, 1], queries), random.choice([-1, 1], (looks, queries))
        answers = np.round((0.5 + 0.5 * chosen * right).mean(axis=1), 3)
        combined = np.sign((answers - 0.5) @ chosen)
        gained.append((0.5 + 0.5 * combined * right).mean() - 0.5)
    found = flattery(looks, queries, 0.5)
    assert np.mean(gained) == pytest.approx((2 * looks / np.pi) ** 0.5 * 0.5 / queries**0.5, rel=0.15)
    assert found.at_most < np.mean(gained) < found.adaptive


def test_one_look_has_no_flattery_on_average_and_more_figures_give_away_more() -> None:
    one = flattery(1, 100, 0.4)
    assert (one.expected, one.standard_error) == (0.0, pytest.approx(0.04))
    assert one.at_most == pytest.approx(1.645 * 0.04, rel=1e-3)
    assert flattery(5, 100, 0.4, figures=4).adaptive == pytest.approx(2 * flattery(5, 100, 0.4).adaptive)


def test_nonsense_is_refused() -> None:
    for wrong in ((0, 10, 0.1), (1, 0, 0.1), (1, 10, -0.1)):
        with pytest.raises(InputError, match="expected at least one look, query and figure"):
            flattery(*wrong)
