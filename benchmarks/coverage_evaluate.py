"""How often the 95 % interval of a mean holds the truth, by measure and number of queries.

Values are drawn from populations that look like those of measures:

    nDCG      zero for a fifth of the queries, one for a tenth, else between
    MRR       1 / rank, zero for a tenth; half of the others have rank 1
    rare MRR  zero for seven of ten queries
    success   one for 85 of 100 queries

For each size, sets of queries are drawn, and goldset's interval, Student's t and the plain percentile
bootstrap are made of each. Written: the share of intervals that hold the population's mean, and the mean
width of goldset's. An interval that is not given holds nothing; the share of these is written, too.

Usage: python -m benchmarks.coverage_evaluate [sets, default 2000]
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from curation.evaluation.figures.means import mean_intervals
from curation.statistics.intervals import percentile_interval, resampled

Floats = NDArray[np.float64]
SIZES = (5, 10, 20, 35, 50, 100, 200)
POPULATION = 200_000
BATCH = 100


def populations(random: np.random.Generator) -> dict[str, Floats]:
    """Kind → values of very many queries."""
    kind = random.random(POPULATION)
    ndcg = np.select([kind < 0.2, kind < 0.3], [0.0, 1.0], random.beta(2, 1.5, POPULATION))
    mrr = np.where(kind < 0.1, 0.0, 1 / random.geometric(0.5, POPULATION))
    rare = np.where(kind < 0.7, 0.0, 1 / random.geometric(0.3, POPULATION))
    return {"nDCG": ndcg, "MRR": mrr, "rare MRR": rare, "success": (kind < 0.85).astype(np.float64)}


def coverage(values: Floats, n: int, sets: int, random: np.random.Generator) -> tuple[float, ...]:
    """The shares that hold the mean: goldset, t, percentile; then the share without one, and the width."""
    truth, held, none, width = float(values.mean()), np.zeros(3), 0, 0.0
    for batch in range(sets // BATCH):
        drawn = random.choice(values, (n, BATCH))
        ends = [found for found, _ in mean_intervals(drawn, seed=batch)]
        plain = np.concatenate(list(resampled(drawn, batch))) / n
        mean, error = drawn.mean(axis=0), drawn.std(axis=0, ddof=1) / np.sqrt(n)
        held[1] += (np.abs(mean - truth) <= stdtrit(n - 1, 0.975) * error).sum()
        for place, one in enumerate(ends):
            low, high = percentile_interval(plain[:, place]) or (1.0, 0.0)
            held[2] += low <= truth <= high
            none += one is None
            if one is not None:
                held[0] += one[0] <= truth <= one[1]
                width += one[1] - one[0]
    tried = sets // BATCH * BATCH
    return (*(held / tried).tolist(), none / tried, width / max(tried - none, 1))


def main() -> None:
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    random = np.random.default_rng(0)
    print(f"{sets:,} sets of each size; share of intervals that hold the mean")
    print(f"{'measure':10}{'queries':>8}{'goldset':>9}{'t':>8}{'plain':>8}{'none':>8}{'width':>8}")
    for name, values in populations(random).items():
        for n in SIZES:
            row = "".join(f"{share:8.3f}" for share in coverage(values, n, sets, random))
            print(f"{name:10}{n:8} {row}")


if __name__ == "__main__":
    main()
