"""How far old and new grades agree: shares, kappas and shifts, with intervals over queries.

Queries are resampled, because the pairs of a query depend on each other. Groups share their resamples, so
that their differences have intervals of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.agreement.between.coefficients import cohen_of, weights_of
from curation.relabeling.drift.regraded_pairs import RegradedPair
from curation.statistics.arrays import Floats
from curation.statistics.intervals import (
    MINIMUM_QUERIES,
    Sums,
    percentile_interval,
    resampled_figures,
    wilson,
)

SEED = 0
FEW = 10
"""With fewer pairs a figure is not shown."""
TOO_FEW, FEW_QUERIES, NO_VARIATION = (
    f"fewer than {FEW} pairs",
    f"no interval: fewer than {MINIMUM_QUERIES} queries",
    "undefined: no variation",
)


class DriftFigure(NamedTuple):
    """A figure with its 95 % interval over queries; None where there is none, and `why` says why."""

    value: float | None
    low: float | None
    high: float | None
    why: str | None = None


@dataclass(frozen=True)
class DriftRow:
    """A group of pairs: the same grade both times, Cohen's kappa, quadratic kappa, and the mean shift in
    grades.
    """

    name: str
    pairs: int
    queries: int
    same: DriftFigure
    kappa: DriftFigure
    quadratic: DriftFigure
    shift: DriftFigure


class WrongLabels(NamedTuple):
    """The share of pairs of the whole set that would get another grade, from the random part.

    Attributes
    ----------
    share: Hájek's ratio; low, high: Wilson's interval for `effective` pairs, None below 10 pairs.
    open: more pairs of the random part, without a new grade. least, most: the share if none and if all of
        them changed, None below 10 pairs with them; lowest, highest: the ends of both intervals together.
    pairs, changed: of the random part. effective: (Σw)² / Σw² (Kish 1965), no more than the random part's
        pairs over its design effect between queries.
    population: pairs that could be drawn; wrong: the share of these, rounded.
    """

    share: float | None
    low: float | None
    high: float | None
    pairs: int
    changed: int
    effective: float
    population: int
    wrong: int | None
    open: int
    least: float | None = None
    most: float | None = None
    lowest: float | None = None
    highest: float | None = None


def drift_row(name: str, pairs: Sequence[RegradedPair], scale: Sequence[int]) -> DriftRow:
    """The figures of one group."""
    queries, number = _queries(pairs)
    if len(pairs) < FEW:
        none = DriftFigure(None, None, None, TOO_FEW)
        return DriftRow(name, len(pairs), number, none, none, none, none)
    values = len(scale)
    place = {grade: step for step, grade in enumerate(scale)}
    cells = np.array([place[p.before] * values + place[p.after] for p in pairs])
    tables = np.zeros((number, values * values))
    np.add.at(tables, (queries, cells), 1.0)
    steps = np.array(scale, np.float64)

    def figures(sums: Floats) -> Floats:
        matrices = sums.reshape(-1, values, values)
        total = matrices.sum(axis=(1, 2))
        same = np.einsum("rkk->r", matrices) / total
        shift = (matrices * (steps[None, None, :] - steps[None, :, None])).sum(axis=(1, 2)) / total
        plain = cohen_of(matrices, weights_of(values, "identity"))
        quadratic = cohen_of(matrices, weights_of(values, "quadratic"))
        return np.stack([same, plain, quadratic, shift], axis=1)

    point = figures(tables.sum(axis=0, keepdims=True))[0]
    (drawn,) = resampled_figures([Sums(np.arange(number), tables, figures)], number, SEED)
    return DriftRow(
        name, len(pairs), number, *(_figure(point[k], drawn[:, k], number) for k in range(len(point)))
    )


def confusion_of(pairs: Sequence[RegradedPair], scale: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Pairs by old grade (row) and new grade (column), in the order of the scale."""
    return tuple(
        tuple(sum(p.before == old and p.after == new for p in pairs) for new in scale) for old in scale
    )


def wrong_labels(
    pairs: Sequence[RegradedPair], population: int, without: Sequence[RegradedPair] = ()
) -> WrongLabels:
    """The share of the whole set, estimated from the pairs that were drawn at random.

    J. Hájek (1971), discussion of Basu, in Foundations of Statistical Inference. The interval is Wilson's
    with the
    effective number of pairs: Kish's for the weights, over the design effect of the queries where it is
        above 1.
    Whether a pair gets its new grade may depend on that grade, so that the pairs `without` one are bounded by
    the worst cases: none, and all of them changed. C. F. Manski (1989), Anatomy of the selection problem,
    Journal of Human Resources 24. Both intervals together hold the share at least as often as each of them
    holds its own end (G. W. Imbens and C. F. Manski 2004, Econometrica 72).
    """
    drawn, more = ([pair for pair in given if pair.probability] for given in (pairs, without))
    changed = [pair.changed for pair in drawn]
    count = len(drawn), sum(changed)
    unknown = WrongLabels(None, None, None, *count, float(len(drawn)), population, None, len(more))
    if len(drawn) + len(more) < FEW:
        return unknown
    none, every = (_share_changed([*drawn, *more], [*changed, *[one] * len(more)]) for one in (False, True))
    unknown = unknown._replace(least=none[0], most=every[0], lowest=none[1], highest=every[2])
    if len(drawn) < FEW:
        return unknown
    share, low, high, effective = _share_changed(drawn, changed)
    return WrongLabels(
        *(share, low, high, *count, effective, population, round(share * population)),
        *(len(more), none[0], every[0], min(low, none[1]), max(high, every[2])),
    )


def _share_changed(
    drawn: Sequence[RegradedPair], changes: Sequence[bool]
) -> tuple[float, float, float, float]:
    """The share of the whole set, its interval, and the effective number of pairs."""
    weights, changed = np.array([1 / (p.probability or 1.0) for p in drawn]), np.array(changes, np.float64)
    share = float(weights @ changed / weights.sum())
    effect = _design_effect(drawn, weights * (changed - share))
    effective = float(weights.sum() ** 2 / (weights**2).sum()) / effect
    return share, *wilson_share(share, max(1, int(effective))), effective


def _design_effect(drawn: Sequence[RegradedPair], off: Floats) -> float:
    """How much more the ratio varies because pairs of a query change together; at least 1."""
    queries, number = _queries(drawn)
    alone = float((off**2).sum())
    together = float((np.bincount(queries, off, number) ** 2).sum())
    return max(1.0, together / alone) if alone > 0 else 1.0


def wilson_share(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a share of n pairs that need not be a whole number: between those of the whole
    numbers around it; see `statistics.intervals.wilson`.
    """
    lower, upper = int(share * n), min(n, int(share * n) + 1)
    part = share * n - lower
    one, other = wilson(lower, n), wilson(upper, n)
    return (1 - part) * one[0] + part * other[0], (1 - part) * one[1] + part * other[1]


def _figure(point: float, drawn: Floats, queries: int) -> DriftFigure:
    if np.isnan(point):
        return DriftFigure(None, None, None, NO_VARIATION)
    ends = percentile_interval(drawn, queries) if queries >= MINIMUM_QUERIES else None
    if ends is None:
        return DriftFigure(float(point), None, None, FEW_QUERIES)
    return DriftFigure(float(point), *ends)


def _queries(pairs: Sequence[RegradedPair]) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], int]:
    """Each pair's query, numbered from 0, and how many there are."""
    names = sorted({pair.query_id for pair in pairs})
    number = {name: place for place, name in enumerate(names)}
    return np.array([number[pair.query_id] for pair in pairs], np.int64), len(names)
