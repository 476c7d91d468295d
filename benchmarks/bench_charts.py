"""Which control chart finds a stretch of repeats that were not graded alike? See docs/agreement-method.md.

Simulated annotators whose repeats are graded alike with a share that changes in one way or another. Every
chart but the first is given the limit that at most 5 % of random orders of the same repeats cross anywhere,
so all have the same rate of false alarms and can be compared; the p-chart by tens has three-sigma limits.

    p-chart        shares of tens, three standard errors (D. C. Montgomery, section 7.2)
    EWMA           exponentially weighted mean (S. W. Roberts 1959; λ 0.1 and 0.2)
    CUSUM          Bernoulli CUSUM for odds 2 and 4 times as high (Reynolds and Stoumbos 1999)
    change point   largest likelihood ratio of one change (Scott and Knott 1974)

Usage: python -m benchmarks.bench_charts [--runs 2000]
Smallest: python -m benchmarks.bench_charts --runs 2
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np

from curation.agreement.annotators.change_points import LEVEL, likelihood_ratios
from curation.agreement.annotators.control_chart import odds_worse
from curation.statistics.p_values import PERMUTATIONS

GROUP = 10
Chart = Callable[[np.ndarray], np.ndarray]


def ewma(weight: float, rows: np.ndarray) -> np.ndarray:
    """How far the exponentially weighted mean falls below the row's own mean."""
    mean = rows.mean(axis=1)
    level, lowest = mean.copy(), np.zeros(len(rows))
    for column in rows.T:
        level = weight * column + (1 - weight) * level
        lowest = np.maximum(lowest, mean - level)
    return lowest


def cusum(times: float, rows: np.ndarray) -> np.ndarray:
    """The highest point of a CUSUM for odds of a miss so many times as high."""
    share = float(rows[0].mean())  # all rows are orders of the same repeats
    worse = odds_worse(share, times)
    steps = np.where(rows == 1, np.log(worse / share), np.log((1 - worse) / (1 - share)))
    plain = np.cumsum(steps, axis=1)
    return (plain - np.minimum(np.minimum.accumulate(plain, axis=1), 0)).max(axis=1)


def change(rows: np.ndarray) -> np.ndarray:
    return likelihood_ratios(rows).max(axis=1)


CHARTS: dict[str, Chart] = {
    "EWMA 0.1": partial(ewma, 0.1),
    "EWMA 0.2": partial(ewma, 0.2),
    "CUSUM 2": partial(cusum, 2.0),
    "CUSUM 4": partial(cusum, 4.0),
    "change point": change,
}


def three_sigma(rows: np.ndarray) -> np.ndarray:
    """Whether a ten lies below the p-chart's limit."""
    share = rows.mean(axis=1)
    tens = rows.reshape(len(rows), -1, GROUP).mean(axis=2).min(axis=1)
    return tens < share - 3 * np.sqrt(share * (1 - share) / GROUP)


@cache
def limits(repeats: int, alike: int) -> dict[str, float]:
    """What random orders cross in at most 5 % of cases."""
    rows = np.zeros((PERMUTATIONS, repeats), dtype=np.int8)
    rows[:, :alike] = 1
    orders = np.random.default_rng(alike).permuted(rows, axis=1)
    place = int(np.ceil((1 - LEVEL) * (1 + PERMUTATIONS))) - 1
    return {name: float(np.sort(chart(orders))[place]) for name, chart in CHARTS.items()}


def kinds(repeats: int) -> Iterator[tuple[str, np.ndarray]]:
    """What happens → the share graded alike at each repeat."""
    t, number = np.arange(repeats) / repeats, np.arange(repeats)
    yield "nothing: 82 %", np.full(repeats, 0.82)
    yield "nothing: 55 %", np.full(repeats, 0.55)
    yield "90 %, from the middle on 55 %", np.where(t < 0.5, 0.9, 0.55)
    yield "falls evenly from 95 to 55 %", 0.95 - 0.4 * t
    middle = repeats // 2 - 5
    for length in (10, 15):
        bad = (number >= middle) & (number < middle + length)
        yield f"86 %, {length} in the middle 40 %", np.where(bad, 0.4, 0.86)
    yield "86 %, the last 12 40 %", np.where(number >= repeats - 12, 0.4, 0.86)
    yield "55 %, after a quarter 90 %", np.where(t < 0.25, 0.55, 0.9)


def found(share: np.ndarray, runs: int) -> dict[str, float]:
    """Chart → of how many simulated annotators it goes beyond its limit."""
    rows = (np.random.default_rng(1).random((runs, len(share))) < share).astype(np.int8)
    rows = rows[rows.any(axis=1) & ~rows.all(axis=1)]
    counts = {"p-chart": int(three_sigma(rows).sum()), **dict.fromkeys(CHARTS, 0)}
    for alike in np.unique(rows.sum(axis=1)).tolist():
        same = rows[rows.sum(axis=1) == alike]
        ends = limits(len(share), alike)
        for name, chart in CHARTS.items():
            counts[name] += int((chart(same) > ends[name] + 1e-9).sum())
    return {name: count / runs for name, count in counts.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    names = ["p-chart", *CHARTS]
    print("| repeats | share alike | " + " | ".join(names) + " |\n|---:|---|" + "---:|" * len(names))
    for repeats in (60, 120):
        for name, share in kinds(repeats):
            rates = found(share, runs)
            print(
                f"| {repeats} | {name} | " + " | ".join(f"{rates[one]:.1%}" for one in names) + " |",
                flush=True,
            )


if __name__ == "__main__":
    main()
