"""Annotators' agreement on the evidence that they marked in documents.

A unit is a pair in which two or more annotators marked evidence. Each two annotators of a pair are compared
by the F1 of their characters, 2 |A ∩ B| / (|A| + |B|). The figure is the mean of all comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from curation.agreement.inter_annotator import FEW_QUERIES, NO_UNITS, RARE_VARIATION
from curation.core.spans import Span, count_characters, intersection
from curation.core.statistics.arrays import Floats
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.labeling.consensus.decisions import Pair
from curation.labeling.consensus.marks import PairMarks


@dataclass(frozen=True)
class EvidenceAgreement:
    """Agreement of annotators on the evidence that they marked.

    Attributes
    ----------
    apart: number of units in which two annotators marked no common character. comparisons: number of
        comparisons of two annotators.
    f1: mean F1 with its 95 % interval over queries.
    """

    units: int
    queries: int
    apart: int
    comparisons: int
    f1: Estimate


def compute_evidence_agreement(marks: Mapping[Pair, PairMarks]) -> EvidenceAgreement | None:
    """Compute how far annotators agree on marked evidence; None if nobody marked evidence."""
    if not marks:
        return None
    sums_by_query: dict[str, Floats] = {}
    units = disjoint = 0
    for (query_id, _), pair in sorted(marks.items()):
        spans = [list(annotator.spans) for annotator in pair.people]
        if len(spans) >= 2:
            sums_by_query[query_id] = sums_by_query.get(query_id, np.zeros(2)) + sum_f1(spans)
            units += 1
            disjoint += any(not intersection(*two) for two in combinations(spans, 2))
    sums = np.array(list(sums_by_query.values())).reshape(-1, 2)
    return EvidenceAgreement(units, len(sums), disjoint, int(sums[:, 1].sum()), _estimate_f1(sums, units))


def sum_f1(spans_by_annotator: Sequence[Iterable[Span]]) -> tuple[float, int]:
    """Sum the F1 between every two annotators' marked characters in one text, and count the comparisons."""
    comparisons = list(combinations([list(spans) for spans in spans_by_annotator], 2))
    f1_values = (
        2 * count_characters(intersection(*pair)) / (count_characters(pair[0]) + count_characters(pair[1]))
        for pair in comparisons
    )
    return sum(f1_values), len(comparisons)


def _estimate_f1(sums: Floats, units: int) -> Estimate:
    """Compute the mean F1 with its interval, by Student's t on the logit with the jackknife over queries.

    Parameters
    ----------
    sums: shape (queries, 2), the sum of F1 and the number of comparisons of each query.
    """
    from scipy.special import expit, logit, stdtrit

    queries, total = len(sums), sums.sum(axis=0)
    if not units:
        return Estimate(why=NO_UNITS)
    value = float(total[0] / total[1])
    if queries < MINIMUM_QUERIES:
        return Estimate(value, n=units, why=FEW_QUERIES)
    with np.errstate(divide="ignore", invalid="ignore"):
        jackknife = (total[0] - sums[:, 0]) / (total[1] - sums[:, 1])
        error = np.sqrt((queries - 1) * jackknife.var())
        margin = stdtrit(queries - 1, 0.975) * error / (value * (1 - value))
        low, high = expit(logit(value) - margin), expit(logit(value) + margin)
    if error < 1e-9:
        low = high = value
    if not np.isfinite(low + high):
        return Estimate(value, n=units, why=RARE_VARIATION)
    return Estimate(value, float(low), float(high), units)
