"""How often the order of systems holds: over queries, labels and ways to average."""

from __future__ import annotations

import numpy as np
import pytest

from curation.evaluation.comparison.order import (
    OrderView,
    PairOrder,
    drawn_medians,
    grade_noise,
    order_over_labels,
    order_over_queries,
)
from curation.evaluation.comparison.pairs import StratumName

HEAD, TAIL, RARE = StratumName("band", "head"), StratumName("band", "tail"), StratumName("band", "rare")


def view(views: tuple[OrderView, ...], name: str) -> OrderView:
    return next(one for one in views if one.name == name)


def test_a_clear_order_holds_in_every_draw_and_copies_have_none() -> None:
    base = np.random.default_rng(1).random(40)
    report = order_over_queries(
        ["low", "copy", "high"], "map", np.stack([base, base, base + 0.1]), {}, seed=1
    )
    assert report.systems == ("high", "copy", "low")
    for one in report.views:
        assert one.pairs[:2] == (
            PairOrder("high", "copy", False, True, 1.0),
            PairOrder("high", "low", False, True, 1.0),
        )
        assert one.pairs[2] == PairOrder("copy", "low", True, None, None)
    assert [one.name for one in report.views] == ["mean", "median"]


def test_the_share_of_kept_orders_is_that_of_the_bootstrap() -> None:
    """For a mean of n normal differences it is Φ(√n · mean / sd)."""
    difference = np.random.default_rng(2).normal(0, 1, 400)
    difference = (difference - difference.mean()) / difference.std() * 0.2 + 0.01
    base = np.full(400, 0.5)
    report = order_over_queries(["a", "b"], "map", np.stack([base, base + difference]), {}, seed=1)
    assert view(report.views, "mean").pairs[0].kept == pytest.approx(0.841, abs=0.03)


def test_macro_and_worst_turn_an_order_that_one_large_stratum_makes() -> None:
    """a is ahead by 0.1 in 80 head queries, b by 0.3 in 20 tail queries."""
    head = np.arange(100) < 80
    a, b = np.where(head, 0.8, 0.2), np.where(head, 0.7, 0.5)
    strata = {HEAD: head, TAIL: ~head, RARE: np.arange(100) < 5}
    report = order_over_queries(["b", "a"], "map", np.stack([b, a]), strata, seed=1)
    assert report.systems == ("a", "b")
    assert (report.strata, report.small_strata) == ((HEAD, TAIL), {RARE: 5})
    holds = {one.name: (one.pairs[0].holds, one.tau) for one in report.views}
    assert holds == {
        "mean": (True, 1.0),
        "macro": (False, -1.0),
        "median": (True, 1.0),
        "worst": (False, -1.0),
    }
    assert view(report.views, "macro").values == pytest.approx({"a": 0.5, "b": 0.6})
    assert view(report.views, "worst").values == pytest.approx({"a": 0.2, "b": 0.5})


def test_queries_without_a_figure_for_every_system_are_left_out_and_counted() -> None:
    values = np.random.default_rng(3).random((3, 30))
    values[1, :4] = np.nan
    report = order_over_queries(["a", "b", "c"], "map", values, {}, seed=1)
    assert (report.n, report.left_out) == (26, 4)
    empty = order_over_queries(["a", "b"], "map", np.full((2, 5), np.nan), {}, seed=1)
    assert (empty.n, empty.left_out, empty.views) == (0, 5, ())


def test_medians_of_draws_are_those_of_the_queries_drawn() -> None:
    random = np.random.default_rng(4)
    for queries in (7, 8):
        values = random.integers(4, size=(queries, 3)) / 4
        times = random.multinomial(queries, np.full(queries, 1 / queries), size=20).astype(float)
        expected = [np.median(np.repeat(values, row.astype(int), axis=0), axis=0) for row in times]
        assert drawn_medians(times, values).tolist() == np.array(expected).tolist()


def test_labels_that_annotators_agree_on_keep_the_order_and_labels_at_chance_do_not() -> None:
    """a finds the grade-1 document of every query, b of 19 in 20."""
    grades = np.tile([1, 0], 60)  # of the documents x and y of each query
    found = {"a": np.arange(60) * 2, "b": np.arange(60) * 2 + (np.arange(60) % 20 == 0)}

    def score(drawn: np.ndarray) -> np.ndarray:
        return np.stack([drawn[found["a"]], drawn[found["b"]]], axis=1).astype(float)

    values = score(grades).T
    agreed = grade_noise([(1, 1)] * 10 + [(0, 0)] * 10, (0, 1))
    firm = order_over_labels(["a", "b"], values, grades, agreed, score, seed=1, relabellings=20)
    assert (firm.pairs[0].kept, firm.mean_tau, firm.draws) == (1.0, 1.0, 20)
    chance = grade_noise([(0, 1)] * 10 + [(1, 1)] * 5 + [(0, 0)] * 5, (0, 1))
    loose = order_over_labels(["a", "b"], values, grades, chance, score, seed=1, relabellings=200)
    assert loose.pairs[0].kept is not None
    assert 0.2 < loose.pairs[0].kept < 0.6
