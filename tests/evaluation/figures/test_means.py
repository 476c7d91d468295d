"""Means of all queries and of each kind: their intervals, and why one is missing."""

from __future__ import annotations

import numpy as np
import pytest

from curation.core.statistics.intervals import wilson_interval
from curation.evaluation.figures.means import (
    EMPTY,
    FEW_SEALED,
    TOO_FEW_QUERIES,
    MeasureFigure,
    compute_means,
    estimate_means,
    find_suppressed_strata,
    warn_of_few_queries,
)
from curation.evaluation.scoring.facets import Facet, make_sample_facets
from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.qrels import qrels_from
from curation.evaluation.scoring.run_scores import RunScores, average_scores, score_run


def scores_of(ranks: list[int], *names: str) -> RunScores:
    """A query for each rank of its only relevant document; 0: the run misses the query."""
    grades = {f"q{number:03}": {"relevant": 1, "judged": 0} for number in range(len(ranks))}
    run = {
        query: {"relevant" if place == rank else f"other {place}": -float(place) for place in range(1, 11)}
        for query, rank in zip(grades, ranks, strict=True)
        if rank
    }
    return score_run(run, qrels_from(grades), parse_measures(names))


def figure(ranks: list[int], name: str) -> MeasureFigure:
    return compute_means([scores_of(ranks, name)])[0][name]


def test_the_mean_has_an_interval_its_size_and_the_judged_share() -> None:
    mean = figure([1, 2, 0, 4, 5, 1, 2, 1], "mrr@10")
    assert mean.value == pytest.approx((3 + 2 / 2 + 1 / 4 + 1 / 5) / 8)
    assert 0 < mean.low < mean.value < mean.high < 1
    assert (mean.n, mean.judged, mean.no_interval) == (8, pytest.approx(0.1), None)


def test_values_of_0_and_1_have_wilsons_interval() -> None:
    mean = figure([1] * 9 + [0], "success@10")
    assert (mean.low, mean.high) == wilson_interval(9, 10)
    mean = figure([1] * 10, "success@10")
    assert (mean.low, mean.high) == wilson_interval(10, 10)


def test_where_all_queries_have_one_value_another_query_may_have_another() -> None:
    mean = figure([2] * 10, "mrr@10")
    assert mean.value == 0.5
    assert (mean.low, mean.high) == (pytest.approx(0.5 * 0.69, abs=0.01), pytest.approx(0.655, abs=0.01))


def test_no_interval_reaches_above_what_a_query_can_have_on_the_data() -> None:
    mean = figure([1] * 4 + [0] * 4, "precision@10")
    assert mean.value == pytest.approx(0.05)
    assert 0.07 < mean.high <= 0.1


@pytest.mark.parametrize("measure", ["precision@10", "rbp(0.8)"])
def test_an_interval_holds_its_figure_where_every_query_has_the_highest_one(measure: str) -> None:
    mean = figure([1] * 22, measure)
    assert mean.value <= mean.high


def test_queries_without_a_value_change_no_interval() -> None:
    """The same queries have one interval, among all queries and in the stratum of those that have a value."""
    values = np.array([0.1, 0.4, 0.5, 1, 0.3, 0.7, 0.2])
    everywhere = np.insert(values, [0, 3, 7], np.nan)
    assert estimate_means(everywhere[:, None]) == estimate_means(values[:, None])


def test_how_often_intervals_of_few_queries_hold_is_said() -> None:
    assert "fewer than 25 queries" in warn_of_few_queries([4, 24, 300])
    assert warn_of_few_queries([4, 25]) == ""


def test_without_an_interval_there_is_a_reason() -> None:
    assert figure([1, 2, 3, 4], "mrr@10").no_interval == "fewer than 5 queries"
    scores = score_run({}, qrels_from({"q": {"a": 0}}), parse_measures(["map"]))
    mean = compute_means([scores])[0]["map"]
    assert (mean.value, mean.n, mean.no_interval) == (None, 0, "no query has a relevant document")


def test_the_mean_is_between_what_no_and_every_unjudged_document_would_make_of_it() -> None:
    mean = figure([3, 1, 2, 0, 5, 6], "ndcg@5")
    assert mean.if_none == mean.value
    assert mean.if_all > mean.value


def test_the_same_values_have_the_same_interval_in_any_order() -> None:
    one, two = scores_of([1, 2, 3, 4, 5, 6], "mrr@10"), scores_of([6, 5, 4, 3, 2, 1], "mrr@10")
    first, _, third = compute_means([one, two, one])
    assert first == third


def test_several_runs_of_one_system_are_averaged_query_by_query() -> None:
    scored = average_scores([scores_of([1, 2], "mrr@10"), scores_of([2, 0], "mrr@10")])
    np.testing.assert_array_equal(scored.values, [[0.75], [0.25]])


def facet(sizes: dict[str, int]) -> Facet:
    """Kinds of so many queries, one after another."""
    starts = np.cumsum([0, *sizes.values()])
    place = np.arange(starts[-1])
    masks = {
        name: (place >= start) & (place < start + size)
        for (name, size), start in zip(sizes.items(), starts.tolist(), strict=False)
    }
    return Facet("kind", masks)


def sealed(found: Facet, inside: bool = True) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.full(len(next(iter(found.values.values()))), inside)


def test_fewer_than_ten_queries_have_figures_where_nothing_is_sealed() -> None:
    kinds = facet({"a": 9, "b": 1, "c": 0, "d": 40})
    assert find_suppressed_strata(kinds, sealed(kinds, False)) == {"c": EMPTY}
    assert find_suppressed_strata(kinds, sealed(kinds)) == {
        "a": TOO_FEW_QUERIES,
        "b": TOO_FEW_QUERIES,
        "c": EMPTY,
    }


def test_a_kind_with_few_sealed_queries_has_no_figures() -> None:
    kinds = facet({"a": 30, "b": 40, "c": 9, "d": 10})
    some = sealed(kinds, False)
    some[21:] = True
    assert find_suppressed_strata(kinds, some) == {"a": FEW_SEALED, "c": TOO_FEW_QUERIES}


def test_facets_are_those_that_the_release_has() -> None:
    about = {"source": "sampled", "part": "dev", "inclusion_probability": 0.5}
    rows = [
        {**about, "stratum": "head · short", "segment": "docs", "tags": ["question", "entity"]},
        {**about, "stratum": "tail · long", "segment": None, "tags": []},
        {**about, "stratum": "imported", "segment": None, "tags": ["entity"], "inclusion_probability": None},
    ]
    facets = make_sample_facets(rows, ["band", "length"])
    values = {name: {v: mask.tolist() for v, mask in one.values.items()} for name, one in facets.items()}
    assert list(values) == ["stratum", "band", "length", "segment", "source", "part", "tag"]
    assert list(values["band"]) == ["head", "not sampled", "tail"]
    assert values["segment"]["no segment"] == [False, True, True]
    assert values["tag"] == {
        **{"entity": [True, False, True], "no tag": [False, True, False]},
        "question": [True, False, False],
    }
