"""Agreement of each two annotators: their table of grades, Cohen's kappa, and who grades higher.

Cohen's kappa is about two people. For more, it is the mean over all annotator pairs, each weighted by the
units that both graded: Light's kappa (R. J. Light (1971), Psychological Bulletin 76) where all share alike.
Annotator pairs with fewer than `MINIMUM_UNITS` shared units are left out and counted.

Kappa of few units is too low on average, and kappa of few units drawn again is lower still by as much. Over
many annotator pairs this does not even out. How far the mean of the resamples is from the mean itself
therefore estimates how far that is from the truth (B. Efron and R. J. Tibshirani (1993), An Introduction to
the Bootstrap, section 10.3), and the interval of a mean is moved up by both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from curation.agreement.between.coefficients import Weighting, alpha_of, cohens_of, raw_of, weights_of
from curation.agreement.between.grades import Grades, value_counts
from curation.agreement.between.inter_annotator import (
    MINIMUM_UNITS,
    AgreementFigure,
    Basis,
    Size,
    basis_of,
    figure_of,
)
from curation.statistics.arrays import Floats, Ints, ratio
from curation.statistics.intervals import MINIMUM_QUERIES, RESAMPLES, Sums, resampled_figures

FEW_SHARED = f"no interval: two annotators share fewer than {MINIMUM_QUERIES} queries on average"
NO_PAIR = f"no two annotators share {MINIMUM_UNITS} pairs"
NO_SPREAD = "no variation: both gave the same grade to every pair they share"


@dataclass(frozen=True)
class AnnotatorPair:
    """Two annotators on the pairs that both graded.

    Attributes
    ----------
    raw: share of equal grades. plain, linear, quadratic: Cohen's kappa.
    difference: mean of the second one's grade less the first one's, in steps of the scale.
    alpha: ordinal Krippendorff's alpha of the two.
    table: pairs by the first one's grade (row) and the second one's (column), in the order of the scale.
    """

    first: str
    second: str
    queries: int
    raw: AgreementFigure
    plain: AgreementFigure
    linear: AgreementFigure
    quadratic: AgreementFigure
    difference: AgreementFigure
    alpha: AgreementFigure
    table: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class MeanKappa(AgreementFigure):
    """A mean over annotator pairs.

    `too_low_by` is how far few shared units are estimated to pull it down. The interval is around the value
    without that.
    """

    too_low_by: float | None = None


@dataclass(frozen=True)
class Cohen:
    """Cohen's kappa over all annotator pairs.

    Attributes
    ----------
    plain, linear, quadratic: means; their `units` are shared ones, summed over the annotator pairs.
    shared_queries: how many queries two annotators share, on average over the shared units.
    annotator_pairs: those that enter, by name.
    left_out: reason → how many do not.
    """

    plain: MeanKappa
    linear: MeanKappa
    quadratic: MeanKappa
    shared_queries: float
    annotator_pairs: tuple[AnnotatorPair, ...]
    left_out: dict[str, int]


_WEIGHTS: dict[str, Weighting] = {"plain": "identity", "linear": "linear", "quadratic": "quadratic"}
_FIGURES = 6
"""Of each annotator pair: raw, the three kappas, difference and alpha, in the order of `AnnotatorPair`."""


class _Met(NamedTuple):
    """Where two annotators graded one pair; all of shape (M,), grades as steps of the scale."""

    first: Ints
    second: Ints
    queries: Ints
    rows: Ints
    columns: Ints


def cohen(grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES) -> Cohen:
    """Cohen's kappa of each two annotators, and its mean.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    basis = basis_of(value_counts(grades, scale), grades.unit_queries)
    met, cells = _meetings(basis, grades, scale), len(scale) ** 2
    # A number for each annotator pair that met; `pair` is that of each meeting.
    found, pair = np.unique(met.first * grades.annotators + met.second, return_inverse=True)
    shared = np.bincount(pair, minlength=len(found))
    kept = np.flatnonzero(shared >= MINIMUM_UNITS)
    few = len(found) - len(kept)
    left_out = {f"fewer than {MINIMUM_UNITS} shared pairs": few} if few else {}
    if not len(kept):
        nothing = MeanKappa(None, None, None, 0, 0, NO_PAIR)
        return Cohen(nothing, nothing, nothing, 0.0, (), left_out)
    shared = shared[kept]
    sums, queries = _tables(met, pair, kept, basis.number, len(scale))
    figures = _figures(len(scale))
    whole = np.asarray(sums.sum(axis=0)).reshape(len(kept), cells)
    points = figures(whole)
    # With too few queries a pair has no interval. All others are drawn again together, and all for the means.
    drawn_again = np.flatnonzero(queries >= MINIMUM_QUERIES)
    columns = (drawn_again[:, None] * cells + np.arange(cells)).ravel()
    every = np.arange(basis.number)
    mean_drawn, drawn = resampled_figures(
        [Sums(every, sums, _mean_kappas(len(scale), shared)), Sums(every, sums[:, columns], figures)],
        basis.number,
        seed,
        resamples,
    )
    by_pair = dict(
        zip(drawn_again.tolist(), drawn.reshape(len(drawn), -1, _FIGURES).swapaxes(0, 1), strict=True)
    )
    pairs = []
    for row, key in enumerate(found[kept].tolist()):
        names = [grades.names[person] for person in divmod(key, grades.annotators)]
        values = by_pair.get(row, np.empty((0, _FIGURES)))
        table = whole[row].astype(np.int64).reshape(len(scale), -1)
        pairs.append(_annotator_pair(names, points[row], values, table, int(queries[row])))
    size = Size(int(shared.sum()), int(shared.sum()), basis.number if len(kept) > 1 else int(queries[0]))
    usual = float(queries @ shared / shared.sum())
    means = [
        _mean(points[:, 1 + place], mean_drawn[:, place], shared, size, usual)
        for place in range(len(_WEIGHTS))
    ]
    return Cohen(means[0], means[1], means[2], usual, tuple(pairs), left_out)


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
    """Tables of shape (r, n · values²) → (r, n · 6): the figures of each annotator pair."""
    weights = [weights_of(values, kind) for kind in _WEIGHTS.values()]
    higher = np.subtract.outer(np.arange(values), np.arange(values)).T.astype(np.float64)

    def figures(sums: Floats) -> Floats:
        tables = sums.reshape(-1, values, values)
        total = tables.sum(axis=(1, 2))
        apart = (tables * higher).sum(axis=(1, 2))
        mean = ratio(apart, total)
        alpha = alpha_of(tables + tables.swapaxes(1, 2), np.arange(values, dtype=np.float64), "ordinal")
        found = [raw_of(tables), *cohens_of(tables, weights), mean, alpha]
        return np.stack(found, axis=1).reshape(len(sums), -1)

    return figures


def _mean_kappas(values: int, shared: Ints) -> Callable[[Floats], Floats]:
    """Tables of shape (r, kept · values²) → (r, 3): the means of the three kappas."""
    weights = [weights_of(values, kind) for kind in _WEIGHTS.values()]

    def figures(sums: Floats) -> Floats:
        kappas = cohens_of(sums.reshape(-1, values, values), weights)
        return np.stack([_weighted(one.reshape(len(sums), -1).T, shared) for one in kappas], axis=1)

    return figures


def _annotator_pair(
    names: Sequence[str], points: Floats, drawn: Floats, table: Ints, queries: int
) -> AnnotatorPair:
    shared = int(table.sum())
    size = Size(shared, shared, queries)
    raw, plain, linear, quadratic, difference, alpha = (
        figure_of(value, some, size, NO_SPREAD) for value, some in zip(points, drawn.T, strict=True)
    )
    rows = tuple(tuple(row) for row in table.tolist())
    kappas = (plain, linear, quadratic)
    return AnnotatorPair(names[0], names[1], queries, raw, *kappas, difference, alpha, rows)


def _mean(points: Floats, means: Floats, shared: Ints, size: Size, usual: float) -> MeanKappa:
    """The mean of all kappas, shape (kept,), with those of their resamples, shape (R,).

    The mean of one is that one: its interval is the annotator pair's.
    """
    value = _weighted(points[:, None], shared)[0]
    if len(points) == 1:
        return MeanKappa(**vars(figure_of(value, means, size, NO_SPREAD)))
    low_by = float(value - np.nanmean(means)) if not np.isnan(means).all() else 0.0
    found = figure_of(value, means + 2 * low_by, size, NO_SPREAD)
    if found.value is None:
        return MeanKappa(**vars(found))
    if usual < MINIMUM_QUERIES:
        return MeanKappa(**{**vars(found), "low": None, "high": None, "no_interval": FEW_SHARED})
    return MeanKappa(**vars(found), too_low_by=low_by)


def _weighted(kappas: Floats, shared: Ints) -> Floats:
    """The mean of those that are defined, shape (kept, R) → (R,)."""
    defined = ~np.isnan(kappas)
    weight = (defined * shared[:, None]).sum(axis=0)
    total = (np.where(defined, kappas, 0.0) * shared[:, None]).sum(axis=0)
    return ratio(total, weight)
