"""Agreement between every two annotators on the pairs that both graded.

Each two annotators are compared by Cohen's weighted kappa, the share of equal grades, and the difference of
their mean grades. Two annotators who share fewer than `MINIMUM_UNITS` units are left out and counted. The
bootstrap draws from all doubly judged queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from curation.agreement.coefficients import compare_raters
from curation.agreement.grades import Grades, count_values
from curation.agreement.inter_annotator import MINIMUM_UNITS, Overlap, find_overlap, make_estimate
from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.bootstrap import RESAMPLES, Sums, resample_figures
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES

NO_SPREAD = "undefined: both annotators gave the same grade to all common pairs"
_FIGURE_COUNT = 3
"""Number of values for two annotators: raw agreement, kappa and difference, as in `AnnotatorPair`."""


@dataclass(frozen=True)
class AnnotatorPair:
    """The agreement between two annotators on the pairs that both graded.

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


def compare_annotator_pairs(
    grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES
) -> tuple[tuple[AnnotatorPair, ...], int]:
    """Compare every two annotators who share enough units, and count those who share too few.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    overlap = find_overlap(count_values(grades, scale), grades.unit_queries)
    meetings = _list_meetings(overlap, grades, scale)
    # Each annotator pair has a key; `pair_of_meeting` is the index of the annotator pair for each meeting.
    keys, pair_of_meeting = np.unique(meetings[0] * grades.annotators + meetings[1], return_inverse=True)
    shown = np.flatnonzero(np.bincount(pair_of_meeting, minlength=len(keys)) >= MINIMUM_UNITS)
    if not len(shown):
        return (), len(keys)
    query_count, cell_count = overlap.query_count, len(scale) ** 2
    sums, shared_query_counts = _count_tables(meetings, pair_of_meeting, shown, query_count, len(scale))

    def compare(tables: Floats) -> Floats:
        square_tables = tables.reshape(-1, len(scale), len(scale))
        return compare_raters(square_tables, np.arange(len(scale))).reshape(len(tables), -1)

    totals = np.asarray(sums.sum(axis=0)).reshape(len(shown), cell_count)
    # An annotator pair with too few queries has no interval. All others are resampled together.
    resampled = np.flatnonzero(shared_query_counts >= MINIMUM_QUERIES)
    columns = (resampled[:, None] * cell_count + np.arange(cell_count)).ravel()
    tables = [Sums(np.arange(query_count), sums[:, columns], compare)]
    (drawn,) = resample_figures(tables, query_count, seed, resamples)
    by_pair = drawn.reshape(len(drawn), -1, _FIGURE_COUNT).swapaxes(0, 1)
    drawn_of = dict(zip(resampled.tolist(), by_pair, strict=True))
    pairs = []
    for row, (key, points) in enumerate(zip(keys[shown].tolist(), compare(totals), strict=True)):
        first_name, second_name = (grades.names[annotator] for annotator in divmod(key, grades.annotators))
        unit_count, pair_query_count = int(totals[row].sum()), int(shared_query_counts[row])
        raw, kappa, difference = (
            make_estimate(float(point), values, unit_count, pair_query_count, NO_SPREAD)
            for point, values in zip(points, drawn_of.get(row, np.empty((0, _FIGURE_COUNT))).T, strict=True)
        )
        pairs.append(AnnotatorPair(first_name, second_name, pair_query_count, raw, kappa, difference))
    return tuple(pairs), len(keys) - len(shown)


def _list_meetings(overlap: Overlap, grades: Grades, scale: Sequence[int]) -> Ints:
    """List every two grades that annotators gave to the same unit, shape (5, M): both annotators, the query,
    and both grades as steps of the scale. Units with equally many grades are processed together.
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
    meetings: Ints, pair_of_meeting: Ints, shown: Ints, query_count: int, grade_count: int
) -> tuple[csr_array[Any, Any], Ints]:
    """Build a sparse array with one table of grades by grades for each annotator pair that the report shows.

    Parameters
    ----------
    meetings: the result of `_list_meetings`, shape (5, M).
    pair_of_meeting: shape (M,), the index of the annotator pair of each meeting.
    shown: indexes of the shown annotator pairs.

    Returns
    -------
    The tables, shape (queries, shown · grades²), and each pair's number of shared queries, shape (shown,).
    """
    shown_index = np.full(int(pair_of_meeting.max(initial=-1)) + 1, -1)
    shown_index[shown] = np.arange(len(shown))
    is_shown = shown_index[pair_of_meeting] >= 0
    pair = shown_index[pair_of_meeting[is_shown]]
    query, first_step, second_step = meetings[2:, is_shown]
    columns = pair * grade_count**2 + first_step * grade_count + second_step
    shape = (query_count, len(shown) * grade_count**2)
    tables = coo_array((np.ones(len(columns)), (query, columns)), shape).tocsr()
    shared_queries = np.unique(pair * query_count + query)
    return tables, np.bincount(shared_queries // query_count, minlength=len(shown))
