"""Simulated annotators: what is planted is raised, and where nothing is planted little is."""

from __future__ import annotations

import pytest

from benchmarks import bench_drift, bench_raters
from curation.agreement.annotators.signals import FALSE_SHARE

RUNS = 60


@pytest.mark.parametrize(
    ("planted", "about", "least"),
    [
        ("half a grade too high, always", "bias", 0.95),
        ("drifts by a whole grade", "drift", 0.95),
        ("half a grade too low in the third week", "week", 0.9),
        ("tires: 95 %, from the middle on 70 %", "change", 0.25),
        ("hurries: 75 % right when fast", "pace", 0.65),
        ("careless (70 % right)", "consistency", 0.45),
        ("a third of a grade higher the second time", "second time", 0.7),
    ],
)
@pytest.mark.slow
def test_what_is_planted_is_raised(planted: str, about: str, least: float) -> None:
    assert bench_drift.rates(bench_drift.KINDS[planted], RUNS // 2)[about] >= least * RUNS / 2


@pytest.mark.slow
def test_where_nothing_is_the_matter_people_hear_of_anything_as_rarely_as_stated() -> None:
    counts = bench_drift.rates(bench_drift.KINDS["nothing is the matter (90 % right)"], RUNS)
    assert counts["anything"] <= FALSE_SHARE * RUNS
    assert counts["consistency"] == counts["control items"] == counts["bias"] == 0


@pytest.mark.slow
def test_good_annotators_are_not_named_for_what_three_bad_ones_do() -> None:
    counts = bench_raters.simulate(3, 8)
    low, _ = bench_raters.wilson(counts["good: named"], counts["good"])
    assert low <= FALSE_SHARE
    assert counts["good: left out"] == 0
    for kind in ("random", "always 1", "upside down", "hasty"):
        assert counts[f"{kind}: named"] == counts[kind] > 0
