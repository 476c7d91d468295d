"""Aggregations over strata: by hand on four queries a stratum, and what holds whatever the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.evaluation.figures.aggregations import (
    AGGREGATIONS,
    StrataSummary,
    describe_summary,
    summarize_strata,
)
from curation.evaluation.scoring.facets import Facet
from tests.support import examples

A = [1.0] * 10 + [0.4] * 10 + [0.1, 0.3]
B = [0.5] * 10 + [0.6] * 10 + [0.2, 0.2]
"""Two systems on 22 queries: ten, ten and two; the last of the first ten is in the second stratum, too."""


def mask(*places: int) -> np.ndarray:
    found = np.zeros(22, bool)
    found[list(places)] = True
    return found


STRATA = {
    "first": mask(*range(10)),
    "second": mask(*range(9, 20)),
    "third": mask(20),
    "asked by none": mask(),
}
FACET = Facet("cluster", {**STRATA, "in no cluster": mask(21)}, outside=("in no cluster",))


def summary(**changes: object) -> StrataSummary:
    return summarize_strata(["a", "b"], "ndcg", np.array([A, B]), FACET, seed=1, **changes)  # type: ignore[arg-type]


def test_each_aggregation_is_what_it_is_by_hand() -> None:
    found = summary()
    means = {"a": [1.0, 5.0 / 11, 0.1], "b": [0.5, 6.5 / 11, 0.2]}
    for system, values in (("a", A), ("b", B)):
        own = found.figures[system]
        assert own["overall"].value == pytest.approx(np.mean(values))
        assert own["macro"].value == pytest.approx(np.mean(means[system]))
        assert own["median"].value == pytest.approx(np.median(means[system]))
        assert own["worst"].value == pytest.approx(min(means[system][:2]))  # the third has one query
        assert [own[name].n for name in AGGREGATIONS[1:]] == [3, 3, 2]
    assert (found.queries, found.places, found.outside) == (22, 22, 1)
    assert (found.strata, found.large, found.empty, found.hidden) == (3, 2, 1, 0)


def test_who_wins_depends_on_what_counts() -> None:
    found = summary().win_rates
    assert {(system, *others) for system, others in found.items()} == {("b", "a")}
    wins = {name: rates[0] or 0.0 for name, rates in found["b"]["a"].items()}
    assert wins["overall"] < 0.1  # the first ten queries decide
    assert wins["worst"] > 0.8  # the second stratum does
    assert list(summary(baseline="b").win_rates) == ["a"]


def test_the_same_seed_gives_the_same_rates_of_a_thousand_resamples() -> None:
    assert summary() == summary()
    assert summary().resamples == 1000


def test_what_counts_is_said() -> None:
    told = describe_summary(summary())
    assert "1 strata have no query, so their means are unknown" in told
    assert "Strata overlap: 21 queries count in 22 places" in told
    assert "1 query is in no stratum and counts only in the overall figures" in told


def test_a_draw_by_hand_has_the_win_rate_of_its_queries() -> None:
    """Ten queries, one stratum: A is above where most of the draws are of its five queries."""
    values = np.array([[1.0] * 5 + [0.0] * 5, [0.0] * 5 + [1.0] * 5])
    facet = Facet("grid", {"all": np.ones(10, bool)})
    summary = summarize_strata(["a", "b"], "m", values, facet, seed=3, resamples=20_000)
    for wins, ties, losses in summary.win_rates["b"]["a"].values():
        assert wins == pytest.approx(losses, abs=0.02)
        assert ties == pytest.approx(252 / 1024, abs=0.02)  # 5 of 10 by a fair coin


def test_too_few_queries_have_no_figures() -> None:
    few = Facet("grid", {"all": np.ones(9, bool)})
    summary = summarize_strata(["a"], "m", np.ones((1, 9)), few, seed=0)
    assert (summary.figures, summary.win_rates) == ({}, {})
    assert "fewer than 10 queries" in (summary.why_none or "")


VALUES = st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 2), min_size=10, max_size=14)


@settings(max_examples=examples(40), deadline=None)
@given(VALUES, st.data())
def test_rates_add_up_and_turn_with_the_systems(
    values: list[tuple[float, float]], data: st.DataObject
) -> None:
    queries = len(values)
    members = data.draw(st.lists(st.lists(st.booleans(), min_size=queries, max_size=queries), max_size=4))
    facet = Facet("cluster", {str(n): np.array(one, bool) for n, one in enumerate(members)})
    table = np.array(values).T
    one = summarize_strata(["a", "b"], "m", table, facet, seed=2, resamples=50)
    other = summarize_strata(["b", "a"], "m", table[::-1], facet, seed=2, resamples=50)
    for name, rates in one.win_rates["b"]["a"].items():
        assert rates == other.win_rates["a"]["b"][name][::-1]
        assert None in rates or sum(share or 0 for share in rates) == pytest.approx(1)
    empty = sum(not any(held) for held in members)
    assert (one.empty, one.strata) == (empty, len(members) - empty)
    for figures in one.figures.values():
        known = [figures[name].value for name in ("macro", "median")]
        assert (known == [None, None]) == (one.strata == 0)  # unknown, never 0
        worst, macro = figures["worst"].value, figures["macro"].value
        if worst is not None and one.large == one.strata and macro is not None:
            assert worst <= macro + 1e-12
