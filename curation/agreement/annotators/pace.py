"""Pace against accuracy: whether one annotator's fast answers are right as often as the slow ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.agreement.annotators.differences import MINIMUM_GRADES, Differences, Ints
from curation.statistics.intervals import MINIMUM_QUERIES, Floats, percentile_interval, resampled
from curation.statistics.p_values import mean_p


class PaceAccuracy(NamedTuple):
    """The share of right grades in the faster and the slower half, after what the texts' length explains.

    `difference` is fast less slow, with a 95 % interval by bootstrap over queries; `p`: how probable one as
    far from 0 is, were there none.
    """

    fast: float
    fast_grades: int
    slow: float
    slow_grades: int
    difference: float
    low: float
    high: float
    p: float


def pace_accuracy(given: Differences, seed: int) -> PaceAccuracy | str:
    """Compare the faster with the slower half; or say why that cannot be done."""
    timed = (given.right >= 0) & ~np.isnan(given.seconds)
    if timed.sum() < MINIMUM_GRADES:
        return f"{int(timed.sum()):,} timed grades can be compared; {MINIMUM_GRADES} are needed"
    fast = _faster_half(given.seconds[timed], given.length[timed])
    right = given.right[timed].astype(np.float64)
    queries, query = np.unique(given.query[timed], return_inverse=True)
    if len(queries) < MINIMUM_QUERIES or fast.all() or not fast.any():
        return "all answers took the same time, or are of too few queries"
    columns = [
        np.bincount(query, weights) for weights in (right * fast, 1.0 * fast, right * ~fast, 1.0 * ~fast)
    ]
    sums = np.stack(columns, axis=1).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.concatenate([b[:, 0] / b[:, 1] - b[:, 2] / b[:, 3] for b in resampled(sums, seed)])
    ends = percentile_interval(drawn, len(queries))
    if ends is None:
        return "no interval: too many resamples have no fast or no slow answers"
    shares = float(right[fast].mean()), float(right[~fast].mean())
    off = [(sums[:, 2 * half] - shares[half] * sums[:, 2 * half + 1]) for half in (0, 1)]
    p = mean_p(shares[0] - shares[1], off[0] / fast.sum() - off[1] / (~fast).sum())
    return PaceAccuracy(
        shares[0], int(fast.sum()), shares[1], int((~fast).sum()), shares[0] - shares[1], *ends, p
    )


def _faster_half(seconds: Floats, length: Ints) -> NDArray[np.bool_]:
    """Faster than half of the annotator's own answers, after what the length explains (on logarithms)."""
    took, long = np.log(seconds + 0.1), np.log1p(length)
    long = long - long.mean()
    spread = float(long @ long)
    rest = took - (float(long @ took) / spread * long if spread else 0.0)
    faster: NDArray[np.bool_] = rest < np.median(rest)
    return faster
