"""How often a report's interval holds the true share of wrong grades, on plans that the product makes.

Sets of queries whose labels go wrong together within a query, as texts of a topic do; stale pairs are wrong
more often, by as much as `LEAN` says. Many plans of 15 %, of one quarter and of four quarters pooled. With
`open`, a tenth of the plan's pairs has no new grade, those that changed twice as often: the bounds should
hold.

Usage: python -m benchmarks.bench_relabeling [runs, 400] [sets, all]
Smallest: python -m benchmarks.bench_relabeling 1 1
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.relabeling.calendar import Quarter
from curation.relabeling.judged_pairs import SAME, JudgedPair
from curation.relabeling.pair_selection import select_pairs
from curation.relabeling.regraded_pairs import DISPUTED_NOW, QuarterResult, RegradedPair
from curation.relabeling.wrong_labels import estimate_wrong_labels

NOW = Quarter("2026-Q4")
QUARTERS = 4
LEAN = 0.25
"""How much of a pair's rank among the due pairs is whether its grade is wrong; the rest is chance."""
OPEN = 0.1
SETS = ((100, 10, 0.05, 0.05), (100, 10, 0.15, 0.05), (100, 10, 0.15, 0.3))
"""Queries, documents of each, share of wrong labels, and how much those of a query go wrong together."""
Marks = NDArray[Any]


def ranked(query: int, document: int, rank: float) -> JudgedPair:
    """A pair that is due before all pairs with a lower rank, 0 to 1."""
    when = NOW.before(1 + query % 4)
    facts = (f"q{query}", f"d{document}", 1, "majority", when, SAME, "h", "h", False)
    return JudgedPair(*facts, "tail", (), None, when, "g", ("ada",), 0, age=round(1e6 * rank))


def judged_plan(wrong: Marks, seed: int, random: np.random.Generator, left_open: float) -> QuarterResult:
    """A plan for a set with these wrong labels, judged without error, but for what is left open."""
    rows = [
        ranked(q, d, (1 - LEAN) * random.random() + LEAN * int(wrong[q, d]))
        for q, d in np.ndindex(*wrong.shape)
    ]
    pairs = []
    for one in select_pairs(rows, 0.15, seed):
        q, d = (int(name[1:]) for name in one[:2])
        lost = random.random() < left_open * (1 + int(wrong[q, d]))
        grades = (1, None, DISPUTED_NOW) if lost else (1, 1 + int(wrong[q, d]), "")
        pairs.append(RegradedPair(*one[:2], "tail", (), one.part, one.inclusion_probability, *grades))
    return QuarterResult("2026-Q4", len(rows), tuple(pairs))


def coverage(queries: int, documents: int, share: float, tied: float, times: int) -> list[Marks]:
    """Of a quarter, of a year pooled, and of bounds with open pairs: how often the interval holds the truth,
    and its mean width; then how often the estimate is above the truth on average, in points.
    """
    random = np.random.default_rng(1)
    figures: list[list[tuple[bool, float]]] = [[], [], []]
    off = []
    for seed in range(times):
        rate = random.beta(share / tied, (1 - share) / tied, queries)
        wrong = [random.random((queries, documents)) < rate[:, None] for _ in range(QUARTERS)]
        year = [judged_plan(marks, QUARTERS * seed + n, random, 0.0) for n, marks in enumerate(wrong)]
        some = judged_plan(wrong[0], QUARTERS * seed, random, OPEN)
        truths = (float(wrong[0].mean()), float(np.mean(wrong)), float(wrong[0].mean()))
        for place, quarters in enumerate((year[:1], year, [some])):
            found = estimate_wrong_labels(quarters)
            assert found.share is not None
            assert found.lowest is not None
            assert found.highest is not None
            assert found.lowest >= found.found / found.population
            figures[place].append(
                (found.lowest <= truths[place] <= found.highest, found.highest - found.lowest)
            )
            off += [found.share - truths[0]] if not place else []
    return [*(np.mean(one, axis=0) for one in figures), np.array([100 * np.mean(off)])]


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(
        "queries × documents, wrong, tied | holds, width | a year: holds, width | open: holds, width | bias"
    )
    number = int(sys.argv[2]) if len(sys.argv) > 2 else len(SETS)
    for queries, documents, share, tied in SETS[:number]:
        *found, bias = coverage(queries, documents, share, tied, times)
        figures = " | ".join(f"{holds:.1%}, {width:.3f}" for holds, width in found)
        print(f"{queries} × {documents}, {share:.0%}, {tied} | {figures} | {bias[0]:+.2f}", flush=True)


if __name__ == "__main__":
    main()
