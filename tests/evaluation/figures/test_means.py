"""Means with intervals: which interval, and why there is none."""

from __future__ import annotations

import numpy as np
import pytest

from curation.core.statistics.intervals import wilson
from curation.evaluation.figures.means import MeasureFigure, mean_figures, mean_intervals, rate_of_few
from curation.evaluation.scoring.metrics.measures import measures_named
from curation.evaluation.scoring.metrics.qrels import qrels_from
from curation.evaluation.scoring.metrics.run_scores import RunScores, mean_scores, score_run


def scores_of(ranks: list[int], *names: str) -> RunScores:
    """A query for each rank of its only relevant document; 0: the run misses the query."""
    grades = {f"q{number:03}": {"relevant": 1, "judged": 0} for number in range(len(ranks))}
    run = {
        query: {"relevant" if place == rank else f"other {place}": -float(place) for place in range(1, 11)}
        for query, rank in zip(grades, ranks, strict=True)
        if rank
    }
    return score_run(run, qrels_from(grades), measures_named(names))


def figure(ranks: list[int], name: str) -> MeasureFigure:
    return mean_figures([scores_of(ranks, name)])[0][name]


def test_the_mean_has_an_interval_its_size_and_the_judged_share() -> None:
    found = figure([1, 2, 0, 4, 5, 1, 2, 1], "mrr@10")
    assert found.value == pytest.approx((3 + 2 / 2 + 1 / 4 + 1 / 5) / 8)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.value < found.high < 1
    assert (found.n, found.judged, found.no_interval) == (8, pytest.approx(0.1), None)


def test_values_of_0_and_1_have_wilsons_interval() -> None:
    found = figure([1] * 9 + [0], "success@10")
    assert (found.low, found.high) == wilson(9, 10)
    found = figure([1] * 10, "success@10")
    assert (found.low, found.high) == wilson(10, 10)


def test_where_all_queries_have_one_value_another_query_may_have_another() -> None:
    found = figure([2] * 10, "mrr@10")
    assert found.value == 0.5
    assert (found.low, found.high) == (pytest.approx(0.5 * 0.69, abs=0.01), pytest.approx(0.655, abs=0.01))


def test_no_interval_reaches_above_what_a_query_can_have_on_the_data() -> None:
    found = figure([1] * 4 + [0] * 4, "precision@10")
    assert found.value == pytest.approx(0.05)
    assert found.high is not None
    assert 0.07 < found.high <= 0.1


@pytest.mark.parametrize("measure", ["precision@10", "rbp(0.8)"])
def test_an_interval_holds_its_figure_where_every_query_has_the_highest_one(measure: str) -> None:
    found = figure([1] * 22, measure)
    assert found.value is not None
    assert found.high is not None
    assert found.value <= found.high


def test_queries_without_a_value_change_no_interval() -> None:
    """The same queries have one interval, among all queries and in the stratum of those that have a value."""
    values = np.array([0.1, 0.4, 0.5, 1, 0.3, 0.7, 0.2])
    everywhere = np.insert(values, [0, 3, 7], np.nan)
    assert mean_intervals(everywhere[:, None]) == mean_intervals(values[:, None])


def test_how_often_intervals_of_few_queries_hold_is_said() -> None:
    assert "fewer than 25 queries" in rate_of_few([4, 24, 300])
    assert rate_of_few([4, 25]) == ""


def test_without_an_interval_there_is_a_reason() -> None:
    assert figure([1, 2, 3, 4], "mrr@10").no_interval == "fewer than 5 queries"
    scores = score_run({}, qrels_from({"q": {"a": 0}}), measures_named(["map"]))
    found = mean_figures([scores])[0]["map"]
    assert (found.value, found.n, found.no_interval) == (None, 0, "no query has a relevant document")


def test_the_mean_is_between_what_no_and_every_unjudged_document_would_make_of_it() -> None:
    found = figure([3, 1, 2, 0, 5, 6], "ndcg@5")
    assert found.if_none == found.value
    assert found.value is not None
    assert found.if_all is not None
    assert found.if_all > found.value


def test_the_same_values_have_the_same_interval_in_any_order() -> None:
    one, two = scores_of([1, 2, 3, 4, 5, 6], "mrr@10"), scores_of([6, 5, 4, 3, 2, 1], "mrr@10")
    first, _, third = mean_figures([one, two, one])
    assert first == third


def test_several_runs_of_one_system_are_averaged_query_by_query() -> None:
    found = mean_scores([scores_of([1, 2], "mrr@10"), scores_of([2, 0], "mrr@10")])
    np.testing.assert_array_equal(found.values, [[0.75], [0.25]])


def test_gmap_is_the_geometric_mean_with_the_interval_of_the_mean_logarithm() -> None:
    ranks = [1, 2, 5, 4, 3, 1, 2, 10]
    found = figure(ranks, "gmap")
    assert found.value == pytest.approx(np.exp(np.mean(np.log([1 / rank for rank in ranks]))))
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high < 1
    missed = figure([*ranks, 0], "gmap")  # trec_eval takes 0.00001 for 0
    assert missed.value == pytest.approx(np.exp(np.mean(np.log([*(1 / rank for rank in ranks), 0.00001]))))


def test_totals_are_whole_and_have_no_interval() -> None:
    found = figure([1, 2, 0, 4, 5, 1, 2, 1], "num_rel_ret")
    assert (found.value, found.low, found.no_interval, found.n) == (7, None, "a total, no mean", 8)
    assert isinstance(found.value, int)
    assert found.if_all == 7 * 10
