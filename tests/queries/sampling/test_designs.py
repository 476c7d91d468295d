"""The designs as pure functions: exact in size, and drawn as often as their probabilities say."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, norm

from curation.core.errors import InputError
from curation.core.statistics.stratified_sampling import (
    allocate,
    allocate_with_quotas,
    compute_weights,
    draw_proportional,
    find_certain,
)
from curation.queries.sampling.designs import Drawing, draw_pps, draw_stratified
from curation.queries.sampling.dimensions import LENGTHS, classify_lengths
from curation.queries.sampling.strata import Labels, cross_dimensions

DRAWS = 2_000
FALSE_ALARM = 1e-3
"""Chance that a test of frequencies fails for a right design; its seeds are fixed, so never or always."""

TRAFFIC = np.array([1 + 400 // rank for rank in range(1, 61)], np.int64)
STRATA = cross_dimensions(
    [
        Labels(np.repeat([0, 1, 2], [4, 16, 40]), ("head", "torso", "tail")),
        Labels(np.arange(60) % 2, ("docs-site", "shop")),
    ]
)
FIGURES = np.random.default_rng(5).normal(3, 2, 60) * TRAFFIC

Design = Callable[[NDArray[np.int64], Labels, int], Drawing]
DESIGNS: dict[str, Design] = {
    **{
        allocation: lambda traffic, strata, _, allocation=allocation: draw_stratified(
            traffic, strata, 24, allocation
        )
        for allocation in ("equal", "proportional", "square-root")
    },
    "quotas": lambda traffic, strata, _: draw_stratified(traffic, strata, 24, quotas={"tail · shop": 15}),
    "pps": lambda traffic, strata, seed: draw_pps(traffic, strata, 24, seed),
}


def seeded_order(seed: int, queries: int) -> NDArray[np.intp]:
    """The order in which the database gives queries: by the lower half of an MD5."""
    keys = [hashlib.md5(f"{seed}\x1fquery {number}".encode()).digest()[:7:-1] for number in range(queries)]
    return np.array(sorted(range(queries), key=keys.__getitem__), np.intp)


def draw(design: Design, seed: int) -> tuple[NDArray[np.intp], NDArray[np.float64], Drawing]:
    """A draw over the seeded order: which of the 60 queries, and their probabilities."""
    order = seeded_order(seed, len(TRAFFIC))
    drawing = design(TRAFFIC[order], Labels(STRATA.codes[order], STRATA.names), seed)
    return order[drawing.rows], drawing.probability, drawing


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_queries_are_drawn_as_often_as_their_probability_says_and_totals_are_unbiased(design: Design) -> None:
    """Exact binomial tails for each query, shared among all of them; a z test for the estimated total."""
    times = np.zeros(60, np.int64)
    probability = np.zeros(60)
    estimates = np.zeros(DRAWS)
    for seed in range(DRAWS):
        rows, chances, drawing = draw(design, seed)
        assert len(set(rows.tolist())) == 24
        assert sum(stratum.drawn for stratum in drawing.strata) == 24
        times[rows] += 1
        assert np.all((probability[rows] == 0) | (probability[rows] == chances))
        probability[rows] = chances
        estimates[seed] = (FIGURES[rows] / chances).sum()
    assert probability.sum() == pytest.approx(24)
    tails = 2 * np.minimum(binom.cdf(times, DRAWS, probability), binom.sf(times - 1, DRAWS, probability))
    assert tails.min() > FALSE_ALARM / 60, f"query {tails.argmin()}: {times[tails.argmin()]} times"
    error = estimates.std(ddof=1) / sqrt(DRAWS)
    assert abs(estimates.mean() - FIGURES.sum()) < norm.ppf(1 - FALSE_ALARM / 2) * error


@given(st.lists(st.integers(1, 12), min_size=1, max_size=8), st.data())
@settings(deadline=None)
def test_over_all_starts_a_query_is_hit_in_exact_proportion_to_its_traffic(
    traffic: list[int], data: st.DataObject
) -> None:
    """The whole design, every equally likely start: not an estimate of the probabilities but themselves."""
    size = data.draw(st.integers(1, len(traffic)))
    asked = np.array(traffic, np.int64)
    taken = find_certain(asked, size)
    starts = int(asked[~taken].sum()) or 1
    hits = [0] * len(traffic)
    for start in range(starts):
        drawn, chances = draw_proportional(asked, size, start)
        assert len(set(drawn.tolist())) == size
        for row in drawn:
            hits[row] += 1
    left = size - int(taken.sum())
    expected = [1 if taken[row] else Fraction(left * traffic[row], starts) for row in range(len(traffic))]
    assert [Fraction(count, starts) for count in hits] == expected
    assert chances.tolist() == pytest.approx([float(chance) for chance in expected])


def test_a_query_too_frequent_for_its_share_is_drawn_for_certain() -> None:
    traffic = np.array([50, 30, 10, 5, 5], np.int64)
    assert find_certain(traffic, 1).tolist() == [False] * 5
    assert find_certain(traffic, 2).tolist() == [True, False, False, False, False]
    assert find_certain(traffic, 3).tolist() == [True, True, False, False, False]
    assert draw_proportional(traffic, 3, 0)[1].tolist() == [1, 1, 0.5, 0.25, 0.25]


def test_traffic_near_the_bound_of_64_bits_is_drawn_exactly() -> None:
    traffic = np.array([10**17] * 9 + [1], np.int64)
    for start in (0, 10**17 - 1, 9 * 10**17, 2**120 + 7):
        drawn, chances = draw_proportional(traffic, 5, start)
        assert len(set(drawn.tolist())) == 5
    assert chances.sum() == pytest.approx(5)


def test_pps_draws_from_each_stratum_within_one_of_what_is_expected() -> None:
    for seed in range(50):
        for stratum in draw(DESIGNS["pps"], seed)[2].strata:
            assert stratum.probability is not None
            assert abs(stratum.drawn - stratum.population * stratum.probability) < 1


@pytest.mark.parametrize("traffic", [[7], [3, 3], [1, 1, 9]])
def test_all_that_there_is_can_be_drawn(traffic: list[int]) -> None:
    asked, strata = np.array(traffic, np.int64), Labels(np.zeros(len(traffic), np.intp), ("all of it",))
    for drawing in (draw_stratified(asked, strata, len(traffic)), draw_pps(asked, strata, len(traffic), 3)):
        assert sorted(drawing.rows.tolist()) == list(range(len(traffic)))
        assert drawing.probability.tolist() == [1.0] * len(traffic)


def test_allocations_follow_what_they_are_named_for() -> None:
    populations, traffic = [500, 500, 500], [100, 400, 400]
    assert allocate(90, populations, compute_weights("equal", traffic)) == [30, 30, 30]
    assert allocate(90, populations, compute_weights("proportional", traffic)) == [10, 40, 40]
    assert allocate(90, populations, compute_weights("square-root", traffic)) == [18, 36, 36]
    with pytest.raises(InputError, match="'optimal' is not an allocation rule"):
        compute_weights("optimal", traffic)


def test_quotas_are_met_and_the_others_share_the_rest() -> None:
    names = ("head", "torso", "tail")
    assert allocate_with_quotas(60, names, [9, 90, 900], [1, 1, 1], {"tail": 40}) == [9, 11, 40]
    assert allocate_with_quotas(40, names, [9, 90, 900], [1, 1, 1], {"head": 0, "tail": 40}) == [0, 0, 40]


@pytest.mark.parametrize(
    ("quotas", "problem"),
    [
        ({"middle": 3}, "the sample has no stratum 'middle'; expected one of 'head', 'torso', 'tail'"),
        ({"head": 10}, "the quota of 'head' is 10, but it has only 9 queries"),
        ({"head": -1}, "the quota of 'head' is -1; expected 0 or more"),
        ({"torso": 50, "tail": 50}, "the quotas sum to 100, more than the 60 queries of the sample"),
        (
            {"tail": 50, "torso": 0},
            "the quotas leave 10 of 60 queries for the other strata, which have only 9",
        ),
    ],
)
def test_quotas_that_cannot_be_met_are_told(quotas: dict[str, int], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        allocate_with_quotas(60, ("head", "torso", "tail"), [9, 90, 900], [1, 1, 1], quotas)


def test_strata_are_crossed_in_the_order_of_their_dimensions() -> None:
    assert STRATA.names == (
        "head · docs-site", "head · shop", "torso · docs-site", "torso · shop",
        "tail · docs-site", "tail · shop",
    )  # fmt: skip
    assert [STRATA.names[code] for code in STRATA.codes[[0, 5, 59]]] == [
        "head · docs-site", "torso · shop", "tail · shop",
    ]  # fmt: skip
    words = np.array([1, 2, 3, 5, 6, 40], np.int64)
    assert [LENGTHS[code] for code in classify_lengths(words)] == [
        "short", "short", "medium", "medium", "long", "long",
    ]  # fmt: skip


def test_too_many_strata_are_refused() -> None:
    segments = Labels(np.zeros(1, np.intp), tuple(f"s{number}" for number in range(400)))
    with pytest.raises(InputError, match="make 3 × 400 = 1,200 strata; expected at most 1,000"):
        cross_dimensions([Labels(np.zeros(1, np.intp), LENGTHS), segments])
