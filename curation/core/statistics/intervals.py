"""95 % confidence intervals of shares, means and bootstrapped figures over queries.

The bootstrap draws queries again, because queries were sampled: documents of one query depend on each other,
and resampling pairs would make intervals too narrow. A figure is a function of sums over queries; a resample
is the same function of sums in which each query counts as often as it was drawn. So a thousand resamples are
one product of matrices for any number of judgments, and figures that share their draws can be subtracted from
each other.

Intervals of means of queries' figures, which are bounded, skewed and often 0 or 1, use no bootstrap. A small
sample easily misses the few queries that carry the mean. So the interval of a mean is Wilson's interval with
two changes:

- n is the number of queries that would vary as much if each were 0 or 1, m (1 − m) / error² (E. L. Korn and
  B. I. Graubard (1998), Survey Methodology 24), and Student's t takes the place of the normal distribution;
- `UNSEEN` queries are added at the worst figure that a query can have, and the same number at the best
  figure, as A. Agresti and B. A. Coull (1998), The American Statistician 52, add successes and failures.

Where the most common figure is between the ends and fewer than `FEW_UNCOMMON` queries have a different
figure, the interval assumes the worst or the best figure for the largest share of queries that Clopper and
Pearson's (1934) bound allows. `benchmarks.coverage_means` measures on real topics how often this interval
contains the true mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, erfc, isinf, log2, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Z95 = 1.959963984540054  # the 97.5 % point of the normal distribution

RESAMPLES = 1000
# Maximum share of undefined resamples; with more, an end of the interval would be arbitrary
UNDEFINED_SHARE = 0.025

MINIMUM_QUERIES = 5  # minimum number of queries for an interval

_CELLS = 2_000_000  # weights held at a time

UNSEEN = 1 / 8  # number of unseen queries that are added at each end of the range

FEW_UNCOMMON = 4
"""Number of queries with an uncommon figure below which the interval is widened, because samples miss them.
"""

EQUAL_WITHIN = 9  # decimals to which figures are compared; later digits differ between machines


class Sums(NamedTuple):
    """Contributions of some queries to a figure.

    Attributes
    ----------
    queries: shape (q,), numbers of the queries.
    sums: shape (q, K), contribution of each query to K sums; a sparse array if most contributions are 0.
    figures: sums of shape (r, K) → figures of shape (r, S), NaN for an undefined figure.
    """

    queries: Ints
    sums: Floats | csr_array
    figures: Callable[[Floats], Floats]


def wilson_interval(successes: int, n: int) -> tuple[float, float]:
    """Compute Wilson's 95 % score interval of a share, n > 0.

    E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22.
    """
    return _score_interval(successes / n, n, Z95)


def interpolate_wilson(share: float, n: int) -> tuple[float, float]:
    """Compute Wilson's 95 % interval of a share of n trials that is not a whole number of successes.

    The interval is interpolated between the intervals of the two nearest numbers of successes.
    """
    successes = int(share * n)
    fraction = share * n - successes
    below = np.array(wilson_interval(successes, n))
    above = np.array(wilson_interval(min(n, successes + 1), n))
    low, high = (1 - fraction) * below + fraction * above
    return float(low), float(high)


def effective_sample_size(successes: Ints, counts: Ints) -> float:
    """Compute the number of independent trials with as much information about a share as these clustered
    trials.

    The number of trials divided by the design effect: the variance of the share between clusters (linearised)
    over the variance of independent trials, at least 1. If all trials have the same result, there is no
    variance to compare, and a cluster counts as one trial.

    Parameters
    ----------
    successes, counts: of each cluster, shape (clusters,); all counts > 0.
    """
    n, clusters = int(counts.sum()), len(counts)
    share = successes.sum() / n
    if share in (0, 1) or clusters == 1:
        return float(clusters)
    between = clusters / (clusters - 1) * ((successes - share * counts) ** 2).sum() / n**2
    return float(n / max(1.0, between / (share * (1 - share) / n)))


def clustered_share_interval(share: float, size: float, clusters: int) -> tuple[float, float]:
    """Compute Wilson's 95 % interval of a share of clustered trials.

    The interval is computed at the `effective_sample_size`, with Student's quantile for `clusters` - 1
    degrees of freedom: E. L. Korn and B. I. Graubard (1998), Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data, Survey Methodology 24, who adjust the exact
    interval likewise.
    """
    from scipy.special import stdtrit

    return _score_interval(share, size, float(stdtrit(clusters - 1, 0.975)) if clusters > 1 else np.inf)


def draw_resamples(queries: int, seed: int, resamples: int = RESAMPLES, width: int = 1) -> Iterator[Floats]:
    """Draw queries with replacement, and yield how often each query is in each resample.

    Parameters
    ----------
    width: number of sums of a resample; a larger number makes blocks smaller.

    Yields
    ------
    Blocks of shape (r, queries) whose r add up to `resamples`; the same seed gives the same draws.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    block = max(1, _CELLS // max(queries, width))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        indices = random.integers(queries, size=(rows, queries)) + queries * np.arange(rows)[:, None]
        yield np.bincount(indices.ravel(), minlength=rows * queries).reshape(rows, queries).astype(np.float64)


def resample_sums(per_query: Floats, seed: int, resamples: int = RESAMPLES) -> Iterator[Floats]:
    """Yield sums over queries that are drawn again with replacement.

    Parameters
    ----------
    per_query: shape (Q, K), contribution of each query to K sums.

    Yields
    ------
    Blocks of shape (r, K) whose r add up to `resamples`; the same seed gives the same draws.
    """
    sums = _round_for_exact_sums(per_query)
    for times in draw_resamples(len(per_query), seed, resamples):
        yield times @ sums


def resample_figures(
    parts: Sequence[Sums], queries: int, seed: int, resamples: int = RESAMPLES
) -> list[Floats]:
    """Compute the figures of resamples that all parts share: for each part, shape (resamples, S)."""
    figure_blocks: list[list[Floats]] = [[] for _ in parts]
    prepared = [part._replace(sums=_round_for_exact_sums(part.sums)) for part in parts]
    width = max((part.sums.shape[1] for part in parts), default=1)
    for times in draw_resamples(queries, seed, resamples, width):
        for part, blocks in zip(prepared, figure_blocks, strict=True):
            part_times = times if len(part.queries) == queries else times[:, part.queries]
            blocks.append(part.figures(part_times @ part.sums))
    return [np.concatenate(blocks) for blocks in figure_blocks]


def percentile_interval(values: Floats, queries: int | None = None) -> tuple[float, float] | None:
    """Compute the middle 95 % of resampled statistics; None if too many statistics are undefined (NaN).

    Parameters
    ----------
    queries: number of queries that were drawn from. With few queries a bootstrap varies too little, like a
        normal distribution in place of Student's t; the ends of the interval are then taken further out (the
        expanded percentile interval, T. Hesterberg (2015), The American Statistician 69).
    """
    tail = UNDEFINED_SHARE if queries is None else expanded_tail(queries)
    defined_values = values[~np.isnan(values)]
    if len(defined_values) == 0 or len(values) - len(defined_values) > max(tail, 0.01) * len(values):
        return None
    low, high = np.quantile(defined_values, [tail, 1 - tail])
    return float(low), float(high)


def expanded_tail(queries: int) -> float:
    """Compute the share beyond each end of an expanded percentile interval (see `percentile_interval`)."""
    from scipy.special import stdtrit

    quantile = sqrt(queries / (queries - 1)) * stdtrit(queries - 1, 0.975)
    return erfc(quantile / sqrt(2)) / 2


def mean_intervals(values: Floats, highest: Floats) -> Floats:
    """Compute 95 % intervals of the means of P columns: low and high, shape (2, P), NaN with fewer than two
    queries.

    Parameters
    ----------
    values: shape (Q, P), at least 0; NaN if a query has no figure.
    highest: shape (P,), upper bound of a query's figure.
    """
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    mean = ratio(np.where(defined, values, 0.0).sum(axis=0), n)
    squares = np.where(defined, (values - mean) ** 2, 0.0).sum(axis=0)
    variance = ratio(ratio(squares, n - 1), n)
    ends = mean_score_intervals(mean, variance, n, np.maximum(n - 1, 1), highest)
    return widen_for_uncommon(ends, mean, values, n, highest)


def mean_score_intervals(
    mean: Floats | float,
    variance: Floats | float,
    n: Floats | Ints | float,
    df: Floats | Ints | float,
    highest: Floats | float,
    unseen: float = UNSEEN,
) -> Floats:
    """Compute 95 % intervals of means of figures from 0 on: low and high, shape (2, P), NaN if the variance
    is NaN.

    Parameters
    ----------
    mean, variance: shape (P,) or a single number, the means and the variances of these means.
    n, df: same shape, the number of queries (or the effective number of weighted queries) and the
        degrees of freedom.
    highest: same shape, upper bound of a figure.
    """
    from scipy.special import stdtrit

    share, enlarged_n = np.clip(np.divide(mean, highest), 0, 1), n + 2 * unseen
    centre = (n * share + unseen) / enlarged_n
    squares = n * (n - 1) * np.divide(variance, np.square(highest)) + n * (share - centre) ** 2
    squares = squares + unseen * (centre**2 + (1 - centre) ** 2)
    spread = centre * (1 - centre)
    slack = np.square(stdtrit(df, 0.975)) * squares / (enlarged_n * (enlarged_n - 1) * spread)
    half = np.sqrt(slack * spread + slack**2 / 4)
    low, high = (centre + slack / 2 - half) / (1 + slack), (centre + slack / 2 + half) / (1 + slack)
    return highest * np.array([np.clip(np.minimum(low, share), 0, 1), np.clip(np.maximum(high, share), 0, 1)])


def widen_for_uncommon(
    ends: Floats, mean: Floats, values: Floats, n: Floats | Ints, highest: Floats | float
) -> Floats:
    """Widen the intervals of columns in which few of `values`, shape (Q, P), differ from the most common
    figure.
    """
    from scipy.special import betaincinv

    common, uncommon = find_most_common(values)
    is_between = (common > 0) & (common < highest - 10.0**-EQUAL_WITHIN)
    widened = (uncommon < np.minimum(FEW_UNCOMMON, n / 2)) & is_between
    upper_share = betaincinv(uncommon + 1.0, np.where(widened, n - uncommon, 1.0), 0.975)
    missed = upper_share - uncommon / np.maximum(n, 1)
    low = np.minimum(ends[0], mean - missed * common)
    high = np.maximum(ends[1], mean + missed * (highest - common))
    return np.where(widened, np.clip([low, high], 0, highest), ends)


def find_most_common(values: Floats) -> tuple[Floats, Ints]:
    """Find each column's most common figure, and count the queries with a different figure, shape (P,),
    without NaN.
    """
    common, uncommon = np.full(values.shape[1], np.nan), np.zeros(values.shape[1], np.int64)
    for index, column in enumerate(np.round(values, EQUAL_WITHIN).T):
        distinct, times = np.unique(column[~np.isnan(column)], return_counts=True)
        if len(distinct):
            common[index], uncommon[index] = distinct[times.argmax()], times.sum() - times.max()
    return common, uncommon


def _score_interval(share: float, n: float, quantile: float) -> tuple[float, float]:
    if isinf(quantile):
        return 0.0, 1.0
    slack = quantile**2 / n
    centre = share + slack / 2
    half = quantile * sqrt(share * (1 - share) / n + slack / (4 * n))
    low, high = (centre - half) / (1 + slack), (centre + half) / (1 + slack)
    return (0.0 if share == 0 else low), (1.0 if share == 1 else high)


def _round_for_exact_sums(sums: Floats | csr_array) -> Floats | csr_array:
    """Round the sums to a common fine step, so that adding them is exact in any order.

    Machines add the terms of a matrix product in different orders; exact sums give the same figures
    everywhere.
    """
    values = sums if isinstance(sums, np.ndarray) else sums.data
    bound = float(np.abs(values).max(initial=0.0)) * sums.shape[0]
    if bound == 0:
        return sums
    step = 2.0 ** (ceil(log2(bound)) - 52)
    rounded: Floats = np.rint(values / step) * step
    if isinstance(sums, np.ndarray):
        return rounded
    return type(sums)((rounded, sums.indices, sums.indptr), sums.shape)
