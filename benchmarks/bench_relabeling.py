"""How often the random part's interval holds the true share of wrong labels.

Sets of queries whose labels go wrong together within a query, as texts of a topic do; many draws of plans of
15 %. Whether causes are found is in `bench_causes`.

Usage: python -m benchmarks.bench_relabeling [runs, 400]
Smallest: python -m benchmarks.bench_relabeling 1
"""

from __future__ import annotations

import sys

import numpy as np

from curation.relabeling.drift.figures import wrong_labels
from curation.relabeling.drift.regraded_pairs import RegradedPair
from curation.relabeling.plan.choice import RANDOM, ScoredPair, choose_pairs
from curation.relabeling.staleness.calendar import JudgedPair, Quarter
from curation.settling.consensus import PairConsensus

NOW = Quarter(2026, 4)


def scored(query: int, document: int, score: float) -> ScoredPair:
    consensus = PairConsensus(f"q{query}", f"d{document}", 1, "majority", {1: 2}, 0, 2, 1.0)
    when = NOW.before(1 + query % 4)
    judged = JudgedPair(consensus, "tail", (), when, None, None, when, "h", "h", "g", False, ("ada",), 0)
    return ScoredPair(judged, score, 0.0)


def coverage(queries: int, documents: int, share: float, tied: float, times: int) -> tuple[float, float]:
    """How often the interval holds the truth, and its mean width; stale pairs are wrong more often."""
    random = np.random.default_rng(1)
    held, width = [], []
    for seed in range(times):
        rate = random.beta(share / tied, (1 - share) / tied, queries)
        wrong = random.random((queries, documents)) < rate[:, None]
        rows = [
            scored(q, d, random.random() / 2 + wrong[q, d] / 2)
            for q in range(queries)
            for d in range(documents)
        ]
        plan = choose_pairs(rows, 0.15, seed, NOW)
        pairs = [
            RegradedPair(
                *one.scored.pair,
                *("tail", (), one.part, one.probability, 1),
                1 + int(wrong[int(one.scored.pair[0][1:]), int(one.scored.pair[1][1:])]),
                (),
            )
            for one in plan.pairs
            if one.part == RANDOM
        ]
        found = wrong_labels(pairs, plan.frame)
        if found.low is not None and found.high is not None:
            held.append(found.low <= wrong.mean() <= found.high)
            width.append(found.high - found.low)
    return float(np.mean(held)), float(np.mean(width))


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print("queries × documents, wrong, tied | interval holds | mean width")
    for queries, documents, share, tied in (
        (100, 10, 0.05, 0.05),
        (100, 10, 0.15, 0.05),
        (100, 10, 0.15, 0.3),
        (200, 20, 0.10, 0.1),
    ):
        holds, width = coverage(queries, documents, share, tied, times)
        print(f"{queries} × {documents}, {share:.0%}, {tied} | {holds:.1%} | {width:.3f}")


if __name__ == "__main__":
    main()
