"""Agreement of each two annotators: Cohen's weighted kappa, equal grades, and who grades higher.

Cohen's kappa is about two people. Annotator pairs with fewer than `MINIMUM_UNITS` shared units are left out
and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from curation.agreement.between.coefficients import cohen_of, raw_of, weights_of
from curation.agreement.between.grades import Grades, value_counts
from curation.agreement.between.inter_annotator import (
    MINIMUM_UNITS,
    AgreementFigure,
    Basis,
    Size,
    basis_of,
    figure_of,
)
from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.core.statistics.intervals import MINIMUM_QUERIES, RESAMPLES, Sums, resampled_figures

NO_PAIR = f"no two annotators share {MINIMUM_UNITS} pairs"
NO_SPREAD = "no variation: both gave the same grade to every pair they share"

_FIGURES = 3
"""Of each annotator pair: raw, kappa and difference, in the order of `AnnotatorPair`."""


@dataclass(frozen=True)
class AnnotatorPair:
    """Two annotators on the pairs that both graded.

    Attributes
    ----------
    raw: share of equal grades. kappa: Cohen's, with quadratic weights.
    difference: mean of the second one's grade less the first one's, in steps of the scale.
    """

    first: str
    second: str
    queries: int
    raw: AgreementFigure
    kappa: AgreementFigure
    difference: AgreementFigure


class _Met(NamedTuple):
    """Where two annotators graded one pair; all of shape (M,), grades as steps of the scale."""

    first: Ints
    second: Ints
    queries: Ints
    rows: Ints
    columns: Ints


def annotator_pairs(
    grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES
) -> tuple[tuple[AnnotatorPair, ...], int]:
    """Each two annotators who share enough units, by name, and how many pairs of them share too few.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    basis = basis_of(value_counts(grades, scale), grades.unit_queries)
    met, cells = _meetings(basis, grades, scale), len(scale) ** 2
    # A number for each annotator pair that met; `pair` is that of each meeting.
    keys, pair = np.unique(met.first * grades.annotators + met.second, return_inverse=True)
    kept = np.flatnonzero(np.bincount(pair, minlength=len(keys)) >= MINIMUM_UNITS)
    if not len(kept):
        return (), len(keys)
    sums, queries = _tables(met, pair, kept, basis.number, len(scale))
    figures = _figures(len(scale))
    whole = np.asarray(sums.sum(axis=0)).reshape(len(kept), cells)
    # With too few queries a pair has no interval. All others are drawn again together.
    drawn_again = np.flatnonzero(queries >= MINIMUM_QUERIES)
    columns = (drawn_again[:, None] * cells + np.arange(cells)).ravel()
    parts = [Sums(np.arange(basis.number), sums[:, columns], figures)]
    (drawn,) = resampled_figures(parts, basis.number, seed, resamples)
    resampled = dict(
        zip(drawn_again.tolist(), drawn.reshape(len(drawn), -1, _FIGURES).swapaxes(0, 1), strict=True)
    )
    found = []
    for row, (key, points) in enumerate(zip(keys[kept].tolist(), figures(whole), strict=True)):
        first, second = (grades.names[person] for person in divmod(key, grades.annotators))
        shared, values = int(whole[row].sum()), resampled.get(row, np.empty((0, _FIGURES)))
        size = Size(shared, shared, int(queries[row]))
        three = (
            figure_of(float(point), some, size, NO_SPREAD)
            for point, some in zip(points, values.T, strict=True)
        )
        found.append(AnnotatorPair(first, second, size.queries, *three))
    return tuple(found), len(keys) - len(kept)


def _meetings(basis: Basis, grades: Grades, scale: Sequence[int]) -> _Met:
    """Every two grades of one unit, those with as many grades as each other taken at once."""
    place = np.full(len(grades.documents), -1)
    place[basis.units] = basis.queries
    rows = np.flatnonzero(grades.graded & (place[grades.units] >= 0))
    people, steps = grades.people[rows], np.searchsorted(scale, grades.grades[rows])
    given = basis.counts.sum(axis=1)
    starts = np.cumsum(given) - given
    blocks = []
    for size in np.unique(given):
        of_size = given == size
        one, other = np.triu_indices(size, 1)
        first, second = (starts[of_size][:, None] + side for side in (one, other))
        whose = np.repeat(basis.queries[of_size], len(one))
        first, second = first.ravel(), second.ravel()
        blocks.append(_Met(people[first], people[second], whose, steps[first], steps[second]))
    if not blocks:
        return _Met(*(np.empty(0, dtype=np.int64) for _ in _Met._fields))
    return _Met(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))


def _tables(met: _Met, pair: Ints, kept: Ints, queries: int, values: int) -> tuple[csr_array[Any, Any], Ints]:
    """The tables of all kept annotator pairs side by side, shape (queries, kept · values²): mostly 0; and
    how many queries each of these shares, shape (kept,).
    """
    rank = np.full(int(pair.max(initial=-1)) + 1, -1)
    rank[kept] = np.arange(len(kept))
    stays = rank[pair] >= 0
    whose, query = rank[pair[stays]], met.queries[stays]
    columns = whose * values**2 + met.rows[stays] * values + met.columns[stays]
    shape = (queries, len(kept) * values**2)
    sums = coo_array((np.ones(len(columns)), (query, columns)), shape).tocsr()
    return sums, np.bincount(np.unique(whose * queries + query) // queries, minlength=len(kept))


def _figures(values: int) -> Callable[[Floats], Floats]:
    """Tables of shape (r, n · values²) → (r, n · 3): the figures of each annotator pair."""
    weights = weights_of(values, "quadratic")
    higher = np.subtract.outer(np.arange(values), np.arange(values)).T.astype(np.float64)

    def figures(sums: Floats) -> Floats:
        tables = sums.reshape(-1, values, values)
        mean = ratio((tables * higher).sum(axis=(1, 2)), tables.sum(axis=(1, 2)))
        found = [raw_of(tables), cohen_of(tables, weights), mean]
        return np.stack(found, axis=1).reshape(len(sums), -1)

    return figures
