"""Bias: how much higher or lower each annotator grades than the others or the reviewer, and the drift of
bias.

Bias is the mean difference between an annotator's grade and the reviewer's decision on the same pair. On a
pair without a decision, the mean of the others' grades takes the place of the decision. The consensus is not
used, because a consensus contains the annotator's grade, which would hide a bias.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from curation.agreement.grades import MINIMUM_GRADES, Grades
from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.intervals import MINIMUM_QUERIES, percentile_interval, resampled
from curation.core.statistics.p_values import mean_p, permuted_p
from curation.core.text import pluralize
from curation.store import Cursor

Decisions = Mapping[tuple[str, str], int | None]
"""Query and document → the grade that a reviewer decided; None if the reviewer decided that no grade fits."""
ONE_TIME = "all grades have the same time, so their order is unknown"
NO_TIMES = "{untimed:,} of {grades:,} grades were imported without a time; too few grades have an order"


@dataclass(frozen=True)
class AnnotatorBias:
    """One annotator's bias and its drift.

    Attributes
    ----------
    grades, queries: numbers of grades that can be compared, and of their queries.
    bias: mean difference between the annotator's grade and the others' grades, with a 95 % interval by
        bootstrap over queries; `bias_p`: the probability of a mean as far from 0 if there were no bias.
    undefined: the reason for a missing bias.
    untimed: number of grades without a time, which count for the bias but not for the trend.
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
    untimed: int = 0
    trend: float | None = None
    trend_p: float | None = None
    no_trend: str | None = None


def read_decisions(cursor: Cursor) -> Decisions:
    """Read the current decisions of reviewers."""
    rows = cursor.execute("SELECT query_id, document_id, grade FROM counted_adjudications").fetchall()
    return {(query_id, document_id): grade for query_id, document_id, grade in rows}


def annotator_biases(
    grades: Grades, decisions: Decisions, left_out: Collection[str] = (), seed: int = 0
) -> dict[str, AnnotatorBias]:
    """Compute each annotator's bias against the others who are not left out, by name."""
    graded = grades.graded_by_person
    graded = graded.only(np.lexsort((graded.at, graded.people)))  # those without a time come last
    off, query = _off(graded, decisions, left_out), graded.unit_queries[graded.units]
    return {
        name: _bias(name, query[rows], graded.at[rows], off[rows], seed)
        for name, rows in zip(graded.names, graded.rows_of, strict=True)
    }


def _off(grades: Grades, decisions: Decisions, left_out: Collection[str]) -> Floats:
    """Subtract the reviewer's decision or the others' mean from each grade; NaN if there is neither."""
    units, grade = grades.units, grades.grades.astype(np.float64)
    counted = grades.without(left_out)[grades.people]
    number = len(grades.documents)
    others = np.bincount(units[counted], minlength=number)[units] - counted
    sums = np.bincount(units[counted], grade[counted], number)[units] - grade * counted
    reference = np.divide(sums, others, out=np.full(len(units), np.nan), where=others > 0)
    if decisions:
        queries = [grades.query_ids[query] for query in grades.unit_queries.tolist()]
        pairs = list(zip(queries, grades.documents, strict=True))
        decided = np.asarray([pair in decisions for pair in pairs], dtype=bool)[units]
        given = [np.nan if (decision := decisions.get(pair)) is None else decision for pair in pairs]
        reference = np.where(decided, np.asarray(given, dtype=np.float64)[units], reference)
    off: Floats = grade - reference
    return off


def _bias(name: str, query: Ints, at: NDArray[np.datetime64], off: Floats, seed: int) -> AnnotatorBias:
    """Compute bias and drift from grades in the order in which they were given."""
    compared = ~np.isnan(off)
    query, at, off = query[compared], at[compared], off[compared]
    grades, queries = len(off), len(np.unique(query))
    if grades < MINIMUM_GRADES or queries < MINIMUM_QUERIES:
        why = (
            f"{pluralize(grades, 'grade')} of {pluralize(queries, 'query', 'queries')} can be compared; "
            f"{MINIMUM_GRADES} of {MINIMUM_QUERIES} are needed"
        )
        return AnnotatorBias(name, grades, queries, undefined=why, no_trend=why)
    sums, numbers = _by_query(query, off)
    bias = float(sums.sum() / grades)
    blocks = resampled(np.stack([sums, numbers], axis=1), seed)
    drawn = np.concatenate([block[:, 0] / block[:, 1] for block in blocks])
    low, high = percentile_interval(drawn, queries) or (None, None)
    p = mean_p(bias, (sums - numbers * bias) / grades)
    timed = ~np.isnat(at)
    untimed = grades - int(timed.sum())
    annotator_bias = AnnotatorBias(name, grades, queries, bias, low, high, p, untimed=untimed)
    if timed.sum() < MINIMUM_GRADES or len(np.unique(query[timed])) < MINIMUM_QUERIES:
        return replace(annotator_bias, no_trend=NO_TIMES.format(untimed=untimed, grades=grades))
    if at[timed].min() == at[timed].max():
        return replace(annotator_bias, no_trend=ONE_TIME)
    trend, trend_p = _trend(*_by_query(query[timed], off[timed]), seed)
    return replace(annotator_bias, trend=trend, trend_p=trend_p)


def _by_query(query: Ints, off: Floats) -> tuple[Floats, Floats]:
    """Sum the differences and count the grades of each query, in the order of the queries' first grades."""
    _, first, index = np.unique(query, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    sums, numbers = np.bincount(index, off), np.bincount(index)
    return sums[order].astype(np.float64), numbers[order].astype(np.float64)


def _trend(sums: Floats, numbers: Floats, seed: int) -> tuple[float, float]:
    rank = np.arange(len(sums), dtype=np.float64)
    centred = rank - float(numbers @ rank) / float(numbers.sum())
    slope = float(centred @ sums) / float(numbers @ centred**2)
    level = float(sums.sum() / numbers.sum())
    return slope * float(rank[-1]), permuted_p(rank, sums - numbers * level, seed)
