"""Breakdowns of agreement: by query type, by grade boundary, and by pair of annotators.

The bootstrap draws from all doubly judged queries, and each part uses the drawn queries that belong to it. So
the interval of a part also covers the random size of the part. Each two annotators are compared by Cohen's
weighted kappa, the share of equal grades, and the difference of their mean grades. Two annotators who share
fewer than `MINIMUM_UNITS` units are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from curation.agreement.grades import Grades, QueryTypes, value_counts
from curation.agreement.inter_annotator import (
    MINIMUM_UNITS,
    Basis,
    alpha_of,
    basis_of,
    figure_of,
    meetings,
    rater_figures,
    raw_of,
)
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES, RESAMPLES, Sums, resampled_figures

NO_TAG = "no tag"
NO_SPREAD = "no variation: both gave the same grade to every pair they share"
_FIGURES = 3
"""Number of figures of an annotator pair: raw agreement, kappa and difference, as in `AnnotatorPair`."""


@dataclass(frozen=True)
class Part:
    """Agreement on a part of the doubly judged pairs.

    Attributes
    ----------
    kind: 'tag', 'stratum', 'segment' or 'boundary'.
    name: the tag, the stratum, the segment or '0|1'.
    queries: number of queries of the part's pairs.
    alpha: ordinal alpha; at a boundary the alpha of its two sides, which is the same for every level of
        measurement.
    raw: the share of equal grades; at a boundary the share of grades on the same side.
    """

    kind: str
    name: str
    queries: int
    alpha: Estimate
    raw: Estimate


def breakdown(
    grades: Grades, scale: Sequence[int], types: QueryTypes, seed: int, resamples: int = RESAMPLES
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Compute agreement by query type and by boundary. A query with two tags is in both parts.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    basis = basis_of(value_counts(grades, scale), grades.unit_queries)
    if not len(basis.counts):
        return (), ()
    masks = list(_by_type(basis, grades, types))
    everything = np.ones(len(basis.counts), dtype=bool)
    summed = [_summed(basis, mask) for mask in (everything, *(mask for *_, mask in masks))]
    parts = [Sums(queries, sums, lambda drawn: drawn) for queries, sums in summed]
    drawn = resampled_figures(parts, basis.number, seed, resamples)
    by_type = (
        _part(kind, name, int(mask.sum()), sums, resampled)
        for (kind, name, mask), (_, sums), resampled in zip(masks, summed[1:], drawn[1:], strict=True)
    )
    return tuple(by_type), _boundaries(scale, len(basis.counts), summed[0][1], drawn[0])


def _by_type(basis: Basis, grades: Grades, types: QueryTypes) -> Iterator[tuple[str, str, Mask]]:
    """List kind, name and units of each query type that has doubly judged units."""
    asked = grades.unit_queries[basis.units]
    for kind, groups in types.items():
        tagged = frozenset[str]().union(*groups.values())
        untagged = {NO_TAG: frozenset(grades.query_ids) - tagged} if kind == "tag" and groups else {}
        for name, queries in {**groups, **untagged}.items():
            mask = np.fromiter((query in queries for query in grades.query_ids), bool)[asked]
            if mask.any():
                yield kind, name, mask


def _summed(basis: Basis, mask: Mask) -> tuple[Ints, Floats]:
    """Find the queries of some units, and make a row for each query with its meetings and coincidences."""
    queries, local = np.unique(basis.queries[mask], return_inverse=True)
    met = meetings(basis.counts[mask], local, len(queries))
    columns = [matrix.reshape(len(queries), -1) for matrix in (met.meetings, met.coincidences)]
    return queries, np.concatenate(columns, axis=1)


def _part(kind: str, name: str, units: int, sums: Floats, drawn: Floats) -> Part:
    """Make a part from the sums over its queries and over each resample."""
    points = _alpha_and_raw(sums.sum(axis=0, keepdims=True))[0].tolist()
    alpha, raw = (
        figure_of(point, resampled, units, len(sums))
        for point, resampled in zip(points, _alpha_and_raw(drawn).T, strict=True)
    )
    return Part(kind, name, len(sums), alpha, raw)


def _alpha_and_raw(sums: Floats) -> Floats:
    """Compute alpha and raw agreement, shape (R, 2), from sums of shape (R, 2 · values²)."""
    stacked = _stacked(sums)
    return np.stack([alpha_of(stacked[:, 1], "ordinal"), raw_of(stacked[:, 0])], axis=1)


def _stacked(sums: Floats) -> Floats:
    values = isqrt(sums.shape[1] // 2)
    return sums.reshape(-1, 2, values, values)


def _boundaries(scale: Sequence[int], units: int, sums: Floats, drawn: Floats) -> tuple[Part, ...]:
    """Compute agreement at each boundary, with the two sides of the boundary as the only grades."""
    parts = []
    for cut, (lower, upper) in enumerate(pairwise(scale), start=1):
        above = np.arange(len(scale)) >= cut
        side = np.stack([~above, above]).astype(np.float64)
        sides, resampled = ((side @ _stacked(each) @ side.T).reshape(len(each), -1) for each in (sums, drawn))
        parts.append(_part("boundary", f"{lower}|{upper}", units, sides, resampled))
    return tuple(parts)


@dataclass(frozen=True)
class AnnotatorPair:
    """Agreement of two annotators on the pairs that both annotators graded.

    Attributes
    ----------
    raw: share of equal grades. kappa: Cohen's kappa with quadratic weights.
    difference: mean of the second annotator's grade minus the first annotator's grade, in steps of the scale.
    """

    first: str
    second: str
    queries: int
    raw: Estimate
    kappa: Estimate
    difference: Estimate


def annotator_pairs(
    grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES
) -> tuple[tuple[AnnotatorPair, ...], int]:
    """Compare each two annotators who share enough units; also return how many pairs of annotators share too
    few.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    basis = basis_of(value_counts(grades, scale), grades.unit_queries)
    (first_of, second_of, *where), cells = _meetings(basis, grades, scale), len(scale) ** 2
    # Each annotator pair that met has a number; `pair` has the number of each meeting's pair.
    keys, pair = np.unique(first_of * grades.annotators + second_of, return_inverse=True)
    kept = np.flatnonzero(np.bincount(pair, minlength=len(keys)) >= MINIMUM_UNITS)
    if not len(kept):
        return (), len(keys)
    sums, queries = _tables(where, pair, kept, basis.number, len(scale))

    def figures(tables: Floats) -> Floats:
        by_pair = tables.reshape(-1, len(scale), len(scale))
        return rater_figures(by_pair, np.arange(len(scale))).reshape(len(tables), -1)

    whole = np.asarray(sums.sum(axis=0)).reshape(len(kept), cells)
    # With too few queries a pair has no interval. All others are drawn again together.
    drawn_again = np.flatnonzero(queries >= MINIMUM_QUERIES)
    columns = (drawn_again[:, None] * cells + np.arange(cells)).ravel()
    parts = [Sums(np.arange(basis.number), sums[:, columns], figures)]
    (drawn,) = resampled_figures(parts, basis.number, seed, resamples)
    resampled = dict(
        zip(drawn_again.tolist(), drawn.reshape(len(drawn), -1, _FIGURES).swapaxes(0, 1), strict=True)
    )
    pairs = []
    for row, (key, points) in enumerate(zip(keys[kept].tolist(), figures(whole), strict=True)):
        first, second = (grades.names[person] for person in divmod(key, grades.annotators))
        shared, number = int(whole[row].sum()), int(queries[row])
        values = resampled.get(row, np.empty((0, _FIGURES)))
        three = (
            figure_of(float(point), drawn_again, shared, number, NO_SPREAD)
            for point, drawn_again in zip(points, values.T, strict=True)
        )
        pairs.append(AnnotatorPair(first, second, number, *three))
    return tuple(pairs), len(keys) - len(kept)


def _meetings(basis: Basis, grades: Grades, scale: Sequence[int]) -> Ints:
    """List every two grades of one unit, shape (5, M): both annotators, the query, and both grades as steps
    of the scale. Units with equally many grades are processed together.
    """
    query_of = np.full(len(grades.documents), -1)
    query_of[basis.units] = basis.queries
    rows = np.flatnonzero(grades.graded & (query_of[grades.units] >= 0))
    people, steps = grades.people[rows], np.searchsorted(scale, grades.grades[rows])
    given = basis.counts.sum(axis=1)
    starts = np.cumsum(given) - given
    blocks = []
    for size in np.unique(given):
        of_size = given == size
        former, other = np.triu_indices(size, 1)
        first, second = (starts[of_size][:, None] + side for side in (former, other))
        whose = np.repeat(basis.queries[of_size], len(former))
        first, second = first.ravel(), second.ravel()
        blocks.append(np.stack([people[first], people[second], whose, steps[first], steps[second]]))
    return np.concatenate([np.empty((5, 0), dtype=np.int64), *blocks], axis=1)


def _tables(
    where: Sequence[Ints], pair: Ints, kept: Ints, queries: int, values: int
) -> tuple[csr_array[Any, Any], Ints]:
    """Make a sparse array with the grade tables of all kept annotator pairs, shape (queries, kept · values²).

    Also return the number of shared queries of each kept pair of annotators, shape (kept,).
    """
    rank = np.full(int(pair.max(initial=-1)) + 1, -1)
    rank[kept] = np.arange(len(kept))
    stays = rank[pair] >= 0
    query, row, column = (numbers[stays] for numbers in where)
    whose = rank[pair[stays]]
    columns = whose * values**2 + row * values + column
    shape = (queries, len(kept) * values**2)
    sums = coo_array((np.ones(len(columns)), (query, columns)), shape).tocsr()
    return sums, np.bincount(np.unique(whose * queries + query) // queries, minlength=len(kept))
