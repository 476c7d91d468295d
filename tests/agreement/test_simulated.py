"""Simulated annotators: what is planted is raised, and where nothing is planted little is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import bench_drift

RUNS = 60


@pytest.mark.parametrize(
    ("planted", "about", "least"),
    [
        ("half a grade too high, always", "bias", 0.95),
        ("drifts by a whole grade", "drift", 0.95),
        ("half a grade too low in the third week", "week", 0.9),
        ("tires: 95 %, from the middle on 70 %", "change", 0.45),
        ("hurries: 75 % right when fast", "pace", 0.85),
        ("careless (70 % right)", "consistency", 0.6),
        ("a third of a grade higher the second time", "second time", 0.9),
    ],
)
def test_what_is_planted_is_raised(planted: str, about: str, least: float) -> None:
    assert bench_drift.rates(bench_drift.KINDS[planted], RUNS // 2)[about] >= least * RUNS / 2


def test_where_nothing_is_the_matter_each_point_is_raised_as_rarely_as_stated() -> None:
    counts = bench_drift.rates(bench_drift.KINDS["nothing is the matter (90 % right)"], RUNS)
    limit = 0.05 * RUNS + 3 * (0.05 * 0.95 * RUNS) ** 0.5
    assert {about: counts[about] for about in bench_drift.ABOUT if counts[about] > limit} == {}
    assert counts["consistency"] == counts["known answers"] == counts["bias"] == 0
