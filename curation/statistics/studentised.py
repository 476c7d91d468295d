"""Studentised bootstrap intervals, for figures of few queries that differ much.

Where most grades are 0, a few queries hold nearly all disagreement. A sample often misses them, and then both
the figure and its spread look better than they are; percentiles of resamples inherit that. Here each resample
is measured in its own standard error, as Student's t does, so that samples that look too even count as what
they are (B. Efron and R. J. Tibshirani (1993), An Introduction to the Bootstrap, section 12.5).

The standard errors are the infinitesimal jackknife's (Efron (1982), The Jackknife, the Bootstrap and Other
Resampling Plans, chapter 6): how the figure moves with the weight of each query. All is done on the scale of
log(1 − figure), where a coefficient of agreement is a difference of two logarithms, of what was observed and
of what chance gives, and where no end of an interval is above 1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import NamedTuple

import numpy as np

from curation.statistics.arrays import Floats
from curation.statistics.intervals import expanded_tail

STEP = 1e-4
"""By which share of a resample's weight one of its sums is moved, to see how the figure moves."""


LOWEST = -1.0
"""No end is below: coefficients of agreement have about this as their least value."""


class StudentisedIntervals(NamedTuple):
    """The 95 % intervals of S figures.

    Attributes
    ----------
    low, high: shape (S,), NaN where there is none: the figure is 1, undefined, or the same in each resample.
    effective_queries: shape (S,), how many queries of equal influence would vary as much: (Σu²)² / Σu⁴.
    """

    low: Floats
    high: Floats
    effective_queries: Floats


def studentised_intervals(
    per_query: Floats, times: Floats, figures: Callable[[Floats], Floats]
) -> StudentisedIntervals:
    """Intervals of figures of sums over queries.

    Parameters
    ----------
    per_query: shape (Q, K), what each query contributes to K sums.
    times: shape (R, Q), how often each resample drew each query.
    figures: sums of shape (r, K) → figures of shape (r, S), NaN where one is undefined, never above 1.
    """
    queries, total = len(per_query), per_query.sum(axis=0, keepdims=True)
    own = _influences(total, per_query, figures)
    error = np.sqrt((own**2).sum(axis=1))[0]
    drawn = times @ per_query
    errors = np.sqrt(np.einsum("rq,rqs->rs", times, _influences(drawn, per_query, figures) ** 2))
    point = _logs(figures(total))[0]
    spread = np.divide(
        _logs(figures(drawn)) - point, errors, out=np.full(errors.shape, np.nan), where=errors > 0
    )
    ends = _spread_ends(spread, queries)
    ends[:, ~np.isfinite(point) | (error == 0)] = np.nan
    low, high = np.maximum(1 - np.exp(np.minimum(point - ends * error, log(1 - LOWEST))), LOWEST)
    fourth = (own[0] ** 4).sum(axis=0)
    effective = np.divide(error**4, fourth, out=np.zeros(len(point)), where=fourth > 0)
    return StudentisedIntervals(low, high, effective)


def _spread_ends(spread: Floats, queries: int) -> Floats:
    """The middle 95 % of what figures differ by, in standard errors, shape (2, S).

    Where too many resamples miss all disagreement, so that they have no logarithm, Student's t has to do.
    """
    from scipy.special import stdtrit  # a quarter of a second, which `status` need not wait for

    tail, student = expanded_tail(queries), stdtrit(queries - 1, 0.975)
    ends = np.tile([[-student], [student]], spread.shape[1])
    known = np.isnan(spread).mean(axis=0) <= tail
    if known.any():
        ends[:, known] = np.nanquantile(spread[:, known], [tail, 1 - tail], axis=0)
    return ends


def _influences(sums: Floats, per_query: Floats, figures: Callable[[Floats], Floats]) -> Floats:
    """How log(1 − figure) moves with the weight of each query, shape (r, Q, S).

    Sums that are the same of every query, as both halves of a symmetric matrix are, are moved together.
    """
    columns, group = np.unique(per_query, axis=1, return_inverse=True)
    step = STEP * sums.sum(axis=1, keepdims=True) / sums.shape[1]
    before = _logs(figures(sums))
    found = np.zeros((len(sums), len(per_query), before.shape[1]))
    for place in np.flatnonzero(columns.any(axis=0)):
        moved = (_logs(figures(sums + step * (group.ravel() == place))) - before) / step
        found += columns[None, :, place, None] * moved[:, None, :]
    return np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0)


def _logs(values: Floats) -> Floats:
    """log(1 − figure), NaN where the figure is undefined or 1."""
    rest = 1 - values
    logs: Floats = np.log(rest, out=np.full(rest.shape, np.nan), where=rest > 1e-9)
    return logs
