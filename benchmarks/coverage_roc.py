"""Do the intervals of the ROC area hold the truth with few cases? The table of docs/evaluation-method.md.

Scores of both classes are normal, the cases' shifted so that the true area is 0.6, 0.8 or 0.95. DeLong's
interval is the area ± 1.96 of his standard errors; ours is Newcombe's.

Usage: python -m benchmarks.coverage_roc [runs]
Smallest: python -m benchmarks.coverage_roc 2
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import norm

from curation.statistics.intervals import Z95
from curation.statistics.roc import roc_area

CASES, CONTROLS, AREAS = (5, 10, 20, 50), (30, 100), (0.6, 0.8, 0.95)


def coverage(cases: int, controls: int, truth: float, runs: int) -> tuple[float, float]:
    """The share of runs whose interval holds the truth: DeLong's, Newcombe's."""
    random, shift = np.random.default_rng(0), np.sqrt(2) * norm.ppf(truth)
    held = np.zeros(2)
    for _ in range(runs):
        area = roc_area(random.normal(shift, 1, cases), random.normal(0, 1, controls))
        held += abs(area.value - truth) <= Z95 * (area.error or 0), area.low <= truth <= area.high
    return tuple(held / runs)


def main() -> None:
    runs = int(sys.argv[1]) if sys.argv[1:] else 2_000
    print(f"{runs:,} runs each\ncases  controls  area  DeLong  Newcombe")
    for cases in CASES:
        for controls in CONTROLS:
            for truth in AREAS:
                delong, newcombe = coverage(cases, controls, truth, runs)
                print(f"{cases:5}  {controls:8}  {truth:4}  {delong:6.3f}  {newcombe:8.3f}")


if __name__ == "__main__":
    main()
