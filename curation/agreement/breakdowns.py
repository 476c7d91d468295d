"""Breakdowns of agreement on slices of the pairs, by query type and by grade boundary.

The bootstrap draws from all doubly judged queries, and each slice uses the drawn queries that belong to it.
So the interval of a slice also covers the random size of the slice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np

from curation.agreement.coefficients import compute_alpha, compute_raw, count_coincidences
from curation.agreement.grades import Grades, count_values
from curation.agreement.inter_annotator import Overlap, find_overlap, make_estimate
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.bootstrap import RESAMPLES, Sums, resample_figures
from curation.core.statistics.estimate import Estimate
from curation.store import Cursor, get_setting

NO_TAG = "no tag"
QueryTypes = Mapping[str, Mapping[str, frozenset[str]]]
"""Map from kind of query type ('tag', 'stratum' or 'segment') to the name of each type and its queries."""


@dataclass(frozen=True)
class Breakdown:
    """Annotators' agreement on one slice, such as a query type, of the pairs that two or more annotators
    judged.

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


def compute_breakdowns(
    grades: Grades, scale: Sequence[int], types: QueryTypes, seed: int, resamples: int = RESAMPLES
) -> tuple[tuple[Breakdown, ...], tuple[Breakdown, ...]]:
    """Compute agreement by query type and by grade boundary. A query with two tags is in both slices.

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


def read_query_types(cursor: Cursor) -> dict[str, dict[str, frozenset[str]]]:
    """Read the queries of each tag and of each stratum in the current sample."""
    tags = cursor.execute("SELECT tag, list(query_id) FROM current_query_tags GROUP BY tag ORDER BY tag")
    types = {"tag": {tag: frozenset(query_ids) for tag, query_ids in tags.fetchall()}}
    strata = cursor.execute(
        """SELECT stratum, list(query_id) FROM sample_queries WHERE sample_id = ?
        GROUP BY stratum ORDER BY stratum""",
        [get_setting(cursor, "sample")],
    )
    return types | {"stratum": {stratum: frozenset(query_ids) for stratum, query_ids in strata.fetchall()}}


def _mask_types(overlap: Overlap, grades: Grades, types: QueryTypes) -> Iterator[tuple[str, str, Mask]]:
    """List the kind, name and units of each query type that has units with two or more grades."""
    unit_queries = grades.unit_queries[overlap.units]
    for kind, groups in types.items():
        tagged = frozenset[str]().union(*groups.values())
        untagged = {NO_TAG: frozenset(grades.query_ids) - tagged} if kind == "tag" and groups else {}
        for name, queries in {**groups, **untagged}.items():
            mask = np.fromiter((query in queries for query in grades.query_ids), bool)[unit_queries]
            if mask.any():
                yield kind, name, mask


def _sum_by_query(overlap: Overlap, mask: Mask) -> tuple[Ints, Floats]:
    """Find the units' queries, and sum each query's counts of grade pairs as one row."""
    queries, groups = np.unique(overlap.queries[mask], return_inverse=True)
    matrices = count_coincidences(overlap.counts[mask], groups, len(queries))
    rows = [matrix.reshape(len(queries), -1) for matrix in (matrices.meetings, matrices.coincidences)]
    return queries, np.concatenate(rows, axis=1)


def _make_slice(kind: str, name: str, units: int, sums: Floats, drawn: Floats) -> Breakdown:
    """Build the breakdown for one slice of the pairs from the sums over the slice's queries and over each
    resample."""
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
    """Compute agreement at each boundary between neighboring grades, as if the boundary's two sides were the
    only grades."""
    slices = []
    for boundary, (lower, upper) in enumerate(pairwise(scale), start=1):
        is_above = np.arange(len(scale)) >= boundary
        side = np.stack([~is_above, is_above]).astype(np.float64)
        side_sums, side_drawn = (
            (side @ _stack_matrices(rows) @ side.T).reshape(len(rows), -1) for rows in (sums, drawn)
        )
        slices.append(_make_slice("boundary", f"{lower}|{upper}", units, side_sums, side_drawn))
    return tuple(slices)
