"""Estimates for the traffic: Hájek's ratio and its design-based interval, by hand and by simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import UNSEEN, mean_score_intervals
from curation.evaluation.figures.traffic_estimates import estimate_traffic_figures
from curation.evaluation.scoring.drawn_queries import DrawnQueries, find_drawn_queries
from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.qrels import qrels_from
from curation.evaluation.scoring.run_scores import RunScores, score_run

HEAD, TAIL = "head", "tail"


def scores_of(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> RunScores:
    """Scores of one measure with these values."""
    grades = {f"q{number:04}": {"a": 1} for number in range(len(values))}
    empty = score_run({}, qrels_from(grades), parse_measures(["ndcg@10"]))
    return replace(empty, values=values[:, None])


def estimate(values: list[float], drawn: DrawnQueries) -> Estimate:
    return estimate_traffic_figures(scores_of(np.array(values)), drawn)["ndcg@10"]


def drawn_from(
    strata: list[str], traffic: list[float], population: dict[str, int], drawn: dict[str, int]
) -> DrawnQueries:
    chance = [drawn[name] / population[name] for name in strata]
    return find_drawn_queries(strata, np.array(traffic), np.array(chance), drawn, population, "stratified")


def test_a_query_counts_as_often_as_it_was_asked_over_the_chance_that_it_is_evaluated() -> None:
    strata = [HEAD, HEAD, TAIL, TAIL, TAIL]
    drawn = drawn_from(strata, [50, 30, 1, 1, 2], {HEAD: 4, TAIL: 300}, {HEAD: 4, TAIL: 6})
    assert drawn.weights.tolist() == [100, 60, 100, 100, 200], "half of the drawn ones are evaluated"
    mean = estimate([1, 0.5, 0, 1, 0.25], drawn)
    assert mean.value == pytest.approx((100 + 30 + 100 + 50) / 560)
    assert mean.n == 5


def test_the_interval_is_the_jackknifes_variance_with_the_finite_population_correction() -> None:
    tail = [0.15, 0.2, 0.3, 0.35, 0.4, 0.45, 0.25]
    strata = [HEAD] * 3 + [TAIL] * 7
    drawn = drawn_from(strata, [10] * 3 + [1] * 7, {HEAD: 3, TAIL: 70}, {HEAD: 3, TAIL: 7})
    mean = estimate([0.1, 0.5, 0.9, *tail], drawn)
    # Head: all were evaluated, nothing is left to vary. Tail: each has 10 of 100 searches.
    assert mean.value == pytest.approx((30 * 0.5 + 70 * 0.3) / 100)
    # By how much the mean moves without one of them, when 90 searches remain.
    moves = np.array([10 * (value - mean.value) / 90 for value in tail])
    # All weights are equal, and worth 10 queries; each stratum has one degree of freedom less.
    half = t.ppf(0.975, df=8) * np.sqrt((1 - 7 / 70) * 7 * moves.var(ddof=1))
    # Of the searches, 70 · (1 − 7 / 70) of 100 are of queries that were not drawn.
    ends = mean_score_intervals(mean.value, (half / t.ppf(0.975, df=8)) ** 2, 10, 8, 1.0, UNSEEN * 0.63)
    assert (mean.low, mean.high) == pytest.approx(tuple(ends))
    assert mean.high - mean.low == pytest.approx(2 * half, rel=0.2)


def test_the_interval_holds_the_truth_of_the_traffic_in_95_of_100_samples() -> None:
    random = np.random.default_rng(0)
    sizes, taken = {HEAD: 40, TAIL: 2_000}, {HEAD: 20, TAIL: 30}
    asked = {
        HEAD: random.integers(50, 400, 40).astype(float),
        TAIL: random.integers(1, 4, 2_000).astype(float),
    }
    value = {HEAD: random.beta(4, 2, 40), TAIL: random.beta(1, 2, 2_000)}
    searches = sum(asked[name].sum() for name in sizes)
    truth = sum((asked[name] * value[name]).sum() for name in sizes) / searches
    strata = [name for name in sizes for _ in range(taken[name])]
    empty, held = scores_of(np.zeros(50)), 0
    for _ in range(400):
        rows = {name: random.choice(sizes[name], taken[name], replace=False) for name in sizes}
        traffic = np.concatenate([asked[name][rows[name]] for name in sizes])
        drawn = drawn_from(strata, traffic.tolist(), sizes, taken)
        values = np.concatenate([value[name][rows[name]] for name in sizes])
        found = estimate_traffic_figures(replace(empty, values=values[:, None]), drawn)["ndcg@10"]
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_queries_that_were_not_drawn_have_no_weight() -> None:
    nothing = find_drawn_queries(("imported",) * 3, np.full(3, np.nan), np.full(3, np.nan), {}, {}, None)
    mean = estimate([1, 0, 1], nothing)
    assert (mean.value, mean.why) == (None, "no evaluated query was drawn from the traffic")


def test_a_stratum_with_one_query_shares_the_variance_of_another() -> None:
    strata = [HEAD] + [TAIL] * 5
    drawn = drawn_from(strata, [100, 1, 1, 1, 1, 1], {HEAD: 3, TAIL: 500}, {HEAD: 1, TAIL: 5})
    mean = estimate([1, 0.4, 0.5, 0.4, 0.5, 0.4], drawn)
    certain = drawn._replace(open_share=np.array([0, 0.99]))
    taken_for_certain = estimate([1, 0.4, 0.5, 0.4, 0.5, 0.4], certain)
    assert mean.low < taken_for_certain.low


def test_equal_values_of_a_few_queries_leave_room_for_one_that_nobody_has_seen() -> None:
    drawn = drawn_from([TAIL] * 6, [1, 2, 1, 1, 2, 1], {TAIL: 60}, {TAIL: 6})
    mean = estimate([1.0] * 6, drawn)
    assert (mean.value, mean.high) == (1.0, 1.0)
    assert mean.low < 0.7
    whole = estimate([1.0] * 6, drawn._replace(open_share=np.zeros(1)))
    assert (whole.low, whole.why) == (None, "all drawn queries have the same value")


def test_a_few_queries_that_happen_to_be_alike_have_no_narrow_interval() -> None:
    """Eight queries of the demo, rprec of bm25: 0.405 to 0.632 by the design alone."""
    strata = [HEAD] + [TAIL] * 7
    drawn = drawn_from(strata, [90, 5, 4, 1, 1, 2, 3, 1], {HEAD: 30, TAIL: 700}, {HEAD: 1, TAIL: 7})
    mean = estimate([0.6, 0.6, 0.5, 0.5, 0.6, 0.5, 0.6, 0.5], drawn)
    assert mean.low < 0.35
    assert mean.high > 0.75
