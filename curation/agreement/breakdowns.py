"""Breakdowns of agreement: by query type, by grade boundary, and by pair of annotators.

The bootstrap draws from all doubly judged queries, and each slice uses the drawn queries that belong to it.
So the interval of a slice also covers the random size of the slice. Each two annotators are compared by
Cohen's weighted kappa, the share of equal grades, and the difference of their mean grades. Two annotators who
share fewer than `MINIMUM_UNITS` units are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from curation.agreement.coefficients import compare_raters, compute_alpha, compute_raw, count_coincidences
from curation.agreement.grades import Grades, count_values
from curation.agreement.inter_annotator import MINIMUM_UNITS, Overlap, find_overlap, make_estimate
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES, RESAMPLES, Sums, resample_figures
from curation.store import Cursor, get_setting

NO_TAG = "no tag"
NO_SPREAD = "no variation: both gave the same grade to every pair they share"
QueryTypes = Mapping[str, Mapping[str, frozenset[str]]]
"""Kind of query type ('tag', 'stratum' or 'segment') → name of the type → its queries."""
_FIGURES = 3
"""Number of figures of an annotator pair: raw agreement, kappa and difference, as in `AnnotatorPair`."""


@dataclass(frozen=True)
class Breakdown:
    """Agreement on a slice of the doubly judged pairs.

    Attributes
    ----------
    kind: 'tag', 'stratum', 'segment' or 'boundary'.
    name: the tag, the stratum, the segment or '0|1'.
    queries: number of queries of the slice's pairs.
    alpha: ordinal alpha; at a boundary the alpha of its two sides, which is the same for every level of
        measurement.
    raw: the share of equal grades; at a boundary the share of grades on the same side.
    """

    kind: str
    name: str
    queries: int
    alpha: Estimate
    raw: Estimate


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


def compute_breakdowns(
    grades: Grades, scale: Sequence[int], types: QueryTypes, seed: int, resamples: int = RESAMPLES
) -> tuple[tuple[Breakdown, ...], tuple[Breakdown, ...]]:
    """Compute agreement by query type and by boundary. A query with two tags is in both slices.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    overlap = find_overlap(count_values(grades, scale), grades.unit_queries)
    if not len(overlap.counts):
        return (), ()
    masks = list(_mask_types(overlap, grades, types))
    all_units = np.ones(len(overlap.counts), dtype=bool)
    summed = [_sum_by_query(overlap, mask) for mask in (all_units, *(mask for *_, mask in masks))]
    slices = [Sums(queries, sums, lambda drawn: drawn) for queries, sums in summed]
    resamples_of = resample_figures(slices, overlap.query_count, seed, resamples)
    by_type = (
        _make_slice(kind, name, int(mask.sum()), sums, drawn)
        for (kind, name, mask), (_, sums), drawn in zip(masks, summed[1:], resamples_of[1:], strict=True)
    )
    return tuple(by_type), _slice_boundaries(scale, len(all_units), summed[0][1], resamples_of[0])


def compare_annotator_pairs(
    grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES
) -> tuple[tuple[AnnotatorPair, ...], int]:
    """Compare each two annotators who share enough units; also return how many pairs of annotators share too
    few.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    overlap = find_overlap(count_values(grades, scale), grades.unit_queries)
    first, second, query, *steps = _list_meetings(overlap, grades, scale)
    # Each annotator pair has a key; `pair` has the index of the annotator pair of each meeting.
    keys, pair = np.unique(first * grades.annotators + second, return_inverse=True)
    shown = np.flatnonzero(np.bincount(pair, minlength=len(keys)) >= MINIMUM_UNITS)
    if not len(shown):
        return (), len(keys)
    query_count, cells = overlap.query_count, len(scale) ** 2
    sums, queries = _count_tables(query, steps, pair, shown, query_count, len(scale))

    def compare(tables: Floats) -> Floats:
        by_pair = tables.reshape(-1, len(scale), len(scale))
        return compare_raters(by_pair, np.arange(len(scale))).reshape(len(tables), -1)

    totals = np.asarray(sums.sum(axis=0)).reshape(len(shown), cells)
    # With too few queries a pair has no interval. All others are drawn again together.
    resampled = np.flatnonzero(queries >= MINIMUM_QUERIES)
    columns = (resampled[:, None] * cells + np.arange(cells)).ravel()
    tables = [Sums(np.arange(query_count), sums[:, columns], compare)]
    (drawn,) = resample_figures(tables, query_count, seed, resamples)
    by_pair = drawn.reshape(len(drawn), -1, _FIGURES).swapaxes(0, 1)
    drawn_of = dict(zip(resampled.tolist(), by_pair, strict=True))
    pairs = []
    for row, (key, points) in enumerate(zip(keys[shown].tolist(), compare(totals), strict=True)):
        first_name, second_name = (grades.names[annotator] for annotator in divmod(key, grades.annotators))
        units, pair_queries = int(totals[row].sum()), int(queries[row])
        raw, kappa, difference = (
            make_estimate(float(point), values, units, pair_queries, NO_SPREAD)
            for point, values in zip(points, drawn_of.get(row, np.empty((0, _FIGURES))).T, strict=True)
        )
        pairs.append(AnnotatorPair(first_name, second_name, pair_queries, raw, kappa, difference))
    return tuple(pairs), len(keys) - len(shown)


def read_query_types(cursor: Cursor) -> dict[str, dict[str, frozenset[str]]]:
    """Read the queries of each tag and of each stratum of the current sample."""
    tags = cursor.execute("SELECT tag, list(query_id) FROM current_query_tags GROUP BY tag ORDER BY tag")
    types = {"tag": {tag: frozenset(query_ids) for tag, query_ids in tags.fetchall()}}
    strata = cursor.execute(
        """SELECT stratum, list(query_id) FROM sample_queries WHERE sample_id = ?
        GROUP BY stratum ORDER BY stratum""",
        [get_setting(cursor, "sample")],
    )
    return types | {"stratum": {stratum: frozenset(query_ids) for stratum, query_ids in strata.fetchall()}}


def _mask_types(overlap: Overlap, grades: Grades, types: QueryTypes) -> Iterator[tuple[str, str, Mask]]:
    """List kind, name and units of each query type that has doubly judged units."""
    unit_queries = grades.unit_queries[overlap.units]
    for kind, groups in types.items():
        tagged = frozenset[str]().union(*groups.values())
        untagged = {NO_TAG: frozenset(grades.query_ids) - tagged} if kind == "tag" and groups else {}
        for name, queries in {**groups, **untagged}.items():
            mask = np.fromiter((query in queries for query in grades.query_ids), bool)[unit_queries]
            if mask.any():
                yield kind, name, mask


def _sum_by_query(overlap: Overlap, mask: Mask) -> tuple[Ints, Floats]:
    """Find the queries of some units, and make a row for each query with its meetings and coincidences."""
    queries, groups = np.unique(overlap.queries[mask], return_inverse=True)
    matrices = count_coincidences(overlap.counts[mask], groups, len(queries))
    rows = [matrix.reshape(len(queries), -1) for matrix in (matrices.meetings, matrices.coincidences)]
    return queries, np.concatenate(rows, axis=1)


def _make_slice(kind: str, name: str, units: int, sums: Floats, drawn: Floats) -> Breakdown:
    """Make a slice from the sums over its queries and over each resample."""
    points = _compute_alpha_and_raw(sums.sum(axis=0, keepdims=True))[0].tolist()
    alpha, raw = (
        make_estimate(point, values, units, len(sums))
        for point, values in zip(points, _compute_alpha_and_raw(drawn).T, strict=True)
    )
    return Breakdown(kind, name, len(sums), alpha, raw)


def _compute_alpha_and_raw(sums: Floats) -> Floats:
    """Compute alpha and raw agreement, shape (R, 2), from sums of shape (R, 2 · values²)."""
    matrices = _stack_matrices(sums)
    return np.stack([compute_alpha(matrices[:, 1], "ordinal"), compute_raw(matrices[:, 0])], axis=1)


def _stack_matrices(sums: Floats) -> Floats:
    values = isqrt(sums.shape[1] // 2)
    return sums.reshape(-1, 2, values, values)


def _slice_boundaries(scale: Sequence[int], units: int, sums: Floats, drawn: Floats) -> tuple[Breakdown, ...]:
    """Compute agreement at each boundary, with the two sides of the boundary as the only grades."""
    slices = []
    for boundary, (lower, upper) in enumerate(pairwise(scale), start=1):
        is_above = np.arange(len(scale)) >= boundary
        side = np.stack([~is_above, is_above]).astype(np.float64)
        side_sums, side_drawn = (
            (side @ _stack_matrices(rows) @ side.T).reshape(len(rows), -1) for rows in (sums, drawn)
        )
        slices.append(_make_slice("boundary", f"{lower}|{upper}", units, side_sums, side_drawn))
    return tuple(slices)


def _list_meetings(overlap: Overlap, grades: Grades, scale: Sequence[int]) -> Ints:
    """List every two grades of one unit, shape (5, M): both annotators, the query, and both grades as steps
    of the scale. Units with equally many grades are processed together.
    """
    query_of = np.full(len(grades.documents), -1)
    query_of[overlap.units] = overlap.queries
    rows = np.flatnonzero(grades.graded & (query_of[grades.units] >= 0))
    annotators, steps = grades.people[rows], np.searchsorted(scale, grades.grades[rows])
    grade_counts = overlap.counts.sum(axis=1)
    starts = np.cumsum(grade_counts) - grade_counts
    blocks = []
    for size in np.unique(grade_counts):
        has_size = grade_counts == size
        offsets = np.triu_indices(size, 1)
        first, second = ((starts[has_size][:, None] + offset).ravel() for offset in offsets)
        query = np.repeat(overlap.queries[has_size], len(offsets[0]))
        blocks.append(np.stack([annotators[first], annotators[second], query, steps[first], steps[second]]))
    return np.concatenate([np.empty((5, 0), dtype=np.int64), *blocks], axis=1)


def _count_tables(
    query: Ints, steps: Sequence[Ints], pair: Ints, shown: Ints, query_count: int, values: int
) -> tuple[csr_array[Any, Any], Ints]:
    """Make a sparse array with the grade tables of the shown annotator pairs.

    Parameters
    ----------
    query, pair: shape (M,), the query and the annotator pair of each meeting. steps: both grades.
    shown: indexes of the shown annotator pairs.

    Returns
    -------
    The tables, shape (queries, shown · values²), and each pair's number of shared queries, shape (shown,).
    """
    index_of = np.full(int(pair.max(initial=-1)) + 1, -1)
    index_of[shown] = np.arange(len(shown))
    is_shown = index_of[pair] >= 0
    index = index_of[pair[is_shown]]
    query, row, column = (numbers[is_shown] for numbers in (query, *steps))
    columns = index * values**2 + row * values + column
    shape = (query_count, len(shown) * values**2)
    tables = coo_array((np.ones(len(columns)), (query, columns)), shape).tocsr()
    return tables, np.bincount(np.unique(index * query_count + query) // query_count, minlength=len(shown))
