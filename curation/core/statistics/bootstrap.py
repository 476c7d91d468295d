"""The bootstrap over queries: resampled statistics, and their percentile intervals.

Queries are drawn again, because queries were sampled: documents of one query depend on each other, and
resampling pairs would make intervals too narrow. A figure is a function of sums over queries; a resample is
the same function of sums in which each query counts as often as it was drawn. So a thousand resamples are one
product of matrices for any number of judgments, and figures that share their draws can be subtracted from
each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, erfc, log2, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RESAMPLES = 1000
"""Default number of resamples."""
UNDEFINED_SHARE = 0.025
"""Maximum share of undefined resamples; with more, the ends of the interval would be arbitrary."""
_MAX_BLOCK_CELLS = 2_000_000
"""Maximum number of bootstrap weights in memory at a time."""


class Sums(NamedTuple):
    """Each query's contributions to the sums from which a group's statistics are computed.

    Attributes
    ----------
    queries: shape (q,), indexes of the queries.
    sums: shape (q, K), contribution of each query to K sums; a sparse array if most contributions are 0.
    figures: sums of shape (r, K) → figures of shape (r, S), NaN for an undefined figure.
    """

    queries: Ints
    sums: Floats | csr_array
    figures: Callable[[Floats], Floats]


def draw_resamples(
    query_count: int, seed: int, resamples: int = RESAMPLES, width: int = 1
) -> Iterator[Floats]:
    """Draw queries with replacement, and yield how often each query is in each resample.

    Parameters
    ----------
    width: number of sums of a resample; a larger number makes blocks smaller.

    Yields
    ------
    Blocks of shape (r, query_count) whose r add up to `resamples`; the same seed gives the same draws.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    block_size = max(1, _MAX_BLOCK_CELLS // max(query_count, width))
    for start in range(0, resamples, block_size):
        rows = min(block_size, resamples - start)
        indexes = random.integers(query_count, size=(rows, query_count))
        cells = indexes + query_count * np.arange(rows)[:, None]
        draw_counts = np.bincount(cells.ravel(), minlength=rows * query_count)
        yield draw_counts.reshape(rows, query_count).astype(np.float64)


def resample_sums(per_query: Floats, seed: int, resamples: int = RESAMPLES) -> Iterator[Floats]:
    """Yield sums over queries that are drawn with replacement.

    Parameters
    ----------
    per_query: shape (Q, K), contribution of each query to K sums.

    Yields
    ------
    Blocks of shape (r, K) whose r add up to `resamples`; the same seed gives the same draws.
    """
    sums = _round_for_exact_sums(per_query)
    for draw_counts in draw_resamples(len(per_query), seed, resamples):
        yield draw_counts @ sums


def resample_figures(
    groups: Sequence[Sums], query_count: int, seed: int, resamples: int = RESAMPLES
) -> list[Floats]:
    """Compute each group's statistics on resamples that all groups share, shape (resamples, S) each."""
    figure_blocks: list[list[Floats]] = [[] for _ in groups]
    rounded = [group._replace(sums=_round_for_exact_sums(group.sums)) for group in groups]
    width = max((group.sums.shape[1] for group in groups), default=1)
    for draw_counts in draw_resamples(query_count, seed, resamples, width):
        for group, blocks in zip(rounded, figure_blocks, strict=True):
            is_complete = len(group.queries) == query_count
            group_counts = draw_counts if is_complete else draw_counts[:, group.queries]
            blocks.append(group.figures(group_counts @ group.sums))
    return [np.concatenate(blocks) for blocks in figure_blocks]


def percentile_interval(values: Floats, queries: int | None = None) -> tuple[float, float] | None:
    """Compute the middle 95 % of resampled statistics; None if too many are undefined (NaN).

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
