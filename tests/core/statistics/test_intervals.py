"""Wilson's interval against published values, and the bootstrap's draws."""

from __future__ import annotations

import numpy as np
import pytest

from curation.core.statistics.bootstrap import Sums, percentile_interval, resample_figures, resample_sums
from curation.core.statistics.intervals import (
    clustered_share_interval,
    effective_sample_size,
    wilson_interval,
)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval_has_the_published_values(successes: int, n: int, low: float, high: float) -> None:
    """R. G. Newcombe (1998), Two-sided confidence intervals for the single proportion, Table I, method 3."""
    assert [round(end, 4) for end in wilson_interval(successes, n)] == [low, high]


def test_wilsons_interval_is_a_mirror_image_and_ends_at_one() -> None:
    low, high = wilson_interval(20, 20)
    assert (round(low, 4), high) == (round(1 - 0.1611, 4), 1.0)


def test_trials_of_one_cluster_that_are_all_alike_tell_as_much_as_one_trial_a_cluster() -> None:
    counts = np.full(12, 5)
    whole = np.where(np.arange(12) < 9, 5, 0)
    assert effective_sample_size(whole, counts) == pytest.approx(11)  # 12 clusters less one degree of freedom
    assert effective_sample_size(counts, counts) == 12
    assert effective_sample_size(np.full(12, 4), counts) == 60, "never more than there are trials"


@pytest.mark.parametrize(("share", "queries", "each", "within"), [(0.7, 10, 6, 0.3), (0.85, 10, 12, 0.2)])
def test_the_interval_of_clustered_trials_holds_where_wilsons_does_not(
    share: float, queries: int, each: int, within: float
) -> None:
    """`within`: the correlation within a query, by a beta distribution of the queries' own shares."""
    random = np.random.default_rng(1)
    spread = 1 / within - 1
    held = np.zeros(2)
    counts = np.full(queries, each)
    for _ in range(1_000):
        own = random.beta(share * spread, (1 - share) * spread, queries)
        alike = random.binomial(counts, own)
        mean = float(alike.sum() / counts.sum())
        low, high = clustered_share_interval(mean, effective_sample_size(alike, counts), queries)
        least, most = wilson_interval(int(alike.sum()), int(counts.sum()))
        held += (low <= share <= high, least <= share <= most)
    assert held[0] >= 930
    assert held[1] < 800


def test_resamples_draw_as_many_queries_as_there_are_and_add_up_to_the_number_asked() -> None:
    per_query = np.column_stack([np.ones(700), np.arange(700.0)])
    blocks = list(resample_sums(per_query, seed=1, resamples=5000))
    sums = np.concatenate(blocks)
    assert len(blocks) > 1
    assert sums.shape == (5000, 2)
    assert (sums[:, 0] == 700).all()
    assert sums[:, 1].mean() / 700 == pytest.approx(349.5, rel=0.005)
    assert sums[:, 1].std() / 700 == pytest.approx(np.arange(700).std() / 700**0.5, rel=0.05)


def test_a_few_undefined_resamples_are_left_out_and_more_give_no_interval() -> None:
    values = np.linspace(0, 1, 1000)
    values[:25] = np.nan
    assert percentile_interval(values) is not None
    values[25] = np.nan
    assert percentile_interval(values) is None


def test_with_few_queries_the_ends_lie_further_out_and_with_many_they_do_not() -> None:
    """Hesterberg (2015): the tail is Φ(−√(n/(n−1)) · t); for n = 10 that is 0.0086, for many 0.025."""
    values = np.random.default_rng(0).permutation(np.linspace(0, 1, 100_001))
    low, high = percentile_interval(values, queries=10)
    assert (low, high) == pytest.approx((0.0086, 0.9914), abs=5e-5)
    assert percentile_interval(values, queries=100_000) == pytest.approx(
        percentile_interval(values), abs=1e-4
    )


def test_parts_share_their_draws_and_get_only_their_own_queries() -> None:
    random = np.random.default_rng(2)
    values = random.random((50, 3))
    some = np.array([3, 7, 20])
    parts = [Sums(np.arange(50), values, np.asarray), Sums(some, values[some], np.asarray)]
    whole, part = resample_figures(parts, 50, seed=4, resamples=30)
    times = np.concatenate(list(resample_sums(np.eye(50), seed=4, resamples=30)))
    assert whole == pytest.approx(times @ values)
    assert part == pytest.approx(times[:, some] @ values[some])


def test_sums_are_exact_in_any_order() -> None:
    """Thirds cannot be added exactly; the sums here are multiples of one step, so that they can."""
    values = np.random.default_rng(5).random((400, 2)) / 3
    forward = np.concatenate(list(resample_sums(values, seed=1, resamples=20)))
    times = np.concatenate(list(resample_sums(np.eye(400), seed=1, resamples=20)))
    step = 2.0 ** (np.ceil(np.log2(values.max() * 400)) - 52)
    rounded = np.rint(values / step) * step
    backward = np.array([[sum(row[::-1]) for row in (draw[:, None] * rounded).T] for draw in times])
    assert (forward == backward).all()
