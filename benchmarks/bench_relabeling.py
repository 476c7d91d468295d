"""How often the random part's interval holds the true share of wrong labels.

Sets of queries whose labels go wrong together within a query, as texts of a topic do; many draws of plans of
15 %, of one quarter and of four quarters pooled. Whether causes are found is in `bench_causes`.

Usage: python -m benchmarks.bench_relabeling [runs, 400] [sets, all]
Smallest: python -m benchmarks.bench_relabeling 1 1
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.relabeling.drift.figures import WrongLabels, wrong_labels
from curation.relabeling.drift.regraded_pairs import RegradedPair
from curation.relabeling.plan.choice import RANDOM, ScoredPair, choose_pairs
from curation.relabeling.staleness.calendar import JudgedPair, Quarter
from curation.settling.consensus import PairConsensus

NOW = Quarter(2026, 4)
QUARTERS = 4
SETS = ((100, 10, 0.05, 0.05), (100, 10, 0.15, 0.05), (100, 10, 0.15, 0.3), (200, 20, 0.10, 0.1))
"""Queries, documents of each, share of wrong labels, and how much those of a query go wrong together."""
Marks = NDArray[Any]


def scored(query: int, document: int, score: float) -> ScoredPair:
    consensus = PairConsensus(f"q{query}", f"d{document}", 1, "majority", {1: 2}, 0, 2, 1.0)
    when = NOW.before(1 + query % 4)
    judged = JudgedPair(consensus, "tail", (), when, None, None, when, "h", "h", "g", False, ("ada",), 0)
    return ScoredPair(judged, score, 0.0)


def drawn(wrong: Marks, seed: int, random: np.random.Generator) -> tuple[list[RegradedPair], int]:
    """The random part of a plan for a set with these wrong labels, and how many pairs could be drawn."""
    rows = [scored(q, d, random.random() / 2 + int(wrong[q, d]) / 2) for q, d in np.ndindex(*wrong.shape)]
    plan = choose_pairs(rows, 0.15, seed, NOW)
    pairs = [
        RegradedPair(*one.scored.pair, "tail", (), one.part, one.probability, 1, 1 + int(wrong[q, d]), ())
        for one in plan.pairs
        if one.part == RANDOM
        for q, d in [(int(name[1:]) for name in one.scored.pair)]
    ]
    return pairs, plan.frame


def held(found: WrongLabels, truth: float) -> tuple[bool, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low <= truth <= found.high, found.high - found.low


def coverage(queries: int, documents: int, share: float, tied: float, times: int) -> tuple[Marks, ...]:
    """Of a quarter and of a year pooled: how often the interval holds the truth, and its mean width.

    Stale pairs are wrong more often. Each quarter other labels are wrong, of the same queries more often than
    of others; the mean over the year is what the pooled interval should hold.
    """
    random = np.random.default_rng(1)
    one, year = [], []
    for seed in range(times):
        rate = random.beta(share / tied, (1 - share) / tied, queries)
        wrong = [random.random((queries, documents)) < rate[:, None] for _ in range(QUARTERS)]
        parts = [drawn(marks, QUARTERS * seed + place, random) for place, marks in enumerate(wrong)]
        frame = parts[0][1]
        one.append(held(wrong_labels(parts[0][0], frame), float(wrong[0].mean())))
        pooled = wrong_labels([pair for pairs, _ in parts for pair in pairs], frame)
        year.append(held(pooled, float(np.mean(wrong))))
    return np.mean(one, axis=0), np.mean(year, axis=0)


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print("queries × documents, wrong, tied | interval holds | mean width | a year: holds | mean width")
    number = int(sys.argv[2]) if len(sys.argv) > 2 else len(SETS)
    for queries, documents, share, tied in SETS[:number]:
        (holds, width), (pooled, narrow) = coverage(queries, documents, share, tied, times)
        figures = f"{holds:.1%} | {width:.3f} | {pooled:.1%} | {narrow:.3f}"
        print(f"{queries} × {documents}, {share:.0%}, {tied} | {figures}", flush=True)


if __name__ == "__main__":
    main()
