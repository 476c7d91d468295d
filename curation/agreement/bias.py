"""Each annotator's bias: how much higher or lower they grade than the others or the reviewer.

Bias is the mean difference between an annotator's grade and the reviewer's decision on the same pair; without
a decision, the mean of the others' grades replaces it. The consensus is not used, because it contains the
annotator's own grade, which would hide a bias. Drift is the change of the bias over the queries in the order
of their grades.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from curation.agreement.grades import MINIMUM_GRADES, Grades
from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.bootstrap import percentile_interval, resample_sums
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.core.statistics.p_values import mean_t_p, permutation_p
from curation.core.text import pluralize
from curation.store import Cursor

Decisions = Mapping[tuple[str, str], int | None]
"""Map from query and document to the reviewer's grade; None if the reviewer decided that no grade fits."""
ONE_TIME = "all grades have the same time, so their order is unknown"
NO_TIMES = "{untimed:,} of {grades:,} grades were imported without a time, so their order is unknown"


@dataclass(frozen=True)
class AnnotatorBias:
    """One annotator's bias: how much higher or lower they grade than others, and how this changes over time.

    Attributes
    ----------
    grades, queries: numbers of grades that can be compared, and of their queries.
    bias: mean difference between the annotator's grade and the others' grades, with a 95 % interval by
        bootstrap over queries; `bias_p`: the probability of a mean as far from 0 if there were no bias.
    undefined: the reason for a missing bias.
    trend: change of the bias from the first to the last query on a straight line, in grades; None if
        `no_trend` gives the reason. `trend_p`: the probability of such a clear trend if the order of the
        queries did not matter.
    """

    annotator: str
    grades: int
    queries: int
    bias: float | None = None
    low: float | None = None
    high: float | None = None
    bias_p: float | None = None
    undefined: str | None = None
    trend: float | None = None
    trend_p: float | None = None
    no_trend: str | None = None


def read_decisions(cursor: Cursor) -> Decisions:
    """Read the reviewers' current decisions."""
    rows = cursor.execute("SELECT query_id, document_id, grade FROM counted_adjudications").fetchall()
    return {(query_id, document_id): grade for query_id, document_id, grade in rows}


def compute_biases(
    grades: Grades, decisions: Decisions, outliers: Collection[str] = (), seed: int = 0
) -> dict[str, AnnotatorBias]:
    """Compute each annotator's bias against the others who are not outliers, by name."""
    graded = grades.graded_by_annotator
    graded = graded.select(np.lexsort((graded.at, graded.people)))  # grades without a time come last
    differences, query = _subtract_reference(graded, decisions, outliers), graded.unit_queries[graded.units]
    return {
        name: _compute_bias(name, query[rows], graded.at[rows], differences[rows], seed)
        for name, rows in zip(graded.names, graded.annotator_slices, strict=True)
    }


def _subtract_reference(grades: Grades, decisions: Decisions, outliers: Collection[str]) -> Floats:
    """Subtract the reviewer's decision or the others' mean from each grade; NaN if neither exists."""
    units, grade = grades.units, grades.grades.astype(np.float64)
    counts = grades.exclude(outliers)[grades.people]
    unit_count = len(grades.documents)
    others = np.bincount(units[counts], minlength=unit_count)[units] - counts
    sums = np.bincount(units[counts], grade[counts], unit_count)[units] - grade * counts
    reference = np.divide(sums, others, out=np.full(len(units), np.nan), where=others > 0)
    if decisions:
        queries = [grades.query_ids[query] for query in grades.unit_queries.tolist()]
        pairs = list(zip(queries, grades.documents, strict=True))
        is_decided = np.asarray([pair in decisions for pair in pairs], dtype=bool)[units]
        decided_grades = [decisions.get(pair) for pair in pairs]
        decided = np.asarray([np.nan if grade is None else grade for grade in decided_grades], np.float64)
        reference = np.where(is_decided, decided[units], reference)
    differences: Floats = grade - reference
    return differences


def _compute_bias(
    name: str, query: Ints, at: NDArray[np.datetime64], differences: Floats, seed: int
) -> AnnotatorBias:
    """Compute an annotator's bias and drift from the differences between their grades and the reference, in
    the given order."""
    has_reference = ~np.isnan(differences)
    query, at, differences = query[has_reference], at[has_reference], differences[has_reference]
    grades, queries = len(differences), len(np.unique(query))
    if not _has_enough(query):
        why = (
            f"{pluralize(grades, 'grade')} of {pluralize(queries, 'query', 'queries')} can be compared; "
            f"{MINIMUM_GRADES} grades of {MINIMUM_QUERIES} queries are needed"
        )
        return AnnotatorBias(name, grades, queries, undefined=why, no_trend=why)
    sums, counts = _sum_by_query(query, differences)
    bias = float(sums.sum() / grades)
    blocks = resample_sums(np.stack([sums, counts], axis=1), seed)
    resampled_bias = np.concatenate([block[:, 0] / block[:, 1] for block in blocks])
    low, high = percentile_interval(resampled_bias, queries) or (None, None)
    p = mean_t_p(bias, (sums - counts * bias) / grades)
    is_timed = ~np.isnat(at)
    untimed = grades - int(is_timed.sum())
    annotator_bias = AnnotatorBias(name, grades, queries, bias, low, high, p)
    if not _has_enough(query[is_timed]):
        return replace(annotator_bias, no_trend=NO_TIMES.format(untimed=untimed, grades=grades))
    if at[is_timed].min() == at[is_timed].max():
        return replace(annotator_bias, no_trend=ONE_TIME)
    trend, trend_p = _compute_trend(*_sum_by_query(query[is_timed], differences[is_timed]), seed)
    return replace(annotator_bias, trend=trend, trend_p=trend_p)


def _has_enough(query: Ints) -> bool:
    return len(query) >= MINIMUM_GRADES and len(np.unique(query)) >= MINIMUM_QUERIES


def _sum_by_query(query: Ints, differences: Floats) -> tuple[Floats, Floats]:
    """Sum the differences and count the grades of each query, with queries in the order of their first
    grades."""
    _, first, index = np.unique(query, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    sums, counts = np.bincount(index, differences), np.bincount(index)
    return sums[order].astype(np.float64), counts[order].astype(np.float64)


def _compute_trend(sums: Floats, counts: Floats, seed: int) -> tuple[float, float]:
    """Compute how much a straight line fitted to an annotator's bias changes from the first to the last
    query, with the change's p value."""
    rank = np.arange(len(sums), dtype=np.float64)
    centred = rank - float(counts @ rank) / float(counts.sum())
    slope = float(centred @ sums) / float(counts @ centred**2)
    level = float(sums.sum() / counts.sum())
    return slope * float(rank[-1]), permutation_p(rank, sums - counts * level, seed)
