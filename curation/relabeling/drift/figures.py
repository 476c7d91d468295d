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
from curation.core.statistics.arrays import Floats
from curation.core.statistics.intervals import MINIMUM_QUERIES, Sums, percentile_interval, resampled_figures
from curation.relabeling.drift.regraded_pairs import DOCUMENT, GUIDE, RegradedPair
from curation.relabeling.drift.wrong_labels import FEW, query_numbers, share_of

SEED = 0
NEITHER = "neither"
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


class ChangeRow(NamedTuple):
    """Pairs by what was not the same the second time, and the share of them with another grade."""

    name: str
    pairs: int
    changed: int
    share: DriftFigure


def drift_row(name: str, pairs: Sequence[RegradedPair], scale: Sequence[int]) -> DriftRow:
    """The figures of one group."""
    queries, number = query_numbers(pairs)
    if len(pairs) < FEW:
        none = DriftFigure(None, None, None, TOO_FEW)
        return DriftRow(name, len(pairs), number, none, none, none, none)
    values = len(scale)
    place: dict[int | None, int] = {grade: step for step, grade in enumerate(scale)}
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


def change_rows(pairs: Sequence[RegradedPair]) -> tuple[ChangeRow, ...]:
    """Pairs whose document changed, whose grade has other words in the guide, and neither; a pair with both
    is in both rows.
    """
    groups = [(name, [pair for pair in pairs if name in pair.changes]) for name in (DOCUMENT, GUIDE)]
    groups.append((NEITHER, [pair for pair in pairs if not pair.changes]))
    return tuple(_change_row(name, members) for name, members in groups)


def _change_row(name: str, pairs: Sequence[RegradedPair]) -> ChangeRow:
    changed = [pair.changed for pair in pairs]
    if len(pairs) < FEW:
        return ChangeRow(name, len(pairs), sum(changed), DriftFigure(None, None, None, TOO_FEW))
    share = share_of(pairs, changed, np.ones(len(pairs)))
    return ChangeRow(name, len(pairs), sum(changed), DriftFigure(share.value, share.low, share.high))


def _figure(point: float, drawn: Floats, queries: int) -> DriftFigure:
    if np.isnan(point):
        return DriftFigure(None, None, None, NO_VARIATION)
    ends = percentile_interval(drawn, queries) if queries >= MINIMUM_QUERIES else None
    if ends is None:
        return DriftFigure(float(point), None, None, FEW_QUERIES)
    return DriftFigure(float(point), *ends)
